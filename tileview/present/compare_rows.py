"""Up to four states side by side: verdicts, peaks, plans, homes and allocations at the peak, against the first of them.

The first state is what the others are compared with. Rows in which all states agree are left out, except for the
verdict and the peaks; each section says how many there are. Allocations are matched by origin and name, see
:mod:`tileview.analysis.loads`; what one state lacks is an empty cell, and its bytes count as 0 in the difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tileview.analysis.lifetimes import live_spans
from tileview.analysis.loads import (
    LoadItem,
    PeakPlace,
    TileLoad,
    allocation_value,
    item_keys,
    largest_bytes,
    match_by,
    tile_load,
    total_peak_place,
)
from tileview.analysis.placement import State, StepWords
from tileview.analysis.words import (
    allocation_name,
    counted,
    layout_differences,
    layout_words,
    precision_words,
    step_place,
)
from tileview.core.cycles.prices import Price
from tileview.core.cycles.words import (
    cycles_between,
    describe_cycles,
    exact_cycles,
    percent_between,
    short_change,
    short_cycles,
)
from tileview.core.fusion.verdict_words import verdict_words
from tileview.model.recipe import Recipe
from tileview.model.sizes import U64_MAX, Size, Unavailable, exact_text, kib_text, percent_text
from tileview.model.tensor import Format
from tileview.model.timeline import Timeline, Verdict
from tileview.present.plan_words import plan_differences, plan_words
from tileview.present.tables import (
    EMPTY_CELL,
    Cell,
    Column,
    Field,
    Node,
    TableSpec,
    Tone,
    outcome,
    signed_exact,
    signed_kib,
)


def compare_nodes(states: Sequence[CompareState]) -> tuple[Node[CompareRow], ...]:
    """The whole comparison as a tree: summary rows first, then a section for each kind of difference that occurs."""
    if not states:
        return ()
    nodes = [Node((Section.SUMMARY, row.label), row) for row in _summary(states)]
    for section, rows in (
        (Section.PLANS, _plans(states)),
        (Section.HOMES, _homes(states)),
        (Section.BOUNDARIES, _boundaries(states)),
        (Section.ALLOCATIONS, allocations_at_peak(states)),
        (Section.ANYWHERE, allocations_anywhere(states)),
        (Section.UNMATCHED, _unmatched(states)),
    ):
        if rows:
            head = CompareRow(section, f"{section} ({len(rows)})", (None,) * len(states), is_head=True)
            children = _unique_nodes(section, rows)
            nodes.append(Node((section,), head, children))
    return tuple(nodes)


def _placement(words: StepWords | None) -> CompareEntry:
    """The last of the three steps, all of them in the tip."""
    if words is None:
        return CompareEntry("not placed yet", tone=Tone.MUTED)
    step = words.steps[2]
    signs = {State.GOOD: ("✓ ", Tone.OK), State.PART: ("! ", Tone.WARNING), State.OVER: ("✗ ", Tone.OVER)}
    sign, tone = signs.get(step.state, ("", Tone.MUTED))
    return CompareEntry(f"{sign}{step.text}", tip="\n".join(words.lines), tone=tone)


def _unique_nodes(section: Section, rows: Sequence[CompareRow]) -> tuple[Node[CompareRow], ...]:
    """Nodes keyed by label, the n-th of equal labels apart."""
    seen: dict[str, int] = {}
    nodes = []
    for row in rows:
        number = seen[row.label] = seen.get(row.label, -1) + 1
        key: Hashable = (section, row.label, number)
        nodes.append(Node(key, row))
    return tuple(nodes)


# -- summary --------------------------------------------------------------------------------------------------------


def _summary(states: Sequence[CompareState]) -> list[CompareRow]:
    rows = [
        CompareRow(
            Section.SUMMARY,
            "Verdict",
            tuple(
                CompareEntry(
                    f"{outcome(state.verdict.fits)[0]} {verdict_words(state.verdict)}",
                    tip=state.verdict.text,
                    tone=outcome(state.verdict.fits)[2],
                )
                for state in states
            ),
        )
    ]
    if any(state.placement is not None for state in states):
        entries = tuple(_placement(state.placement) for state in states)
        rows.append(CompareRow(Section.SUMMARY, "Placement", entries, "In the memory that one real compile left open"))
    timelines = [state.timeline for state in states]
    figures: tuple[tuple[str, list[Size | None], str], ...] = (
        (
            "Total peak",
            [_peak(timeline, "total") for timeline in timelines],
            "On the fullest tile, without the reserve",
        ),
        ("Total peak + reserve", [_needed(timeline) for timeline in timelines], "What the budget has to hold"),
        ("Budget", [None if t is None else t.budget_bytes for t in timelines], ""),
        ("Standard peak", [_peak(timeline, "standard") for timeline in timelines], ""),
        ("Interleaved peak", [_peak(timeline, "interleaved") for timeline in timelines], ""),
        (
            "Largest standard allocation",
            [_peak(timeline, "maximum_standard_allocation") for timeline in timelines],
            "Must be in one piece",
        ),
        (
            "Exchange rows",
            [_peak(timeline, "exchange_rows") for timeline in timelines],
            "Reported beside the peaks; not part of the verdict",
        ),
    )
    rows.extend(CompareRow(Section.SUMMARY, label, _sized(sizes), tip) for label, sizes, tip in figures)
    rows.extend(_cycle_rows(states))
    places = [None if timeline is None else total_peak_place(timeline) for timeline in timelines]
    rows.append(
        CompareRow(
            Section.SUMMARY,
            "Place of the total peak",
            tuple(_place(place, timeline) for place, timeline in zip(places, timelines, strict=True)),
        )
    )
    rows.append(CompareRow(Section.SUMMARY, "Program", tuple(_program(timeline) for timeline in timelines)))
    return rows


def _cycle_rows(states: Sequence[CompareState]) -> list[CompareRow]:
    """The planner's price of each program that stands; none where no state has one."""
    prices = [state.price for state in states]
    if not any(prices):
        return []
    rows = []
    for label, figures, tip in (
        ("Planner's cycles", [None if price is None else price.cycles for price in prices], PLANNERS),
        ("Of them exchange", [None if price is None else price.exchange for price in prices], PLANNERS),
    ):
        entries: list[CompareEntry | None] = []
        for position, cycles in enumerate(figures):
            if cycles is None:
                entries.append(None)
                continue
            change = cycles_between(figures[0], cycles) if position else None
            percent = percent_between(figures[0], cycles)
            text, exact = short_cycles(cycles), exact_cycles(cycles)
            tone = Tone.UNAVAILABLE if isinstance(cycles, Unavailable) else Tone.TEXT
            if change == 0:
                text, tone = f"{text}  (same)", Tone.MUTED
            elif change is not None:
                text = f"{text}  ({short_change(change)}{percent.replace(' (', ', ').replace(')', '')})"
                exact = f"{exact}  ({describe_cycles(change)})"
                tone = (Tone.OVER if change > 0 else Tone.OK) if percent else Tone.TEXT
            entries.append(CompareEntry(text, cycles, tip=exact, tone=tone))
        rows.append(CompareRow(Section.SUMMARY, label, tuple(entries), tip))
    return rows


