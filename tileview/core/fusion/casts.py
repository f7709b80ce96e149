"""Results written as F8 by the kernel that makes them: at its own place, or at the place of the Cast.

A region is rewritten twice, once with every moved kernel at its consumer, once with it at its source; the cheaper
region stays, at equal prices that of the consumers.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tileview.core.fusion.formats import f8_layout, has_whole_rows
from tileview.core.fusion.region import DIRECT, Candidate, Chain, FusedRegion, same_format, same_storage
from tileview.core.lowering.tilings import broadcast
from tileview.core.lowering.valuetypes import RefusedError
from tileview.model.program import Copy, Kernel, Step, Value
from tileview.model.sizes import Unavailable
from tileview.model.tensor import Layout, PrecisionKind

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
