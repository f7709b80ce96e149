"""Per-tile rows of a timeline file's values: its own arrays where it has them, derived from layouts where not."""

from __future__ import annotations

import numpy as np

from tileview.core.memory.footprint import Footprint, footprint
from tileview.core.memory.infer import Inferred
from tileview.model.kept import KeptResults
from tileview.model.sizes import LARGEST_COUNTED_BYTES, Unavailable, exact_text
from tileview.model.tensor import MemoryClass, Precision, PrecisionKind
from tileview.model.timeline import ByteArray, Problem
from tileview.model.timeline_file import TILE_UNAVAILABLE, FileValue, TimelineFile

KEPT_ROWS = 1024
"""Rows of values, and of allocations, that are kept for the next question: 12 MiB each on 1,472 tiles."""
_OWN_FIGURE = "The file's figure is used."
_BY_ELEMENT_BYTES = {1: PrecisionKind.F8F143, 2: PrecisionKind.F16, 4: PrecisionKind.F32}


class FileRows:
    """Payload and bytes of each value on each tile, made when asked for.

    Derived rows start at tile 0, because a file does not say where owners sit. Where shape and layout do not give the
    sizes that the file states, the file's size stands on every tile that owns a part (on every tile, where not even
    that is known): no tile is shown with less than it may hold.
    """

    def __init__(self, file: TimelineFile, inferred: Inferred) -> None:
        self._file = file
        self._inferred = inferred
        self._tiles = file.tile_count
        self._shards: KeptResults[int, ByteArray] = KeptResults(KEPT_ROWS)
        self._bytes: KeptResults[int, ByteArray] = KeptResults(KEPT_ROWS)

    def shards(self, index: int) -> ByteArray:
        """(tiles,): payload of a value on each tile."""
        return self._shards.get(index, self._make_shards)

    def bytes(self, index: int) -> ByteArray:
        """(tiles,): bytes of a value on each tile, copies included."""
        return self._bytes.get(index, self._make_bytes)

    def derive(self, index: int) -> Footprint:
        """What shape and layout of a value give, owners from tile 0."""
        value = self._file.values[index]
        return footprint(
            value.shape,
            _counted_precision(value),
            value.layout,
            self._tiles,
            tail=self._inferred.tails.get(value.root, 0),
            element_aligned=value.root in self._inferred.aligned,
            memory_class=value.memory_class or MemoryClass.STANDARD,
        )

    def disagreements(self, index: int) -> list[Problem]:
        """Where what the file states of a value is not what its shape and layout give."""
        value, derived = self._file.values[index], self.derive(index)
        place = f"timeline.values[{index}]"
        problems = []
        if value.layout is not None and value.memory_class not in (None, value.layout.memory_class):
            text = f"the file says {value.class_text}, the layout of {value.name} {value.layout.memory_class.value}"
            problems.append(Problem("warning", f"{place}.class", text, "The file's class is used.", value=index))
        if derived.error is not None:
            if isinstance(value.shard_bytes, Unavailable) or value.layout is None:
                return problems
            text = f"{value.name} has a size of {value.shard_bytes:,} B although it has none: {derived.error}"
            return [*problems, Problem("warning", f"{place}.shard_bytes", text, _OWN_FIGURE, value=index)]
        if isinstance(value.shard_bytes, Unavailable):
            if value.precision.kind is not PrecisionKind.UNKNOWN:
                text = f"{value.name} has no size in the file, shape and layout give {exact_text(derived.shard)}"
                hint = "It is shown as unavailable."
                problems.append(Problem("note", f"{place}.shard_bytes", text, hint, value=index))
            return problems
        if value.layout_error is not None:
            text = f"{value.name} has a size, and a valid layout, but also a reason why not: {value.layout_error}"
            problems.append(Problem("warning", f"{place}.layout_error", text, _OWN_FIGURE, value=index))
        for field, stated, found in (
            ("shard_bytes", value.shard_bytes, derived.shard),
            ("aligned_bytes", value.aligned_bytes, derived.aligned),
        ):
            if stated != found:
                figures = (
                    f"the file says {exact_text(stated)}, shape and layout of {value.name} give {exact_text(found)}"
                )
                problems.append(Problem("warning", f"{place}.{field}", figures, _OWN_FIGURE, value=index))
                break
        return problems

    def _make_shards(self, index: int) -> ByteArray:
        stored = self._file.tiles.tile_shards(index)
        return self.derive(index).shards(self._tiles) if stored is None else known_part(stored)

    def _make_bytes(self, index: int) -> ByteArray:
        stored = self._file.tiles.tile_bytes(index)
        if stored is not None:
            return known_part(stored)
        value, derived = self._file.values[index], self.derive(index)
        if isinstance(value.aligned_bytes, Unavailable) or value.aligned_bytes * value.copies > LARGEST_COUNTED_BYTES:
            return _frozen(np.zeros(self._tiles, dtype=np.int64))
        if derived.aligned == value.aligned_bytes:
            row = derived.bytes(self._tiles)
        elif derived.error is None:
            row = np.where(derived.shards(self._tiles) > 0, value.aligned_bytes, 0).astype(np.int64)
        else:
            row = np.full(self._tiles, value.aligned_bytes, dtype=np.int64)
        return row if value.copies == 1 else _frozen(row * value.copies)


def known_part(stored: ByteArray) -> ByteArray:
    """An array of a file with 0 where it says "unavailable"."""
    return _frozen(np.where(stored == TILE_UNAVAILABLE, 0, stored)) if stored.min(initial=0) < 0 else stored


def _frozen(row: ByteArray) -> ByteArray:
    row.flags.writeable = False
    return row


def _counted_precision(value: FileValue) -> Precision:
    """The value's precision, or, where it is not known, one with the element size that the largest shard implies."""
    if value.precision.element_bytes is not None or value.layout is None or isinstance(value.shard_bytes, Unavailable):
        return value.precision
    elements = footprint(value.shape, Precision(PrecisionKind.F8F143), value.layout, 2**32).shard
    if isinstance(elements, Unavailable) or elements == 0 or value.shard_bytes % elements:
        return value.precision
    kind = _BY_ELEMENT_BYTES.get(value.shard_bytes // elements)
    return value.precision if kind is None else Precision(kind)
