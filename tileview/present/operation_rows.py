"""The operations of a recipe as a tree of regions, with what each holds of the selected peak.

Every allocation is counted under the operation whose result its values stem from (temporaries of a plan stem from the
plan's result), scratch under the operation whose step needs it, and what stems from the graph's inputs under a row of
its own: the rows of the outermost region add up to the usage of the tile. A timeline without a recipe has no graph:
there the operations named by its steps stand, each with its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from tileview.model.graph import Graph, Operation, RepeatKind, UnknownKind
from tileview.model.recipe import Recipe
from tileview.model.sizes import Unavailable, exact_text
from tileview.model.timeline import Timeline
from tileview.present.allocation_rows import AllocationTable, RowKind
from tileview.present.plan_words import plan_is_known, plan_words
from tileview.present.tables import (
    EMPTY_CELL,
    Cell,
    Column,
    Node,
    TableSpec,
    Tone,
    kib_cell,
    matches,
    percent_text,
)
from tileview.present.words import counted, kind_short, kind_words

INPUTS = "inputs"
"""Key of the row for what stems from the graph's inputs."""


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One operation (or a step of a timeline that has no graph).

    ``bytes``: what it holds at the selected step and tile, bodies included for a Repeat; ``usage`` is the whole.
    ``unavailable`` counts its allocations without a size. ``alternatives`` is None where the plan is not open to
    choice. ``first_step`` and ``last_step`` are its own steps' indices, for a Repeat those of its body as well.
    """

    operation: int | None
    step: int | None
    kind: str
    plan: str
    alternatives: int | None
    bytes: int
    usage: int
    unavailable: int
    first_step: int | None
    is_known: bool = True
    is_edited: bool = False
    remark: str = ""
    last_step: int | None = None
    short: str = ""
    """The kind without its figures, for narrow columns; empty where ``kind`` has none."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Bytes at one step and tile by operation; None stands for the graph's inputs and whatever has no operation."""

    bytes: Mapping[int | None, int]
    unavailable: Mapping[int | None, int]
    usage: int


NO_SHARES = Shares({}, {}, 0)


def owners_of_values(graph: Graph) -> dict[int, int]:
    """Graph value → operation that it is a result of; arguments of a body belong to its Repeat."""
    owners: dict[int, int] = {}
    for operation, _ in graph.walk():
        for result in operation.results:
            owners[result] = operation.id
        if isinstance(operation.kind, RepeatKind):
            for argument in operation.kind.body.arguments:
                owners[argument] = operation.id
    return owners


def shares(
    table: AllocationTable,
    timeline: Timeline,
    owners: Mapping[int, int] | None,
    firsts: Mapping[int, int | None] | None = None,
) -> Shares:
    """What each operation holds in a table of allocations.

    ``owners`` is None for a timeline without a graph: then an allocation belongs to the operation of the step where
    it is first live, if the timeline does not start with it (``firsts``, where that is known already).
    """
    bytes_of: dict[int | None, int] = {}
    unavailable: dict[int | None, int] = {}
    if firsts is None:
        firsts = _first_sources(timeline) if owners is None else {}
    source = timeline.steps[table.step].source if timeline.steps else None
    for row in table.rows:
        if row.kind is RowKind.SCRATCH:
            operation = source
        elif row.root is None:
            operation = None
        elif owners is None:
            operation = firsts.get(row.root)
        else:
            origin = timeline.values[row.root].origin
            operation = None if origin is None else owners.get(origin)
        if isinstance(row.bytes, Unavailable):
            unavailable[operation] = unavailable.get(operation, 0) + 1
        else:
            bytes_of[operation] = bytes_of.get(operation, 0) + row.bytes
    return Shares(bytes_of, unavailable, table.totals.total)


def _first_sources(timeline: Timeline) -> dict[int, int | None]:
    firsts: dict[int, int | None] = {}
    for step in timeline.steps:
        for root in step.live:
            if root not in firsts:
                firsts[root] = step.source if step.index else None
    return firsts


def step_spans(timeline: Timeline | None) -> dict[int, tuple[int, int]]:
    """Operation → indices of its first and its last step."""
    found: dict[int, tuple[int, int]] = {}
    for step in timeline.steps if timeline is not None else ():
        if step.source is not None:
            first, _ = found.get(step.source, (step.index, step.index))
            found[step.source] = (first, step.index)
    return found


