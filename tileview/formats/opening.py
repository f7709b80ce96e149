"""Opening a dump of any kind. What reads a kind is imported when a file of that kind is opened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tileview.errors import LoadError
from tileview.formats.files import OpenFile, Progress, no_progress, read_all
from tileview.formats.sniff import DumpKind, sniff_file
from tileview.model.timeline_file import TimelineFile

if TYPE_CHECKING:
    from tileview.formats.dumps import Dump
    from tileview.formats.search_state import SearchState
    from tileview.model.placement import PlacementProfile


def open_dump(
    path: str | os.PathLike[str], progress: Progress = no_progress, streams: bool = False, is_checked: bool = True
) -> Dump:
    """Open a dump of any kind; otherwise as :func:`open_file`.

    ``is_checked`` False leaves the alternatives of a large recipe to
    :func:`~tileview.formats.search_state.alternatives_problems`.
    """
    file = OpenFile(path, streams)
    keep = False
    try:
        kind = sniff_file(file).kind
        if kind is DumpKind.RECIPE:
            from tileview.formats.search_state import search_state_from_source

            state = search_state_from_source(file, progress, is_checked)
            keep = state.cut is not None
            return state
        if kind is DumpKind.TILE_DUMP:
            from tileview.formats.tile_dump import tile_dump_from_bytes

            return tile_dump_from_bytes(read_all(file, progress), file.path)
        lazy: TimelineFile | PlacementProfile
        if kind is DumpKind.TIMELINE:
            from tileview.formats.timeline import timeline_from_open_file

            lazy = timeline_from_open_file(file, progress)
        else:
            from tileview.formats.placement import placement_from_source

            lazy = placement_from_source(file, progress)
        keep = True
        return lazy
    finally:
        if not keep:
            file.close()


def open_file(
    path: str | os.PathLike[str], progress: Progress = no_progress, streams: bool = False
) -> SearchState | TimelineFile:
    """Open a dump of a whole program: a recipe or a timeline.

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
    found = open_dump(path, progress, streams)
    if isinstance(found, TimelineFile):
        return found
    from tileview.formats.search_state import SearchState

    if isinstance(found, SearchState):
        return found
    from tileview.model.placement import PlacementProfile

    title = "tile dump"
    if isinstance(found, PlacementProfile):
        found.tiles.close()
        title = "placement profile"
    hint = "It describes addresses, not a program: tileview place and tileview summary read it."
    raise LoadError(os.fspath(path), "", "a recipe or a memory timeline", f"a {title}", hint)
