"""The operations of a recipe as a tree of regions, with what each holds of the selected peak.

Bytes are shared out by :mod:`tileview.analysis.holdings`: an allocation belongs to the operation whose plan
makes it, scratch to the operation whose step needs it, parameters and inputs to the operation that reads them, and each
is counted once; what belongs to none has a row of its own. So the rows of the outermost region add up to the usage of
the tile. A timeline without a recipe has no graph: there the operations named by its steps stand, each with its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tileview.analysis.holdings import NO_HOLDINGS, Holdings
from tileview.analysis.operation_words import kind_short, kind_words
from tileview.analysis.words import counted
from tileview.core.cycles.prices import ProgramCycles
from tileview.core.cycles.words import exact_cycles, short_cycles
from tileview.model.graph import Operation, RepeatKind, UnknownKind
from tileview.model.recipe import Recipe
from tileview.model.sizes import UNAVAILABLE, Size, Unavailable, exact_text, percent_text
from tileview.model.timeline import Timeline
from tileview.present.plan_words import plan_is_known, plan_words
from tileview.present.tables import EMPTY_CELL, Cell, Column, LateNodes, Node, Room, TableSpec, Tone, kib_cell, matches

OUTSIDE = "outside"
"""Key of the row for what belongs to no operation."""


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One operation (or a step of a timeline that has no graph).

    ``made``: bytes at the selected step and tile of what it makes, scratch included; ``read``: of the parameters and
    inputs it reads; bodies included for a Repeat; ``usage`` is the whole. ``unavailable`` counts its allocations
    without a size. ``alternatives`` is None where the plan is not open to choice. ``first_step`` and ``last_step`` are
    its own steps' indices, for a Repeat those of its body as well.
    """

    operation: int | None
    step: int | None
    kind: str
    plan: str
    alternatives: int | None
    first_step: int | None
    is_known: bool = True
    is_edited: bool = False
    remark: str = ""
    last_step: int | None = None
    short: str = ""
    """The kind without its figures, for narrow columns; empty where ``kind`` has none."""
    made: int = 0
    read: int = 0
    usage: int = 0
    unavailable: int = 0
    cycles: Size = 0
    """Planner's cycles of all its runs, of a Repeat those of its body; ``all_cycles`` are the program's."""
    all_cycles: Size = 0

    @property
    def bytes(self) -> int:
        """What is counted under it in all."""
        return self.made + self.read


def step_spans(timeline: Timeline | None) -> dict[int, tuple[int, int]]:
    """Operation → indices of its first and its last step."""
    found: dict[int, tuple[int, int]] = {}
    for step in timeline.steps if timeline is not None else ():
        if step.source is not None:
            first, _ = found.get(step.source, (step.index, step.index))
            found[step.source] = (first, step.index)
    return found


class RecipeOperations:
    """The operations of a recipe in words, put together once, for tables that are made anew at every step.

    Rows of operations that hold nothing are the same objects whatever the step.

    Parameters
    ----------
    spans : mapping
        Operation → first and last step, see :func:`step_spans`.
    edited : iterable of int
        Operations whose plan is not the file's.
    unknown : mapping
        Operation → why the estimate does not model it.
    cycles : ProgramCycles, optional
        The planner's price of the program.
    """

    def __init__(
        self,
        recipe: Recipe,
        spans: Mapping[int, tuple[int, int]],
        *,
        edited: Iterable[int] = (),
        unknown: Mapping[int, str] | None = None,
        cycles: ProgramCycles | None = None,
    ) -> None:
        self._recipe = recipe
        self._prices = {} if cycles is None else cycles.operations()
        self._total: Size = UNAVAILABLE if cycles is None else cycles.total
        self._spans = spans
        self._edited = frozenset(edited)
        self._reasons = unknown or {}
        self._empty = self._region(recipe.graph.operations)

    def _region(self, operations: tuple[Operation, ...]) -> tuple[Node[OperationRow], ...]:
        """Operations that hold nothing, bodies under their Repeat."""
        nodes = []
        for operation in operations:
            body = operation.kind.body.operations if isinstance(operation.kind, RepeatKind) else ()
            inner = self._region(body)
            nodes.append(Node(operation.id, self._row(operation, inner), inner))
        return tuple(nodes)

    def _row(self, operation: Operation, inner: tuple[Node[OperationRow], ...]) -> OperationRow:
        plan = self._recipe.plans.get(operation.id)
        known = not isinstance(operation.kind, UnknownKind) and operation.id not in self._reasons
        if plan is not None and not plan_is_known(plan):
            known = False
        if plan is not None:
            words = plan_words(plan)
        elif isinstance(operation.kind, RepeatKind):
            words = f"{counted(len(operation.kind.body.operations), 'operation')} a round"
        else:
            words = "no plan"
        alternatives = self._recipe.alternatives.get(operation.id)
        first, last = _span_with(self._spans.get(operation.id), inner)
        cycles: Size = self._prices[operation.id].cycles if operation.id in self._prices else 0
        for child in inner:
            own = child.row.cycles
            cycles = cycles + own if isinstance(cycles, int) and isinstance(own, int) else UNAVAILABLE
        return OperationRow(
            operation.id,
            None,
            kind_words(operation.kind),
            words,
            None if alternatives is None else len(alternatives),
            first,
            known,
            operation.id in self._edited,
            self._reasons.get(operation.id, "" if known else "TileView does not know this operation or its plan"),
            last,
            kind_short(operation.kind),
            cycles=cycles,
            all_cycles=self._total,
        )

    def nodes(
        self, held: Holdings, query: str = "", within: tuple[int, int] | None = None
    ) -> tuple[Node[OperationRow], ...]:
        """The operations in graph order with what they hold, bodies under their Repeat; first what belongs to none.

        ``query``: words that an operation (or one in its body) must contain; ``within``: a half-open range of steps in
        which it (or one in its body) must have some.
        """
        nodes = tuple(_filled(self._empty, held))
        if query.strip() or within is not None:
            nodes = _found(nodes, query, within)
        outside = _outside_node(held, "No operation", "inputs that nothing reads, and what nothing makes", query)
        return nodes if outside is None or within is not None else (outside, *nodes)


