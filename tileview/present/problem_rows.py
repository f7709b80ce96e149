"""Everything that is wrong, as one tree: what a file has wrong, invalid layouts, unavailable values, steps over budget.

Problems of one kind stand under one row (43 invalid layouts are one line until it is opened), gravest kind first.
Each row knows what to select so that the other views show its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tileview.analysis.repair import bad_homes, remedy
from tileview.analysis.words import counted
from tileview.core.geometry.resolve import LayoutErrorKind, layout_failure
from tileview.model.kept import KeptFor
from tileview.model.recipe import Recipe
from tileview.model.sizes import Unavailable, exact_text, kib_text
from tileview.model.timeline import (
    Cause,
    Problem,
    Timeline,
    Verdict,
    fullest_tile,
    last_largest,
    steps_read,
)
from tileview.present.tables import Cell, Column, Node, Room, TableSpec, Tone

SEVERITIES = ("error", "warning", "note")
_GLYPHS = {"error": "✗", "warning": "!", "note": "i"}
_TONES = {"error": Tone.OVER, "warning": Tone.WARNING, "note": Tone.MUTED}


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """One problem, or the head of a kind of them (``count`` above 0).

    ``kind`` is the sort of problem in words. ``value`` is an index into the timeline's values, ``root`` its
    allocation. ``step``, ``tile`` and ``operation`` say where; None where that is not known. ``repairable``: a layout
    that is invalid.
    """

    severity: str
    kind: str
    place: str
    text: str
    hint: str = ""
    value: int | None = None
    root: int | None = None
    step: int | None = None
    tile: int | None = None
    operation: int | None = None
    count: int = 0
    repairable: bool = False
    home: int | None = None
    """Graph value of the input with an invalid home."""


INVALID_LAYOUT = "invalid layout"
INVALID_HOME = "invalid home"
UNAVAILABLE_SIZE = "unavailable size"
OVER_BUDGET = "over budget"
UNKNOWN_OPERATION = "unknown operation"
CANNOT_LOWER = "cannot be lowered"
FILE_PROBLEM = "problem in the file"
NOT_MODELLED = "part not modelled"

_PLURALS = {
    OVER_BUDGET: "runs of steps over budget",
    FILE_PROBLEM: "problems in the file",
    NOT_MODELLED: "parts not modelled",
}


def problem_nodes(
    timeline: Timeline | None,
    problems: Sequence[Problem],
    verdict: Verdict | None = None,
    unknown: Iterable[tuple[int, str]] = (),
    homes: Sequence[ProblemRow] = (),
) -> tuple[Node[ProblemRow], ...]:
    """The tree of problems.

    Parameters
    ----------
    timeline : Timeline or None
        What invalid layouts, unavailable sizes and steps over budget are found in.
    problems : sequence of Problem
        What readers and the estimate reported.
    verdict : Verdict or None
        Named where a recipe cannot be lowered and so has no timeline.
    unknown : iterable of (operation, reason)
        Operations that the estimate does not model.
    homes : sequence of ProblemRow
        Invalid homes of inputs, see :mod:`tileview.analysis.home_offers`.
    """
    rows: list[ProblemRow] = []
    if verdict is not None and verdict.cause is Cause.CANNOT_LOWER:
        operation = verdict.operation
        place = "recipe" if operation is None else f"operation {operation}"
        rows.append(ProblemRow("error", CANNOT_LOWER, place, verdict.text, operation=operation))
    rows.extend(homes)
    if timeline is not None:
        rows.extend(invalid_layouts(timeline))
        rows.extend(_unavailable(timeline))
        rows.extend(over_budget(timeline))
    for operation, reason in unknown:
        rows.append(ProblemRow("warning", UNKNOWN_OPERATION, f"operation {operation}", reason, operation=operation))
    told = {row.value for row in rows if row.value is not None}
    rows.extend(
        _reported(problem, timeline) for problem in problems if problem.value is None or problem.value not in told
    )
    if timeline is not None:
        rows.extend(ProblemRow("note", NOT_MODELLED, "estimate", note) for note in timeline.notes)
    return _grouped(list(dict.fromkeys(rows)))


def invalid_layouts(timeline: Timeline) -> list[ProblemRow]:
    """One row for each value with an invalid layout."""
    return _INVALID.get((timeline.values,), lambda: _invalid_layouts(timeline), (timeline.tile_count,))


_INVALID: Final[KeptFor[list[ProblemRow]]] = KeptFor(2)
_OVER: Final[KeptFor[list[ProblemRow]]] = KeptFor(2)


def _invalid_layouts(timeline: Timeline) -> list[ProblemRow]:
    rows = []
    for index, value in enumerate(timeline.values):
        failure = None if value.layout is None else layout_failure(value.shape, value.layout)
        if failure is None and value.layout_error is None and value.layout is not None:
            continue
        repairable = failure is not None and failure.kind is not LayoutErrorKind.UNKNOWN_ORDER
        if failure is not None:
            text = failure.text
        elif value.layout_error is not None:
            text = value.layout_error
        else:
            text = f"the layout could not be read: {value.layout_text}"
        rows.append(
            ProblemRow(
                "error",
                INVALID_LAYOUT,
                value.name,
                text,
                remedy(timeline, index),
                value=index,
                root=value.root,
                repairable=repairable,
            )
        )
    return rows


def _unavailable(timeline: Timeline) -> list[ProblemRow]:
    """Values without a size though their layout is valid."""
    rows = []
    for index, value in enumerate(timeline.values):
        if not isinstance(value.bytes, Unavailable) or value.layout is None or value.layout_error is not None:
            continue
        if layout_failure(value.shape, value.layout) is None:
            text = "its size is given as unavailable"
            if value.precision.element_bytes is None:
                text = f"precision {value.precision} is not known, so its size is unavailable"
            rows.append(ProblemRow("error", UNAVAILABLE_SIZE, value.name, text, value=index, root=value.root))
    return rows


def over_budget(timeline: Timeline) -> list[ProblemRow]:
    """One row for each unbroken run of steps over the total budget or the interleaved region, at its worst step."""
    return _OVER.get((timeline.steps,), lambda: _over_budget(timeline), (steps_read(timeline), timeline.limits))


def _over_budget(timeline: Timeline) -> list[ProblemRow]:
    if not timeline.steps:
        return []
    worst = timeline.tiles.worst()
    rows = []
    limits = (
        ("total budget", 2, timeline.reserve_bytes, timeline.budget_bytes),
        ("interleaved region", 1, 0, timeline.interleaved_budget_bytes),
    )
    for limit, column, reserve, available in limits:
        excess = worst[:, column] + (reserve - available)
        for start, stop in _runs([bool(over) for over in excess > 0]):
            step = start + int(excess[start:stop].argmax())
            over = int(excess[step])
            steps = f"step {start}" if stop == start + 1 else f"steps {start} … {stop - 1}"
            needed = int(worst[step, column]) + reserve
            entry = timeline.steps[step]
            text = (
                f"{exact_text(over)} ({kib_text(over)}) over the {limit} of {exact_text(available)} at step {step}, "
                f"{entry.kind}: {exact_text(needed)} needed" + (", reserve included" if reserve else "")
            )
            tile = fullest_tile(timeline.tiles, step) if column == 2 else last_largest(timeline.tiles.usage(step)[:, 1])
            rows.append(ProblemRow("error", OVER_BUDGET, steps, text, step=step, tile=tile, operation=entry.source))
    return rows


def _reported(problem: Problem, timeline: Timeline | None) -> ProblemRow:
    severity = problem.severity if problem.severity in SEVERITIES else "warning"
    value = problem.value
    root = None
    if timeline is not None and value is not None and 0 <= value < len(timeline.values):
        root = timeline.values[value].root
    return ProblemRow(
        severity,
        FILE_PROBLEM,
        problem.place,
        problem.text,
        problem.hint,
        value,
        root,
        problem.step,
        None,
        problem.operation,
    )


def _grouped(rows: Sequence[ProblemRow]) -> tuple[Node[ProblemRow], ...]:
    """Rows of one kind and severity under one head; a kind of one row stands alone. Gravest first."""
    kinds: dict[tuple[str, str], list[ProblemRow]] = {}
    for row in rows:
        kinds.setdefault((row.severity, row.kind), []).append(row)
    nodes: list[Node[ProblemRow]] = []
    for (severity, kind), members in sorted(kinds.items(), key=lambda item: SEVERITIES.index(item[0][0])):
        if len(members) == 1:
            nodes.append(Node(_key(members[0]), members[0]))
            continue
        children = tuple(Node(_key(row), row) for row in members)
        head = ProblemRow(
            severity,
            kind,
            counted(len(members), kind, _PLURALS.get(kind)),
            f"first: {members[0].place}: {members[0].text}",
            count=len(members),
            repairable=any(row.repairable for row in members),
        )
        nodes.append(Node(("kind", severity, kind), head, children))
    return tuple(nodes)


def _key(row: ProblemRow) -> tuple[object, ...]:
    return (row.severity, row.kind, row.place, row.text, row.value, row.home)


def _runs(marks: Sequence[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for position, marked in enumerate(marks):
        if marked and runs and runs[-1][1] == position:
            runs[-1] = (runs[-1][0], position + 1)
        elif marked:
            runs.append((position, position + 1))
    return runs


def error_count(nodes: Sequence[Node[ProblemRow]]) -> int:
    """How many of the problems are errors."""
    return sum(max(node.row.count, 1) for node in nodes if node.row.severity == SEVERITIES[0])


def tally(nodes: Sequence[Node[ProblemRow]]) -> str:
    """``43 errors, 1 warning``; ``No problems`` where there are none."""
    counts = dict.fromkeys(SEVERITIES, 0)
    for node in nodes:
        counts[node.row.severity] += max(node.row.count, 1)
    words = [counted(number, severity) for severity, number in counts.items() if number]
    return ", ".join(words) if words else "No problems"


def _severity(row: ProblemRow) -> Cell:
    text = f"{_GLYPHS[row.severity]} {row.severity}"
    return Cell(text, SEVERITIES.index(row.severity), row.kind, _TONES[row.severity], row.count > 0)


PROBLEMS: Final = TableSpec[ProblemRow](
    (
        Column("Severity", cell=_severity, sample="✗ warning", field=lambda row: row.severity),
        Column(
            "Where",
            cell=lambda row: Cell(row.place, row.place, f"{row.kind}: {row.place}", bold=row.count > 0),
            sample="43 invalid layouts",
            room=Room.SHARED,
        ),
        Column(
            "What",
            cell=lambda row: Cell(row.text, row.text, row.text),
            sample="1,472 tiles requested, only 288 grains",
            room=Room.SHARED,
        ),
        Column(
            "What helps",
            cell=lambda row: Cell(row.hint, row.hint or None, row.hint, Tone.MUTED),
            sample="At most one tile per grain",
            room=Room.SHARED,
        ),
    )
)
"""severity · where · what · what helps."""


def home_problems(recipe: Recipe | None) -> list[ProblemRow]:
    """One row for each input with an invalid home."""
    found = () if recipe is None else bad_homes(recipe)
    return [
        ProblemRow("error", INVALID_HOME, bad.name, bad.text, bad.remedy, home=bad.value, repairable=True)
        for bad in found
    ]
