"""Results written as F8 by the kernel that makes them, and the formats of the values that fusions make.

A region is rewritten twice, once with every moved kernel at its consumer, once with it at its source; the cheaper
region stays, at equal prices that of the consumers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from tileview.core.fusion.region import DIRECT, Candidate, Chain, FusedRegion, same_format, same_storage
from tileview.core.geometry.resolve import LayoutError, layout_failure, resolve
from tileview.core.geometry.resolved import Resolved, Split
from tileview.core.lowering.tilings import (
    ZERO,
    broadcast,
    dimension_of,
    last_axis,
    moved,
    replaced,
    with_order,
)
from tileview.core.lowering.valuetypes import RefusedError
from tileview.core.memory.exchange import share_micro_panels
from tileview.model.program import Copy, Kernel, Step, Value
from tileview.model.sizes import Unavailable
from tileview.model.tensor import (
    F32,
    LEFT,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Layout,
    Order,
    Padding,
    Precision,
    PrecisionKind,
    Shape,
    Tiling,
)

_PANEL: Final = 32
"""Elements of a row of an F8 panel."""


@lru_cache(maxsize=1 << 10)
def moments_format(shape: Shape, layout: Layout) -> tuple[Shape, Layout] | None:
    """Shape and layout (in F32) of the statistics of a value, a pair for each part of its last dimension.

    None unless the value is row-major, not linear, and all shards of its last dimension are of one width that 4
    divides, none of them padded.
    """
    found = _resolved(shape, layout)
    if found is None or not shape:
        return None
    last = len(shape) - 1
    split = None if found.splits is None else found.splits[last]
    if not _equal_parts(split, shape[last], found.padded_shape[last]):
        return None
    parts = 1 if split is None else split.partitions
    axes: list[Axis] = []
    for axis in layout.tiling.axes:
        dimension = dimension_of(axis, len(shape))
        if dimension is None:
            return None
        if dimension == last:
            axes.append(Axis(AxisBase.START, last, axis.partitions, 1, 1, 1, 1, Padding.REJECT, axis.tile_stride))
        else:
            axes.append(moved(axis, dimension, axis.tile_stride))
    tiling = Tiling(layout.tiling.tile_count, layout.tiling.replicas, tuple(axes))
    return (*shape[:-1], parts, 2), Layout(layout.order, tiling, layout.memory_class)


def _resolved(shape: Shape, layout: Layout) -> Resolved | None:
    """The resolved layout of a row-major value divided by dimensions."""
    if layout.order != ROW_MAJOR or layout.tiling.is_linear:
        return None
    try:
        return resolve(shape, layout)
    except LayoutError:
        return None


def _equal_parts(split: Split | None, extent: int, padded: int) -> bool:
    width = extent if split is None else split.wide
    if width <= 0 or width % 4 or padded != extent:
        return False
    return split is None or (split.narrow == width and width * split.partitions == extent)


@lru_cache(maxsize=1 << 10)
def moved_moments_format(shape: Shape, layout: Layout, parts: int) -> tuple[Shape, Layout] | None:
    """The statistics of ``parts`` parts where a value of another layout is normalised: all of them in every part.

    Without the axis of the last dimension, whose parts are replicas now. None where the value has no statistics of its
    own.
    """
    own = moments_format(shape, layout)
    if own is None:
        return None
    last = len(shape) - 1
    tiling = own[1].tiling
    axes = tuple(axis for axis in tiling.axes if axis.index != last)
    replicas = tiling.replicas * own[0][-2]
    moved_layout = Layout(layout.order, Tiling(tiling.tile_count, replicas, axes), layout.memory_class)
    return (*shape[:-1], parts, 2), moved_layout


@lru_cache(maxsize=1 << 10)
def f8_layout(shape: Shape, layout: Layout, precision: Precision, wanted: Order) -> Layout | None:
    """The layout in which a kernel writes a result as F8 itself, to be used in the order ``wanted``.

    Row-major as the result would be, or in Left panels, the last dimension's shards padded to whole panels. None where
    neither can be: the result must be row-major, not linear, all its shards a multiple of 4 wide.
    """
    found = _resolved(shape, layout)
    if found is None or not shape:
        return None
    split = None if found.splits is None else found.splits[-1]
    widths = (found.padded_shape[-1],) if split is None else tuple({split.narrow, split.wide})
    if any(width % 4 for width in widths):
        return None
    if wanted == ROW_MAJOR:
        return layout
    if len(shape) < 2 or not (wanted == LEFT or share_micro_panels(LEFT, wanted, precision)):
        return None
    written = with_order(layout, LEFT)
    if any(width % _PANEL for width in widths):
        written = _whole_panels(written, len(shape))
    return None if layout_failure(shape, written) is not None else written


def _whole_panels(layout: Layout, rank: int) -> Layout:
    tiling = layout.tiling
    position, axis = last_axis(tiling, rank)
    padded = replace(axis, shard_padding_multiple=max(axis.shard_padding_multiple, _PANEL), padding=ZERO)
    axes = replaced(tiling.axes, position, padded)
    return Layout(layout.order, Tiling(tiling.tile_count, tiling.replicas, axes), layout.memory_class)


def has_whole_rows(shape: Shape, layout: Layout) -> bool:
    """Whether every axis divides a dimension and the last dimension is neither divided nor padded."""
    last = len(shape) - 1
    for axis in layout.tiling.axes:
        dimension = dimension_of(axis, len(shape))
        if dimension is None:
            return False
        if dimension != last:
            continue
        if axis.partitions != 1 or shape[last] % axis.padding_multiple or shape[last] % axis.shard_padding_multiple:
            return False
    return True


STATISTICS: Final = F32
"""Precision of statistics."""


AT_CONSUMER: Final = "F8 at consumer"
AT_SOURCE: Final = "F8 at source"

_OPERANDS: Final = {"Gelu": 1, "BiasGelu": 2, "LayerNorm": 3}


class Run(NamedTuple):
    """One way through a region: its steps, the values it made, the candidates it looked at."""

    steps: list[Step]
    new_values: list[Value]
    candidates: list[Candidate]


def fuse_casts(region: FusedRegion, found: list[Candidate]) -> list[Step] | None:
    """Rewrite a region the cheaper way; None where no way drops anything.

    ``region`` itself is left as it is, but for its values: those of the way taken are added.
    """
    casts = [position for position, step in region.kernels(("Cast",)) if _is_to_f8(region, step)]
    places = [place for place in (_find(region, position) for position in casts) if place is not None]
    if not places:
        return None
    moved = [place.is_moved for place in places]
    runs = [_run(region, casts, False, moved)]
    if any(moved):
        runs.append(_run(region, casts, True, moved))
    best: Run | None = None
    lowest = 0
    for run in runs:
        if not any(candidate.pays for candidate in run.candidates):
            continue
        cycles = region.prices.total(run.steps, [*region.values, *run.new_values])
        if isinstance(cycles, Unavailable) or (best is not None and cycles >= lowest):
            continue
        best, lowest = run, cycles
    looked_at: dict[Candidate, Candidate] = {}
    for run in runs:
        for one in run.candidates:
            if run is best or one not in looked_at:
                looked_at[one] = one._replace(made=run is best and one.pays)
    found.extend(looked_at.values())
    if best is None:
        return None
    region.values.extend(best.new_values)
    return best.steps


def _is_to_f8(region: FusedRegion, step: Kernel) -> bool:
    if step.aliases or len(step.results) != 1:
        return False
    source, result = region.values[step.inputs[0]], region.values[step.results[0]]
    return source.precision.kind is PrecisionKind.F16 and result.precision.is_f8


def _run(region: FusedRegion, casts: list[int], at_source: bool, moved: list[bool]) -> Run:
    base = len(region.values)
    copy = region.copy()
    found: list[Candidate] = []
    for position in casts:
        place = _find(copy, position)
        if place is not None:
            moved.append(place.is_moved)
            if place.is_moved and at_source:
                _write_at_source(copy, place, found)
            else:
                _write_at_consumer(copy, place, found)
    return Run(copy.finished(), copy.values[base:], found)


class _Place(NamedTuple):
    """A Cast with the kernel whose result it casts."""

    position: int
    cast: Kernel
    chain: Chain
    producer: Kernel
    is_moved: bool


def _find(region: FusedRegion, position: int) -> _Place | None:
    """The kernel behind a Cast and its plain copies, where nothing else reads what lies between or is in the way."""
    values, cast = region.values, region.steps[position]
    assert isinstance(cast, Kernel)
    chain = region.walk_back(cast.inputs[0], position)
    producer = None if chain is None else region.steps[chain.maker]
    if chain is None or not isinstance(producer, Kernel):
        return None
    if len(producer.inputs) != _OPERANDS.get(producer.kernel):
        return None
    between = [region.steps[copy].results[0] for copy in chain.copies]
    if not all(map(region.used_once, (chain.value, *between))):
        return None
    is_moved = not same_storage(values[cast.inputs[0]], values[chain.value])
    if is_moved and not same_storage(values[producer.inputs[0]], values[chain.value]):
        return None
    groups = {values[value].storage_group for value in (*producer.inputs, *between)}
    if not region.is_clear(chain.maker, position, chain.copies, groups):
        return None
    return _Place(position, cast, chain, producer, is_moved)


def _layout_of(region: FusedRegion, written: int, cast: Kernel) -> Layout | None:
    value, result = region.values[written], region.values[cast.results[0]]
    return f8_layout(value.shape, value.layout, result.precision, result.layout.order)


def _write_at_source(region: FusedRegion, place: _Place, found: list[Candidate]) -> None:
    """The kernel stays and writes F8; the Cast becomes a copy of that, and the copies between go."""
    _, cast, chain, producer, _ = place
    made = region.values[chain.value]
    result = region.values[cast.results[0]]
    layout = _layout_of(region, chain.value, cast)
    if layout is None:
        return
    written = region.new_value(made.shape, result.precision, layout, made)
    kernel = Kernel(producer.source, producer.kernel, producer.inputs, (written,))
    copy = Copy(cast.source, (written,), cast.results, policy=DIRECT)
    before = (producer, *[region.steps[position] for position in chain.copies], cast)
    candidate = Candidate(AT_SOURCE, producer.source, cast.source, region.price(before), region.price((kernel, copy)))
    found.append(candidate)
    if not candidate.pays:
        del region.values[written:]
        return
    region.replace(chain.maker, kernel)
    region.replace(place.position, copy)
    region.drop(*chain.copies)


def _write_at_consumer(region: FusedRegion, place: _Place, found: list[Candidate]) -> None:
    """The kernel goes to the Cast's place; moved, it reads what the copies between bring it of its first operand."""
    position, cast, chain, producer, is_moved = place
    written = region.values[cast.inputs[0] if is_moved else chain.value]
    result = region.values[cast.results[0]]
    layout = _layout_of(region, written.id, cast)
    if layout is None or result.owners != written.owners:
        return
    if not same_format(result, written.shape, result.precision, layout):
        return
    base = len(region.values)
    inputs = producer.inputs
    copies: tuple[Copy, ...] = ()
    if is_moved:
        brought = _bring_operands(region, producer, written)
        if brought is None:
            return
        copies = brought[1]
        inputs = (cast.inputs[0], *brought[0])
    kernel = Kernel(producer.source, producer.kernel, inputs, cast.results)
    after = region.price((kernel, *copies))
    candidate = Candidate(AT_CONSUMER, producer.source, cast.source, region.price((producer, cast)), after)
    found.append(candidate)
    if not candidate.pays:
        del region.values[base:]
        return
    region.replace(position, kernel)
    region.add_before(position, copies)
    region.drop(chain.maker)
    if is_moved:
        nearest = region.steps[chain.copies[0]]
        assert isinstance(nearest, Copy)
        moved = Copy(nearest.source, producer.inputs[:1], nearest.results, nearest.mapping, nearest.policy)
        region.replace(chain.copies[0], moved)
    else:
        region.drop(*chain.copies)


def _bring_operands(
    region: FusedRegion, producer: Kernel, written: Value
) -> tuple[tuple[int, ...], tuple[Copy, ...]] | None:
    """The operands after the first where the moved kernel runs, and the copies that bring them; None: refused."""
    if producer.kernel == "LayerNorm" and not has_whole_rows(written.shape, written.layout):
        return None
    base = len(region.values)
    operands: list[int] = []
    copies: list[Copy] = []
    for number in producer.inputs[1:]:
        own = region.values[number]
        try:
            tiling = broadcast(written.layout.tiling, written.shape, own.shape)
        except RefusedError:
            del region.values[base:]
            return None
        layout = Layout(own.layout.order, tiling, own.layout.memory_class)
        if own.owners == written.owners and same_format(own, own.shape, own.precision, layout):
            operands.append(number)
            continue
        copy = region.new_value(own.shape, own.precision, layout, own, written.owners)
        copies.append(Copy(producer.source, (number,), (copy,), policy=DIRECT))
        operands.append(copy)
    return tuple(operands), tuple(copies)
