"""What the boxes of the graph say: titles, plans in a few words, tooltips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tileview.analysis.operation_words import kind_words
from tileview.analysis.words import counted, precision_short, shape_text
from tileview.graphlayout import LayoutNode, NodeKind, Structure
from tileview.model.graph import Graph, RepeatKind
from tileview.model.plan import (
    AttentionDispatch,
    BlockedGemm,
    GemmOperator,
    LayerNormParts,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Plan,
    Pointwise,
    Unknown,
    ViewDispatch,
)
from tileview.model.tensor import Shape
from tileview.present.plan_words import plan_is_known, plan_words


def short_plan(plan: Plan) -> str:
    """A plan in the few words that fit a box; :func:`tileview.present.plan_words.plan_words` says it all."""
    if isinstance(plan.operator, Unknown):
        return f"unknown operator {plan.operator.name}"
    dispatch = plan.dispatch
    if isinstance(dispatch, BlockedGemm):
        words = [_distribution(dispatch)]
        if isinstance(plan.operator, GemmOperator):
            words.append(precision_short(plan.operator.multiply))
        if dispatch.orientation is Orientation.SWAPPED:
            words.append("swapped")
        return ", ".join(words)
    if isinstance(dispatch, AttentionDispatch):
        return f"{'materialized' if dispatch.materialized else 'online'}, {dispatch.key_block_rows} key rows a block"
    if isinstance(dispatch, LayerNormParts):
        return f"in {dispatch.parts} parts"
    if isinstance(dispatch, Pointwise):
        return f"on {counted(plan.output.format.layout.tiling.tile_count, 'tile')}"
    if isinstance(dispatch, ViewDispatch):
        return "one copy"
    assert isinstance(dispatch, Unknown)
    return f"unknown dispatch {dispatch.name}"


def _distribution(dispatch: BlockedGemm) -> str:
    how = dispatch.distribution
    if isinstance(how, ParallelReduction):
        return f"grid {how.row_partitions} × {how.column_partitions} × {how.inner_partitions}"
    if isinstance(how, OutputStationary):
        return "output stationary"
    return f"unknown distribution {how.name}"


@dataclass(frozen=True, slots=True)
class NodeWords:
    """What a box says whatever the step: ``title`` (``21 Gemm``), ``detail`` (the plan), ``tip`` lines for the
    tooltip.
    """

    title: str
    detail: str
    tip: tuple[str, ...]
    is_unknown: bool = False
    is_edited: bool = False


def node_words(
    structure: Structure,
    graph: Graph,
    plans: Mapping[int, Plan],
    edited: Sequence[int] = (),
    unknown: Mapping[int, str] | None = None,
    fused: Mapping[int, int] | None = None,
) -> tuple[NodeWords, ...]:
    """The words of every node.

    Parameters
    ----------
    edited : sequence of int
        Operations whose plan is not the file's: their plan is marked with an asterisk.
    unknown : mapping
        Operation → why the estimate does not model it.
    fused : mapping
        Operation → the one whose step does its work as well.
    """
    reasons = {} if unknown is None else unknown
    joined = {} if fused is None else fused
    changed = frozenset(edited)
    operations = {operation.id: operation for operation, _ in graph.walk()}
    shapes = dict(graph.shapes)
    for operation in operations.values():
        if isinstance(operation.kind, RepeatKind):
            shapes.update(operation.kind.body.value_shapes)
    found = []
    for node in structure.nodes:
        if node.operation is None:
            found.append(_port_words(node, shapes))
            continue
        operation = operations[node.operation]
        plan = plans.get(node.operation)
        is_unknown = node.unknown or node.operation in reasons or (plan is not None and not plan_is_known(plan))
        is_edited = node.operation in changed
        title = f"{node.operation} {node.label}"
        if node.kind is NodeKind.REPEAT:
            title += f" ×{node.count}"
        detail = _detail(structure, node, plan)
        if node.operation in joined:
            detail = f"in the step of op {joined[node.operation]}"
        tip = [f"Operation {node.operation}: {kind_words(operation.kind)}"]
        if is_unknown:
            title = f"? {title}"
            reason = reasons.get(node.operation, "TileView does not know this operation or its plan")
            tip.append(f"Unknown: {reason}")
        if plan is not None:
            tip.append(f"Plan: {plan_words(plan)}{' (not the file’s plan)' if is_edited else ''}")
        made = [f"{shape_text(shapes[value])}" for value in operation.results if value in shapes]
        if made:
            tip.append(f"Makes {', '.join(made)}")
        tip.extend(_reads(node))
        found.append(NodeWords(title, f"* {detail}" if is_edited else detail, tuple(tip), is_unknown, is_edited))
    return tuple(found)


def _detail(structure: Structure, node: LayoutNode, plan: Plan | None) -> str:
    if node.body is not None:
        return counted(structure.operations_in(node.body), "operation")
    return "no plan" if plan is None else short_plan(plan)


def _reads(node: LayoutNode) -> list[str]:
    lines = []
    if node.parameters:
        names = list(dict.fromkeys(node.parameters))
        more = f" and {len(names) - 6:,} more" if len(names) > 6 else ""
        lines.append(f"Reads {counted(len(names), 'parameter')}: {', '.join(names[:6])}{more}")
    if node.missing:
        lines.append(f"Reads what nothing produces: value {', '.join(map(str, node.missing[:6]))}")
    return lines


def _port_words(node: LayoutNode, shapes: Mapping[int, Shape]) -> NodeWords:
    shape = shapes.get(node.value) if node.value is not None else None
    tip = {
        NodeKind.INPUT: "Input of the graph",
        NodeKind.OUTPUT: "Output of the graph",
        NodeKind.ARGUMENT: "Comes into the body of the Repeat",
        NodeKind.YIELD: "Handed on to the next round, and out after the last",
    }[node.kind]
    shown = "" if shape is None else f" {shape_text(shape)}"
    lines = [f"{tip}: {node.label}, value {node.value}{shown}", *_reads(node)]
    return NodeWords(node.label, "", tuple(lines))
