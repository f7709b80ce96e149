"""Plans, layouts and operators in plain words, and what differs between two plans.

Everything a plan says is first taken apart into *facts*: (label, text) pairs in a fixed order (:func:`plan_facts`).
The one-line form and the differences are both made from plain fields, so that a field which TileView learns to read
shows up in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileview.model.graph import (
    AddKind,
    AttentionKind,
    GeluKind,
    GemmKind,
    LayerNormKind,
    OperationKind,
    RepeatKind,
    SliceKind,
    UnknownKind,
    ViewKind,
    kind_name,
)
from tileview.model.plan import (
    AttentionDispatch,
    AttentionOperator,
    BlockedGemm,
    Dispatch,
    Distribution,
    GemmOperator,
    LayerNormParts,
    Operator,
    Orientation,
    OutputStationary,
    ParallelReduction,
    Plan,
    Pointwise,
    ProductGrid,
    Requirement,
    SliceOperator,
    Staging,
    StagingKind,
    Unknown,
    ViewDispatch,
    ViewOperator,
)
from tileview.model.tensor import (
    Axis,
    AxisBase,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Shape,
)

Fact = tuple[str, str]
"""A label such as ``inner block`` and its text."""

_ORDINALS = {1: "last dimension", 2: "second-last dimension", 3: "third-last dimension"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_CLASSES = {MemoryClass.STANDARD: "standard", MemoryClass.INTERLEAVED: "interleaved"}
_ORDERS = {
    OrderKind.ROW_MAJOR: "row-major",
    OrderKind.LEFT: "Left",
    OrderKind.TRANSPOSED_LEFT: "transposed Left",
    OrderKind.TRANSPOSED_RIGHT: "transposed Right",
    OrderKind.OUTPUT: "Output",
    OrderKind.TRANSPOSED_OUTPUT: "transposed Output",
    OrderKind.MATRIX: "Matrix",
    OrderKind.TRANSPOSED_MATRIX: "transposed Matrix",
}


# -- tensors --------------------------------------------------------------------------------------------------------


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 tile``, ``2 tiles``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def shape_text(shape: Shape) -> str:
    """``[588,1152]``."""
    return "[" + ",".join(map(str, shape)) + "]"


def class_words(memory_class: MemoryClass) -> str:
    return _CLASSES[memory_class]


def precision_words(precision: Precision) -> str:
    """``F16``, ``F8 scaled by 2⁻⁴``."""
    if precision.kind is PrecisionKind.F8F143:
        return f"F8 scaled by {power_of_two(precision.scale_exponent or 0)}"
    return str(precision)


def power_of_two(exponent: int) -> str:
    """``2⁻⁴``."""
    return "2" + str(exponent).translate(_RAISED)


def precision_short(precision: Precision) -> str:
    """``F16``, ``F8``: without the scale."""
    return "F8" if precision.kind is PrecisionKind.F8F143 else str(precision)


def order_words(order: Order) -> str:
    """``row-major``, ``Left``, ``Matrix in blocks of 96 × 16``."""
    if order.kind is OrderKind.UNKNOWN:
        return f"unknown order {order.text}"
    words = _ORDERS[order.kind]
    return f"{words} in blocks of {order.row_block} × {order.column_block}" if order.row_block else words


def axis_name(axis: Axis) -> str:
    """Which dimension an axis divides: ``dimension 0`` from the start, ``last dimension`` from the end."""
    if axis.base is AxisBase.LINEAR:
        return "all elements"
    if axis.base is AxisBase.START:
        return f"dimension {axis.index}"
    return _ORDINALS.get(axis.index, f"dimension {axis.index} from the end")


def axis_words(axis: Axis) -> str:
    """How an axis divides: ``8 parts in blocks of 144``, with padding and stride where they are set."""
    if axis.base is AxisBase.LINEAR:
        return f"in grains of {axis.block_size}" + (", zero-padded" if axis.padding is Padding.ZERO else "")
    words = [counted(axis.partitions, "part")]
    if axis.block_size != 1:
        words[0] += f" in blocks of {axis.block_size}"
    if axis.padding_multiple not in (1, axis.block_size):
        words.append(f"padded to multiples of {axis.padding_multiple}")
    if axis.shard_padding_multiple != 1:
        words.append(f"parts widened to multiples of {axis.shard_padding_multiple}")
    if axis.padding_groups != 1:
        words.append(f"{axis.padding_groups} padding groups")
    if axis.padding is Padding.ZERO:
        words.append("zero-padded")
    if axis.tile_stride is not None:
        words.append(f"stride {axis.tile_stride}")
    return ", ".join(words)


def layout_words(layout: Layout) -> str:
    """A layout in one line: owners, how dimensions are cut, replicas, order, class."""
    tiling = layout.tiling
    if tiling.is_linear:
        cut = f"{counted(tiling.tile_count, 'owner')}, spread {axis_words(tiling.axes[0])}"
    else:
        axes = "; ".join(f"{axis_name(axis)}: {axis_words(axis)}" for axis in tiling.axes)
        cut = counted(tiling.tile_count, "owner") + (f"; {axes}" if axes else ", not divided")
        if tiling.replicas != 1:
            cut += f"; {counted(tiling.replicas, 'copy', 'copies')} of each part"
    return f"{cut}; {order_words(layout.order)}; {class_words(layout.memory_class)} memory"


def layout_facts(layout: Layout) -> list[Fact]:
    """A layout taken apart."""
    tiling = layout.tiling
    facts = [
        ("order", order_words(layout.order)),
        ("memory", class_words(layout.memory_class)),
        ("owners", f"{tiling.tile_count:,}"),
    ]
    if tiling.is_linear:
        return [*facts, ("spread", axis_words(tiling.axes[0]))]
    facts.append(("copies of each part", f"{tiling.replicas:,}"))
    facts.extend((axis_name(axis), axis_words(axis)) for axis in tiling.axes)
    return facts


# -- operations -----------------------------------------------------------------------------------------------------


def kind_words(kind: OperationKind) -> str:
    """A graph operation's kind with its own figures: ``Gemm``, ``Repeat × 27``, ``Slice of dimension 1, 0 … 728``."""
    name = kind_name(kind)
    if isinstance(kind, RepeatKind):
        return f"{name} × {kind.count}"
    if isinstance(kind, SliceKind):
        return f"{name} of dimension {kind.axis}, {kind.start} … {kind.start + kind.length - 1}"
    if isinstance(kind, ViewKind):
        return f"{name}: {_view_words(kind)}"
    if isinstance(kind, AttentionKind):
        return f"{name}, causal" if kind.causal else name
    if isinstance(kind, GemmKind):
        turned = [side for side, on in (("left", kind.transpose_left), ("right", kind.transpose_right)) if on]
        return f"{name}, {' and '.join(turned)} transposed" if turned else name
    if isinstance(kind, UnknownKind):
        return f"{name} (unknown)"
    assert isinstance(kind, AddKind | GeluKind | LayerNormKind)
    return name


