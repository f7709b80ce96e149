"""What all tables share: columns, cells, and sorting and filtering of rows; plain data, still no Qt.

A table is a :class:`TableSpec`: its columns, and for a row and a column a :class:`Cell`, made when it is asked for.
The item models in ``qt`` do nothing but hand cells on, so that everything a table says is tested here.

Tables as text: CSV for files, tab-separated lines for the clipboard.

A spreadsheet takes a cell that starts with ``=``, ``+``, ``-``, ``@`` or a tab for a formula, and tensor names come
from files that anyone may have made. Such text is written with an apostrophe in front, which spreadsheets show as
plain text. Numbers are written as numbers, negative ones too: they hold no formula.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar, overload

from tileview.model.names import visible
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text

R = TypeVar("R")


class Tone(StrEnum):
    """The role of a text; each is a token of the theme. A tone only underlines what the words say already."""

    TEXT = "text"
    MUTED = "muted"
    OK = "ok"
    OVER = "over"
    WARNING = "warning"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"
    ACCENT = "accent"


def outcome(fits: bool | None) -> tuple[str, str, Tone]:
    """Sign, icon and tone of a verdict that fits, does not fit, or is not known (None)."""
    if fits is None:
        return "?", "unknown", Tone.UNKNOWN
    return ("✓", "fits", Tone.OK) if fits else ("✗", "over", Tone.OVER)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: ``text`` is shown, ``tip`` explains it, ``value`` is what sorting and CSV use (None: nothing there)."""

    text: str
    value: Field = None
    tip: str = ""
    tone: Tone = Tone.TEXT
    bold: bool = False


EMPTY_CELL = Cell("")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: ``numeric`` ones are right-aligned and at first sorted from the largest down."""

    title: str
    numeric: bool = False
    tip: str = ""
    unit: str = ""
    """Of the values in CSV: ``bytes`` where the cells show KiB."""


@dataclass(frozen=True, slots=True)
class Node(Generic[R]):
    """A row of a tree. ``key`` identifies it across updates (unique among its siblings)."""

    key: Hashable
    row: R
    children: Sequence[Node[R]] = ()


class LateNodes(Sequence[Node[R]]):
    """Children that are made when somebody looks at one of them; how many they are is known from the start.

    For rows that most users never open, where there are thousands.
    """

    __slots__ = ("_count", "_made", "_make")

    def __init__(self, count: int, make: Callable[[], tuple[Node[R], ...]]) -> None:
        self._count = count
        self._make = make
        self._made: tuple[Node[R], ...] | None = None

    def _nodes(self) -> tuple[Node[R], ...]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, position: int) -> Node[R]: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Node[R], ...]: ...
    def __getitem__(self, position: int | slice) -> Any:
        return self._nodes()[position]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LateNodes | tuple) and self._nodes() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._nodes())


class TableSpec(Generic[R]):
    """A kind of table: override :attr:`columns` and :meth:`cell`."""

    columns: Sequence[Column] = ()

    def cell(self, row: R, column: int) -> Cell:
        raise NotImplementedError

    def is_right(self, row: R, column: int) -> bool:
        """Whether a cell is aligned to the right: those of columns of numbers are."""
        return self.columns[column].numeric

    def sort_value(self, row: R, column: int) -> Field:
        """What a column sorts a row by."""
        return self.cell(row, column).value

    def is_exported(self, row: R) -> bool:
        """Whether a row is one of CSV and the clipboard; lines that only repeat columns of another row are not."""
        return True

    def unknown_leads(self, column: int) -> bool:
        """Whether what is unavailable counts as the largest of a column, not as what is left over at its end."""
        return False

    def sorted_nodes(self, nodes: Sequence[Node[R]], column: int, descending: bool) -> tuple[Node[R], ...]:
        """Nodes and their children in the order of a column; see :func:`sort_order`."""
        values = [self.sort_value(node.row, column) for node in nodes]
        order = sort_order(values, descending, self.unknown_leads(column) and descending)
        result = []
        for position in order:
            node = nodes[position]
            if node.children:
                node = Node(node.key, node.row, self.sorted_nodes(node.children, column, descending))
            result.append(node)
        return tuple(result)

    def header(self) -> list[str]:
        """Titles for CSV, with the unit in brackets where the values have one."""
        return [
            column.title if column.unit in ("", column.title.casefold()) else f"{column.title} ({column.unit})"
            for column in self.columns
        ]

    def fields(self, row: R) -> list[Field]:
        """A row's values for CSV and the clipboard; the text where a cell has no value of its own."""
        cells = [self.cell(row, column) for column in range(len(self.columns))]
        return [cell.text if cell.value is None and cell.text else cell.value for cell in cells]

    def csv(self, nodes: Iterable[Node[R]]) -> str:
        return csv_text(self.header(), (self.fields(row) for row in flat_rows(nodes) if self.is_exported(row)))

    def tsv(self, rows: Iterable[R]) -> str:
        return tsv_text((self.fields(row) for row in rows), self.header())


