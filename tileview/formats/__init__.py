"""Bytes to model and back: the two dump formats, the Rust Debug text inside them, and safe saving."""

from __future__ import annotations

import os

from tileview.formats.files import OpenFile, Progress, no_progress
from tileview.formats.search_state import SearchState, load_search_state, search_state_from_open_file
from tileview.formats.sniff import Kind, sniff_file
from tileview.formats.timeline import load_timeline, timeline_from_open_file
from tileview.model.timeline_file import TimelineFile


def open_file(
    path: str | os.PathLike[str], progress: Progress = no_progress, streams: bool = False
) -> SearchState | TimelineFile:
    """Open a dump of either kind.

    The path is looked up once: a file that takes the place of this one meanwhile changes nothing.

    Parameters
    ----------
    path : str or path
        A search state or a memory timeline.
    progress : callable
        Called with the fraction done and what is being done; may raise to cancel.
    streams : bool
        Whether ``-`` is the standard input, and pipes such as ``/dev/stdin`` are read.

    Raises
    ------
    tileview.errors.LoadError
        The only error that comes out (but for what ``progress`` raises).
    """
    file = OpenFile(path, streams)
    keep = False
    try:
        if sniff_file(file).kind is Kind.RECIPE:
            return search_state_from_open_file(file, progress)
        timeline = timeline_from_open_file(file, progress)
        keep = True
        return timeline
    finally:
        if not keep:
            file.close()


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
