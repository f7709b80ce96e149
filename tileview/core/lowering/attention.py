"""Attention in blocks of keys: scores, softmax, weighted values and their merge, with or without products spread over
tiles.

Tensors are [heads, rows, columns]. The accumulated state (called A here) has the result's type in F32 with two columns
more; scores, weights and products share A's division of heads and rows. Key and value are first packed, spread over as
many owners as there are, and every block is then brought from there to where its product runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileview.core.lowering.sheet import Fragment, Sheet, block_starts, operand
from tileview.core.lowering.tilings import (
    REJECT,
    ZERO,
    dimension_of,
    find_axis,
    from_start,
    project,
    replaced,
    with_blocks,
    with_class,
)
from tileview.core.lowering.valuetypes import RefusedError, ValueType
from tileview.model.plan import AttentionDispatch, AttentionOperator, ProductGrid, Staging, StagingKind
from tileview.model.program import MergePart, ProductBlocks, SoftmaxKeys
from tileview.model.tensor import (
    F16,
    F32,
    LEFT,
    ROW_MAJOR,
    TRANSPOSED_RIGHT,
    Axis,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Precision,
    PrecisionKind,
    Shape,
    Tiling,
)


@dataclass(frozen=True, slots=True)
class Extents:
    """One block's product: its first row in the right factor, inner and column extents, and how the right factor lies.

    ``transposed``: the right factor is [heads, columns, inner] (the key), else [heads, inner, columns] (the value). The
    extents are those of the product, without the padding of the packed operands.
    """

    start: int
    inner: int
    columns: int
    transposed: bool


class _Grid:
    """Owners of a product: over heads first, then columns, inner parts, rows; axes for its tensors."""

    def __init__(self, grid: ProductGrid, heads: int, extents: Extents, unit: int) -> None:
        if min(grid.rows, grid.columns, grid.inner) < 1:
            raise RefusedError("a product grid with a figure of 0")
        self.figures = grid
        units = -(-extents.inner // unit)
        self.width = -(-units // grid.inner) * unit
        self.at_inner = heads * grid.columns
        self.at_row = heads * grid.columns * grid.inner
        self.heads = heads
        self.owners = heads * grid.rows * grid.columns * grid.inner

    def head_axis(self, dimension: int) -> Axis:
        return from_start(dimension, self.heads, 1, ZERO, 1)

    def row_axis(self, dimension: int) -> Axis:
        return from_start(dimension, self.figures.rows, 1, ZERO, self.at_row)

    def column_axis(self, dimension: int) -> Axis:
        return from_start(dimension, self.figures.columns, 16, ZERO, self.heads)

    def inner_axis(self, dimension: int, width: int) -> Axis:
        return from_start(dimension, self.figures.inner, width, ZERO, self.at_inner)


def distributed_product(
    sheet: Sheet,
    figures: ProductGrid,
    factors: tuple[int, int],
    target: ValueType,
    extents: Extents,
    scale: Precision | None,
    accumulate: Precision,
) -> int:
    """Bring both factors to the grid, cast them to F8 if asked, multiply, sum inner parts, and copy to a type.

    The inner extent is divided in whole units of 16 elements (32 in F8).

    Parameters
    ----------
    factors : (int, int)
        References of the left factor [heads, rows, inner] and the right one.
    target : ValueType
        What the product is copied to at the end.
    scale : Precision or None
        The F8 precision of the factors; None leaves them as they are.
    """
    grid = _Grid(figures, target.shape[0], extents, 16 if scale is None else 32)
    left = _spread_left(sheet, grid, factors[0], target.shape[1])
    right = _spread_right(sheet, grid, factors[1], extents)
    if scale is not None:
        left = left if sheet.type_of(left).precision.is_f8 else sheet.cast(left, scale, "left factor in F8")
        right = right if sheet.type_of(right).precision.is_f8 else sheet.cast(right, scale, "right factor in F8")
    made = _multiply(sheet, grid, (left, right), target, extents.columns, accumulate)
    return sheet.copy(made, target, "product")


def _spread_left(sheet: Sheet, grid: _Grid, factor: int, rows: int) -> int:
    """The left factor, its inner extent in whole parts; a replica for every column part."""
    axes = (grid.head_axis(0), grid.row_axis(1), grid.inner_axis(2, grid.width))
    layout = Layout(LEFT, Tiling(grid.owners, grid.figures.columns, axes))
    shape = (grid.heads, rows, grid.width * grid.figures.inner)
    return sheet.copy(
        factor, sheet.types.get(shape, sheet.type_of(factor).precision, layout), "left factor on the grid"
    )


def _spread_right(sheet: Sheet, grid: _Grid, factor: int, extents: Extents) -> int:
    """The block of the right factor; a replica for every row part."""
    inner, column = (2, 1) if extents.transposed else (1, 2)
    axes = (grid.head_axis(0), grid.inner_axis(inner, grid.width), grid.column_axis(column))
    order = TRANSPOSED_RIGHT if extents.transposed else Order(OrderKind.MATRIX, grid.width, 16)
    layout = Layout(order, Tiling(grid.owners, grid.figures.rows, axes), MemoryClass.INTERLEAVED)
    sides = (extents.columns, extents.inner) if extents.transposed else (extents.inner, extents.columns)
    target = sheet.types.get((grid.heads, *sides), sheet.type_of(factor).precision, layout)
    return sheet.copy(factor, target, "right factor on the grid", (0, extents.start, 0))


def _multiply(
    sheet: Sheet, grid: _Grid, factors: tuple[int, int], target: ValueType, columns: int, accumulate: Precision
) -> int:
    """The product on the grid; inner parts are a leading dimension of it, summed at once."""
    shape = (grid.heads, target.shape[1], columns)
    multiply = sheet.type_of(factors[0]).precision
    memory_class = target.layout.memory_class
    panels = -(-columns // 16)
    column_block = -(-panels // grid.figures.columns) * 16
    if grid.figures.inner == 1:
        plain = (grid.head_axis(0), grid.row_axis(1), grid.column_axis(2))
        layout = Layout(LEFT, Tiling(grid.owners, 1, plain), memory_class)
        made = sheet.new(sheet.types.get(shape, target.precision, layout), "product on the grid")
        return sheet.product(factors, made, multiply, accumulate, ProductBlocks(grid.width, column_block, 2, 2))
    axes = (grid.inner_axis(0, 1), grid.head_axis(1), grid.row_axis(2), grid.column_axis(3))
    layout = Layout(LEFT, Tiling(grid.owners, 1, axes), memory_class)
    partials = sheet.new(
        sheet.types.get((grid.figures.inner, *shape), target.precision, layout), "partial products on the grid"
    )
    sheet.product(factors, partials, multiply, accumulate, ProductBlocks(grid.width, column_block, 2, 3))
    made = sheet.new(sheet.derived(target, shape=shape), "summed product")
    return sheet.sum(partials, made, Staging(StagingKind.COMPLETE))


_HEADS, _ROWS, _COLUMNS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Packed:
    """A packed key or value: its type where products read it, the unit of rows it is spread in, its width and its
    rows.
    """

    type: ValueType
    unit: int


class _Attention:
    """One attention being written down; what its steps share."""

    def __init__(self, sheet: Sheet, operator: AttentionOperator, dispatch: AttentionDispatch) -> None:
        self.sheet = sheet
        self.dispatch = dispatch
        self.accumulate = operator.accumulate
        self.scales = tuple(None if scale is None else f8(scale) for scale in dispatch.fp8_scales)
        self.query, self.key, self.value = (sheet.operands[index] for index in range(3))
        self.heads, self.rows, self.value_columns = sheet.result.shape
        self.key_rows = self.key.shape[_ROWS]
        self.query_columns = self.query.shape[_COLUMNS]
        self.block_rows = dispatch.key_block_rows
        self.query_width = dispatch.padded_query_dimension
        self.value_width = dispatch.padded_value_dimension
        result = sheet.result
        self.state = sheet.types.get((self.heads, self.rows, self.value_columns + 2), F32, result.layout)
        left = Layout(LEFT, result.layout.tiling, MemoryClass.INTERLEAVED)
        block_shape = (self.heads, self.rows, self.block_rows)
        self.scores = sheet.types.get(block_shape, F16, left)
        weight_layout = with_class(left, MemoryClass.STANDARD)
        self.weights = sheet.types.get(block_shape, self.scales[1] or F16, weight_layout)
        self.product = sheet.types.get((self.heads, self.rows, self.value_width), F16, left)

    # -- what is made once ------------------------------------------------------------------------------------------

    def padded_query(self) -> int:
        """The query where scores are computed without a grid: in the state's division, order Left, padded columns."""
        layout = Layout(LEFT, self.state.layout.tiling, self.state.layout.memory_class)
        target = self.sheet.types.get((self.heads, self.rows, self.query_width), self.query.precision, layout)
        return self.sheet.copy(operand(0), target, "query")

    def packed_key(self) -> _Packed:
        packed = self._packed(self.key, self.query_width, TRANSPOSED_RIGHT)
        return _Packed(packed, min(self.block_rows, 64))

    def packed_value(self) -> _Packed:
        rows = self.block_rows if self.scales[1] is None else min(self.block_rows, 64)
        order = Order(OrderKind.MATRIX, rows, 16)
        return _Packed(self._packed(self.value, self.value_width, order), rows)

    def _packed(self, source: ValueType, width: int, order: Order) -> ValueType:
        """Tiled as the state on the heads, whole blocks of keys, columns in sixteens."""
        heads = project(self.state.layout.tiling, 3, {_HEADS: _HEADS})
        axes = (
            *heads.axes,
            from_start(_ROWS, 1, self.block_rows, ZERO),
            from_start(_COLUMNS, 1, 16, ZERO),
        )
        layout = Layout(order, Tiling(heads.tile_count, heads.replicas, axes), MemoryClass.STANDARD)
        return self.sheet.types.get((self.heads, self.key_rows, width), source.precision, layout)

    def prepare(self, index: int, packed: _Packed, role: str) -> int:
        """Key or value copied to the packed type spread out: over heads, blocks of rows, and columns in sixteens.

        As many row blocks as owners allow for each head (n, the larger of the operand's owners and the packed type's),
        then as many column parts as are left.
        """
        wide = packed.type
        owners = max(self.sheet.operands[index].layout.tiling.tile_count, wide.layout.tiling.tile_count)
        per_head = owners // self.heads
        blocks = max(1, min(-(-self.key_rows // packed.unit), per_head))
        columns = max(1, min(-(-wide.shape[_COLUMNS] // 16), per_head // blocks))
        stride = self.heads * columns
        rows_axis = with_blocks(from_start(_ROWS, blocks, 1, ZERO, stride), packed.unit, self.block_rows)
        axes = (
            from_start(_HEADS, self.heads, 1, REJECT, 1),
            rows_axis,
            from_start(_COLUMNS, columns, 16, ZERO, self.heads),
        )
        tiling = Tiling(self.heads * columns * blocks, 1, axes)
        layout = Layout(wide.layout.order, tiling, wide.layout.memory_class)
        target = self.sheet.types.get(wide.shape, wide.precision, layout)
        prepared = self.sheet.copy(operand(index), target, f"prepared {role}")
        if self.scales[1] is not None and role == "value":
            return self.sheet.cast(prepared, self.scales[1], "prepared value in F8")
        return prepared

    # -- what is made for every block of keys -----------------------------------------------------------------------

    def operand_block(self, prepared: int, packed: _Packed, start: int, valid: int) -> int:
        """One block of the prepared key or value where its product reads it; interleaved unless materialized."""
        layout = packed.type.layout
        if not self.dispatch.materialized:
            layout = with_class(layout, MemoryClass.INTERLEAVED)
        shape = (self.heads, valid, packed.type.shape[_COLUMNS])
        target = self.sheet.types.get(shape, self.sheet.type_of(prepared).precision, layout)
        return self.sheet.copy(prepared, target, "block of keys or values", (0, start, 0))

    def block_scores(self, query: int, key: int, start: int, valid: int) -> int:
        """The scores of one block; their last extent is ``valid`` with a grid, the whole block without."""
        grid = self.dispatch.query_key
        if grid is None:
            made = self.sheet.new(self.scores, "scores")
            blocks = ProductBlocks(self.query_width, self.block_rows, _COLUMNS, _COLUMNS)
            return self.sheet.product((query, key), made, self.sheet.type_of(query).precision, self.accumulate, blocks)
        tiling = self.scores.layout.tiling
        position = find_axis(tiling, 3, _COLUMNS)
        if position is None:
            columns = from_start(_COLUMNS, 1, self.block_rows, ZERO)
        else:
            columns = with_blocks(tiling.axes[position], self.block_rows, self.block_rows)
        axes = replaced(tiling.axes, position, columns)
        layout = Layout(LEFT, Tiling(tiling.tile_count, tiling.replicas, axes), MemoryClass.INTERLEAVED)
        target = self.sheet.types.get((self.heads, self.rows, valid), F16, layout)
        return distributed_product(
            self.sheet,
            grid,
            (query, key),
            target,
            Extents(start, self.query_columns, valid, transposed=True),
            self.scales[0],
            self.accumulate,
        )

    def softmax(self, scores: int, valid: int, previous: tuple[int, int] | None) -> tuple[int, int]:
        """Weights and statistics of one block; those of the block before are further inputs and give their memory."""
        sheet = self.sheet
        weights = sheet.new(self.weights, "weights")
        statistics = sheet.new(self._beside_weights((2, self.heads, self.rows), F32, 1), "statistics")
        workspace = sheet.new(self._beside_weights((2, self.heads, self.rows, 3), F32, 1), "softmax workspace")
        results = [weights, statistics, workspace]
        if self.scales[1] is not None and valid < self.block_rows:
            results.append(sheet.new(self._beside_weights((self.heads, self.rows, 16), F16, 0), "softmax padding"))
        keys = SoftmaxKeys(valid, self.block_rows)
        if previous is None:
            sheet.kernel("AttentionSoftmax", (scores,), results, part=keys)
        else:
            sheet.kernel("AttentionSoftmax", (scores, *previous), results, ((0, 1), (1, 2)), keys)
        return weights, statistics

    def _beside_weights(self, shape: Shape, precision: Precision, first: int) -> ValueType:
        """A row-major value tiled as the weights without their columns; ``first`` is the dimension that holds the
        heads.
        """
        tiling = project(self.weights.layout.tiling, 3, {_HEADS: first, _ROWS: first + 1})
        return self.sheet.types.get(shape, precision, Layout(ROW_MAJOR, tiling))

    def block_product(self, weights: int, value: int, start: int, valid: int) -> int:
        grid = self.dispatch.probability_value
        if grid is None:
            made = self.sheet.new(self.product, "weighted values")
            multiply = self.sheet.type_of(weights).precision
            blocks = ProductBlocks(self.block_rows, self.value_width, _COLUMNS, _COLUMNS, self.block_rows)
            return self.sheet.product((weights, value), made, multiply, self.accumulate, blocks)
        return distributed_product(
            self.sheet,
            grid,
            (weights, value),
            self.product,
            Extents(start, valid, self.value_columns, transposed=False),
            self.scales[1],
            self.accumulate,
        )

    def merge(self, product: int, statistics: int, previous: int | None, last: bool) -> int:
        """The state after one block, in the previous state's memory; in the result's own type where that is F16 and the
        state will not be read again as F32 (every merge if materialized, else the last).
        """
        sheet = self.sheet
        last = self.dispatch.materialized or last
        final = sheet.result.precision.kind is PrecisionKind.F16 and last
        part = MergePart(self.value_columns, previous is None, last)
        merged = sheet.new(sheet.result if final else self.state, "merged values")
        if previous is None:
            sheet.kernel("AttentionMerge", (product, statistics), (merged,), part=part)
        else:
            aliases = () if final else ((0, 2),)
            sheet.kernel("AttentionMerge", (product, statistics, previous), (merged,), aliases, part)
        return merged


def f8(scale: int) -> Precision:
    return Precision(PrecisionKind.F8F143, scale)


def lower_attention(sheet: Sheet, operator: AttentionOperator, dispatch: AttentionDispatch) -> Fragment:
    """Write down an attention.

    Raises
    ------
    RefusedError
        Where the figures of the dispatch do not go together (grids and an F8 second product need a materialized
        attention, F8 weights whole blocks of 32 keys), or a value has no valid layout.
    """
    _check(sheet, dispatch)
    attention = _Attention(sheet, operator, dispatch)
    query = operand(0) if dispatch.query_key is not None else attention.padded_query()
    key_type, value_type = attention.packed_key(), attention.packed_value()
    prepared_key = attention.prepare(1, key_type, "key")
    prepared_value = attention.prepare(2, value_type, "value")
    previous: tuple[int, int] | None = None
    merged: int | None = None
    for start in block_starts(attention.key_rows, attention.block_rows):
        valid = min(attention.block_rows, attention.key_rows - start)
        key = prepared_key
        if dispatch.query_key is None:
            key = attention.operand_block(prepared_key, key_type, start, valid)
        value = prepared_value
        if not dispatch.materialized:
            value = attention.operand_block(prepared_value, value_type, start, valid)
        scores = attention.block_scores(query, key, start, valid)
        previous = attention.softmax(scores, valid, previous)
        if dispatch.materialized and dispatch.probability_value is None:
            value = attention.operand_block(prepared_value, value_type, start, valid)
        product = attention.block_product(previous[0], value, start, valid)
        last = start + attention.block_rows >= attention.key_rows
        merged = attention.merge(product, previous[1], merged, last)
    if merged is None:
        raise RefusedError("an attention over no keys")
    written = sheet.cast(merged, sheet.result.precision, "result")
    return sheet.finish(sheet.copy(written, sheet.result, "result"))


def _check(sheet: Sheet, dispatch: AttentionDispatch) -> None:
    if len(sheet.operands) != 3:
        raise RefusedError(f"attention takes 3 operands, {len(sheet.operands)} are given")
    if any(len(tensor.shape) != 3 for tensor in (*sheet.operands, sheet.result)):
        raise RefusedError("attention in blocks works on tensors [heads, rows, columns]")
    if sheet.result.shape[_HEADS] < 1:
        raise RefusedError("attention without heads")
    if not dispatch.materialized and (dispatch.query_key is not None or dispatch.probability_value is not None):
        raise RefusedError("products of an attention are spread over a grid only if it is materialized")
    if dispatch.fp8_scales[1] is not None and (not dispatch.materialized or dispatch.key_block_rows % 32):
        raise RefusedError(
            "F8 weights need a materialized attention and key blocks of a multiple of 32 rows "
            f"(these have {dispatch.key_block_rows})"
        )
    if any(dimension_of(axis, 3) is None for axis in sheet.result.layout.tiling.axes):
        raise RefusedError("attention in blocks needs a result divided by dimensions, not linearly")