def flat_rows(nodes: Iterable[Node[R]]) -> Iterable[R]:
    """Rows in the order shown, each followed by its children's."""
    for node in nodes:
        yield node.row
        yield from flat_rows(node.children)


def sort_order(values: Sequence[Field], descending: bool = False, unknown_first: bool = False) -> list[int]:
    """Positions in sorted order: stable, numbers before text, unavailable after them, empty ones last.

    Whether ascending or descending, what has no value stays at the end, where it does not hide the rows one sorts
    for; ``unknown_first`` puts what is unavailable on top, where it is what one looks for. Text sorts
    case-insensitively, with runs of digits as numbers (``layer 9`` before ``layer 10``).
    """
    numbers = [i for i, value in enumerate(values) if isinstance(value, int | float)]
    texts = [i for i, value in enumerate(values) if isinstance(value, str)]
    unknown = [i for i, value in enumerate(values) if isinstance(value, Unavailable)]
    empty = [i for i, value in enumerate(values) if value is None]
    numbers.sort(key=lambda i: values[i], reverse=descending)  # type: ignore[arg-type, return-value]
    texts.sort(key=lambda i: natural_key(values[i]), reverse=descending)  # type: ignore[arg-type]
    return [*unknown, *numbers, *texts, *empty] if unknown_first else [*numbers, *texts, *unknown, *empty]


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key under which numbers inside a text compare as numbers."""
    parts: list[tuple[int, int, str]] = []
    digits, letters = "", ""
    for character in text.casefold():
        if character.isascii() and character.isdigit():
            if letters:
                parts.append((1, 0, letters))
                letters = ""
            digits += character
        else:
            if digits:
                parts.append((0, int(digits), ""))
                digits = ""
            letters += character
    if digits:
        parts.append((0, int(digits), ""))
    if letters:
        parts.append((1, 0, letters))
    return tuple(parts)


def matches(query: str, *texts: str) -> bool:
    """Whether every word of a query occurs in one of the texts, in any case; an empty query matches all."""
    words = query.casefold().split()
    lowered = [text.casefold() for text in texts]
    return all(any(word in text for text in lowered) for word in words)


# -- numbers as text ------------------------------------------------------------------------------------------------


def signed_exact(difference: Size) -> str:
    """A difference of bytes with its sign: ``+1,024 B``, ``−16 B``, ``0 B``."""
    if isinstance(difference, Unavailable):
        return exact_text(difference)
    sign = "+" if difference > 0 else "−" if difference < 0 else ""
    return f"{sign}{abs(difference):,} B"


def signed_kib(difference: Size) -> str:
    """A difference in KiB with its sign, ``0 KiB`` for none; below half a tenth in bytes rather than as 0.0."""
    if isinstance(difference, Unavailable):
        return kib_text(difference)
    if difference == 0:
        return "0 KiB"
    if abs(difference) < 52:
        return signed_exact(difference)
    return ("+" if difference > 0 else "−") + kib_text(abs(difference))


def bytes_cell(size: Size | None, tip: str = "", bold: bool = False) -> Cell:
    """Exact bytes, with KiB in the tip; empty for None."""
    if size is None:
        return EMPTY_CELL
    if isinstance(size, Unavailable):
        return Cell("unavailable", size, tip or "This size could not be computed.", Tone.UNAVAILABLE, bold)
    return Cell(exact_text(size), size, f"{kib_text(size)}. {tip}".rstrip(" ."), Tone.TEXT, bold)


def kib_cell(size: Size | None, tip: str = "", bold: bool = False) -> Cell:
    """KiB with one decimal, exact bytes in the tip; empty for None."""
    if size is None:
        return EMPTY_CELL
    if isinstance(size, Unavailable):
        return Cell("unavailable", size, tip or "This size could not be computed.", Tone.UNAVAILABLE, bold)
    return Cell(kib_text(size), size, f"{exact_text(size)}. {tip}".rstrip(" ."), Tone.TEXT, bold)


def delta_cell(difference: Size | None, tip: str = "") -> Cell:
    """A signed difference in KiB: more is ``over``, less is ``ok``; exact bytes in the tip."""
    if difference is None:
        return EMPTY_CELL
    if isinstance(difference, Unavailable):
        return Cell("unavailable", difference, tip, Tone.UNAVAILABLE)
    tone = Tone.OVER if difference > 0 else Tone.OK if difference < 0 else Tone.MUTED
    return Cell(signed_kib(difference), difference, f"{signed_exact(difference)}. {tip}".rstrip(" ."), tone)


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
