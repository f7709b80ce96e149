"""Why a program does not fit (or how narrowly it does): figures that add up, causes ranked, a next step.

The verdict says which limit is exceeded and where. The diagnosis takes that place apart: what the tile holds there,
which of it another choice would shrink, what grew against a baseline, which layouts are invalid and what would
resolve. The ranking follows the cause, not the victim: an allocation that another alternative of its operation would
shrink most stands above one that is merely large, and the allocation that happened to come last has no special place
at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.loads import (
    LoadChange,
    PeakPlace,
    TileLoad,
    compare_loads,
    interleaved_peak_place,
    standard_peak_place,
    tile_load,
    total_peak_place,
)
from tileview.analysis.shrink import Shrinkage
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure
from tileview.model.recipe import Recipe
from tileview.model.sizes import Size, Unavailable, exact_text, size_text
from tileview.model.tensor import MemoryClass, Shape
from tileview.model.timeline import Cause, Origin, Timeline, Verdict

PLACEMENT_NOTE = (
    "The estimate is made before addresses are chosen: placement may still fail where the memory left is in pieces."
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One term of a sum, or its result. ``bytes`` may be negative."""

    label: str
    bytes: Size


@dataclass(frozen=True, slots=True)
class Contribution:
    """One thing on the tile at the place of the verdict.

    ``root`` is an index into the timeline's values, None for scratch. ``operation`` makes it (None for inputs).
    ``smaller_by`` is what the choice ``choice`` = (operation, alternative) would take off it at least, 0 where no
    alternative is known to. ``growth`` is the difference from the baseline in bytes, None without one.
    """

    root: int | None
    name: str
    memory_class: MemoryClass
    bytes: Size
    operation: int | None
    resident: bool
    smaller_by: int = 0
    choice: tuple[int, int] | None = None
    growth: int | None = None
    group: str = ""
    """The name its memory is counted under: one for all members of a parameter sequence."""


@dataclass(frozen=True, slots=True)
class ContributionGroup:
    """Contributions of one group, class and maker; ``bytes`` and ``smaller_by`` are sums over the ``count`` members."""

    name: str
    memory_class: MemoryClass
    bytes: int
    count: int
    operation: int | None
    resident: bool
    smaller_by: int
    choice: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Lever:
    """The best single swap of an operation: change of the total peak, and whether the program then fits."""

    operation: int
    alternative: int
    delta_total: int
    fits: bool


