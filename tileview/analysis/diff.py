"""What differs between two files, of whatever kind: plans, homes, boundaries, budgets, peaks, allocations, steps.

A recipe is compared with a recipe plan by plan, and both by the timelines that are estimated from them; a timeline
has no plans, so with one of them only what a timeline holds is compared. Peaks are compared in the meaning of version
3 (exchange rows not included) whatever the versions of the files are, and the result says so. The recipes that a
search had tried before (``visited`` of a search state) are read when they are asked for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from tileview.analysis.fusions import agreement
from tileview.analysis.loads import (
    LoadChange,
    PeakPlace,
    compare_loads,
    interleaved_peak_place,
    match_by,
    standard_peak_place,
    tile_load,
    total_peak_place,
)
from tileview.core.cycles.prices import Price
from tileview.core.fusion.stand import Fusion
from tileview.errors import LoadError
from tileview.formats.check import FieldError, Fields
from tileview.formats.planjson import PlanReader
from tileview.formats.search_state import SearchState, read_choices
from tileview.model.graph import kind_name
from tileview.model.plan import Plan
from tileview.model.recipe import Recipe
from tileview.model.sizes import Size, Unavailable
from tileview.model.tensor import Format
from tileview.model.timeline import Origin, Timeline


def visited_recipe(state: SearchState, index: int) -> Recipe:
    """Entry ``index`` of the file's ``visited``: its plans and boundaries, with the file's graph, homes and
    alternatives.

    Raises
    ------
    LoadError
        Where the file has no such entry, or the entry is not a recipe.
    """
    entries = state.json().get("visited", [])
    place = f"visited[{index}]"
    if not 0 <= index < len(entries):
        found = f"{len(entries):,} of them" if entries else "none"
        raise LoadError(state.path, "visited", f"an entry {index}", found, "Entries are counted from 0.")
    try:
        fields = Fields(entries[index], place)
        reader = PlanReader(state.version)
        choices = read_choices(fields, reader, state.version, state.recipe.config.tile_count)
    except FieldError as error:
        raise error.at(state.path) from None
    return replace(
        state.recipe,
        plans=choices.plans,
        open_boundaries=choices.open_boundaries,
        requests=choices.requests,
        chip_tiles=choices.chip_tiles,
    )


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One side. ``recipe`` is None for a timeline; ``timeline`` None where the recipe cannot be lowered."""

    name: str
    recipe: Recipe | None
    timeline: Timeline | None
    refusal: str = ""
    """Why there is no timeline."""
    price: Price | None = None
    """The planner's cycles; a timeline alone has none."""
    fusion: Fusion | None = None
    """What came of a recipe's fusions."""


@dataclass(frozen=True, slots=True)
class PlanChange:
    """``a`` and ``b`` are the plans; ``alternative_…`` their index among A's alternatives, None if not among them."""

    operation: int
    kind: str
    a: Plan
    b: Plan
    alternative_a: int | None
    alternative_b: int | None


@dataclass(frozen=True, slots=True)
class HomeChange:
    """A graph input whose home differs; None where a side leaves it to be chosen."""

    value: int
    name: str
    a: Format | None
    b: Format | None


@dataclass(frozen=True, slots=True)
class BoundaryChange:
    """A result whose boundary is open on one side only."""

    value: int
    open_a: bool
    open_b: bool


@dataclass(frozen=True, slots=True)
class Number:
    """A figure of both sides; ``delta`` = b − a, None where one is unavailable or missing."""

    name: str
    a: Size | None
    b: Size | None

    @property
    def delta(self) -> int | None:
        if isinstance(self.a, int) and isinstance(self.b, int):
            return self.b - self.a
        return None


@dataclass(frozen=True, slots=True)
class PeakLoads:
    """The tile at each side's own peak: places, what it holds there, and the two lists matched."""

    peak: str
    place_a: PeakPlace
    place_b: PeakPlace
    total_a: int
    total_b: int
    changes: tuple[LoadChange, ...]
    """Only rows that differ; all their known deltas add up to ``total_b`` − ``total_a``."""


@dataclass(frozen=True, slots=True)
class StepChange:
    """A matched step whose usage differs, by index on either side; bytes are the largest total of a tile."""

    index_a: int
    index_b: int
    operation: int | None
    kind: str
    a: Size
    b: Size