def _peak(timeline: Timeline | None, field: str) -> Size | None:
    if timeline is None:
        return None
    size: Size = getattr(timeline.peak, field)
    return size


def _needed(timeline: Timeline | None) -> Size | None:
    if timeline is None:
        return None
    total = timeline.peak.total
    return total if isinstance(total, Unavailable) else total + timeline.reserve_bytes


def _place(place: PeakPlace | None, timeline: Timeline | None) -> CompareEntry | None:
    if place is None or timeline is None:
        return None
    step = timeline.steps[place.step]
    source = f", operation {step.source}" if step.source is not None else ""
    return CompareEntry(f"{step_place(place.step, len(timeline.steps))}, tile {place.tile}", tip=f"{step.kind}{source}")


def _program(timeline: Timeline | None) -> CompareEntry | None:
    """How large the program is: differences here say that two files are of different programs or devices."""
    if timeline is None:
        return None
    text = f"{counted(len(timeline.steps), 'step')}, {counted(timeline.tile_count, 'tile')}"
    allocations = counted(len(timeline.aliases), "allocation")
    return CompareEntry(text, tip=f"{text}, {allocations}, {counted(len(timeline.values), 'value')}")


def _sized(sizes: Sequence[Size | None]) -> tuple[CompareEntry | None, ...]:
    """Entries of one figure: the first as it is, the others with what they differ by."""
    base = sizes[0]
    entries: list[CompareEntry | None] = []
    for position, size in enumerate(sizes):
        if size is None:
            entries.append(None)
        elif isinstance(size, Unavailable):
            entries.append(CompareEntry("unavailable", size, tone=Tone.UNAVAILABLE))
        else:
            delta = size - base if position and isinstance(base, int) else None
            entries.append(CompareEntry(kib_text(size), size, delta, exact_text(size), base=_int(base)))
    return tuple(entries)


