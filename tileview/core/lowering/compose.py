"""Copy composition: a copy of a copy becomes one copy from the first's source, where nothing else reads what lies
between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tileview.core.lowering.sheet import AUTOMATIC, DIRECT, STAGED
from tileview.core.lowering.views import view_shape
from tileview.core.memory.scratch import share_micro_panels
from tileview.model.program import IDENTITY, AxisView, Copy, Mapping, Program, Repeat, Step
from tileview.model.tensor import Layout, Precision, Shape


@dataclass(frozen=True, slots=True)
class Merged:
    """The copy that two copies become."""

    mapping: Mapping
    policy: str


def merge_copies(
    first: Copy,
    second: Copy,
    source: tuple[Shape, Precision, Layout],
    between: tuple[Shape, Precision, Layout],
    destination: tuple[Shape, Precision, Layout],
) -> Merged | None:
    """What two copies in a row become, None where they must stay two.

    They stay two where precisions differ, where the second replicates what the first rearranged, where their mappings
    do not compose, and where their policies clash.
    """
    if source[1] != destination[1]:
        return None
    if destination[2].tiling.replicas > between[2].tiling.replicas and not _only_exchanges(first, source, between):
        return None
    policy = _merged_policy(first.policy, second.policy)
    if policy is None:
        return None
    mapping = compose_mappings(first.mapping, second.mapping, source[0], between[0], destination[0])
    if mapping is None:
        return None
    if policy == DIRECT and (mapping.view is not None or source[2].order != destination[2].order):
        return None
    return Merged(mapping, policy)


def _only_exchanges(
    copy: Copy, source: tuple[Shape, Precision, Layout], destination: tuple[Shape, Precision, Layout]
) -> bool:
    """No view, and the element order stays, or changes within micro panels (which F32 has none of)."""
    if copy.mapping.view is not None:
        return False
    a, b = source[2].order, destination[2].order
    if a == b:
        return True
    return share_micro_panels(a, b, source[1])


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


def compose_mappings(a: Mapping, b: Mapping, source: Shape, between: Shape, destination: Shape) -> Mapping | None:
    """The mapping of destination to source coordinates that ``b`` (to between) and then ``a`` (to source) make.

    A mapping adds window offsets to a destination coordinate and then undoes its view. None where no one mapping does
    what the two do: ``b`` reverses a view, or has one after a reversed one; ``a`` reads beyond its source; ``b`` pads
    what is only a part of the source; the views do not chain.
    """
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


class Composer:
    """Composes the copies of programs; remembers what pairs of copies become."""

    def __init__(self) -> None:
        self._known: dict[object, Merged | None] = {}

    def compose(self, program: Program) -> Program:
        """The program with copies composed, bodies first. Values keep their numbers; some are no longer mentioned."""
        steps = self._region(program, program.steps, program.outputs)
        return Program(program.tile_count, program.inputs, program.outputs, program.values, steps, program.unknown)

    def _region(self, program: Program, steps: Sequence[Step], outputs: Iterable[int]) -> tuple[Step, ...]:
        uses = Counter(outputs)
        for step in steps:
            uses.update(step.inputs)
            if isinstance(step, Repeat):
                for members in step.iterated:
                    uses.update(members)
        kept: list[Step | None] = []
        window: dict[int, int] = {}  # result of a Copy seen since the last other step → where it stands in kept
        for step in steps:
            if isinstance(step, Copy):
                merged = step
                while True:
                    position = window.get(merged.inputs[0])
                    if position is None or uses[merged.inputs[0]] != 1:
                        break
                    first = kept[position]
                    assert isinstance(first, Copy)
                    joined = self._join(program, first, merged)
                    if joined is None:
                        break
                    kept[position] = None
                    del window[merged.inputs[0]]
                    merged = joined
                window[merged.results[0]] = len(kept)
                kept.append(merged)
                continue
            window.clear()
            if isinstance(step, Repeat):
                body = self._region(program, step.body, step.yields)
                step = Repeat(
                    step.source,
                    step.count,
                    step.inputs,
                    step.results,
                    step.carried,
                    step.iterated,
                    step.arguments,
                    body,
                    step.yields,
                )
            kept.append(step)
        return tuple([step for step in kept if step is not None])

    def _join(self, program: Program, first: Copy, second: Copy) -> Copy | None:
        values = program.values
        types = tuple(
            (values[number].shape, values[number].precision, values[number].layout)
            for number in (first.inputs[0], second.inputs[0], second.results[0])
        )
        key = (types, first.mapping, second.mapping, first.policy, second.policy)
        if key in self._known:
            merged = self._known[key]
        else:
            merged = self._known[key] = merge_copies(first, second, *types)
        if merged is None:
            return None
        return Copy(second.source, first.inputs, second.results, merged.mapping, merged.policy)
