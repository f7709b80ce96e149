"""Tables as text: CSV for files, tab-separated lines for the clipboard.

A spreadsheet takes a cell that starts with ``=``, ``+``, ``-``, ``@`` or a tab for a formula, and tensor names come
from files that anyone may have made. Such text is written with an apostrophe in front, which spreadsheets show as
plain text. Numbers are written as numbers, negative ones too: they hold no formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileview.model.names import visible
from tileview.model.sizes import Unavailable

Field = str | int | float | Unavailable | None
"""What a cell may hold: None and unavailable sizes become an empty field and the word ``unavailable``."""

_FORMULA_STARTS = ("=", "+", "-", "\N{MINUS SIGN}", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_BREAKS = "\t\r\n"
"""Kept in a field, which is quoted for them; everything else that does not print is written as an escape."""
_NEEDS_QUOTES = frozenset('",\r\n\t')


def guarded(text: str) -> str:
    """The text with an apostrophe in front where a spreadsheet would take it for a formula.

    Blanks in front count as nothing, because spreadsheets strip them.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) or text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def field_text(field: Field) -> str:
    """A field as plain text, without quotes: numbers in digits only, text guarded."""
    if field is None:
        return ""
    if isinstance(field, Unavailable):
        return "unavailable"
    if isinstance(field, str):
        return guarded(visible(field, _BREAKS))
    return repr(field) if isinstance(field, float) else str(int(field))


def _quoted(text: str) -> str:
    if text.startswith("'") or any(character in _NEEDS_QUOTES for character in text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Field]]) -> str:
    """CSV after RFC 4180: comma-separated, lines ended by CR LF, quotes doubled inside quotes, header first."""
    lines = [",".join(_quoted(field_text(field)) for field in header)]
    lines.extend(",".join(_quoted(field_text(field)) for field in row) for row in rows)
    return "\r\n".join(lines) + "\r\n"


def tsv_text(rows: Iterable[Sequence[Field]], header: Sequence[str] | None = None) -> str:
    """Tab-separated lines for the clipboard: tabs and line breaks in a field become blanks, formulas are guarded."""
    lines = [] if header is None else [list(header)]
    lines.extend([list(map(field_text, row)) for row in rows])
    return "\n".join("\t".join(map(_one_line, line)) for line in lines)


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "\t" in text or "\n" in text or "\r" in text else text