def _outside_node(held: Holdings, kind: str, words: str, query: str) -> Node[OperationRow] | None:
    """What belongs to no operation; None where there is nothing, or it is not looked for."""
    if not (held.outside or held.unavailable_outside) or not matches(query, kind, words):
        return None
    row = OperationRow(
        None, None, kind, words, None, None, made=held.outside, usage=held.usage, unavailable=held.unavailable_outside
    )
    return Node(OUTSIDE, row)


def _filled(nodes: Sequence[Node[OperationRow]], held: Holdings) -> Sequence[Node[OperationRow]]:
    """Nodes with their bytes; those that hold nothing, and lists of such, stay the same objects."""
    result = []
    is_changed = False
    for node in nodes:
        operation = node.row.operation
        assert operation is not None
        inner = _filled(node.children, held) if node.children else node.children
        made = held.own.get(operation, 0) + sum(child.row.made for child in inner)
        read = held.read.get(operation, 0) + sum(child.row.read for child in inner)
        unsized = held.unavailable.get(operation, 0) + sum(child.row.unavailable for child in inner)
        if made or read or unsized or inner is not node.children:
            row = replace(node.row, made=made, read=read, usage=held.usage, unavailable=unsized)
            node, is_changed = Node(node.key, row, inner), True
        result.append(node)
    return tuple(result) if is_changed else nodes


def _found(
    nodes: Sequence[Node[OperationRow]], query: str, within: tuple[int, int] | None
) -> tuple[Node[OperationRow], ...]:
    """The nodes that contain the words of a query, with all of their body, or else with what of it does; of both only
    what runs in a range of steps.
    """
    result = []
    for node in nodes:
        if not _runs_in(node.row, within):
            continue
        if _matches(node.row, query):
            inner = node.children if within is None else _found(node.children, "", within)
            result.append(Node(node.key, node.row, inner))
        elif inner := _found(node.children, query, within):
            result.append(Node(node.key, node.row, inner))
    return tuple(result)


def _span_with(own: tuple[int, int] | None, inner: Sequence[Node[OperationRow]]) -> tuple[int | None, int | None]:
    """First and last step of an operation and of what its body holds."""
    rows = [child.row for child in inner]
    firsts = [row.first_step for row in rows if row.first_step is not None]
    lasts = [row.last_step for row in rows if row.last_step is not None]
    if own is not None:
        firsts.append(own[0])
        lasts.append(own[1])
    return min(firsts, default=None), max(lasts, default=None)


def _runs_in(row: OperationRow, within: tuple[int, int] | None) -> bool:
    """Whether an operation, or one in its body, has a step in a half-open range; without a range all do."""
    if within is None:
        return True
    if row.first_step is None or row.last_step is None:
        return False
    return row.first_step < within[1] and within[0] <= row.last_step


def _matches(row: OperationRow, query: str) -> bool:
    return matches(query, f"op {row.operation}", str(row.operation), row.kind, row.plan)


