"""Names as people may be shown them: they come from files, and may hold what would act on a terminal or a reader."""

from __future__ import annotations

import re

_BYTES_OF_NAMES = range(0xDC80, 0xDD00)
"""What Python makes of the bytes of a file's name that are no UTF-8."""
_BEYOND_ASCII = r"[\x7f-\U0010ffff]"


def visible(text: str, keep: str = "") -> str:
    """The text with everything that does not print (escape sequences, marks that reorder text, blanks but the plain
    one) written as ``\\u{1b}``, and bytes of a file's name that are no UTF-8 as ``\\xff``.

    ``keep``: characters that stay all the same.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else escaped(char) for char in text)


def escaped(char: str) -> str:
    """One character as an escape."""
    number = ord(char)
    return f"\\x{number - 0xDC00:02x}" if number in _BYTES_OF_NAMES else f"\\u{{{number:x}}}"


def visible_json(text: str) -> str:
    """JSON text, as compact as it was, that means the same and prints: what does not is written as JSON's ``\\u001b``.

    Below ASCII's end the writers of JSON have done so already.
    """

    def replaced(match: re.Match[str]) -> str:
        char = match[0]
        if char.isprintable():
            return char
        units = char.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))

    return text if text.isascii() and "\x7f" not in text else re.sub(_BEYOND_ASCII, replaced, text)
