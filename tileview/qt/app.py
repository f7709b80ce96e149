"""The way into the window for the command line: imports Qt only once it is sure that Qt can start."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tileview.collecting import collected_seldom
from tileview.errors import TileViewError
from tileview.qt.jobs import process
from tileview.qt.startup import trouble


class NoWindowError(TileViewError):
    """Qt cannot start here; the text says what is missing and what works instead."""


@collected_seldom()
def run(paths: Sequence[Path | str], compare: bool = False) -> int:
    """Open the window on some files and stay until it is closed.

    Parameters
    ----------
    paths : sequence of paths
        The first is opened. A recipe and a timeline stand together. With ``compare`` all others stand beside the first
        for comparison; without, each gets a window of its own. Very many are listed with their verdicts.
    compare : bool
        See above.

    Returns
    -------
    int
        0 after the last window was closed; 2, with one sentence on standard error, where no window can be opened.
    """
    reason = trouble()
    if reason is not None:
        print(f"tileview: {reason}", file=sys.stderr)
        return 2
    named = [Path(path) for path in paths]
    if named:
        process.begin(named[0])
    try:
        from tileview.qt.program import run_windows

        return run_windows(named, compare)
    finally:
        process.drop()


def screenshot(
    path: Path | str,
    out: Path | str,
    size: tuple[int, int] = (1600, 1000),
    theme: str = "light",
    step: int | None = None,
    tile: int | None = None,
    operation: int | None = None,
    view: str | None = None,
    others: Sequence[Path | str] = (),
) -> None:
    """Draw the real window on a file, without a display, into a PNG.

    Parameters
    ----------
    path, out : path
        What to open, and the picture to write.
    size : (int, int)
        Width and height in pixels.
    theme : str
        ``light`` or ``dark``.
    step, tile, operation : int, optional
        What is selected; left out, it is what the verdict names.
    view : str, optional
        The view that comes to the front and gets most of the room.
    others : sequence of paths
        Files to stand beside the first for comparison.

    Raises
    ------
    TileViewError
        The file cannot be read, the picture cannot be written, Qt cannot start, or there is no such step, tile or
        operation.
    """
    reason = trouble(offscreen=True)
    if reason is not None:
        raise NoWindowError(reason)
    if "PySide6.QtWidgets" not in sys.modules:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from tileview.qt.screenshot import take_screenshot

    take_screenshot(Path(path), Path(out), size, theme, step, tile, operation, view, [Path(other) for other in others])
