"""Rust Debug text: the values that it stands for, its parser and its printer, names shared with JSON.

The compiler writes its graph, its configuration, layouts, precisions and operations as Rust's ``{:?}`` prints them::

    Name { field: value, … }     a struct           [value, …]              a list
    Name(value, …)               a tuple struct     {key: value, …}         a map; keys are values too
    Name                         a unit             {value, …}              a set
    (value, …)                   a tuple            "text"  'c'             strings and chars with Rust escapes
    -12  1.5  1e-5  inf  NaN     numbers            true  false             bools

:func:`parse` makes values of it, :func:`to_text` prints them again; ``parse(to_text(v)) == v`` (NaN aside). Nesting is
limited to :data:`MAX_DEPTH`, so a hostile text ends in an error and not in a crash. Large parts that nobody needs are
not parsed at all: :func:`split_struct` finds the fields of a struct by matching brackets only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from tileview.formats.check import FieldError, shorten
from tileview.model.tensor import AMP_ORDERS, BLOCK_ORDERS, MemoryClass, Order, OrderKind, Padding

AMP: Final[dict[str, Order]] = {kind.value: Order(kind) for kind in AMP_ORDERS}
BLOCK: Final[dict[str, OrderKind]] = {kind.value: kind for kind in BLOCK_ORDERS}
CLASSES: Final[dict[str, MemoryClass]] = {item.value: item for item in MemoryClass}
PADDINGS: Final[dict[str, Padding]] = {item.value: item for item in Padding}


@dataclass(frozen=True, slots=True)
class Unit:
    """A bare name: ``None``, ``RowMajor``."""

    name: str


@dataclass(frozen=True, slots=True)
class Struct:
    """``Name { field: value, … }``; ``partial`` where it ends in ``..`` (the printing side left fields out)."""

    name: str
    fields: tuple[tuple[str, DebugValue], ...]
    partial: bool = False

    def get(self, field: str) -> DebugValue | None:
        """The value of a field, None where the struct has no such field."""
        for name, value in self.fields:
            if name == field:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Call:
    """``Name(value, …)``; a plain tuple ``(value, …)`` has the name ``""``."""

    name: str
    items: tuple[DebugValue, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """``{key: value, …}`` in the order of the text. ``{}`` is an empty map."""

    entries: tuple[tuple[DebugValue, DebugValue], ...]


@dataclass(frozen=True, slots=True)
class Set:
    """``{value, …}``, not empty."""

    items: tuple[DebugValue, ...]


@dataclass(frozen=True, slots=True)
class Char:
    """A character in single quotes."""

    char: str


# A list is a Python tuple; the other plain values are themselves.
DebugValue = Unit | Struct | Call | Map | Set | Char | str | int | float | bool | tuple[Any, ...]


def to_text(value: DebugValue) -> str:
    """The text that Rust's ``{:?}`` gives for a value.

    Characters are escaped as Rust does for the common cases; which of the rarer characters count as printable may
    differ from the compiler's edition, so the text is equal in meaning and usually, not always, to the byte.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, str):
        return f'"{_escape(value, chr(34))}"'
    if isinstance(value, tuple):
        return f"[{_joined(value)}]"
    if isinstance(value, Unit):
        return value.name
    if isinstance(value, Call):
        trailing = "," if not value.name and len(value.items) == 1 else ""
        return f"{value.name}({_joined(value.items)}{trailing})"
    if isinstance(value, Struct):
        parts = [f"{name}: {to_text(item)}" for name, item in value.fields] + ([".."] if value.partial else [])
        return f"{value.name} {{ {', '.join(parts)} }}" if parts else f"{value.name} {{  }}"
    if isinstance(value, Map):
        return "{" + ", ".join(f"{to_text(key)}: {to_text(item)}" for key, item in value.entries) + "}"
    if isinstance(value, Set):
        return "{" + _joined(value.items) + "}"
    return f"'{_escape(value.char, chr(39))}'"


def _joined(items: tuple[DebugValue, ...]) -> str:
    return ", ".join(map(to_text, items))


