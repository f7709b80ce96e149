"""A diagnosis in words: the sum behind the verdict, what lies at its place, what to do next.

Every number in a sentence is one of the estimate's, or the sum of some of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileview.analysis.diagnosis import BadLayout, Contribution, Figure
from tileview.analysis.loads import LoadChange, TileLoad
from tileview.analysis.relief import Relief
from tileview.analysis.words import counted
from tileview.model.sizes import Size, Unavailable, exact_text
from tileview.model.timeline import Cause, Timeline, Verdict

PLACEMENT_NOTE = (
    "The estimate is made before addresses are chosen: placement may still fail where the memory left is in pieces."
)


def figures(verdict: Verdict, timeline: Timeline, load: TileLoad | None) -> tuple[Figure, ...]:
    """Terms of the decisive sum; known part and unavailable count where sizes are missing."""
    cause = verdict.cause
    if cause is Cause.INVALID_LAYOUT or isinstance(verdict.needed_bytes, Unavailable):
        known = 0 if load is None else load.total
        return (
            Figure("known on the fullest tile", known),
            Figure("reserve", timeline.reserve_bytes),
            Figure("known, with reserve", known + timeline.reserve_bytes),
            Figure("budget", timeline.budget_bytes),
        )
    needed, available, short = verdict.needed_bytes, verdict.available_bytes, verdict.short_bytes
    is_over = isinstance(short, int) and short > 0
    last = Figure("over by" if is_over else "spare", _magnitude(short))
    if cause is Cause.CONTRADICTION and verdict.stated_bytes is not None and verdict.found_bytes is not None:
        return (
            Figure(f"its headline, against the {verdict.limit}", verdict.stated_bytes),
            Figure("its steps or arrays", verdict.found_bytes),
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
        what = f"{'fail' if count > 1 else 'fails'} the check {kind}" if kind else "without a known size"
        details.append(f"{more} {what}, the first is {first.name}: {first.text}. {first.remedy}".rstrip())
        from tileview.analysis.repair import offers  # few files have an invalid layout

        found = offers(timeline, first.value)
        if found:
            details.append(f"Valid layouts of {first.name}: {'; '.join(found)}.")
    if load is not None and load.items:
        details.append(_made_of(load, contributions))
        reducible = [item for item in contributions if item.smaller_by]
        if reliefs and verdict.fits is False:
            details.append(_relief_text(reliefs[0]))
        elif reducible and verdict.fits is False:
            item = reducible[0]
            assert item.choice is not None
            details.append(
                f"The largest saving is in {item.name}: alternative {item.choice[1]} of operation {item.choice[0]} "
                f"would make it {exact_text(item.smaller_by)} smaller."
            )
    if load is not None and load.unexplained:
        details.append(f"The file states {exact_text(load.unexplained)} more there than its allocations add up to.")
    grown = [change for change in changes if change.delta is not None and change.delta > 0]
    if grown:
        what = ", ".join(f"{change.name} by {exact_text(change.delta or 0)}" for change in grown[:3])
        net = sum(change.delta or 0 for change in changes)
        change_text = f"{exact_text(abs(net))} {'more' if net >= 0 else 'less'}"
        details.append(f"Against the baseline the tile holds {change_text}; grew: {what}.")
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
    other = "other allocation" if resident else "allocation"
    if resident:
        parts.append(f"{exact_text(sum(resident))} in {counted(len(resident), 'resident parameter')}")
    if rest:
        parts.append(f"{exact_text(sum(rest))} in {counted(len(rest), other)}")
    if scratch:
        parts.append(f"{exact_text(scratch)} of scratch")
    largest = sorted(sizes, key=lambda pair: -pair[1])[:3]
    names = ", ".join(f"{item.name} {exact_text(size)}" for item, size in largest)
    text = f"Tile {load.tile} holds {exact_text(load.total)} at step {load.step}: {', '.join(parts) or 'nothing known'}"
    return f"{text}; largest {names}." if names else f"{text}."
