"""What all commands share: usage errors, output that survives a closed pipe, exit codes, JSON, tables, safe names."""

from __future__ import annotations

import argparse
import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TextIO

from tileview.errors import TileViewError
from tileview.model.names import visible

EXIT_OK: Final = 0
"""Fits, nothing wrong, nothing differs."""
EXIT_NO: Final = 1
"""Does not fit, differs, nothing found."""
EXIT_BAD: Final = 2
"""Bad input or usage."""
EXIT_UNKNOWN: Final = 3
"""Not known: the file contradicts itself, is damaged, or is known in part."""
EXIT_INTERRUPTED: Final = 2
"""Ended by Ctrl+C: nothing can be said of the files."""


def verdict_code(*fits: bool | None) -> int:
    """The exit code of verdicts: 1 where one does not fit, else 3 where one is not known, else 0."""
    return EXIT_NO if False in fits else EXIT_UNKNOWN if None in fits else EXIT_OK


class UsageError(TileViewError):
    """A command line that cannot be carried out; its text is one sentence for stderr."""


class OutputError(TileViewError):
    """Standard output takes no more, for another reason than that its reader has gone."""


class Console:
    """Standard output that stops quietly when its reader goes away (``tileview … | head``).

    Commands write through :func:`emit`; ``closed`` tells a long-running one that nobody listens any more. Where the
    output cannot be written for another reason (a full disk) an :class:`OutputError` says so, once.
    """

    def __init__(self) -> None:
        self.closed = False

    def reset(self) -> None:
        self.closed = False

    def write(self, text: str) -> None:
        if self.closed:
            return
        with self._guarded():
            sys.stdout.write(text)

    def write_bytes(self, chunks: Iterable[bytes]) -> None:
        """Write bytes past the text layer, for output that has an encoding of its own."""
        binary = sys.stdout.buffer
        with self._guarded():
            for chunk in chunks:
                binary.write(chunk)

    def flush(self) -> None:
        if self.closed:
            return
        with self._guarded():
            sys.stdout.flush()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._close()
        except OSError as error:
            self._close()
            raise OutputError(f"standard output cannot be written: {error.strerror or error}") from None

    def _close(self) -> None:
        self.closed = True
        _point_at_nothing(sys.stdout)


def _point_at_nothing(stream: TextIO) -> None:
    """Point a stream's descriptor at nothing, so that the interpreter's own flush at exit does not complain."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        return


def provide_streams() -> None:
    """Open what whoever started the program has closed of the three standard streams, on nothing.

    Else the next file that is opened would get the number of one of them, and what a library writes to its standard
    error would land in it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - to the end


CONSOLE: Final = Console()


def emit(text: str) -> None:
    """Write a line (or several) to standard output."""
    CONSOLE.write(text + "\n")


def emit_json(value: object) -> None:
    """Write one JSON value on one line; pure ASCII, so that any terminal and any name can be written."""
    emit(json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")))


LONGEST_COMPLAINT = 1500
"""Characters of a message: a name may have thousands."""


def complain(text: str) -> None:
    """Write one line to standard error; names in it can do nothing to the terminal."""
    line = clean(" ".join(text.split()), LONGEST_COMPLAINT)
    try:
        print(f"tileview: {line}", file=sys.stderr)
        sys.stderr.flush()
    except (OSError, ValueError):
        _point_at_nothing(sys.stderr)


def clean(text: str, limit: int = 200) -> str:
    """A name as a terminal may show it: no control characters, no marks that reorder text, not endlessly long.

    Names come from files and may hold anything; an escape sequence in one must not reach the terminal.
    """
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def width(text: str) -> int:
    """Columns that a text takes in a terminal: wide East Asian characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def figure_name(field: str) -> str:
    """A peak's or budget's field as tables name it: ``largest standard allocation``."""
    if field.endswith("cycles"):
        return "planner's cycles" + (" in exchange" if field.startswith("exchange") else "")
    return field.replace("_", " ").replace("maximum", "largest")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), indent: int = 0) -> str:
    """Text in aligned columns.

    Parameters
    ----------
    header : sequence of str
        Titles; an empty sequence leaves the title line out.
    rows : iterable of sequences of str
        Cells; each row is as long as the others.
    numbers : iterable of int
        Columns that are aligned at the right.
    indent : int
        Spaces before each line.
    """
    lines = [*([list(header)] if header else []), *(list(row) for row in rows)]
    if not lines:
        return ""
    widths = [max(width(line[column]) for line in lines) for column in range(len(lines[0]))]
    right = frozenset(numbers)
    text = []
    for line in lines:
        cells = [
            " " * (widths[column] - width(cell)) + cell
            if column in right
            else cell + " " * (widths[column] - width(cell))
            for column, cell in enumerate(line)
        ]
        text.append((" " * indent + "  ".join(cells)).rstrip())
    return "\n".join(text)


Arguments = argparse.Namespace
