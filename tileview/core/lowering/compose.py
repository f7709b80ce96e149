"""Copy composition: a copy of a copy becomes one copy from the first's source, where nothing else reads what lies
between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from tileview.core.lowering.pointwise import view_shape
from tileview.core.lowering.sheet import AUTOMATIC, DIRECT, STAGED
from tileview.core.lowering.valuetypes import ValueType
from tileview.core.memory.scratch import share_micro_panels
from tileview.model.program import IDENTITY, AxisView, Copy, Mapping, Repeat, Step
from tileview.model.tensor import Shape

_REMEMBERED = 1 << 16


@dataclass(frozen=True, slots=True)
class Merged:
    """The copy that two copies become."""

    mapping: Mapping
    policy: str


def merge_copies(
    first: Copy,
    second: Copy,
    source: ValueType,
    between: ValueType,
    destination: ValueType,
) -> Merged | None:
    """What two copies in a row become, None where they must stay two.

    They stay two where precisions differ, where the second replicates what the first rearranged, where their mappings
    do not compose, and where their policies clash.
    """
    if source.precision != destination.precision:
        return None
    replicates = destination.layout.tiling.replicas > between.layout.tiling.replicas
    if replicates and not _only_exchanges(first, source, between):
        return None
    policy = _merged_policy(first.policy, second.policy)
    if policy is None:
        return None
    mapping = compose_mappings(first.mapping, second.mapping, source.shape, between.shape, destination.shape)
    if mapping is None:
        return None
    if policy == DIRECT and (mapping.view is not None or source.layout.order != destination.layout.order):
        return None
    return Merged(mapping, policy)


def _only_exchanges(copy: Copy, source: ValueType, destination: ValueType) -> bool:
    """No view, and the element order stays, or changes within micro panels (which F32 has none of)."""
    if copy.mapping.view is not None:
        return False
    a, b = source.layout.order, destination.layout.order
    if a == b:
        return True
    return share_micro_panels(a, b, source.precision)


def _merged_policy(a: str, b: str) -> str | None:
    """Staging absorbs any policy, Automatic yields to any; two others must be equal."""
    if STAGED in (a, b):
        return STAGED
    if a in (AUTOMATIC, b):
        return b
    return a if b == AUTOMATIC else None


def _offsets(mapping: Mapping, rank: int) -> tuple[int, ...]:
    """Window offsets on every axis, missing ones 0."""
    offsets = mapping.offsets[:rank]
    return offsets + (0,) * (rank - len(offsets))


def _viewed(shape: Shape, view: AxisView | None) -> Shape | None:
    return shape if view is None else view_shape(shape, view)


def _fits(offsets: tuple[int, ...], extents: Shape, shape: Shape) -> bool:
    """Whether a window lies inside a shape on every axis."""
    return len(extents) == len(shape) and all(
        offset + extent <= whole for offset, extent, whole in zip(offsets, extents, shape, strict=True)
    )


def _compose_plain(source: Shape, between: Shape, destination: Shape) -> Mapping | None:
    """Two copies without window or view: the first must not pad, the second only what is all of the source."""
    if source == between and len(between) == len(destination):
        return IDENTITY
    none = (0,) * len(between)
    return IDENTITY if _fits(none, between, source) and _fits(none, destination, between) else None


def compose_mappings(a: Mapping, b: Mapping, source: Shape, between: Shape, destination: Shape) -> Mapping | None:
    """The mapping of destination to source coordinates that ``b`` (to between) and then ``a`` (to source) make.

    A mapping adds window offsets to a destination coordinate and then undoes its view. None where no one mapping does
    what the two do: ``b`` reverses a view, or has one after a reversed one; ``a`` reads beyond its source; ``b`` pads
    what is only a part of the source; the views do not chain.
    """
    if a.is_identity and b.is_identity:
        return _compose_plain(source, between, destination)
    if b.view is not None and (b.view.reversed or (a.view is not None and a.view.reversed)):
        return None
    seen = _viewed(source, a.view)
    seen_between = _viewed(between, b.view)
    if seen is None or seen_between is None or len(seen_between) != len(destination):
        return None
    a_offsets, b_offsets = _offsets(a, len(between)), _offsets(b, len(destination))
    if not _fits(a_offsets, between, seen):
        return None
    if not _fits(b_offsets, destination, seen_between) and (between != seen or any(a_offsets)):
        return None
    view, offsets = a.view, list(a_offsets)
    if b.view is not None:
        split, merge = b.view.split_axis, b.view.merge_axis
        if a.view is None:
            if source[split] != between[split]:
                return None
            offsets[merge] *= b.view.factor
            view = b.view
        else:
            if (a.view.split_axis, a.view.merge_axis) != (split, merge) or offsets[split] or offsets[merge]:
                return None
            if seen[split] != between[split]:
                return None
            view = AxisView(split, merge, a.view.factor * b.view.factor, False)
    combined = tuple(x + y for x, y in zip(offsets, b_offsets, strict=True))
    if view is None and not any(combined):
        return IDENTITY
    return Mapping(combined if any(combined) else (), view)


class _Joined(NamedTuple):
    """What two copies become, None where they stay two; both are kept, so that their ids stay theirs."""

    first: Copy
    second: Copy
    types: tuple[ValueType, ValueType, ValueType]
    made: Copy | None


class Composer:
    """Composes the copies of programs; remembers what pairs of copies become."""

    def __init__(self) -> None:
        self._merged: dict[tuple[object, ...], tuple[Merged | None, Mapping, Mapping]] = {}
        self._joined: dict[tuple[int, int], _Joined] = {}

    def compose(self, steps: Sequence[Step], outputs: Sequence[int], types: Sequence[ValueType]) -> tuple[Step, ...]:
        """The steps with copies composed, bodies first.

        Parameters
        ----------
        outputs : sequence of int
            The program's outputs, which count as uses.
        types : sequence of ValueType
            The type of every value by number. Values keep their numbers; some are no longer mentioned.
        """
        if len(self._joined) > _REMEMBERED:
            self._joined.clear()
            self._merged.clear()
        reads: list[Iterable[int]] = [outputs]
        _collect_reads(steps, reads)
        every = np.fromiter(chain.from_iterable(reads), np.int64)
        return self._region(steps, np.bincount(every, minlength=len(types)).tolist(), types)

    def _region(self, steps: Sequence[Step], uses: Sequence[int], types: Sequence[ValueType]) -> tuple[Step, ...]:
        kept: list[Step | None] = []
        append = kept.append
        window: dict[int, int] = {}  # result of a Copy seen since the last other step → where it stands in kept
        for step in steps:
            if type(step) is not Copy:
                if window:
                    window = {}
                append(self._with_body(step, uses, types) if type(step) is Repeat else step)
                continue
            merged = step
            while (read := merged.inputs[0]) in window and uses[read] == 1:
                position = window[read]
                first = kept[position]
                assert type(first) is Copy
                joined = self._join(first, merged, types)
                if joined is None:
                    break
                kept[position] = None
                del window[read]
                merged = joined
            window[merged.results[0]] = len(kept)
            append(merged)
        return tuple([step for step in kept if step is not None])

    def _with_body(self, step: Repeat, uses: Sequence[int], types: Sequence[ValueType]) -> Repeat:
        body = self._region(step.body, uses, types)
        return replace(step, body=body)

    def _join(self, first: Copy, second: Copy, types: Sequence[ValueType]) -> Copy | None:
        """What two copies become; the answer hangs on the two step objects, which earlier runs made too."""
        between = types[second.inputs[0]]
        key = (id(first), id(second))
        known = self._joined.get(key)
        if known is not None:
            source, middle, destination = known.types
            if middle is between and source is types[first.inputs[0]] and destination is types[second.results[0]]:
                return known.made
        own = (types[first.inputs[0]], between, types[second.results[0]])
        rule = (*own, id(first.mapping), id(second.mapping), first.policy, second.policy)
        found = self._merged.get(rule)
        if found is None:  # the mappings are kept, so that their ids stay theirs
            found = self._merged[rule] = (merge_copies(first, second, *own), first.mapping, second.mapping)
        merged, joined = found[0], None
        if merged is not None:
            joined = Copy(second.source, first.inputs, second.results, merged.mapping, merged.policy)
        self._joined[key] = _Joined(first, second, own, joined)
        return joined


def _collect_reads(steps: Sequence[Step], into: list[Iterable[int]]) -> None:
    """What every step reads; a Repeat reads its members, and its body's yields are uses."""
    into += [step.inputs for step in steps]
    for step in [step for step in steps if type(step) is Repeat]:
        assert isinstance(step, Repeat)
        into += [*step.iterated, step.yields]
        _collect_reads(step.body, into)