@dataclass(frozen=True, slots=True)
class Unmatched:
    """What only one ``side`` (``a`` or ``b``) has; ``what`` is plan, input, value or step."""

    side: str
    what: str
    name: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The whole comparison; ``same`` where nothing differs that bears on memory or on the choices made."""

    a: DiffSide
    b: DiffSide
    plans: tuple[PlanChange, ...]
    homes: tuple[HomeChange, ...]
    boundaries: tuple[BoundaryChange, ...]
    budgets: tuple[Number, ...]
    peaks: tuple[Number, ...]
    counts: tuple[Number, ...]
    loads: tuple[PeakLoads, ...]
    steps: tuple[StepChange, ...]
    unmatched: tuple[Unmatched, ...]
    notes: tuple[str, ...]

    @property
    def same(self) -> bool:
        numbers = (*self.budgets, *self.peaks, *self.counts)
        return not (
            self.plans
            or self.homes
            or self.boundaries
            or self.steps
            or self.unmatched
            or any(number.a != number.b for number in numbers)
            or any(loads.changes for loads in self.loads)
        )


def diff(a: DiffSide, b: DiffSide) -> Difference:
    """Compare two sides."""
    unmatched: list[Unmatched] = []
    notes: list[str] = []
    plans: tuple[PlanChange, ...] = ()
    homes: tuple[HomeChange, ...] = ()
    boundaries: tuple[BoundaryChange, ...] = ()
    if a.recipe is not None and b.recipe is not None:
        plans = _plans(a.recipe, b.recipe, unmatched)
        homes = _homes(a.recipe, b.recipe, unmatched)
        boundaries = _boundaries(a.recipe, b.recipe)
        if a.recipe.graph != b.recipe.graph:
            notes.append("The two recipes are of different graphs: ids that agree need not mean the same operation.")
    elif a.recipe is not None or b.recipe is not None:
        notes.append("A timeline holds no plans, homes or boundaries: only what both sides hold is compared.")
    budgets: tuple[Number, ...] = ()
    peaks: tuple[Number, ...] = ()
    counts: tuple[Number, ...] = ()
    loads: tuple[PeakLoads, ...] = ()
    steps: tuple[StepChange, ...] = ()
    if a.timeline is not None and b.timeline is not None:
        budgets = _budgets(a.timeline, b.timeline)
        peaks = _peaks(a.timeline, b.timeline)
        counts = (*_counts(a.timeline, b.timeline), *_cycles(a.price, b.price))
        loads = _loads(a.timeline, b.timeline)
        steps = _steps(a.timeline, b.timeline, unmatched)
        _values(a.timeline, b.timeline, unmatched)
        notes.extend(_version_notes(a, b))
        notes.extend(_fusion_notes(a, b))
    for side in (a, b):
        if side.timeline is None:
            notes.append(f"{side.name} has no timeline: {side.refusal}")
    return Difference(
        a, b, plans, homes, boundaries, budgets, peaks, counts, loads, steps, tuple(unmatched), tuple(notes)
    )


# -- recipes --------------------------------------------------------------------------------------------------------


def _plans(a: Recipe, b: Recipe, unmatched: list[Unmatched]) -> tuple[PlanChange, ...]:
    kinds = {node.id: kind_name(node.kind) for node, _ in (*b.graph.walk(), *a.graph.walk())}
    changes = []
    for operation in sorted(a.plans.keys() | b.plans.keys()):
        left, right = a.plans.get(operation), b.plans.get(operation)
        if left is None or right is None:
            unmatched.append(Unmatched("b" if left is None else "a", "plan", f"operation {operation}"))
        elif left != right:
            changes.append(
                PlanChange(
                    operation,
                    kinds.get(operation, ""),
                    left,
                    right,
                    _index_of(a, operation, left),
                    _index_of(a, operation, right),
                )
            )
    return tuple(changes)


def _index_of(recipe: Recipe, operation: int, plan: Plan) -> int | None:
    """The index of a plan among the first file's alternatives, so that both numbers mean the same list."""
    return next((i for i, item in enumerate(recipe.alternatives.get(operation, ())) if item == plan), None)


def _homes(a: Recipe, b: Recipe, unmatched: list[Unmatched]) -> tuple[HomeChange, ...]:
    names_a = {item.value: item.name for item in a.graph.inputs}
    names_b = {item.value: item.name for item in b.graph.inputs}
    for value in sorted(names_a.keys() ^ names_b.keys()):
        unmatched.append(
            Unmatched("a" if value in names_a else "b", "input", names_a.get(value) or names_b.get(value) or str(value))
        )
    return tuple(
        HomeChange(value, names_a[value], a.inputs.get(value), b.inputs.get(value))
        for value in sorted(names_a.keys() & names_b.keys())
        if a.inputs.get(value) != b.inputs.get(value)
    )


def _boundaries(a: Recipe, b: Recipe) -> tuple[BoundaryChange, ...]:
    return tuple(
        BoundaryChange(value, value in a.open_boundaries, value in b.open_boundaries)
        for value in sorted(a.open_boundaries ^ b.open_boundaries)
    )


# -- timelines ------------------------------------------------------------------------------------------------------


def _budgets(a: Timeline, b: Timeline) -> tuple[Number, ...]:
    return (
        Number("budget_bytes", a.budget_bytes, b.budget_bytes),
        Number("interleaved_budget_bytes", a.interleaved_budget_bytes, b.interleaved_budget_bytes),
        Number("reserve_bytes", a.reserve_bytes, b.reserve_bytes),
        Number("tile_count", a.tile_count, b.tile_count),
    )


