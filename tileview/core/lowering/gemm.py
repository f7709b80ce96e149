"""Matrix products: spread over the inner dimension and summed, or with every result shard computed where it stays.

The physical left and right operand, row and column are those of the product as it runs: Normal takes the operands as
they are, Swapped computes the transposed product, so the operands trade places and with them the last two axes of
every tensor.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileview.core.lowering.sheet import Fragment, Sheet, block_starts, operand
from tileview.core.lowering.tilings import (
    REJECT,
    ZERO,
    axis_on,
    batch_targets,
    find_axis,
    from_start,
    moved,
    project,
    replaced,
    with_blocks,
    with_class,
)
from tileview.core.lowering.valuetypes import RefusedError, ValueType
from tileview.model.plan import BlockedGemm, GemmOperator, Orientation, ParallelReduction, Plan
from tileview.model.program import ProductBlocks
from tileview.model.tensor import (
    F16,
    LEFT,
    OUTPUT,
    TRANSPOSED_LEFT,
    TRANSPOSED_OUTPUT,
    Axis,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    PrecisionKind,
    Tiling,
)


@dataclass(frozen=True, slots=True)
class _Setting:
    """One product: which operand stands left and right, their required types, and where rows, columns and inner lie."""

    sheet: Sheet
    operator: GemmOperator
    dispatch: BlockedGemm
    left: int
    right: int
    left_type: ValueType
    right_type: ValueType

    @property
    def swapped(self) -> bool:
        return self.dispatch.orientation is Orientation.SWAPPED

    def first(self, rank: int) -> int:
        """The dimension that is the row of the left operand and of the result, the inner one of the right operand."""
        return rank - 1 if self.swapped else rank - 2

    def second(self, rank: int) -> int:
        """The dimension that is the left operand's inner one, the column of the right operand and of the result."""
        return rank - 2 if self.swapped else rank - 1

    def blocks(self, left_rank: int, result_rank: int) -> ProductBlocks:
        """How the plan cuts a product of these ranks into calls."""
        figures = self.dispatch
        return ProductBlocks(
            figures.inner_block, figures.output_column_block, self.second(left_rank), self.second(result_rank)
        )

    @property
    def right_class(self) -> MemoryClass:
        """F16 products read their right operand from interleaved memory, others as required."""
        if self.operator.multiply.kind is PrecisionKind.F16:
            return MemoryClass.INTERLEAVED
        return self.right_type.layout.memory_class


def lower_gemm(sheet: Sheet, plan: Plan, operator: GemmOperator, dispatch: BlockedGemm) -> Fragment:
    """Lower a product by its distribution.

    Raises
    ------
    RefusedError
        Where a tensor has fewer than two dimensions, or a rule of the distribution is not met.
    """
    if len(sheet.operands) != 2:
        raise RefusedError(f"a product takes 2 operands, {len(sheet.operands)} are given")
    for role, tensor in (
        ("left operand", sheet.operands[0]),
        ("right operand", sheet.operands[1]),
        ("result", sheet.result),
    ):
        if len(tensor.shape) < 2:
            raise RefusedError(f"the {role} {list(tensor.shape)} of a product needs two dimensions")
    left, right = (1, 0) if dispatch.orientation is Orientation.SWAPPED else (0, 1)
    setting = _Setting(
        sheet,
        operator,
        dispatch,
        operand(left),
        operand(right),
        _required(sheet, plan, left),
        _required(sheet, plan, right),
    )
    if isinstance(dispatch.distribution, ParallelReduction):
        return _parallel_reduction(setting, dispatch.distribution)
    return _output_stationary(setting)


def _required(sheet: Sheet, plan: Plan, index: int) -> ValueType:
    """The operand's shape in the format its plan asks for, whatever format the operand has."""
    wanted = plan.inputs[index].format
    return sheet.types.get(sheet.operands[index].shape, wanted.precision, wanted.layout)


