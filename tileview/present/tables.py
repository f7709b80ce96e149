"""What all tables share: columns, cells, and sorting and filtering of rows; plain data, still no Qt.

A table is a :class:`TableSpec`: its columns, each of which makes its :class:`Cell` for a row when it is asked for.
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


class Room(StrEnum):
    """What a column does where the table is narrow or wide."""

    FIXED = "fixed"
    """As wide as its sample."""
    SHARED = "shared"
    """Shares what others leave; gives way to those that are to be seen."""
    SPARE = "spare"
    """Left out where there is no room for it: it says in another way what others do."""
    NEVER = "never"
    """In CSV and on the clipboard only."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: ``numeric`` ones are right-aligned and at first sorted from the largest down.

    ``cell`` makes its cell for a row; ``sort`` gives what it sorts a row by and ``field`` what it writes as CSV where
    that is not the cell's value. ``sample`` is a usual text, which gives the width. ``is_seen``: without scrolling.
    ``unknown_first``: what is unavailable counts as the largest, where it is what one looks for.
    """

    title: str
    numeric: bool = False
    tip: str = ""
    unit: str = ""
    """Of the values in CSV: ``bytes`` where the cells show KiB."""
    cell: Callable[[Any], Cell] | None = None
    sample: str = ""
    room: Room = Room.FIXED
    is_seen: bool = False
    sort: Callable[[Any], Field] | None = None
    field: Callable[[Any], Field] | None = None
    unknown_first: bool = False


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


@dataclass(frozen=True, slots=True)
class LinePart:
    """A part of the line under a row: ``lead`` in plain letters, then ``value`` in bold ones.

    ``short`` stands in place of ``lead`` where there is little room (None: the lead has to stay).
    """

    lead: str
    value: str = ""
    short: str | None = None


def fitted_line(parts: Sequence[LinePart], room: int, width: Callable[[str, bool], int]) -> list[tuple[str, bool]]:
    """The texts of a line, each with whether it is bold, in so many pixels; ``width`` measures a text.

    Values are never cut: first the leads become short, then parts at the end are counted only.
    """
    leads = [part.lead for part in parts]
    if _line_width(parts, leads, width) <= room:
        return _joined(parts, leads)
    leads = [part.lead if part.short is None else part.short for part in parts]
    for count in range(len(parts), 0, -1):
        left = len(parts) - count
        rest = f" +{left}" if left else ""
        if count == 1 or _line_width(parts[:count], leads, width) + width(rest, False) <= room:
            return [*_joined(parts[:count], leads), *([(rest, False)] if rest else [])]
    return []


def _joined(parts: Sequence[LinePart], leads: Sequence[str]) -> list[tuple[str, bool]]:
    texts = []
    for place, (part, lead) in enumerate(zip(parts, leads, strict=False)):
        texts += [(f", {lead}" if place else lead, False), (part.value, True)]
    return [text for text in texts if text[0]]


def _line_width(parts: Sequence[LinePart], leads: Sequence[str], width: Callable[[str, bool], int]) -> int:
    return sum(width(text, is_bold) for text, is_bold in _joined(parts, leads))


class TableSpec(Generic[R]):
    """A kind of table: what its columns declare; or override :meth:`cell` where columns are not known beforehand."""

    columns: Sequence[Column] = ()

    def __init__(self, columns: Sequence[Column] = ()) -> None:
        if columns:
            self.columns = columns

    def cell(self, row: R, column: int) -> Cell:
        make = self.columns[column].cell
        return EMPTY_CELL if make is None else make(row)

    def place(self, title: str) -> int:
        """Where the column with a title stands."""
        return next(place for place, column in enumerate(self.columns) if column.title == title)

    def line(self, row: R) -> Sequence[LinePart]:
        """What stands in a line of its own under the row, over its whole width; empty where nothing does."""
        return ()

    def line_tip(self, row: R) -> str:
        """The tooltip of that line."""
        return ", ".join(part.lead + part.value for part in self.line(row))

    def is_head(self, row: R) -> bool:
        """Whether a row is a heading: its first cell has the whole width."""
        return False

    def is_right(self, row: R, column: int) -> bool:
        """Whether a cell is aligned to the right: those of columns of numbers are."""
        return self.columns[column].numeric

    def sort_value(self, row: R, column: int) -> Field:
        """What a column sorts a row by."""
        sort = self.columns[column].sort
        return self.cell(row, column).value if sort is None else sort(row)

    def is_exported(self, row: R) -> bool:
        """Whether a row is one of CSV and the clipboard; lines that only repeat columns of another row are not."""
        return True

    def sorted_nodes(self, nodes: Sequence[Node[R]], column: int, descending: bool) -> tuple[Node[R], ...]:
        """Nodes and their children in the order of a column; see :func:`sort_order`."""
        values = [self.sort_value(node.row, column) for node in nodes]
        order = sort_order(values, descending, self.columns[column].unknown_first and descending)
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
        return [self._field(row, place) for place in range(len(self.columns))]

    def _field(self, row: R, place: int) -> Field:
        own = self.columns[place].field
        if own is not None:
            return own(row)
        cell = self.cell(row, place)
        return cell.text if cell.value is None and cell.text else cell.value

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