class StepOperations:
    """The operations that a timeline's steps name, grouped once, for tables that are made anew at every step.

    Rows of operations that hold nothing, and those of steps, are the same objects whatever the step.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._grouped: dict[int | None, list[int]] = {}
        for step in timeline.steps:
            self._grouped.setdefault(step.source, []).append(step.index)
        self._empty: dict[int | None, Node[OperationRow]] = {}

    def nodes(
        self, held: Holdings = NO_HOLDINGS, query: str = "", within: tuple[int, int] | None = None
    ) -> tuple[Node[OperationRow], ...]:
        """The operations in order of their first step, with those steps as children; first what belongs to none."""
        outside = _outside_node(held, "From the start", "live at the first step: inputs, parameters, its result", query)
        nodes = [] if outside is None or within is not None else [outside]
        for source in self._grouped:
            node = self._node(source, held)
            kept = node.children
            if within is not None:
                kept = tuple(one for one in kept if _runs_in(one.row, within))
            if query and not _matches(node.row, query):
                kept = tuple(one for one in kept if matches(query, one.row.kind, one.row.plan))
            if kept:
                nodes.append(node if kept is node.children else Node(node.key, node.row, kept))
        return tuple(nodes)

    def _node(self, source: int | None, held: Holdings) -> Node[OperationRow]:
        empty = self._empty.get(source)
        if empty is None:
            empty = self._empty[source] = self._empty_node(source)
        made = unavailable = 0
        if source is not None:
            made, unavailable = held.own.get(source, 0), held.unavailable.get(source, 0)
        if not made and not unavailable:
            return empty
        return Node(empty.key, replace(empty.row, made=made, usage=held.usage, unavailable=unavailable), empty.children)

    def _empty_node(self, source: int | None) -> Node[OperationRow]:
        indices = self._grouped[source]
        children = LateNodes(len(indices), partial(_step_nodes, self._timeline, indices))
        kinds = list(dict.fromkeys(self._timeline.steps[index].kind for index in indices))
        row = OperationRow(
            source,
            None if source is not None else indices[0],
            ", ".join(kinds) if source is not None else "No operation",
            counted(len(indices), "step"),
            None,
            indices[0],
            last_step=indices[-1],
        )
        return Node(("source", source), row, children)


def _step_nodes(timeline: Timeline, indices: Sequence[int]) -> tuple[Node[OperationRow], ...]:
    return tuple(Node(("step", index), _step_row(timeline, index)) for index in indices)


def _step_row(timeline: Timeline, index: int) -> OperationRow:
    step = timeline.steps[index]
    runs = "" if step.execution_count == 1 else f", runs {step.execution_count:,} times"
    return OperationRow(None, index, f"Step {index}", step.kind + runs, None, index, last_step=index)


COUNTED = (
    "Counted under an operation: what it makes, the scratch of its steps, and the parameters and inputs it reads; a "
    "Repeat has those of its body as well."
)


def _name(row: OperationRow) -> Cell:
    if row.operation is None:
        return Cell("" if row.step is not None else "–", -1)
    if not row.is_known:
        return Cell(f"? {row.operation}", row.operation, f"Unknown: {row.remark}", Tone.WARNING)
    return Cell(str(row.operation), row.operation, row.kind)


def _kind(row: OperationRow) -> Cell:
    tip = f"{row.kind}\n{row.remark}" if row.remark else row.kind
    return Cell(row.short or row.kind, row.kind, tip, Tone.TEXT if row.is_known else Tone.WARNING)


def _share(row: OperationRow) -> Cell:
    if not row.usage or not (row.bytes or row.unavailable):
        return EMPTY_CELL
    value = round(100 * row.bytes / row.usage, 3)
    share = percent_text(row.bytes, row.usage)
    if row.unavailable:
        return Cell(f"≥ {share}" if row.bytes else "n/a", value, split_words(row), Tone.UNAVAILABLE)
    return Cell(share, value, split_words(row))


def _plan(row: OperationRow) -> Cell:
    text = f"* {row.plan}" if row.is_edited else row.plan
    tip = f"{row.plan} (not the file's plan)" if row.is_edited else row.plan
    return Cell(text, row.plan, tip, Tone.TEXT, row.is_edited)


def _held(row: OperationRow) -> Cell:
    if row.unavailable:
        tip = f"{exact_text(row.bytes)} known; {counted(row.unavailable, 'allocation')} unavailable"
        return Cell(f"≥ {kib_cell(row.bytes).text}", row.bytes, tip, Tone.UNAVAILABLE)
    return kib_cell(row.bytes) if row.bytes else EMPTY_CELL


def _made(row: OperationRow) -> Cell:
    return kib_cell(row.made) if row.made else EMPTY_CELL


def _read(row: OperationRow) -> Cell:
    return kib_cell(row.read) if row.read else EMPTY_CELL


def _cycles(row: OperationRow) -> Cell:
    """The share of the program's cycles, in full as its tooltip."""
    if row.operation is None or row.cycles == 0:
        return EMPTY_CELL
    if isinstance(row.cycles, Unavailable):
        return Cell("n/a", None, "A step of it has no known price", Tone.UNAVAILABLE)
    tip = f"{exact_cycles(row.cycles)} planner's cycles in all runs"
    if not isinstance(row.all_cycles, int) or not row.all_cycles:
        return Cell(short_cycles(row.cycles), row.cycles, tip)
    share = percent_text(row.cycles, row.all_cycles)
    return Cell(share, row.cycles, f"{tip}, {share} of {exact_cycles(row.all_cycles)}")