def _int(size: Size | None) -> int | None:
    return size if isinstance(size, int) else None


# -- choices --------------------------------------------------------------------------------------------------------


def _plans(states: Sequence[CompareState]) -> list[CompareRow]:
    """Operations whose plans are not the same in all states that have recipes."""
    recipes = [state.recipe for state in states]
    operations = sorted({operation for recipe in recipes if recipe is not None for operation in recipe.plans})
    rows = []
    for operation in operations:
        plans = [None if recipe is None else recipe.plans.get(operation) for recipe in recipes]
        present = [plan for plan in plans if plan is not None]
        if len(present) < 2 or all(plan == present[0] for plan in present):
            continue
        base = present[0]
        entries: list[CompareEntry | None] = []
        for plan in plans:
            if plan is None:
                entries.append(None)
                continue
            differences = plan_differences(base, plan)
            tone = Tone.ACCENT if differences else Tone.TEXT
            entries.append(CompareEntry(plan_words(plan), tip="\n".join(differences) or "as in the first", tone=tone))
        rows.append(CompareRow(Section.PLANS, f"Operation {operation}", tuple(entries), operation=operation))
    return rows


def _homes(states: Sequence[CompareState]) -> list[CompareRow]:
    recipes = [state.recipe for state in states]
    names = {entry.value: entry.name for recipe in recipes if recipe is not None for entry in recipe.graph.inputs}
    rows = []
    for value, name in sorted(names.items()):
        homes = [None if recipe is None else recipe.inputs.get(value) for recipe in recipes]
        present = [home for home in homes if home is not None]
        if len(present) < 2 or all(home == present[0] for home in present):
            continue
        rows.append(CompareRow(Section.HOMES, name, tuple(_home(present[0], home) for home in homes)))
    return rows


def _home(base: Format, home: Format | None) -> CompareEntry | None:
    if home is None:
        return None
    text = f"{precision_words(home.precision)}; {layout_words(home.layout)}"
    differences = layout_differences(base.layout, home.layout)
    return CompareEntry(text, tip="\n".join(differences) or text, tone=Tone.ACCENT if home != base else Tone.TEXT)


def _boundaries(states: Sequence[CompareState]) -> list[CompareRow]:
    recipes = [state.recipe for state in states]
    sets = [None if recipe is None else recipe.open_boundaries for recipe in recipes]
    present = [values for values in sets if values is not None]
    if len(present) < 2:
        return []
    differing = sorted(frozenset.union(*present) - frozenset.intersection(*present))
    return [
        CompareRow(
            Section.BOUNDARIES,
            f"Value {value}",
            tuple(None if values is None else CompareEntry("open" if value in values else "closed") for values in sets),
        )
        for value in differing
    ]


# -- what only some have ----------------------------------------------------------------------------------------------


def _unmatched(states: Sequence[CompareState]) -> list[CompareRow]:
    """Values and operations that only some of the states have at all."""
    rows: list[CompareRow] = []
    if len(states) < 2:
        return rows
    present = [state for state in states if state.recipe is not None]
    if len(present) > 1:
        plans = [frozenset(state.recipe.plans) for state in present if state.recipe is not None]
        for operation in sorted(frozenset().union(*plans) - plans[0].intersection(*plans[1:])):
            rows.append(
                CompareRow(
                    Section.UNMATCHED,
                    f"Operation {operation}",
                    tuple(
                        None
                        if state.recipe is None
                        else CompareEntry("planned" if operation in state.recipe.plans else MISSING)
                        for state in states
                    ),
                    operation=operation,
                )
            )
    rows.extend(_unmatched_values(states))
    return rows


def _unmatched_values(states: Sequence[CompareState]) -> list[CompareRow]:
    """Names of values that not all states have, with how many of each."""
    counts: list[dict[str, int] | None] = []
    for state in states:
        if state.timeline is None:
            counts.append(None)
            continue
        names: dict[str, int] = {}
        for value in state.timeline.values:
            names[value.name] = names.get(value.name, 0) + 1
        counts.append(names)
    known = [names for names in counts if names is not None]
    if len(known) < 2:
        return []
    rows = []
    for name in dict.fromkeys(name for names in known for name in names):
        if all(name in names for names in known):
            continue
        entries = tuple(
            None if names is None else CompareEntry(counted(names[name], "value") if name in names else MISSING)
            for names in counts
        )
        rows.append(CompareRow(Section.UNMATCHED, name, entries))
    return rows


