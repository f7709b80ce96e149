"""A diagnosis in words: the sum behind the verdict, what lies at its place, what to do next.

Every number in a sentence is one of the estimate's, or the sum of some of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileview.analysis.bad_layouts import offers
from tileview.analysis.diagnosis import BadLayout, Contribution, Figure, Lever
from tileview.analysis.loads import LoadChange, TileLoad
from tileview.analysis.relief import Relief
from tileview.core.estimate import GRAPH_LIMIT
from tileview.model.recipe import Recipe
from tileview.model.sizes import Size, Unavailable, exact_text, size_text
from tileview.model.timeline import Cause, Origin, Timeline, Verdict

PLACEMENT_NOTE = (
    "The estimate is made before addresses are chosen: placement may still fail where the memory left is in pieces."
)


def figures(verdict: Verdict, timeline: Timeline, load: TileLoad | None) -> tuple[Figure, ...]:
    """Terms of the decisive sum; known part and unavailable count where sizes are missing."""
    cause = verdict.cause
    if cause is Cause.INVALID_LAYOUT or isinstance(verdict.needed_bytes, Unavailable):
        known = 0 if load is None else load.total
        return (
            Figure("known on the worst tile", known),
            Figure("reserve", timeline.reserve_bytes),
            Figure("known, with reserve", known + timeline.reserve_bytes),
            Figure("budget", timeline.budget_bytes),
        )
    needed, available, short = verdict.needed_bytes, verdict.available_bytes, verdict.short_bytes
    is_over = isinstance(short, int) and short > 0
    last = Figure("over by" if is_over else "spare", _magnitude(short))
    if cause is Cause.CONTRADICTION and verdict.stated_bytes is not None and verdict.found_bytes is not None:
        return (
            Figure(f"by its headline, for the {verdict.limit}", verdict.stated_bytes),
            Figure("by its steps or arrays", verdict.found_bytes),
            Figure(verdict.limit, available),
        )
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


def details(
    verdict: Verdict,
    timeline: Timeline,
    load: TileLoad | None,
    contributions: Sequence[Contribution],
    changes: Sequence[LoadChange],
    bad: Sequence[BadLayout],
    reliefs: Sequence[Relief],
) -> tuple[str, ...]:
    details = []
    for kind, count, first in _bad_by_kind(bad):
        more = f"{count} values" if count > 1 else "1 value"
        break_it = "break" if count > 1 else "breaks"
        what = f"{break_it} {kind}" if kind else "cannot be sized"
        details.append(f"{more} {what}, the first is {first.name}: {first.text}. {first.remedy}".rstrip())
        found = offers(timeline, first)
        if found:
            details.append(f"Layouts of {first.name} that resolve: {'; '.join(found)}.")
    if load is not None and load.items:
        details.append(_made_of(load, contributions))
        reducible = [item for item in contributions if item.smaller_by]
        if reliefs and verdict.fits is False:
            details.append(_relief_text(reliefs[0]))
        elif reducible and verdict.fits is False:
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


def _relief_text(relief: Relief) -> str:
    return (
        f"Operation {relief.operation} could need less: with alternative {relief.alternative} its fullest step holds "
        f"{exact_text(relief.then)} instead of {exact_text(relief.now)}, {exact_text(relief.saved)} less."
    )


def _bad_by_kind(bad: Sequence[BadLayout]) -> list[tuple[str, int, BadLayout]]:
    kinds: dict[str, list[BadLayout]] = {}
    for item in bad:
        kinds.setdefault("" if item.kind is None else item.kind.value, []).append(item)
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


_NOT_KNOWN_STEPS = {
    Cause.CONTRADICTION: "Have the compiler write the file again: while it contradicts itself, nothing is certain.",
    Cause.DAMAGED: "Get a whole copy of the file, or have it written again; the problems name what is damaged.",
    Cause.INCOMPLETE: (
        "Take the figures as lower bounds; the notes and problems name the operations, plans or precisions that are "
        "not known."
    ),
}


def next_step(
    verdict: Verdict,
    timeline: Timeline,
    contributions: Sequence[Contribution],
    levers: Sequence[Lever],
    bad: Sequence[BadLayout],
    recipe: Recipe | None,
    reliefs: Sequence[Relief],
) -> str:
    cause = verdict.cause
    if cause is Cause.FITS:
        return f"Nothing has to be done; {size_text(_magnitude(verdict.short_bytes))} are spare."
    if cause is Cause.INVALID_LAYOUT:
        first = bad[0].remedy if bad else ""
        return f"Give these values layouts that resolve. {first}".strip()
    if cause in _NOT_KNOWN_STEPS:
        return _NOT_KNOWN_STEPS[cause]
    if levers and levers[0].fits is True:
        lever = levers[0]
        return f"Swap operation {lever.operation} to alternative {lever.alternative}: it then fits."
    if levers:
        lever = levers[0]
        return (
            f"No single swap is enough; the best, alternative {lever.alternative} of operation {lever.operation}, "
            f"takes {exact_text(-lever.delta_total)} off the total peak. Search for several swaps."
        )
    cure = next((relief for relief in reliefs if relief.fits is True), None)
    if cure is not None:
        return f"Swap operation {cure.operation} to alternative {cure.alternative}: it then fits."
    if reliefs:
        best = reliefs[0]
        return (
            f"Swap operation {best.operation} to alternative {best.alternative}, and search for the other swaps that "
            "it takes: alone it is not enough."
        )
    choice = next((item for item in contributions if item.choice is not None), None)
    if choice is not None and choice.choice is not None:
        return f"Try alternative {choice.choice[1]} of operation {choice.choice[0]}, or search for a fix."
    if recipe is not None:
        return "Search for a fix among the alternatives."
    if timeline.origin is Origin.FILE:
        return "Open the recipe of the same compile: a timeline alone holds no alternatives."
    return "Give the compile more room: a smaller reserve, or fewer elements a tile."


def next_after_refusal(verdict: Verdict, recipe: Recipe | None, bad: Sequence[BadLayout]) -> str:
    """What to do about a recipe that cannot be lowered; ``bad`` are homes that do not resolve."""
    operation = verdict.operation
    if verdict.limit == GRAPH_LIMIT:
        return "The graph itself is at fault, so no other plan helps: have the compiler write the file again."
    if bad:
        one = len(bad) == 1
        which = (
            f"Give {bad[0].name} a home that resolves" if one else f"Give these {len(bad)} inputs homes that resolve"
        )
        return f"{which}; a search for a fix proposes what the planner itself would choose."
    if operation is None or recipe is None:
        return "The recipe names a choice that cannot be carried out; see the reason."
    others = len(recipe.alternatives.get(operation, ())) - (recipe.in_force(operation) is not None)
    if others > 0:
        are = "is" if others == 1 else "are"
        return f"Try another plan for operation {operation}: {_counted(others, 'alternative')} {are} in the file."
    return f"Operation {operation} has no other plan in this file; change what feeds it."
