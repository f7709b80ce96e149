"""What the worker process does with a file that someone waits for: read it. Imports no more than that needs."""

from __future__ import annotations

import gc
from pathlib import Path

from tileview.formats import open_file
from tileview.qt.jobs.worker import Reporter


def load(path: str, reporter: Reporter) -> object:
    """Read a file into a document's source.

    Nothing that a reader makes refers back to itself, so looking for such cycles among its objects would be in vain.
    """

    def told(fraction: float, text: str) -> None:
        reporter.progress(int(fraction * 1000), 1000, text)

    gc.disable()
    try:
        return open_file(Path(path), told)
    finally:
        gc.enable()
