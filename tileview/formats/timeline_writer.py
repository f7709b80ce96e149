"""Writing a timeline in the compiler's version-3 schema, so that whatever reads the compiler's profiles reads
TileView's.

Keys and their order are the compiler's. What is unavailable is written as the compiler writes it: 2^64 − 1, with the
reason in ``layout_error``; sums that contain it saturate, per tile as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from tileview.model.config import INTERLEAVED_BYTES, STANDARD_BELOW_BYTES
from tileview.model.sizes import U64_MAX, UNAVAILABLE, Size, Unavailable, size_to_u64
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import ByteArray, ClassBytes, Timeline, TimelineStep, TimelineValue

VERSION: Final = 3

_COLUMN: Final = {MemoryClass.STANDARD: 0, MemoryClass.INTERLEAVED: 1}
_NUMPY: Final = orjson.OPT_SERIALIZE_NUMPY


def dump_timeline(timeline: Timeline, options: Sequence[tuple[str, str]] = ()) -> bytes:
    """A timeline as one line of JSON, without a line break at its end.

    Parameters
    ----------
    timeline : Timeline
        An estimate, or what was read from a file of any version.
    options : sequence of (name, text)
        Fields that stand before ``timeline`` in some files (``gemm_output_packing``, ``attention_products``).
    """
    return b"".join(timeline_chunks(timeline, options))


def timeline_chunks(timeline: Timeline, options: Sequence[tuple[str, str]] = ()) -> Iterator[bytes]:
    """:func:`dump_timeline` in pieces, one a value and a step, so that a large timeline is never in memory as text."""
    head = _dumps(_head(timeline, options))
    yield head[:-1] + b',"timeline":{"values":['
    for index, value in enumerate(timeline.values):
        yield (b"," if index else b"") + _dumps(_value(timeline, index, value))
    yield b'],"steps":['
    for position, step in enumerate(timeline.steps):
        yield (b"," if position else b"") + _dumps(_step(timeline, position, step))
    yield b"]}}"


def _dumps(item: dict[str, Any]) -> bytes:
    """As JSON; where a text has no UTF-8 (the scope, after a file whose name is no text) with escapes in its place."""
    try:
        return orjson.dumps(item, option=_NUMPY)
    except orjson.JSONEncodeError:
        return orjson.dumps(_encodable(item), option=_NUMPY)


def _encodable(item: Any) -> Any:
    if isinstance(item, str):
        return item.encode("utf-8", errors="backslashreplace").decode("utf-8")
    if isinstance(item, dict):
        return {_encodable(key): _encodable(value) for key, value in item.items()}
    return [_encodable(value) for value in item] if isinstance(item, list | tuple) else item


def written_contiguous_overflow(maximum: Size, reserved: Size) -> int:
    """``standard_contiguous_overflow_bytes``: what the largest standard allocation exceeds every contiguous range by.

    max(0, maximum − max(162,080 − reserved clamped at 0, 424,880)), saturated: an unavailable allocation counts as
    2^64 − 1. ``reserved`` is the reserve plus the exchange rows.
    """
    below = 0 if isinstance(reserved, Unavailable) else max(0, STANDARD_BELOW_BYTES - reserved)
    return max(0, size_to_u64(maximum) - max(below, INTERLEAVED_BYTES))


def _plus(first: Size, second: Size) -> Size:
    if isinstance(first, Unavailable) or isinstance(second, Unavailable):
        return UNAVAILABLE
    return first + second


def _claim(timeline: Timeline) -> bool:
    """``fits_budget``: true or false, as the schema has it.

    Where it is not known whether a program fits, whoever reads what was written is to find that it contradicts itself:
    of peaks that fit it is said that they do not; of others what the file that was read said of them.
    """
    if timeline.verdict.fits is not None:
        return timeline.verdict.fits
    peak, reserve = timeline.peak, timeline.reserve_bytes
    fits = (
        size_to_u64(peak.interleaved) <= timeline.interleaved_budget_bytes
        and size_to_u64(peak.total) + reserve <= timeline.budget_bytes
        and not written_contiguous_overflow(peak.maximum_standard_allocation, reserve)
    )
    return not fits and timeline.evidence is not None and timeline.evidence.claim is True


def _head(timeline: Timeline, options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    peak, reserve = timeline.peak, timeline.reserve_bytes
    reserved = _plus(reserve, peak.exchange_rows)
    return {
        "version": VERSION,
        "scope": timeline.scope,
        "model": timeline.model,
        "tile_count": timeline.tile_count,
        "budget_bytes": timeline.budget_bytes,
        "interleaved_budget_bytes": timeline.interleaved_budget_bytes,
        "standard_contiguous_overflow_bytes": written_contiguous_overflow(peak.maximum_standard_allocation, reserved),
        "fits_budget": _claim(timeline),
        "support_reserve_bytes": reserve,
        "effective_peak_bytes": size_to_u64(_plus(peak.total, reserve)),
        "peak": {
            "standard": size_to_u64(peak.standard),
            "interleaved": size_to_u64(peak.interleaved),
            "total": size_to_u64(peak.total),
            "exchange_rows": size_to_u64(peak.exchange_rows),
            "maximum_standard_allocation": size_to_u64(peak.maximum_standard_allocation),
        },
        "total_peak_step": timeline.total_peak_step,
        "standard_peak_step": timeline.standard_peak_step,
        "interleaved_peak_step": timeline.interleaved_peak_step,
        **dict(options),
    }


def _value(timeline: Timeline, index: int, value: TimelineValue) -> dict[str, Any]:
    error = value.layout_error
    if error is None and isinstance(value.bytes, Unavailable):
        error = "the size is unavailable"
    return {
        "id": value.id,
        "origin": value.origin,
        "root": value.root,
        "name": value.name,
        "group": value.group,
        "shape": value.shape,
        "precision": str(value.precision),
        "layout": value.layout_text,
        "layout_error": error,
        "class": value.memory_class.value,
        "storage_group": value.storage_group,
        "shard_bytes": size_to_u64(value.shard_bytes),
        "aligned_bytes": size_to_u64(value.aligned_bytes),
        "copies": value.copies,
        "bytes": size_to_u64(value.bytes),
        "tile_shards": _per_tile(timeline.tiles.shards(index), [isinstance(value.shard_bytes, Unavailable)]),
        "tile_bytes": _per_tile(timeline.tiles.value_bytes(index), [isinstance(value.bytes, Unavailable)]),
    }


def _step(timeline: Timeline, position: int, step: TimelineStep) -> dict[str, Any]:
    scratch = [isinstance(step.scratch.standard, Unavailable), isinstance(step.scratch.interleaved, Unavailable)]
    usage = list(scratch)
    for root in step.live:
        if root in timeline.unavailable_roots:
            usage[_COLUMN[_class_of(timeline, root)]] = True
    return {
        "index": step.index,
        "source": step.source,
        "operation": step.operation,
        "execution_count": step.execution_count,
        "live": list(step.live),
        "scratch": _class_bytes(step.scratch),
        "usage": _class_bytes(step.usage),
        "tile_usage": _per_tile(timeline.tiles.usage(position), usage),
        "tile_scratch": _per_tile(timeline.tiles.scratch(position), scratch),
        "coarse_usage": _class_bytes(step.coarse),
    }


def _class_of(timeline: Timeline, root: int) -> MemoryClass:
    """The class of an allocation: that of its last value."""
    members = timeline.aliases.get(root, (root,))
    return timeline.values[members[-1]].memory_class


def _class_bytes(item: ClassBytes) -> dict[str, int]:
    return {"standard": size_to_u64(item.standard), "interleaved": size_to_u64(item.interleaved)}


def _per_tile(known: ByteArray, unavailable: Sequence[bool]) -> npt.NDArray[np.int64] | npt.NDArray[np.uint64]:
    """The array to write: 2^64 − 1 on every tile in the columns that are unavailable."""
    if not any(unavailable):
        return np.ascontiguousarray(known)
    saturated = known.astype(np.uint64)
    columns = saturated.reshape(len(saturated), -1)
    for column, lost in enumerate(unavailable):
        if lost:
            columns[:, column] = U64_MAX
    return np.ascontiguousarray(saturated)