@dataclass(frozen=True, slots=True)
class BadLayout:
    """A value without a valid layout: the rule that it breaks, and what would resolve."""

    value: int
    name: str
    shape: Shape
    kind: LayoutErrorKind | None
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer. ``figures``: terms, then their sum, then what it is measured against and the difference.

    ``contributions`` are ranked (see the module); their bytes add up to ``load``. ``details`` are further sentences,
    ``next_step`` one more that says what to do.
    """

    cause: Cause
    fits: bool
    headline: str
    figures: tuple[Figure, ...]
    details: tuple[str, ...]
    next_step: str
    place: PeakPlace | None = None
    load: TileLoad | None = None
    contributions: tuple[Contribution, ...] = ()
    changes: tuple[LoadChange, ...] = ()
    """Against the baseline, largest growth first; empty without one."""
    levers: tuple[Lever, ...] = ()
    """Best first; empty as long as no alternatives were evaluated."""
    bad_layouts: tuple[BadLayout, ...] = ()


def diagnose(
    verdict: Verdict,
    timeline: Timeline | None,
    recipe: Recipe | None = None,
    baseline: Timeline | None = None,
    results: Mapping[tuple[int, int], AlternativeResult] | None = None,
) -> Diagnosis:
    """Take a verdict apart.

    Parameters
    ----------
    verdict, timeline
        Of the estimate; no timeline where the recipe cannot be lowered.
    recipe : Recipe or None
        The recipe behind the estimate, where there is one: its alternatives say what could be smaller.
    baseline : Timeline or None
        What growth is measured against.
    results : mapping or None
        (operation, alternative) → its evaluation, as far as known: gives the levers.
    """
    levers = _levers(results or {})
    if timeline is None:
        return Diagnosis(
            verdict.cause,
            verdict.fits,
            verdict.text,
            (),
            (),
            _next_after_refusal(verdict, recipe),
            levers=levers,
        )
    place = verdict_place(verdict, timeline)
    load = None if place is None else tile_load(timeline, place.step, place.tile)
    contributions = () if load is None else _contributions(timeline, load, recipe)
    changes: tuple[LoadChange, ...] = ()
    if baseline is not None and load is not None:
        changes = _growth(timeline, load, baseline)
        contributions = _with_growth(contributions, changes)
    bad = bad_layouts(timeline)
    return Diagnosis(
        cause=verdict.cause,
        fits=verdict.fits,
        headline=verdict.text,
        figures=_figures(verdict, timeline, load),
        details=_details(verdict, timeline, load, contributions, changes, bad),
        next_step=_next_step(verdict, timeline, contributions, levers, bad, recipe),
        place=place,
        load=load,
        contributions=contributions,
        changes=changes,
        levers=levers,
        bad_layouts=bad,
    )


def verdict_place(verdict: Verdict, timeline: Timeline) -> PeakPlace | None:
    """Step and tile that the verdict speaks of; the total peak's where it names none."""
    if (
        verdict.step is not None
        and verdict.tile is not None
        and verdict.step < len(timeline.steps)
        and verdict.tile < timeline.tile_count
    ):
        return PeakPlace(verdict.step, verdict.tile)
    if verdict.cause is Cause.INTERLEAVED:
        return interleaved_peak_place(timeline)
    if verdict.cause is Cause.CONTIGUOUS:
        return standard_peak_place(timeline)
    return total_peak_place(timeline)


# -- parts ----------------------------------------------------------------------------------------------------------


def _contributions(timeline: Timeline, load: TileLoad, recipe: Recipe | None) -> tuple[Contribution, ...]:
    shrinkage = Shrinkage(timeline, recipe)
    found = []
    for item in load.items:
        if item.root is None:
            source = timeline.steps[load.step].source
            found.append(Contribution(None, item.name, item.memory_class, item.bytes, source, False))
            continue
        best = None if isinstance(item.bytes, Unavailable) else shrinkage.best(item.root, load.tile)
        found.append(
            Contribution(
                item.root,
                item.name,
                item.memory_class,
                item.bytes,
                shrinkage.maker(item.root),
                item.root in timeline.parameters,
                0 if best is None else best.bytes,
                None if best is None else (best.operation, best.alternative),
                group=timeline.values[item.root].group,
            )
        )
    return tuple(sorted(found, key=_rank))


def _rank(item: Contribution) -> tuple[int, int, int]:
    """What shrinks most first, then what is largest; ties in the order of the allocations."""
    size = -1 if isinstance(item.bytes, Unavailable) else item.bytes
    return (-item.smaller_by, -size, -1 if item.root is None else item.root)


def _growth(timeline: Timeline, load: TileLoad, baseline: Timeline) -> tuple[LoadChange, ...]:
    """The load against the baseline's at the counterpart of its step (its own peak where there is none), same tile."""
    step = counterpart_step(timeline, load.step, baseline)
    if step is None:
        place = total_peak_place(baseline)
        step = None if place is None else place.step
    if step is None or load.tile >= baseline.tile_count:
        return ()
    changes = compare_loads(baseline, tile_load(baseline, step, load.tile), timeline, load)
    return tuple(sorted(changes, key=lambda change: -(change.delta or 0)))


