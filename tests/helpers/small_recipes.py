"""Recipes written in a few lines, for tests of single rules of the re-planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileview.model.config import PipelineConfig
from tileview.model.graph import AddKind, Graph, GraphInput, InputKind, Operation, OperationKind, ValueSequence
from tileview.model.plan import AddOperator, Dispatch, Operator, Plan, Pointwise, Requirement
from tileview.model.recipe import Recipe
from tileview.model.tensor import (
    F16,
    ROW_MAJOR,
    Axis,
    AxisBase,
    Format,
    Layout,
    MemoryClass,
    Order,
    Padding,
    Precision,
    Shape,
    Tiling,
)

ZERO = Padding.ZERO
REJECT = Padding.REJECT


def axis(index: int, partitions: int, block: int = 1, padding: Padding = REJECT, stride: int | None = None) -> Axis:
    """A plain axis counted from the end (1 is the last)."""
    return Axis(AxisBase.END, index, partitions, 1, block, block, 1, padding, stride)


def layout(
    *axes: Axis, order: Order = ROW_MAJOR, replicas: int = 1, memory_class: MemoryClass = MemoryClass.STANDARD
) -> Layout:
    owners = replicas
    for each in axes:
        owners *= each.partitions
    return Layout(order, Tiling(owners, replicas, axes), memory_class)


ONE = layout(axis(2, 1))
"""Row-major on one tile: the canonical layout of anything small."""


def need(where: Layout, precision: Precision = F16, materialization: str = "Complete") -> Requirement:
    return Requirement(Format(precision, where), "Direct", materialization)


def plan(
    operator: Operator,
    dispatch: Dispatch,
    inputs: Sequence[Requirement],
    output: Requirement,
    may_alias: Sequence[int] = (),
) -> Plan:
    return Plan(operator, dispatch, tuple(inputs), output, tuple(may_alias))


def add_plan(inputs: Sequence[Layout], output: Layout, may_alias: Sequence[int] = ()) -> Plan:
    return plan(AddOperator(), Pointwise("Add"), [need(each) for each in inputs], need(output), may_alias)


def host(value: int, shape: Shape, name: str = "") -> GraphInput:
    return GraphInput(name or f"x{value}", InputKind.HOST, value, shape)


def parameter(value: int, shape: Shape, name: str = "") -> GraphInput:
    return GraphInput(name or f"w{value}", InputKind.PARAMETER, value, shape)


def operation(number: int, inputs: Sequence[int], result: int, kind: OperationKind | None = None) -> Operation:
    return Operation(number, tuple(inputs), (result,), AddKind() if kind is None else kind)


def recipe(
    inputs: Sequence[GraphInput],
    operations: Sequence[Operation],
    shapes: Mapping[int, Shape],
    plans: Mapping[int, Plan],
    *,
    outputs: Sequence[int] | None = None,
    tiles: int = 4,
    sequences: Sequence[ValueSequence] = (),
    precisions: Mapping[int, Precision] | None = None,
    homes: Mapping[int, Format] | None = None,
    open_boundaries: Sequence[int] = (),
    budget: int = 586_960,
    reserve: int = 0,
) -> Recipe:
    """``shapes``: of the results. Every input is F16 unless ``precisions`` says else."""
    automatic = {given.value: (precisions or {}).get(given.value, F16) for given in inputs}
    known = {given.value: given.shape for given in inputs} | dict(shapes)
    last = operations[-1].results if operations else ()
    graph = Graph(
        tuple(inputs),
        tuple(sequences),
        tuple(operations),
        tuple(last if outputs is None else outputs),
        known,
        100,
        1000,
    )
    config = PipelineConfig(tiles, False, {}, automatic, reserve, budget)
    return Recipe(graph, config, dict(plans), {}, dict(homes or {}), frozenset(open_boundaries))