def _parallel_reduction(setting: _Setting, grid: ParallelReduction) -> Fragment:
    """Every owner of a row × column × inner grid multiplies its part; the partial products are summed over the inner
    ones.
    """
    sheet = setting.sheet
    rows, columns, inner = grid.row_partitions, grid.column_partitions, grid.inner_partitions
    left_type = setting.left_type
    left_rank = len(left_type.shape)
    row_axis = axis_on(left_type.layout.tiling, left_rank, setting.first(left_rank))
    inner_axis = axis_on(left_type.layout.tiling, left_rank, setting.second(left_rank))
    if row_axis is None or inner_axis is None:
        missing = "row" if row_axis is None else "inner"
        raise RefusedError(f"the left operand {left_type} has no {missing} axis in the layout its plan requires")
    column_axis = _partial_columns(setting, columns)
    left = sheet.copy(setting.left, left_type, "left operand")
    right = _spread_right(setting, column_axis, inner_axis, rows, columns, inner)

    result = sheet.result
    rank = len(result.shape)
    row = moved(row_axis, setting.first(rank) + 1, columns * inner)
    column = moved(column_axis, setting.second(rank) + 1, 1)
    rows_first = setting.dispatch.output_column_block == 64 and columns == 1 and not setting.swapped
    axes = (row, column) if rows_first else (column, row)
    tiling = Tiling(rows * columns * inner, 1, (*axes, from_start(0, inner, 1, REJECT, columns)))
    layout = Layout(_partial_order(setting), tiling, MemoryClass.INTERLEAVED)
    partials = sheet.new(sheet.types.get((inner, *result.shape), F16, layout), "partial products")
    blocks = setting.blocks(left_rank, rank + 1)
    sheet.product((left, right), partials, setting.operator.multiply, setting.operator.accumulate, blocks)
    sheet.sum(partials, 0, grid.reduction_staging)
    return sheet.finish()


def _partial_columns(setting: _Setting, columns: int) -> Axis:
    """The column axis of the partial products.

    Blocks of the plan's column block, unless the result divides its columns: then its blocks, and where it has as many
    partitions its padding_multiple and shard_padding_multiple too.
    """
    result = setting.sheet.result
    rank = len(result.shape)
    dimension = setting.second(rank)
    axis = from_start(dimension, columns, setting.dispatch.output_column_block, ZERO)
    own = axis_on(result.layout.tiling, rank, dimension)
    if own is None:
        return axis
    if own.partitions == columns:
        return with_blocks(axis, own.block_size, own.padding_multiple, own.shard_padding_multiple)
    return with_blocks(axis, own.block_size, own.block_size)


def _partial_order(setting: _Setting) -> Order:
    """Left (Swapped: TransposedLeft) if the result is, the result's own blocks where they are 2^k ≥ 16 by 16, else
    Output.
    """
    own = setting.sheet.result.layout.order
    if own.kind in (OrderKind.MATRIX, OrderKind.TRANSPOSED_MATRIX):
        rows = own.row_block
        if own.column_block == 16 and rows >= 16 and rows & (rows - 1) == 0:
            return own
    if setting.swapped:
        return TRANSPOSED_LEFT if own == TRANSPOSED_LEFT else TRANSPOSED_OUTPUT
    return LEFT if own == LEFT else OUTPUT


def _spread_right(setting: _Setting, column_axis: Axis, inner_axis: Axis, rows: int, columns: int, inner: int) -> int:
    """The right operand in the partials' columns and the left's inner parts, one replica for each row part."""
    right_type = setting.right_type
    rank = len(right_type.shape)
    axes = (moved(column_axis, setting.second(rank), 1), moved(inner_axis, setting.first(rank), columns))
    layout = Layout(right_type.layout.order, Tiling(rows * columns * inner, rows, axes), setting.right_class)
    target = setting.sheet.types.get(right_type.shape, right_type.precision, layout)
    return setting.sheet.copy(setting.right, target, "right operand")