def _number(number: int | None) -> Cell:
    return EMPTY_CELL if number is None else Cell(f"{number:,}", number)


_SPAN_TIP = "step that belongs to the operation; of a Repeat, of its body as well"

OPERATIONS: Final = TableSpec[OperationRow](
    (
        Column("Op", tip="Operation of the graph", cell=_name, sample="1234", is_seen=True),
        Column("Kind", cell=_kind, sample="FlashAttention", is_seen=True),
        Column(
            "Share",
            True,
            f"Of the known usage at the selected step and tile. {COUNTED}",
            "%",
            cell=_share,
            sample="100.0 %",
            is_seen=True,
        ),
        Column(
            "Current plan",
            tip="The plan in words; a star marks one that is not the file's",
            cell=_plan,
            sample="grid 8 × 36 × 5",
            room=Room.SHARED,
            is_seen=True,
        ),
        Column(
            "Holds",
            True,
            f"Bytes counted under it at the selected step and tile. {COUNTED}",
            "bytes",
            cell=_held,
            sample="573.2 KiB",
        ),
        Column("Makes", True, "Of that, what its plan makes, and scratch", "bytes", cell=_made, sample="573.2 KiB"),
        Column(
            "Reads", True, "Of that, the parameters and inputs that it reads", "bytes", cell=_read, sample="573.2 KiB"
        ),
        Column(
            "Cycles",
            True,
            "Share of the program's planner's cycles, all runs counted; of a Repeat, with its body",
            "planner's cycles",
            cell=_cycles,
            sample="100.0 %",
        ),
        Column(
            "Plans",
            True,
            "How many plans the search kept for this operation: its alternatives",
            cell=lambda row: _number(row.alternatives),
            sample="22",
        ),
        Column("First", True, f"The first {_SPAN_TIP}", cell=lambda row: _number(row.first_step), sample="163"),
        Column("Last", True, f"The last {_SPAN_TIP}", cell=lambda row: _number(row.last_step), sample="163"),
    )
)
"""op · kind · share of the usage · plan in words · bytes, of them made and read · cycles · alternatives · steps."""


def split_words(row: OperationRow) -> str:
    """What a row's bytes are made of: ``96,768 B of 568,312 B: makes 0 B, reads 96,768 B of parameters and inputs``."""
    words = f"{exact_text(row.bytes)} of {exact_text(row.usage)}"
    if row.operation is not None:
        words += f": makes {exact_text(row.made)}, reads {exact_text(row.read)} of parameters and inputs"
    if row.unavailable:
        words += f"; {counted(row.unavailable, 'allocation')} unavailable, not in the sum"
    return words


def operations_footer(held: Holdings, has_graph: bool) -> str:
    """What the shares add up to: ``568,312 B: 44.2 % made, 55.8 % parameters and inputs read``."""
    if not held.usage:
        return ""
    whole, parts = held.usage, []
    if has_graph:
        parts.append(f"{percent_text(sum(held.own.values()), whole)} made")
        what = "parameters and inputs" if held.has_hosts else "parameters"
        parts.append(f"{percent_text(sum(held.read.values()), whole)} {what} read")
        if held.outside:
            parts.append(f"{percent_text(held.outside, whole)} under no operation")
    else:
        parts.append(f"{percent_text(sum(held.own.values()), whole)} made by steps")
        parts.append(f"{percent_text(held.outside, whole)} there from the start")
    words = f"{exact_text(whole)}: {', '.join(parts)}"
    missing = sum(held.unavailable.values()) + held.unavailable_outside
    if missing:
        words += f"; {counted(missing, 'allocation')} unavailable, not in the sum"
    return words


def counted_words(held: Holdings, has_graph: bool) -> str:
    """The rule by which bytes are shared out, for a tooltip."""
    if not has_graph:
        return (
            "A timeline alone does not say who reads an allocation: each is counted under the operation of the step "
            "at which it is first live, scratch under the operation of the step. What is live at the first step has a "
            "row of its own. All rows add up to the usage of the tile."
        )
    words = f"{COUNTED} All outermost rows add up to the usage of the tile, as in the graph."
    if held.shared:
        words += (
            f" {percent_text(held.shared, held.usage)} ({exact_text(held.shared)}) are read by several operations: "
            "counted for the first."
        )
    return words