def _peaks(a: Timeline, b: Timeline) -> tuple[Number, ...]:
    fields = ("standard", "interleaved", "total", "maximum_standard_allocation", "exchange_rows")
    return tuple(Number(field, getattr(a.peak, field), getattr(b.peak, field)) for field in fields)


def _counts(a: Timeline, b: Timeline) -> tuple[Number, ...]:
    return (
        Number("steps", len(a.steps), len(b.steps)),
        Number("values", len(a.values), len(b.values)),
        Number("total_peak_step", a.total_peak_step, b.total_peak_step),
        Number("standard_peak_step", a.standard_peak_step, b.standard_peak_step),
        Number("interleaved_peak_step", a.interleaved_peak_step, b.interleaved_peak_step),
    )


def _cycles(a: Price | None, b: Price | None) -> tuple[Number, ...]:
    if a is None or b is None:
        return ()
    return (Number("cycles", a.cycles, b.cycles), Number("exchange_cycles", a.exchange, b.exchange))


def _loads(a: Timeline, b: Timeline) -> tuple[PeakLoads, ...]:
    found = []
    for name, place_of in (
        ("total", total_peak_place),
        ("standard", standard_peak_place),
        ("interleaved", interleaved_peak_place),
    ):
        place_a, place_b = place_of(a), place_of(b)
        if place_a is None or place_b is None:
            continue
        load_a = tile_load(a, place_a.step, place_a.tile)
        load_b = tile_load(b, place_b.step, place_b.tile)
        changes = [change for change in compare_loads(a, load_a, b, load_b) if change.a != change.b]
        changes.sort(key=lambda change: -abs(change.delta or 0))
        found.append(PeakLoads(name, place_a, place_b, load_a.total, load_b.total, tuple(changes)))
    return tuple(found)


def _steps(a: Timeline, b: Timeline, unmatched: list[Unmatched]) -> tuple[StepChange, ...]:
    """Steps matched by source, kind and order among equals; those whose largest tile differs are listed."""
    pairs = match_by([((s.source, s.kind),) for s in a.steps], [((s.source, s.kind),) for s in b.steps])
    worst_a, worst_b = a.tiles.worst(), b.tiles.worst()
    changes = []
    for left, right in pairs:
        if left is None or right is None:
            side, step = ("b", b.steps[right or 0]) if left is None else ("a", a.steps[left])
            source = "" if step.source is None else f" of operation {step.source}"
            unmatched.append(Unmatched(side, "step", f"step {step.index}, {step.kind}{source}"))
            continue
        before, after = _worst_total(a, worst_a, left), _worst_total(b, worst_b, right)
        if before != after:
            step = a.steps[left]
            changes.append(StepChange(left, right, step.source, step.kind, before, after))
    return tuple(changes)


def _worst_total(timeline: Timeline, worst: object, step: int) -> Size:
    total = timeline.steps[step].usage.total
    if isinstance(total, Unavailable):
        return total
    return int(worst[step, 2])  # type: ignore[index]


def _values(a: Timeline, b: Timeline, unmatched: list[Unmatched]) -> None:
    """Values by name and shape: those that only one side has, counted where several share a name."""
    counted_a = Counter((value.name, value.shape) for value in a.values)
    counted_b = Counter((value.name, value.shape) for value in b.values)
    for side, more in (("a", counted_a - counted_b), ("b", counted_b - counted_a)):
        for (name, shape), number in more.items():
            times = f" ({number} times)" if number > 1 else ""
            unmatched.append(Unmatched(side, "value", f"{name} [{','.join(map(str, shape))}]{times}"))


def _fusion_notes(a: DiffSide, b: DiffSide) -> list[str]:
    """Of a recipe and a file's timeline: which of the recipe's programs, fused or composed, the timeline is of."""
    return [
        f"{agreement(one.fusion, other.timeline).text.capitalize()}."
        for one, other in ((a, b), (b, a))
        if one.fusion is not None and other.timeline is not None and other.timeline.origin is Origin.FILE
    ]


def _version_notes(a: DiffSide, b: DiffSide) -> list[str]:
    old = [
        f"{side.name} (version {side.timeline.version})"
        for side in (a, b)
        if side.timeline is not None and side.timeline.origin is Origin.FILE and side.timeline.version < 3
    ]
    notes = []
    if old:
        notes.append(
            f"{' and '.join(old)} counted exchange rows into the standard and the total peak; they are taken out here, "
            "so that both sides follow version 3."
        )
    derived = [side.name for side in (a, b) if side.timeline is not None and side.timeline.derived]
    if derived:
        notes.append(f"{' and '.join(derived)}: the numbers per tile are derived from shapes and layouts.")
    return notes
