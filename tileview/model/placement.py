"""Placement: the memory a tile leaves open, what asks for a piece of it, and the two dumps that speak of it.

Addresses are bytes; spans are half-open; lives are inclusive at both ends, in events counted from 1. 0 is before the
run, :data:`END` after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Problem

END: Final = 2**32 - 1
"""The end of the run, as a life's last event."""

BOUNDARY: Final = 0x80000
"""Region 0, standard memory, lies below; region 1, interleaved or standard, from here on."""
REGION0_ELEMENT: Final = 16_384
REGION1_ELEMENT: Final = 32_768
WINDOW: Final = (327_680, 360_448)
"""The host uses it before event 1 and after the last."""
DATA_START: Final = 0x586E0
DATA_END: Final = 0xE7BB0

Span = tuple[int, int]
Ranges = tuple[Span, ...]
"""Ascending and disjoint."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Which memory of a tile is open, and how it is divided. Interleaved requests start at ``boundary`` +
    ``interleaved_offset`` or later; elements lie at multiples of their size."""

    ranges: Ranges
    interleaved_offset: int = 0
    boundary: int = BOUNDARY
    region0_element: int = REGION0_ELEMENT
    region1_element: int = REGION1_ELEMENT
    window: Span = WINDOW

    @property
    def bytes(self) -> int:
        return sum(end - start for start, end in self.ranges)


@dataclass(frozen=True, slots=True)
class Request:
    """One piece of memory that a tile asks for.

    ``assignments``: (root, offset) of every alias group it holds, none for scratch and auxiliary requests.
    ``conflicts``: roots that may share no memory element with it. ``region1_stride``: the members' distance in
    region 1, None where it is that of their offsets. ``alignment`` is a power of two; 0 counts as 1.
    """

    memory_class: MemoryClass
    bytes: int
    alignment: int
    first: int
    last: int
    assignments: tuple[tuple[int, int], ...] = ()
    conflicts: tuple[int, ...] = ()
    region1_stride: int | None = None
    auxiliary: int | None = None

    @property
    def roots(self) -> tuple[int, ...]:
        return tuple(root for root, _ in self.assignments)


@dataclass(frozen=True, slots=True)
class TileProblem:
    """What one tile has to place, in the order given, and where."""

    tile: int
    memory: Memory
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class TileDump:
    """A file ``tile-T-HASH.json``. ``version`` is None in files from before versions; ``placed`` None where the file
    does not say. ``spans``: root → span of its whole request, as the compiler had placed it; None where not stated.
    ``fingerprint`` is that of the content."""

    path: str
    version: int | None
    problem: TileProblem
    placed: bool | None
    spans: dict[int, Span] | None
    problems: tuple[Problem, ...] = ()
    fingerprint: str = ""


KINDS: Final = ("parameter", "activation", "scratch", "padding", "support")
"""What an entry of a placement profile may be; another word is kept as it stands."""

SpanArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ProfileTile:
    """One tile of a placement profile, its entries sorted as in the file.

    ``spans``: (entries, 3) start, payload_end, end: payload first, the rest is access tail or rounding. ``lives``:
    (entries, 2) first and last. ``labels``: (entries,) indices into the profile's labels. ``kinds``: a word each.
    ``shard_numbers``: the compiler's shard numbers of all entries, one after the other; those of entry i end before
    ``shard_ends[i]``.
    """

    logical: int
    physical: int
    spans: SpanArray
    lives: SpanArray
    labels: SpanArray
    kinds: tuple[str, ...]
    shard_numbers: SpanArray
    shard_ends: SpanArray

    def shards(self, entry: int) -> tuple[int, ...]:
        start = int(self.shard_ends[entry - 1]) if entry else 0
        return tuple(self.shard_numbers[start : int(self.shard_ends[entry])].tolist())


class ProfileTiles(Protocol):
    """The tiles of a placement profile, each read when it is looked at."""

    def logical(self) -> tuple[int, ...]:
        """The logical numbers of the tiles that the file lists, in its order."""
        ...

    def tile(self, logical: int) -> ProfileTile:
        """The entries of a tile; raises LoadError where they are not as they must be, KeyError where it is not
        listed."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


@dataclass(frozen=True, slots=True)
class PlacementProfile:
    """A file ``placement-PID.json``: where a finished compile put everything, on all tiles. [``start``, ``end``) is
    all memory of a tile. ``fingerprint`` is that of the content."""

    path: str
    version: int
    start: int
    end: int
    labels: tuple[str, ...]
    tiles: ProfileTiles
    problems: tuple[Problem, ...] = ()
    fingerprint: str = ""