def recipe_nodes(
    recipe: Recipe,
    share: Shares,
    spans: Mapping[int, tuple[int, int]],
    *,
    edited: Iterable[int] = (),
    unknown: Mapping[int, str] | None = None,
    query: str = "",
) -> tuple[Node[OperationRow], ...]:
    """Operations in graph order, bodies under their Repeat; first what stems from the inputs.

    Parameters
    ----------
    spans : mapping
        Operation → first and last step, see :func:`step_spans`.
    edited : iterable of int
        Operations whose plan is not the file's.
    unknown : mapping
        Operation → why the estimate does not model it.
    query : str
        Words that an operation (or one in its body) must contain.
    """
    return RecipeOperations(recipe, spans, edited=edited, unknown=unknown).nodes(share, query)


class RecipeOperations:
    """The operations of a recipe in words, put together once, for tables that are made anew at every step.

    Rows of operations that hold nothing are the same objects whatever the step. For the parameters see
    :func:`recipe_nodes`.
    """

    def __init__(
        self,
        recipe: Recipe,
        spans: Mapping[int, tuple[int, int]],
        *,
        edited: Iterable[int] = (),
        unknown: Mapping[int, str] | None = None,
    ) -> None:
        self._recipe = recipe
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
        return OperationRow(
            operation.id,
            None,
            kind_words(operation.kind),
            words,
            None if alternatives is None else len(alternatives),
            0,
            0,
            0,
            first,
            known,
            operation.id in self._edited,
            self._reasons.get(operation.id, "" if known else "TileView does not know this operation or its plan"),
            last,
            kind_short(operation.kind),
        )

    def nodes(self, share: Shares, query: str = "") -> tuple[Node[OperationRow], ...]:
        """The operations with what they hold, those of them that contain the words of a query."""
        nodes = _filled(self._empty, share)
        if query.strip():
            nodes = _found(nodes, query)
        outside = share.bytes.get(None, 0), share.unavailable.get(None, 0)
        if any(outside) and matches(query, "inputs"):
            inputs = OperationRow(
                None, None, "Inputs", "and their copies", None, outside[0], share.usage, outside[1], None
            )
            nodes = (Node(INPUTS, inputs), *nodes)
        return nodes


def _filled(nodes: tuple[Node[OperationRow], ...], share: Shares) -> tuple[Node[OperationRow], ...]:
    """Nodes with their bytes; those that hold nothing, and lists of such, stay the same objects."""
    result = []
    is_changed = False
    for node in nodes:
        operation = node.row.operation
        inner = _filled(node.children, share) if node.children else node.children
        held = share.bytes.get(operation, 0) + sum(child.row.bytes for child in inner)
        unsized = share.unavailable.get(operation, 0) + sum(child.row.unavailable for child in inner)
        if held or unsized or inner is not node.children:
            row = replace(node.row, bytes=held, usage=share.usage, unavailable=unsized)
            node, is_changed = Node(node.key, row, inner), True
        result.append(node)
    return tuple(result) if is_changed else nodes


def _found(nodes: tuple[Node[OperationRow], ...], query: str) -> tuple[Node[OperationRow], ...]:
    """The nodes that contain the words of a query, with all of their body, or else with what of it does."""
    result = []
    for node in nodes:
        if _matches(node.row, query):
            result.append(node)
        elif inner := _found(node.children, query):
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
        self._firsts: dict[int, int | None] | None = None

    @property
    def firsts(self) -> dict[int, int | None]:
        """Root → operation of the step at which it is first live; None for what the timeline starts with."""
        if self._firsts is None:
            self._firsts = _first_sources(self._timeline)
        return self._firsts

    def nodes(self, share: Shares, query: str = "") -> tuple[Node[OperationRow], ...]:
        """The operations in order of their first step, with those steps as children."""
        nodes = []
        for source in self._grouped:
            node = self._node(source, share)
            if not query or _matches(node.row, query):
                nodes.append(node)
            else:
                kept = tuple(one for one in node.children if matches(query, one.row.kind, one.row.plan))
                if kept:
                    nodes.append(Node(node.key, node.row, kept))
        return tuple(nodes)

    def _node(self, source: int | None, share: Shares) -> Node[OperationRow]:
        empty = self._empty.get(source)
        if empty is None:
            empty = self._empty[source] = self._empty_node(source)
        held, unavailable = share.bytes.get(source, 0), share.unavailable.get(source, 0)
        if not held and not unavailable:
            return empty
        return Node(
            empty.key, replace(empty.row, bytes=held, usage=share.usage, unavailable=unavailable), empty.children
        )

    def _empty_node(self, source: int | None) -> Node[OperationRow]:
        indices = self._grouped[source]
        children = tuple(Node(("step", index), _step_row(self._timeline, index)) for index in indices)
        kinds = list(dict.fromkeys(self._timeline.steps[index].kind for index in indices))
        row = OperationRow(
            source,
            None if source is not None else indices[0],
            ", ".join(kinds) if source is not None else "No operation",
            counted(len(indices), "step"),
            None,
            0,
            0,
            0,
            indices[0],
            last_step=indices[-1],
        )
        return Node(("source", source), row, children)