def counterpart_step(timeline: Timeline, step: int, other: Timeline) -> int | None:
    """The step of another timeline that does the same: equal source and kind, the same one of them in order."""
    wanted = (timeline.steps[step].source, timeline.steps[step].kind)
    ordinal = sum((earlier.source, earlier.kind) == wanted for earlier in timeline.steps[:step])
    for candidate in other.steps:
        if (candidate.source, candidate.kind) == wanted:
            if ordinal == 0:
                return candidate.index
            ordinal -= 1
    return None


def _with_growth(items: tuple[Contribution, ...], changes: Sequence[LoadChange]) -> tuple[Contribution, ...]:
    deltas = {(change.root_b, change.memory_class): change.delta for change in changes if change.b is not None}
    return tuple(replace(item, growth=deltas.get((item.root, item.memory_class))) for item in items)


def grouped(contributions: Sequence[Contribution]) -> tuple[ContributionGroup, ...]:
    """The contributions of known size with the members of a parameter sequence taken together, in the same ranking."""
    groups: dict[tuple[object, ...], ContributionGroup] = {}
    for item in contributions:
        if isinstance(item.bytes, Unavailable):
            continue
        name = item.group if item.resident and item.group else item.name
        alone = None if item.resident else item.root
        key = (name, item.memory_class, item.operation, item.resident, alone, item.choice)
        known = groups.get(key)
        groups[key] = ContributionGroup(
            name,
            item.memory_class,
            item.bytes + (0 if known is None else known.bytes),
            1 + (0 if known is None else known.count),
            item.operation,
            item.resident,
            item.smaller_by + (0 if known is None else known.smaller_by),
            item.choice,
        )
    return tuple(sorted(groups.values(), key=lambda group: (-group.smaller_by, -group.bytes)))


def _levers(results: Mapping[tuple[int, int], AlternativeResult]) -> tuple[Lever, ...]:
    best: dict[int, AlternativeResult] = {}
    for result in results.values():
        if not result.ok or result.in_force or result.delta_total is None:
            continue
        known = best.get(result.operation)
        if known is None or _lever_key(result) < _lever_key(known):
            best[result.operation] = result
    return tuple(
        Lever(item.operation, item.alternative, item.delta_total or 0, item.fits)
        for item in sorted(best.values(), key=_lever_key)
        if item.fits or (item.delta_total or 0) < 0
    )


def _lever_key(result: AlternativeResult) -> tuple[bool, int, int, int]:
    return (not result.fits, result.delta_total or 0, result.operation, result.alternative)


def bad_layouts(timeline: Timeline) -> tuple[BadLayout, ...]:
    """Every value whose layout does not resolve, in the order of the values, with what would."""
    found = []
    for index, value in enumerate(timeline.values):
        if value.layout_error is None:
            continue
        failure = None if value.layout is None else layout_failure(value.shape, value.layout)
        kind = None if failure is None else failure.kind
        found.append(BadLayout(index, value.name, value.shape, kind, value.layout_error, remedy(timeline, index)))
    return tuple(found)