def _output_stationary(setting: _Setting) -> Fragment:
    """Every owner of the result computes its shard from panels of both operands, whole or block by block of the inner
    extent.
    """
    sheet = setting.sheet
    result = sheet.result
    rank = len(result.shape)
    left_rank, right_rank = len(setting.left_type.shape), len(setting.right_type.shape)
    left_inner, right_inner = setting.second(left_rank), setting.first(right_rank)
    left_panel = _panel(setting, setting.left_type, setting.first(rank), setting.first(left_rank), left_inner)
    right_panel = _panel(setting, setting.right_type, setting.second(rank), setting.second(right_rank), right_inner)
    how = (setting.operator.multiply, setting.operator.accumulate, setting.blocks(left_rank, rank))
    if _serves(setting, setting.left, left_panel) and _serves(setting, setting.right, right_panel):
        sheet.product((setting.left, setting.right), 0, *how)
        return sheet.finish()

    block = setting.dispatch.inner_block
    left_layout = _inner_blocked(left_panel, left_inner, block)
    right_layout = with_class(_inner_blocked(right_panel, right_inner, block), setting.right_class)
    extent = setting.left_type.shape[left_inner]
    starts = block_starts(extent, block)
    previous: int | None = None
    for start in starts:
        width = min(block, extent - start)
        left = _block(setting, setting.left, setting.left_type, left_layout, left_inner, start, width)
        right = _block(setting, setting.right, setting.right_type, right_layout, right_inner, start, width)
        made = sheet.new(result, "product")
        if previous is None:
            sheet.product((left, right), made, *how)
        else:
            sheet.product((left, right, previous), made, *how, ((0, 2),))
        previous = made
    if previous is None:
        raise RefusedError("a product over an inner extent of 0")
    return sheet.finish(previous)


def _panel(setting: _Setting, tensor: ValueType, result_dimension: int, dimension: int, inner: int) -> ValueType:
    """An operand's panel: tiled as the result on its row (or column) and batch dimensions, plus its own inner axis."""
    result = setting.sheet.result
    targets = batch_targets(result.shape, tensor.shape)
    targets[result_dimension] = dimension
    tiling = project(result.layout.tiling, len(result.shape), targets)
    own = axis_on(tensor.layout.tiling, len(tensor.shape), inner)
    axes = tiling.axes if own is None else (*tiling.axes, moved(own, inner, own.tile_stride))
    layout = Layout(tensor.layout.order, Tiling(tiling.tile_count, tiling.replicas, axes), tensor.layout.memory_class)
    return setting.sheet.types.get(tensor.shape, tensor.precision, layout)


def _serves(setting: _Setting, reference: int, panel: ValueType) -> bool:
    """Whether an operand as it stands has the distribution and the order of its panel; classes are not looked at."""
    own = setting.sheet.type_of(reference)
    if own.layout.order != panel.layout.order:
        return False
    layout = with_class(own.layout, panel.layout.memory_class)
    return setting.sheet.types.same_storage(setting.sheet.types.get(own.shape, panel.precision, layout), panel)


def _inner_blocked(panel: ValueType, inner: int, block: int) -> Layout:
    """The panel's layout for one block: the inner extent undivided, padded to the block."""
    tiling = panel.layout.tiling
    position = find_axis(tiling, len(panel.shape), inner)
    axes = replaced(tiling.axes, position, from_start(inner, 1, block, ZERO))
    return Layout(panel.layout.order, Tiling(tiling.tile_count, tiling.replicas, axes), panel.layout.memory_class)


def _block(
    setting: _Setting, reference: int, tensor: ValueType, layout: Layout, inner: int, start: int, width: int
) -> int:
    """One block of an operand's panel: ``width`` of the inner extent from ``start``."""
    shape = (*tensor.shape[:inner], width, *tensor.shape[inner + 1 :])
    offsets = tuple(start if dimension == inner else 0 for dimension in range(len(shape)))
    target = setting.sheet.types.get(shape, tensor.precision, layout)
    return setting.sheet.copy(reference, target, "block of an operand", offsets)