def _step_row(timeline: Timeline, index: int) -> OperationRow:
    step = timeline.steps[index]
    runs = "" if step.execution_count == 1 else f", runs {step.execution_count:,} times"
    return OperationRow(None, index, f"Step {index}", step.kind + runs, None, 0, 0, 0, index, last_step=index)


class OperationColumn(IntEnum):
    OPERATION = 0
    KIND = 1
    SHARE = 2
    PLAN = 3
    BYTES = 4
    ALTERNATIVES = 5
    FIRST_STEP = 6
    LAST_STEP = 7


class OperationSpec(TableSpec[OperationRow]):
    """op · kind · share of the selected peak · plan in words · bytes · alternatives · first and last step."""

    columns = (
        Column("Op", tip="Operation of the graph"),
        Column("Kind"),
        Column("Share", True, "Of the known usage at the selected step on the selected (else the fullest) tile", "%"),
        Column("Plan in force", tip="The plan in words; a star marks one that is not the file's"),
        Column("At peak", True, "What it holds there", "bytes"),
        Column("Alternatives", True, "Plans that the search kept for this operation"),
        Column("First", True, "The first step that belongs to the operation; of a Repeat, of its body as well"),
        Column("Last", True, "The last step that belongs to the operation; of a Repeat, of its body as well"),
    )

    def cell(self, row: OperationRow, column: int) -> Cell:
        match OperationColumn(column):
            case OperationColumn.OPERATION:
                return self._name(row)
            case OperationColumn.KIND:
                tip = f"{row.kind}\n{row.remark}" if row.remark else row.kind
                return Cell(row.short or row.kind, row.kind, tip, Tone.TEXT if row.is_known else Tone.WARNING)
            case OperationColumn.PLAN:
                text = f"* {row.plan}" if row.is_edited else row.plan
                tip = f"{row.plan} (not the file's plan)" if row.is_edited else row.plan
                return Cell(text, row.plan, tip, Tone.TEXT, row.is_edited)
            case OperationColumn.ALTERNATIVES:
                return EMPTY_CELL if row.alternatives is None else Cell(f"{row.alternatives:,}", row.alternatives)
            case OperationColumn.BYTES:
                return self._bytes(row)
            case OperationColumn.SHARE:
                if not row.bytes or not row.usage:
                    return EMPTY_CELL
                tip = f"{exact_text(row.bytes)} of {exact_text(row.usage)}"
                return Cell(percent_text(row.bytes, row.usage), round(100 * row.bytes / row.usage, 3), tip)
            case OperationColumn.FIRST_STEP:
                return EMPTY_CELL if row.first_step is None else Cell(f"{row.first_step:,}", row.first_step)
            case OperationColumn.LAST_STEP:
                return EMPTY_CELL if row.last_step is None else Cell(f"{row.last_step:,}", row.last_step)

    def _name(self, row: OperationRow) -> Cell:
        if row.operation is None:
            return Cell("" if row.step is not None else "–", -1)
        if not row.is_known:
            return Cell(f"? {row.operation}", row.operation, f"Unknown: {row.remark}", Tone.WARNING)
        return Cell(str(row.operation), row.operation, row.kind)

    def _bytes(self, row: OperationRow) -> Cell:
        if row.unavailable:
            tip = f"{exact_text(row.bytes)} known; {counted(row.unavailable, 'allocation')} unavailable"
            return Cell(f"≥ {kib_cell(row.bytes).text}", row.bytes, tip, Tone.UNAVAILABLE)
        return kib_cell(row.bytes) if row.bytes else EMPTY_CELL
