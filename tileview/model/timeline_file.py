"""What a timeline file says, word for word: fields as written, before anything is re-derived from them.

``formats.timeline`` makes a :class:`TimelineFile`; ``core.memory`` turns it into a
:class:`tileview.model.timeline.Timeline`. The classes stand here so that core can read them without knowing how files
are read. Numbers keep the meaning of the file's own version: see :attr:`TimelineFile.peak` and
:attr:`FileStep.usage`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from tileview.model.sizes import Size
from tileview.model.tensor import Layout, MemoryClass, Precision, Shape
from tileview.model.timeline import ByteArray, ClassBytes, Peak, Problem

TILE_UNAVAILABLE = -1
"""Stands in the arrays of :class:`FileTiles` where the file writes 2^64 − 1: it is a mark, never to be added."""

FILE_CHANGED = Problem(
    "error",
    "timeline",
    "the file has changed since it was opened: its numbers per tile are unavailable until it is read again",
    "Read it again (Reload).",
)


@dataclass(frozen=True, slots=True)
class FileValue:
    """An entry of ``timeline.values``.

    ``root`` is an index into ``values``; it names a value that exists (a dangling one is reported as a problem and
    replaced by the value's own index). ``layout`` is None where ``layout_text`` does not parse. ``memory_class`` is
    None where the file names a class that TileView does not know (``class_text``).
    """

    id: int
    origin: int | None
    root: int
    name: str
    group: str
    shape: Shape
    precision: Precision
    layout: Layout | None
    layout_text: str
    layout_error: str | None
    memory_class: MemoryClass | None
    class_text: str
    storage_group: int
    shard_bytes: Size
    aligned_bytes: Size
    copies: int
    bytes: Size


@dataclass(frozen=True, slots=True)
class FileStep:
    """An entry of ``timeline.steps``.

    ``index`` is the position in the file (a different number in the file is reported as a problem).
    ``live``: roots as indices into ``values``, ascending, each of them existing (dangling ones are reported and left
    out). ``usage`` of a version-1 file is the coarse one (a sum of per-allocation maxima); from version 2 on it is
    the usage of the tile with the largest total, and ``coarse`` holds ``coarse_usage`` (None where the file lacks it;
    None in version 1). ``kind`` is the first word of ``operation``.
    """

    index: int
    source: int | None
    operation: str
    kind: str
    execution_count: int
    live: tuple[int, ...]
    scratch: ClassBytes
    usage: ClassBytes
    coarse: ClassBytes | None


class FileTiles(Protocol):
    """The ``tile_…`` arrays of a file, decoded when they are looked at; nothing is kept decoded but a small cache.

    Steps and values are given by position in the file (``TimelineFile.steps[i]``, ``TimelineFile.values[i]``). Every
    method returns None where the file has no such array or where it is malformed (wrong length, not numbers, file
    shrunk meanwhile): it never raises. Arrays are int64, read-only, bytes; :data:`TILE_UNAVAILABLE` where the file
    says 2^64 − 1.
    """

    @property
    def has_tiles(self) -> bool:
        """Whether every value and every step has its two arrays (not that all of them are well-formed)."""
        ...

    def tile_usage(self, step: int) -> ByteArray | None:
        """(tiles, 2): standard and interleaved bytes on each tile at a step."""
        ...

    def tile_scratch(self, step: int) -> ByteArray | None:
        """(tiles, 2): the step's scratch on each tile."""
        ...

    def tile_shards(self, value: int) -> ByteArray | None:
        """(tiles,): payload of a value on each tile, before copies."""
        ...

    def tile_bytes(self, value: int) -> ByteArray | None:
        """(tiles,): allocation of a value on each tile, copies included."""
        ...

    def faults(self) -> tuple[Problem, ...]:
        """The arrays that have been looked at and are malformed (not those whose wrong length showed at once)."""
        ...

    def has_changed(self) -> bool:
        """Whether the file is no longer the one that was opened: every later question is answered with None."""
        ...

    def close(self) -> None:
        """Let go of the file; every later question is answered with None."""
        ...


@dataclass(frozen=True, slots=True)
class TimelineFile:
    """A timeline file of version 1, 2 or 3.

    ``scope`` and ``model`` as written. ``fits_budget`` and the four derived figures are the file's own claims.
    ``options`` are fields that only some files have (``gemm_output_packing``, ``attention_products``), as (name,
    text). ``problems`` lists what is wrong with the file though it can be shown.
    """

    path: str
    version: int
    scope: str
    model: str
    tile_count: int
    budget_bytes: int
    interleaved_budget_bytes: int
    reserve_bytes: int
    """``support_reserve_bytes``."""
    effective_peak_bytes: Size
    contiguous_overflow_bytes: Size
    """``standard_contiguous_overflow_bytes``; a saturated sum, so never to be added."""
    fits_budget: bool
    peak: Peak
    """As written: versions 1 and 2 include ``exchange_rows`` in ``standard`` and ``total``, version 3 does not."""
    total_peak_step: int | None
    standard_peak_step: int | None
    interleaved_peak_step: int | None
    values: tuple[FileValue, ...]
    steps: tuple[FileStep, ...]
    tiles: FileTiles
    options: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    fingerprint: str = ""
    """What tells the file's content from any other; equal for equal bytes."""

    @property
    def peak_includes_exchange_rows(self) -> bool:
        """True for versions 1 and 2: subtract ``peak.exchange_rows`` from standard and total before a test against
        the budget."""
        return self.version < 3

    @property
    def usage_is_coarse(self) -> bool:
        """True for version 1: ``usage`` sums the largest bytes of each allocation, not one tile's load."""
        return self.version < 2

    @property
    def has_tiles(self) -> bool:
        return self.tiles.has_tiles