def kind_short(kind: OperationKind) -> str:
    """A graph operation's kind in one word, with the count of a Repeat: ``View``, ``Repeat × 27``."""
    return kind_words(kind) if isinstance(kind, RepeatKind | UnknownKind) else kind_name(kind)


def _view_words(view: ViewKind | ViewOperator) -> str:
    first, second = ("merged", "split") if view.reversed else ("split", "merged")
    return (
        f"dimension {view.split_axis} {first} by {view.factor}, {second} "
        f"{'from' if view.reversed else 'into'} dimension {view.merge_axis}"
    )


def operator_name(operator: Operator) -> str:
    """``Gemm``, ``Add`` … or the unknown operator's own name."""
    if isinstance(operator, Unknown):
        return operator.name
    name = type(operator).__name__.removesuffix("Operator")
    return "FlashAttention" if name == "Attention" else name


def operator_facts(operator: Operator) -> list[Fact]:
    """An operator taken apart."""
    facts = [("operator", operator_name(operator))]
    if isinstance(operator, GemmOperator):
        facts.append(("multiply", precision_words(operator.multiply)))
        facts.append(("accumulate", precision_words(operator.accumulate)))
        if operator.transpose_left or operator.transpose_right:
            facts.append(("transposed left", _yes(operator.transpose_left)))
            facts.append(("transposed right", _yes(operator.transpose_right)))
    elif isinstance(operator, AttentionOperator):
        facts.append(("causal", _yes(operator.causal)))
        facts.append(("scale", operator.scale))
        facts.append(("accumulate", precision_words(operator.accumulate)))
    elif isinstance(operator, SliceOperator):
        facts.append(("slice", f"dimension {operator.axis} from {operator.start}, {operator.length} long"))
    elif isinstance(operator, ViewOperator):
        facts.append(("view", _view_words(operator)))
    elif isinstance(operator, Unknown):
        facts.append(("operator text", operator.text))
    return facts