PLANNERS = "The planner's own estimate, not a measurement: compare differences"
MOST_STATES = 4
MISSING = "–"
"""What a state shows where it has not what another has."""


@dataclass(frozen=True, slots=True)
class CompareState:
    """One state. ``recipe`` has its current edits, None for a timeline; no ``timeline`` where it cannot be lowered."""

    name: str
    verdict: Verdict
    timeline: Timeline | None
    recipe: Recipe | None
    source: str = ""
    """The file, for the tip."""
    price: Price | None = None
    placement: StepWords | None = None
    """None where it is not worked out."""


class Section(StrEnum):
    SUMMARY = "Summary"
    PLANS = "Plans"
    HOMES = "Homes of inputs"
    BOUNDARIES = "Boundaries"
    ALLOCATIONS = "Allocations at the total peak"
    ANYWHERE = "Allocations of the whole program, on their largest tile"
    UNMATCHED = "Unmatched: not in all states"


@dataclass(frozen=True, slots=True)
class CompareEntry:
    """One state's entry in a row. ``size`` is a figure in bytes, ``delta`` its difference from the first state's."""

    text: str
    size: Size | None = None
    delta: int | None = None
    tip: str = ""
    tone: Tone = Tone.TEXT
    base: int | None = None


@dataclass(frozen=True, slots=True)
class CompareRow:
    """A row: one entry a state, None where it has nothing there. ``operation`` and ``roots`` are for selecting."""

    section: Section
    label: str
    entries: tuple[CompareEntry | None, ...]
    tip: str = ""
    operation: int | None = None
    roots: tuple[int | None, ...] = ()
    is_head: bool = False


def peak_loads(states: Sequence[CompareState]) -> list[TileLoad | None]:
    """What each state's fullest tile holds at its own total peak; None where there is no step."""
    loads: list[TileLoad | None] = []
    for state in states:
        place = None if state.timeline is None else total_peak_place(state.timeline)
        if state.timeline is None or place is None:
            loads.append(None)
        else:
            loads.append(tile_load(state.timeline, place.step, place.tile))
    return loads


def allocations_at_peak(states: Sequence[CompareState]) -> list[CompareRow]:
    """Allocations whose bytes at the total peaks differ between the states, the largest difference first."""
    loads = peak_loads(states)
    items = [None if load is None else load.items for load in loads]
    return _rows(Section.ALLOCATIONS, states, items, "not live at the peak")


def allocations_anywhere(states: Sequence[CompareState]) -> list[CompareRow]:
    """Allocations of the programs whose bytes on their largest tile differ, or that not all programs have."""
    items = [None if state.timeline is None else _all_items(state.timeline) for state in states]
    return _rows(Section.ANYWHERE, states, items, "no such allocation")


def _all_items(timeline: Timeline) -> tuple[LoadItem, ...]:
    """Every allocation that is ever live with what it takes on its largest tile; others hold no memory."""
    items = []
    for root in sorted(live_spans(timeline)):
        last = allocation_value(timeline, root)
        items.append(LoadItem(root, allocation_name(timeline, root), last.memory_class, largest_bytes(timeline, root)))
    return tuple(items)


@dataclass(slots=True)
class _Match:
    """An allocation followed through the states."""

    name: str
    keys: tuple[Hashable, ...]
    sizes: list[Size | None]
    roots: list[int | None]


def _matched(states: Sequence[CompareState], items: Sequence[Sequence[LoadItem] | None]) -> list[_Match]:
    """Each state's items beside those of the states before it; new ones at the end."""
    matches: list[_Match] = []
    for position, (state, own) in enumerate(zip(states, items, strict=True)):
        if state.timeline is None or own is None:
            for match in matches:
                match.sizes.append(None)
                match.roots.append(None)
            continue
        timeline = state.timeline
        keys = [item_keys(timeline, item) for item in own]
        found: list[_Match] = []
        for left, right in match_by([match.keys for match in matches], keys):
            if left is not None:
                match = matches[left]
                match.sizes.append(None if right is None else own[right].bytes)
                match.roots.append(None if right is None else own[right].root)
            elif right is not None:
                item = own[right]
                before: list[None] = [None] * position
                found.append(_Match(item.name, keys[right], [*before, item.bytes], [*before, item.root]))
        matches.extend(found)
    return matches


