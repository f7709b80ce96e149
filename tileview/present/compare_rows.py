"""Up to four states side by side: verdicts, peaks, plans, homes and allocations at the peak, against the first of them.

The first state is what the others are compared with. Rows in which all states agree are left out, except for the
verdict and the peaks; each section says how many there are. Allocations are matched by origin and name, see
:mod:`tileview.analysis.loads`; what one state lacks is an empty cell, and its bytes count as 0 in the difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tileview.analysis.loads import PeakPlace, total_peak_place
from tileview.analysis.words import counted, layout_differences, layout_words, precision_words
from tileview.model.sizes import Size, Unavailable, exact_text, kib_text
from tileview.model.tensor import Format
from tileview.model.timeline import Timeline
from tileview.present.compare_allocations import allocations_anywhere, allocations_at_peak
from tileview.present.compare_states import MISSING, CompareEntry, CompareRow, CompareState, Section
from tileview.present.places import step_place
from tileview.present.plan_words import plan_differences, plan_words
from tileview.present.tables import Node, Tone, outcome


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
                    f"{outcome(state.verdict.fits)[0]} {state.verdict.words}",
                    tip=state.verdict.text,
                    tone=outcome(state.verdict.fits)[2],
                )
                for state in states
            ),
        )
    ]
    timelines = [state.timeline for state in states]
    figures: tuple[tuple[str, list[Size | None], str], ...] = (
        ("Total peak", [_peak(timeline, "total") for timeline in timelines], "On the worst tile, without the reserve"),
        ("Total peak + reserve", [_needed(timeline) for timeline in timelines], "What the budget has to hold"),
        ("Budget", [None if t is None else t.budget_bytes for t in timelines], ""),
        ("Standard peak", [_peak(timeline, "standard") for timeline in timelines], ""),
        ("Interleaved peak", [_peak(timeline, "interleaved") for timeline in timelines], ""),
        (
            "Largest standard allocation",
            [_peak(timeline, "maximum_standard_allocation") for timeline in timelines],
            "Has to lie in one piece",
        ),
        (
            "Exchange rows",
            [_peak(timeline, "exchange_rows") for timeline in timelines],
            "Reported beside the peaks; nothing is decided by it",
        ),
    )
    rows.extend(CompareRow(Section.SUMMARY, label, _sized(sizes), tip) for label, sizes, tip in figures)
    places = [None if timeline is None else total_peak_place(timeline) for timeline in timelines]
    rows.append(
        CompareRow(
            Section.SUMMARY,
            "Where the total peaks",
            tuple(_place(place, timeline) for place, timeline in zip(places, timelines, strict=True)),
        )
    )
    rows.append(CompareRow(Section.SUMMARY, "Program", tuple(_program(timeline) for timeline in timelines)))
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