def _yes(on: bool) -> str:
    return "yes" if on else "no"


def staging_words(staging: Staging) -> str:
    """``all partials at once``, ``streamed``, ``in batches of 4``."""
    if staging.kind is StagingKind.COMPLETE:
        return "all partials at once"
    if staging.kind is StagingKind.STREAMED:
        return "partials streamed one by one"
    return f"partials in batches of {staging.batch}"


def _grid(grid: ProductGrid | None) -> str:
    return "none" if grid is None else f"{grid.rows} × {grid.columns} × {grid.inner}"


def _scale(exponent: int | None) -> str:
    return "in F16" if exponent is None else f"in F8 scaled by {power_of_two(exponent)}"


def distribution_facts(distribution: Distribution) -> list[Fact]:
    """How a matrix product is spread over tiles, taken apart."""
    if isinstance(distribution, OutputStationary):
        return [("distribution", "output stationary")]
    if isinstance(distribution, Unknown):
        return [("distribution", f"unknown: {distribution.name}"), ("distribution text", distribution.text)]
    assert isinstance(distribution, ParallelReduction)
    grid = (distribution.row_partitions, distribution.column_partitions, distribution.inner_partitions)
    return [
        ("distribution", "parallel reduction"),
        ("grid (rows × columns × inner)", " × ".join(map(str, grid))),
        ("result parts", f"{distribution.result_row_partitions} × {distribution.result_column_partitions}"),
        ("sum", staging_words(distribution.reduction_staging)),
    ]


def dispatch_facts(dispatch: Dispatch) -> list[Fact]:
    """How an operator is run, taken apart."""
    if isinstance(dispatch, BlockedGemm):
        return [
            ("orientation", "swapped" if dispatch.orientation is Orientation.SWAPPED else "normal"),
            *distribution_facts(dispatch.distribution),
            ("inner block", str(dispatch.inner_block)),
            ("output column block", str(dispatch.output_column_block)),
        ]
    if isinstance(dispatch, Pointwise):
        return [("dispatch", "on local shards"), ("kernel", dispatch.kernel)]
    if isinstance(dispatch, LayerNormParts):
        return [("dispatch", "in parts"), ("parts", str(dispatch.parts))]
    if isinstance(dispatch, ViewDispatch):
        return [("dispatch", "one copy")]
    if isinstance(dispatch, Unknown):
        return [("dispatch", f"unknown: {dispatch.name}"), ("dispatch text", dispatch.text)]
    assert isinstance(dispatch, AttentionDispatch)
    return [
        ("dispatch", "materialized" if dispatch.materialized else "online"),
        ("key block rows", str(dispatch.key_block_rows)),
        ("query–key grid", _grid(dispatch.query_key)),
        ("weights–value grid", _grid(dispatch.probability_value)),
        ("query–key product", _scale(dispatch.fp8_scales[0])),
        ("weights–value product", _scale(dispatch.fp8_scales[1])),
        ("padded query width", str(dispatch.padded_query_dimension)),
        ("padded value width", str(dispatch.padded_value_dimension)),
    ]


def requirement_facts(requirement: Requirement) -> list[Fact]:
    """What a plan asks of one operand, taken apart."""
    facts = [("precision", precision_words(requirement.format.precision)), *layout_facts(requirement.format.layout)]
    if requirement.local_staging != "Direct":
        facts.append(("local staging", requirement.local_staging))
    if requirement.materialization != "Complete":
        facts.append(("materialization", requirement.materialization))
    return facts


def requirement_words(requirement: Requirement) -> str:
    """A requirement in one line."""
    words = f"{precision_words(requirement.format.precision)}; {layout_words(requirement.format.layout)}"
    if requirement.local_staging != "Direct":
        words += f"; staging {requirement.local_staging}"
    if requirement.materialization != "Complete":
        words += f"; materialization {requirement.materialization}"
    return words


# -- plans ----------------------------------------------------------------------------------------------------------


