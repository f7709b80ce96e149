"""What an opened dump can be."""

from __future__ import annotations

from tileview.formats.search_state import SearchState
from tileview.model.placement import PlacementProfile, TileDump
from tileview.model.timeline_file import TimelineFile

AddressDump = TileDump | PlacementProfile
"""What describes addresses, not a program."""
Dump = SearchState | TimelineFile | AddressDump