def remedy(timeline: Timeline, index: int) -> str:
    """What would make a layout that does not resolve resolve, in a sentence; from the same figures as the failure."""
    value = timeline.values[index]
    layout = value.layout
    if layout is None:
        return "The layout's text does not parse."
    tiling = layout.tiling
    elements = 1
    for extent in value.shape:
        elements *= extent
    if tiling.is_linear and tiling.axes[0].block_size > 0:
        grain = tiling.axes[0].block_size
        grains = -(-elements // grain)
        if grains and grains < tiling.tile_count:
            return f"At most {grains:,} owners can hold {elements:,} elements in grains of {grain}."
        if elements and elements % grain:
            return f"A grain that divides {elements:,} elements, or zero padding."
    failure = layout_failure(value.shape, layout)
    return "" if failure is None else _AXIS_REMEDIES.get(failure.kind, "")


_AXIS_REMEDIES = {
    LayoutErrorKind.EMPTY_TILE_GROUP: "At least one owner and one replica.",
    LayoutErrorKind.EMPTY_AXIS_TILING: "Partitions, blocks, multiples, groups and strides of at least 1.",
    LayoutErrorKind.TILE_COUNT_OVERFLOW: "Fewer partitions.",
    LayoutErrorKind.AXIS_OUT_OF_RANGE: "An axis that the shape has.",
    LayoutErrorKind.DUPLICATE_AXIS: "One axis per dimension.",
    LayoutErrorKind.INVALID_PADDING_GROUPS: "Padding groups that divide both the partitions and the extent.",
    LayoutErrorKind.INDIVISIBLE_AXIS: "A multiple and a block that divide the extent, or zero padding.",
    LayoutErrorKind.INDIVISIBLE_SHARD: "A shard multiple that divides every part, or zero padding.",
    LayoutErrorKind.TILE_COUNT_MISMATCH: "As many owners as replicas times partitions.",
    LayoutErrorKind.INVALID_TILE_MAPPING: "Strides that give every combination of parts to equally many owners.",
}


# -- words ----------------------------------------------------------------------------------------------------------


def _figures(verdict: Verdict, timeline: Timeline, load: TileLoad | None) -> tuple[Figure, ...]:
    """Terms of the decisive sum; known part and unavailable count where sizes are missing."""
    cause = verdict.cause
    if cause in (Cause.INVALID_LAYOUT, Cause.UNAVAILABLE):
        known = 0 if load is None else load.total
        return (
            Figure("known on the worst tile", known),
            Figure("reserve", timeline.reserve_bytes),
            Figure("known, with reserve", known + timeline.reserve_bytes),
            Figure("budget", timeline.budget_bytes),
        )
    needed, available, short = verdict.needed_bytes, verdict.available_bytes, verdict.short_bytes
    last = Figure("over by" if not verdict.fits else "spare", _magnitude(short))
    if cause is Cause.INTERLEAVED:
        return (Figure("interleaved peak", needed), Figure("interleaved region", available), last)
    if cause is Cause.CONTIGUOUS:
        return (Figure("largest standard allocation", needed), Figure("largest contiguous range", available), last)
    terms = []
    if load is not None and load.total == timeline.peak.total:
        terms = [Figure("standard", load.standard), Figure("interleaved", load.interleaved)]
    return (
        *terms,
        Figure("total peak", timeline.peak.total),
        Figure("reserve", timeline.reserve_bytes),
        Figure("needed", needed),
        Figure("budget", available),
        last,
    )


def _magnitude(size: Size) -> Size:
    return size if isinstance(size, Unavailable) else abs(size)


def _details(
    verdict: Verdict,
    timeline: Timeline,
    load: TileLoad | None,
    contributions: Sequence[Contribution],
    changes: Sequence[LoadChange],
    bad: Sequence[BadLayout],
) -> tuple[str, ...]:
    details = []
    for kind, count, first in _bad_by_kind(bad):
        more = f"{count} values" if count > 1 else "1 value"
        details.append(f"{more} break {kind}, the first is {first.name}: {first.text}. {first.remedy}".rstrip())
    if load is not None and load.items:
        details.append(_made_of(load, contributions))
        reducible = [item for item in contributions if item.smaller_by]
        if reducible and not verdict.fits:
            item = reducible[0]
            assert item.choice is not None
            details.append(
                f"Most could be had from {item.name}: alternative {item.choice[1]} of operation {item.choice[0]} would "
                f"make it {exact_text(item.smaller_by)} smaller."
            )
    if load is not None and load.unexplained:
        details.append(f"The file states {exact_text(load.unexplained)} more there than its own allocations hold.")
    grown = [change for change in changes if change.delta is not None and change.delta > 0]
    if grown:
        what = ", ".join(f"{change.name} by {exact_text(change.delta or 0)}" for change in grown[:3])
        net = sum(change.delta or 0 for change in changes)
        change_text = f"{exact_text(abs(net))} {'more' if net >= 0 else 'less'}"
        details.append(f"Against the baseline the tile holds {change_text}; grown: {what}.")
    if verdict.at_least:
        details.append("Operations that TileView does not know are missing in every sum: the figures are lower bounds.")
    if verdict.fits:
        details.append(PLACEMENT_NOTE)
    return tuple(details)


def _bad_by_kind(bad: Sequence[BadLayout]) -> list[tuple[str, int, BadLayout]]:
    kinds: dict[str, list[BadLayout]] = {}
    for item in bad:
        kinds.setdefault("the rules" if item.kind is None else item.kind.value, []).append(item)
    return [(kind, len(items), items[0]) for kind, items in kinds.items()]


def _made_of(load: TileLoad, contributions: Sequence[Contribution]) -> str:
    """``Tile 212 then holds 568,312 B: 12 resident 300,000 B, 5 made by operations 268,312 B; largest …``."""
    sizes = [(item, item.bytes) for item in contributions if not isinstance(item.bytes, Unavailable)]
    resident = [size for item, size in sizes if item.resident]
    scratch = sum(size for item, size in sizes if item.root is None)
    rest = [size for item, size in sizes if not item.resident and item.root is not None]
    parts = []
    if resident:
        parts.append(f"{exact_text(sum(resident))} in {_counted(len(resident), 'resident parameter')}")
    if rest:
        parts.append(f"{exact_text(sum(rest))} in {_counted(len(rest), 'other allocation')}")
    if scratch:
        parts.append(f"{exact_text(scratch)} of scratch")
    largest = sorted(sizes, key=lambda pair: -pair[1])[:3]
    names = ", ".join(f"{item.name} {exact_text(size)}" for item, size in largest)
    text = f"Tile {load.tile} holds {exact_text(load.total)} at step {load.step}: {', '.join(parts) or 'nothing known'}"
    return f"{text}; largest {names}." if names else f"{text}."


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _next_step(
    verdict: Verdict,
    timeline: Timeline,
    contributions: Sequence[Contribution],
    levers: Sequence[Lever],
    bad: Sequence[BadLayout],
    recipe: Recipe | None,
) -> str:
    cause = verdict.cause
    if cause is Cause.FITS:
        return f"Nothing has to be done; {size_text(_magnitude(verdict.short_bytes))} are spare."
    if cause is Cause.INVALID_LAYOUT:
        first = bad[0].remedy if bad else ""
        return f"Give these values layouts that resolve. {first}".strip()
    if cause is Cause.UNAVAILABLE:
        return "The sizes cannot be computed by TileView; the problems say which operation or precision is not known."
    if levers and levers[0].fits:
        lever = levers[0]
        return f"Swap operation {lever.operation} to alternative {lever.alternative}: it then fits."
    if levers:
        lever = levers[0]
        return (
            f"No single swap is enough; the best, alternative {lever.alternative} of operation {lever.operation}, "
            f"takes {exact_text(-lever.delta_total)} off the total peak. Search for several swaps."
        )
    choice = next((item for item in contributions if item.choice is not None), None)
    if choice is not None and choice.choice is not None:
        return f"Try alternative {choice.choice[1]} of operation {choice.choice[0]}, or search for a fix."
    if recipe is not None:
        return "Search for a fix among the alternatives."
    if timeline.origin is Origin.FILE:
        return "Open the recipe of the same compile: a timeline alone holds no alternatives."
    return "Give the compile more room: a smaller reserve, or fewer elements a tile."


def _next_after_refusal(verdict: Verdict, recipe: Recipe | None) -> str:
    operation = verdict.operation
    if operation is None or recipe is None:
        return "The recipe names a choice that cannot be carried out; see the reason."
    others = len(recipe.alternatives.get(operation, ())) - (recipe.in_force(operation) is not None)
    if others > 0:
        return f"Try another plan for operation {operation}: {_counted(others, 'alternative')} are in the file."
    return f"Operation {operation} has no other plan in this file; change what feeds it."
