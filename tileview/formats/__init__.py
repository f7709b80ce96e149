"""Bytes to model and back: the two dump formats, the Rust Debug text inside them, and safe saving."""

from __future__ import annotations

import os

from tileview.formats.files import OpenFile, Progress, no_progress
from tileview.formats.search_state import SearchState, load_search_state
from tileview.formats.sniff import Kind, sniff_file
from tileview.formats.timeline import load_timeline
from tileview.model.timeline_file import TimelineFile


def open_file(path: str | os.PathLike[str], progress: Progress = no_progress) -> SearchState | TimelineFile:
    """Open a dump of either kind.

    Parameters
    ----------
    path : str or path
        A search state or a memory timeline.
    progress : callable
        Called with the fraction done and what is being done; may raise to cancel.

    Raises
    ------
    tileview.errors.LoadError
        The only error that comes out (but for what ``progress`` raises).
    """
    with OpenFile(path) as file:
        kind = sniff_file(file).kind
    return load_search_state(path, progress) if kind is Kind.RECIPE else load_timeline(path, progress)


__all__ = [
    "Kind",
    "OpenFile",
    "Progress",
    "SearchState",
    "TimelineFile",
    "load_search_state",
    "load_timeline",
    "open_file",
]