def _rows(
    section: Section, states: Sequence[CompareState], items: Sequence[Sequence[LoadItem] | None], missing: str
) -> list[CompareRow]:
    if len(states) < 2:
        return []
    rows = []
    for match in _matched(states, items):
        present = [size for size, state in zip(match.sizes, states, strict=True) if state.timeline is not None]
        if all(size == present[0] for size in present):
            continue
        entries = _entries(match.sizes, states, missing)
        rows.append((_spread(present), CompareRow(section, match.name, entries, roots=tuple(match.roots))))
    rows.sort(key=lambda pair: -pair[0])
    return [row for _, row in rows]


def _spread(sizes: Sequence[Size | None]) -> int:
    """How far the sizes lie apart; what is unavailable in one state lies further apart than any numbers."""
    if any(isinstance(size, Unavailable) for size in sizes):
        return U64_MAX
    numbers = [size if isinstance(size, int) else 0 for size in sizes]
    return max(numbers) - min(numbers)


def _entries(
    sizes: Sequence[Size | None], states: Sequence[CompareState], missing: str
) -> tuple[CompareEntry | None, ...]:
    base = 0 if sizes[0] is None else sizes[0]
    known = base if isinstance(base, int) else None
    entries: list[CompareEntry | None] = []
    for position, (size, state) in enumerate(zip(sizes, states, strict=True)):
        if state.timeline is None:
            entries.append(None)
        elif isinstance(size, Unavailable):
            entries.append(CompareEntry("unavailable", size, tone=Tone.UNAVAILABLE))
        else:
            number = 0 if size is None else size
            both_missing = size is None and sizes[0] is None
            delta = number - known if position and known is not None and not both_missing else None
            text = MISSING if size is None else kib_text(number)
            tip = missing if size is None else exact_text(number)
            entries.append(CompareEntry(text, size, delta, tip, base=known))
    return tuple(entries)


_WORDY = frozenset({Section.PLANS, Section.HOMES})
"""Sections whose entries are long words: those read from the left."""


class CompareSpec(TableSpec[CompareRow]):
    """What · one column a state; always four of those, so that pinning a state changes no column count."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.is_compact = False
        """Whether figures that differ stand on two lines: bytes and per cent, below them the difference."""
        self.set_names(names)

    def set_names(self, names: Sequence[str]) -> None:
        """Take the states' names as titles."""
        titles = [*names[:MOST_STATES], *[""] * (MOST_STATES - len(names))]
        self.columns = (Column("What"), *(Column(title, True, title) for title in titles))

    def is_head(self, row: CompareRow) -> bool:
        return row.is_head

    def is_right(self, row: CompareRow, column: int) -> bool:
        return column > 0 and row.section not in _WORDY

    def cell(self, row: CompareRow, column: int) -> Cell:
        return self._cell(row, column, self.is_compact)

    def _cell(self, row: CompareRow, column: int, is_compact: bool) -> Cell:
        if column == 0:
            return Cell(row.label, row.label, row.tip, bold=row.is_head)
        entry = row.entries[column - 1] if column <= len(row.entries) else None
        if entry is None:
            return EMPTY_CELL
        if entry.delta is None:
            value = entry.text if entry.size is None and entry.text != MISSING else entry.size
            return Cell(entry.text, value, entry.tip, entry.tone)
        if entry.delta == 0:
            return Cell(f"{entry.text}  (same)", entry.size, entry.tip, Tone.MUTED)
        percent = percent_text(entry.delta, entry.base, signed=True) if entry.base else ""
        difference = f"{signed_kib(entry.delta)}, {percent}" if percent else signed_kib(entry.delta)
        exact = f"{signed_exact(entry.delta)}, {percent}" if percent else signed_exact(entry.delta)
        tone = Tone.OVER if entry.delta > 0 else Tone.OK
        text = f"{entry.text}  ({difference})"
        if is_compact:
            text = f"{entry.text}  {percent}".rstrip() + f"\n{signed_kib(entry.delta)}"
        return Cell(text, entry.size, f"{entry.tip}  ({exact})", tone)

    def fields(self, row: CompareRow) -> list[Field]:
        cells = [self._cell(row, column, False) for column in range(len(self.columns))]
        return [cells[0].text, *(cell.text if cell.value is None else cell.value for cell in cells[1:])]


# -- curves ---------------------------------------------------------------------------------------------------------