def _float_text(value: float) -> str:
    if value != value:
        return "NaN"
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    mantissa = mantissa.removesuffix(".0")
    return f"{mantissa}e{int(exponent)}"


def _escape(text: str, quote: str) -> str:
    return "".join(_escaped(char, quote) for char in text)


def _escaped(char: str, quote: str) -> str:
    if char == quote or char == "\\":
        return "\\" + char
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}.get(char)
    if named is not None:
        return named
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"


__all__ = [
    "MAX_DEPTH",
    "Call",
    "Char",
    "DebugValue",
    "Field",
    "Map",
    "Set",
    "Struct",
    "Unit",
    "first_word",
    "parse",
    "split_struct",
    "syntax_error",
    "to_text",
]

MAX_DEPTH: Final = 128
"""Deepest nesting that is read. A Repeat takes five levels; the samples reach eleven."""

_MAX_DIGITS: Final = 40
"""Digits of the longest number that is read; 2^64 has 20."""


_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
      ([A-Za-z_][A-Za-z0-9_]*+(?:::[A-Za-z_][A-Za-z0-9_]*+)*+)   # 1 a name
    | (-?[0-9]++(?!\.[0-9]|[eE]))                                 # 2 an integer
    | ([{}()\[\],:])                                              # 3 punctuation
    | "([^"\\]*+(?:\\.[^"\\]*+)*+)"                               # 4 a string
    | (-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|-inf)       # 5 a float
    | '([^'\\]|\\u\{[^'}]*+\}|\\.)'                               # 6 a char
    | (\.\.)                                                      # 7 the mark of a partial struct
    )""",
    re.VERBOSE | re.DOTALL,
)
_NAME, _INTEGER, _PUNCTUATION, _STRING, _FLOAT, _CHAR, _DOTS = range(1, 8)
_STRINGS = r"""(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|'(?:[^'\\]|\\u\{[^'}]*+\}|\\.)')"""
_BRACKETS = re.compile(rf'[{{}}()\[\],:]|{_STRINGS}|"', re.DOTALL)
"""What :func:`split_struct` looks at; a lone quote opens a string that never ends: not to be looked past."""
_INNER_BRACKETS = re.compile(rf'[{{}}()\[\]]|{_STRINGS}|"', re.DOTALL)
"""The same where commas and colons do not matter."""
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F_]{1,8})\}|x([0-7][0-9a-fA-F])|(.))", re.DOTALL)
_SIMPLE_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_CLOSING = {"{": "}", "(": ")", "[": "]"}


def parse(text: str, *, start: int = 0, end: int | None = None, line: int = 1) -> DebugValue:
    """Parse one value that fills the whole text, or ``text[start:end]``.

    Parameters
    ----------
    text : str
        Debug text.
    start, end : int
        The part to parse; positions in errors count from the text's start nevertheless.
    line : int
        Number of the text's first line within its file's text, for error messages.

    Raises
    ------
    FieldError
        With line, column and the text around the error.
    """
    parser = _Parser(text if end is None else text[:end], line, start)
    value = parser.value(parser.next("a value"), 0)
    if parser.text[parser.end :].strip():
        parser.fail(parser.end, "the end of the text")
    return value


class _Parser:
    """Recursive descent over a regular-expression scanner; one frame a level, :data:`MAX_DEPTH` levels."""

    __slots__ = ("_match", "end", "line", "text")

    def __init__(self, text: str, line: int, start: int) -> None:
        self.text = text
        self.line = line
        self.end = start
        self._match = _TOKEN.match

    def fail(self, position: int, expected: str, hint: str = "") -> NoReturn:
        raise syntax_error(self.text, position, expected, line=self.line, hint=hint)

    def next(self, expected: str) -> re.Match[str]:
        match = self._match(self.text, self.end)
        if match is None:
            self.fail(self.end, expected)
        self.end = match.end()
        return match

    def start(self, match: re.Match[str]) -> int:
        return match.start(match.lastindex or 0)

    def peek(self, symbol: str) -> bool:
        """Whether the next token is this punctuation; takes it if so."""
        match = self._match(self.text, self.end)
        if match is not None and match.group(_PUNCTUATION) == symbol:
            self.end = match.end()
            return True
        return False

    def value(self, match: re.Match[str], depth: int) -> DebugValue:
        kind = match.lastindex
        if kind == _NAME:
            return self.named(match.group(_NAME), depth)
        if kind == _INTEGER:
            digits = match.group(_INTEGER)
            if len(digits) > _MAX_DIGITS:
                self.fail(self.start(match), f"a number of at most {_MAX_DIGITS} digits")
            return int(digits)
        if kind == _STRING:
            return self.unescape(match, _STRING)
        if kind == _FLOAT:
            return float(match.group(_FLOAT))
        if kind == _CHAR:
            return Char(self.unescape(match, _CHAR))
        symbol = match.group(_PUNCTUATION)
        if depth >= MAX_DEPTH:
            self.fail(self.start(match), f"nesting of at most {MAX_DEPTH} levels")
        if symbol == "[":
            return self.items("]", depth + 1)
        if symbol == "(":
            return Call("", self.items(")", depth + 1))
        if symbol != "{":
            self.fail(self.start(match), "a value")
        return self.map_or_set(depth + 1)

    def named(self, name: str, depth: int) -> DebugValue:
        match = self._match(self.text, self.end)
        symbol = match.group(_PUNCTUATION) if match is not None else None
        if match is None or (symbol != "(" and symbol != "{"):
            if name == "true" or name == "false":
                return name == "true"
            if name == "inf" or name == "NaN":
                return float(name)
            return Unit(name)
        if depth >= MAX_DEPTH:
            self.fail(self.start(match), f"nesting of at most {MAX_DEPTH} levels")
        self.end = match.end()
        if symbol == "(":
            return Call(name, self.items(")", depth + 1))
        return self.struct(name, depth + 1)

    def items(self, closing: str, depth: int) -> tuple[DebugValue, ...]:
        items: list[DebugValue] = []
        while True:
            match = self.next(f"a value or '{closing}'")
            if match.group(_PUNCTUATION) == closing:
                return tuple(items)
            items.append(self.value(match, depth))
            if self.separated(closing):
                return tuple(items)

    def separated(self, closing: str) -> bool:
        """Take a comma (False) or the closing bracket (True)."""
        match = self.next(f"',' or '{closing}'")
        symbol = match.group(_PUNCTUATION)
        if symbol == closing:
            return True
        if symbol != ",":
            self.fail(self.start(match), f"',' or '{closing}'")
        return False

    def struct(self, name: str, depth: int) -> Struct:
        fields: dict[str, DebugValue] = {}
        while True:
            match = self.next("a field name or '}'")
            kind = match.lastindex
            if kind == _PUNCTUATION and match.group(_PUNCTUATION) == "}":
                return Struct(name, tuple(fields.items()))
            if kind == _DOTS:
                if not self.peek("}"):
                    self.fail(self.end, "'}'")
                return Struct(name, tuple(fields.items()), partial=True)
            if kind != _NAME:
                self.fail(self.start(match), "a field name or '}'")
            own = match.group(_NAME)
            if not self.peek(":"):
                self.fail(self.end, f"':' after the field {shorten(own)}")
            if own in fields:
                self.fail(self.start(match), f"each field once, not {shorten(own)} again")
            fields[own] = self.value(self.next("a value"), depth)
            if self.separated("}"):
                return Struct(name, tuple(fields.items()))

    def map_or_set(self, depth: int) -> DebugValue:
        entries: list[tuple[DebugValue, DebugValue]] = []
        items: list[DebugValue] = []
        while True:
            match = self.next("a key or '}'")
            if match.group(_PUNCTUATION) == "}":
                break
            key = self.value(match, depth)
            if items or (not entries and not self.peek(":")):
                items.append(key)
            elif entries and not self.peek(":"):
                self.fail(self.end, "':' after a key")
            else:
                entries.append((key, self.value(self.next("a value"), depth)))
            if self.separated("}"):
                break
        return Set(tuple(items)) if items else Map(tuple(entries))

    def unescape(self, match: re.Match[str], group: int) -> str:
        body = match.group(group)
        if "\\" not in body:
            return body
        offset = match.start(group)

        def replaced(escape: re.Match[str]) -> str:
            code, byte, simple = escape.groups()
            if simple is not None:
                if simple not in _SIMPLE_ESCAPES:
                    self.fail(offset + escape.start(), "an escape of Rust")
                return _SIMPLE_ESCAPES[simple]
            try:
                number = int((code or byte).replace("_", ""), 16)
            except ValueError:
                number = -1
            if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                self.fail(offset + escape.start(), "the number of a character")
            return chr(number)

        return _ESCAPE.sub(replaced, body)


def syntax_error(text: str, position: int, expected: str, *, line: int = 1, hint: str = "") -> FieldError:
    """An error at a position of Debug text: line, column (both from 1) and the text around it."""
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    start = text.rfind("\n", 0, position) + 1
    number = line + text.count("\n", 0, position)
    around = text[max(start, position - 30) : position] + "⟨here⟩" + text[position : position + 30]
    found = f'"{shorten(around, 80)}"' if position < len(text) else f'the end of the text after "{shorten(around, 80)}"'
    return FieldError(f"line {number}, column {position - start + 1}", expected, found, hint)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct whose value was not parsed: ``text[start:end]``."""

    name: str
    start: int
    end: int


def split_struct(text: str, name: str, *, line: int = 1) -> tuple[Field, ...]:
    """Find the fields of a struct that fills the text, without parsing their values.

    Only brackets and strings are looked at, so this is several times faster than :func:`parse` and makes nothing of the
    parts that are skipped. Brackets have to match; what stands between them is not checked.

    Parameters
    ----------
    text : str
        ``Name { field: value, … }``.
    name : str
        The name it must have.
    line : int
        As for :func:`parse`.

    Raises
    ------
    FieldError
        Another name, or brackets that do not match.
    """
    head = re.compile(r"\s*" + re.escape(name) + r"\s*\{\s*").match(text)
    if head is None:
        raise syntax_error(text, 0, f"{name} {{ … }}", line=line)
    fields: list[Field] = []
    stack = ["}"]
    at = head.end()
    field, value_start = "", -1
    position = at
    while True:
        match = (_BRACKETS if len(stack) == 1 else _INNER_BRACKETS).search(text, position)
        if match is None:
            raise syntax_error(text, len(text), f"'{stack[-1]}'", line=line)
        position = match.end()
        symbol = match.group()
        if symbol in _CLOSING:
            stack.append(_CLOSING[symbol])
        elif symbol == '"':
            raise syntax_error(text, match.start(), "a string that ends", line=line)
        elif symbol in "})]":
            if symbol != stack.pop():
                raise syntax_error(text, match.start(), "the bracket that closes the last one opened", line=line)
            if not stack:
                _close_field(fields, text, field, value_start, match.start(), at, line)
                if text[match.end() :].strip():
                    raise syntax_error(text, match.end(), "the end of the text", line=line)
                return tuple(fields)
        elif len(stack) == 1 and symbol == ":" and value_start < 0:
            field, value_start = text[at : match.start()].strip(), match.end()
        elif len(stack) == 1 and symbol == ",":
            _close_field(fields, text, field, value_start, match.start(), at, line)
            field, value_start, at = "", -1, match.end()


def _close_field(fields: list[Field], text: str, name: str, start: int, end: int, at: int, line: int) -> None:
    """Note a field that ends at ``end``; nothing between two commas is allowed only before the closing bracket."""
    if start < 0:
        rest = text[at:end].strip()
        if rest and rest != "..":
            raise syntax_error(text, at, "a field name and ':'", line=line)
        return
    if any(name == field.name for field in fields):
        raise syntax_error(text, at, f"each field once, not {shorten(name)} again", line=line)
    while start < end and text[start].isspace():
        start += 1
    fields.append(Field(name, start, start + len(text[start:end].rstrip())))


def first_word(text: str) -> str:
    """The first word of an operation: ``Convert LocalKernel`` → ``Convert``; the text itself where it has none."""
    match = re.match(r"\s*([^\s{(\[\]})]+)", text)
    return match.group(1) if match else text.strip()