def dispatch_words(dispatch: Dispatch) -> str:
    """A dispatch in one line: grid, blocks, staging."""
    if isinstance(dispatch, BlockedGemm):
        return _gemm_words(dispatch)
    if isinstance(dispatch, Pointwise):
        return f"on local shards, kernel {dispatch.kernel}"
    if isinstance(dispatch, LayerNormParts):
        return f"in {dispatch.parts} parts of the last dimension"
    if isinstance(dispatch, ViewDispatch):
        return "one copy"
    if isinstance(dispatch, Unknown):
        return f"unknown dispatch {dispatch.name}"
    assert isinstance(dispatch, AttentionDispatch)
    words = ["materialized" if dispatch.materialized else "online", f"key blocks of {dispatch.key_block_rows} rows"]
    for what, grid in (("query–key", dispatch.query_key), ("weights–value", dispatch.probability_value)):
        if grid is not None:
            words.append(f"{what} grid {_grid(grid)}")
    for what, scale in zip(("query–key", "weights–value"), dispatch.fp8_scales, strict=True):
        if scale is not None:
            words.append(f"{what} {_scale(scale)}")
    return ", ".join(words)


def _gemm_words(dispatch: BlockedGemm) -> str:
    distribution = dispatch.distribution
    blocks = f"blocks {dispatch.inner_block} inner × {dispatch.output_column_block} columns"
    if isinstance(distribution, ParallelReduction):
        rows, columns, inner = (
            distribution.row_partitions,
            distribution.column_partitions,
            distribution.inner_partitions,
        )
        words = [f"grid {rows} × {columns} × {inner}", blocks, staging_words(distribution.reduction_staging)]
    elif isinstance(distribution, OutputStationary):
        words = ["output stationary", blocks]
    else:
        words = [f"unknown distribution {distribution.name}", blocks]
    if dispatch.orientation is Orientation.SWAPPED:
        words.append("swapped")
    return ", ".join(words)


def plan_words(plan: Plan) -> str:
    """A plan in one line, led by what plans of its kind differ in: the grid of a product, the owners of a result."""
    if isinstance(plan.operator, Unknown):
        return f"unknown operator {plan.operator.name}; {dispatch_words(plan.dispatch)}"
    words = dispatch_words(plan.dispatch)
    if isinstance(plan.operator, GemmOperator):
        words = f"{words}, {precision_short(plan.operator.multiply)} product"
    elif isinstance(plan.dispatch, Pointwise | LayerNormParts):
        words = f"{counted(plan.output.format.layout.tiling.tile_count, 'owner')}, {words}"
    return words


def plan_is_known(plan: Plan) -> bool:
    """False where the operator, the dispatch or its distribution is one that TileView does not know."""
    if isinstance(plan.operator, Unknown) or isinstance(plan.dispatch, Unknown):
        return False
    return not (isinstance(plan.dispatch, BlockedGemm) and isinstance(plan.dispatch.distribution, Unknown))


def plan_facts(plan: Plan) -> list[Fact]:
    """A plan taken apart: operator, dispatch, result, operands, aliasing; labels are unique."""
    facts = [*operator_facts(plan.operator), *dispatch_facts(plan.dispatch)]
    facts.extend((f"result: {label}", text) for label, text in requirement_facts(plan.output))
    for number, requirement in enumerate(plan.inputs):
        facts.extend((f"operand {number}: {label}", text) for label, text in requirement_facts(requirement))
    facts.append(("may reuse the memory of", _aliases(plan.may_alias)))
    return facts


def _aliases(operands: Sequence[int]) -> str:
    return ", ".join(f"operand {operand}" for operand in operands) if operands else "nothing"


def plan_differences(base: Plan, other: Plan) -> tuple[str, ...]:
    """What ``other`` does differently from ``base``: ``inner block 144 → 288``; empty for equal plans."""
    return fact_differences(plan_facts(base), plan_facts(other))


def layout_differences(base: Layout, other: Layout) -> tuple[str, ...]:
    """What differs between two layouts."""
    return fact_differences(layout_facts(base), layout_facts(other))


def fact_differences(base: Sequence[Fact], other: Sequence[Fact]) -> tuple[str, ...]:
    """Facts whose text differs, in the order of ``base``, then those that only ``other`` has."""
    before: Mapping[str, str] = dict(base)
    after: Mapping[str, str] = dict(other)
    labels = [*before, *(label for label in after if label not in before)]
    return tuple(
        f"{label} {before.get(label, '—')} → {after.get(label, '—')}"
        for label in labels
        if before.get(label) != after.get(label)
    )


def short_differences(base: Plan, other: Plan, most: int = 3) -> str:
    """The first differences in one line; how many more there are; ``same`` where there are none."""
    differences = plan_differences(base, other)
    if not differences:
        return "same"
    shown = "; ".join(differences[:most])
    rest = len(differences) - most
    return f"{shown}; {rest} more" if rest > 0 else shown
