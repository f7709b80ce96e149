"""A product of an attention spread over a grid of rows × columns × inner parts for every head."""

from __future__ import annotations

from tileview.core.lowering.sheet import Sheet
from tileview.core.lowering.tilings import ZERO, from_start
from tileview.core.lowering.valuetypes import RefusedError, ValueType
from tileview.model.plan import ProductGrid, Staging, StagingKind
from tileview.model.tensor import (
    LEFT,
    TRANSPOSED_RIGHT,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Precision,
    Tiling,
)


def distributed_product(
    sheet: Sheet,
    grid: ProductGrid,
    factors: tuple[int, int],
    target: ValueType,
    *,
    start: int,
    inner: int,
    columns: int,
    transposed: bool,
    scale: Precision | None,
    accumulate: Precision,
) -> int:
    """Bring both factors to the grid, cast them to F8 if asked, multiply, sum inner parts, and copy to a type.

    Owners run over heads first, then columns, inner parts, rows. The inner extent is divided in whole units of 16
    elements (32 in F8); a result with inner parts has them as a leading dimension, summed at once.

    Parameters
    ----------
    factors : (int, int)
        References of the left factor [heads, rows, inner] and the right one.
    target : ValueType
        What the product is copied to at the end.
    start : int
        First row of the block in the right factor.
    inner, columns : int
        Extents of the product, without the padding of the packed operands.
    transposed : bool
        The right factor is [heads, columns, inner] (the key), else [heads, inner, columns] (the value).
    scale : Precision or None
        The F8 precision of the factors; None leaves them as they are.
    """
    heads, rows = target.shape[0], target.shape[1]
    if min(grid.rows, grid.columns, grid.inner) < 1:
        raise RefusedError("a product grid with a figure of 0")
    unit = 16 if scale is None else 32
    units = -(-inner // unit)
    width = -(-units // grid.inner) * unit
    at_inner, at_row = heads * grid.columns, heads * grid.columns * grid.inner
    owners = heads * grid.rows * grid.columns * grid.inner
    head_axis = from_start(0, heads, 1, ZERO, 1)
    row_axis = from_start(1, grid.rows, 1, ZERO, at_row)

    left_type, right_type = sheet.type_of(factors[0]), sheet.type_of(factors[1])
    left_axes = (head_axis, row_axis, from_start(2, grid.inner, width, ZERO, at_inner))
    left_layout = Layout(LEFT, Tiling(owners, grid.columns, left_axes))
    left_target = sheet.types.get((heads, rows, width * grid.inner), left_type.precision, left_layout)
    left = sheet.copy(factors[0], left_target, "left factor on the grid")

    inner_dimension, column_dimension = (2, 1) if transposed else (1, 2)
    right_axes = (
        head_axis,
        from_start(inner_dimension, grid.inner, width, ZERO, at_inner),
        from_start(column_dimension, grid.columns, 16, ZERO, heads),
    )
    order = TRANSPOSED_RIGHT if transposed else Order(OrderKind.MATRIX, width, 16)
    right_layout = Layout(order, Tiling(owners, grid.rows, right_axes), MemoryClass.INTERLEAVED)
    right_shape = (heads, columns, inner) if transposed else (heads, inner, columns)
    right_target = sheet.types.get(right_shape, right_type.precision, right_layout)
    right = sheet.copy(factors[1], right_target, "right factor on the grid", (0, start, 0))
    if scale is not None:
        left = left if sheet.type_of(left).precision.is_f8 else sheet.cast(left, scale, "left factor in F8")
        right = right if sheet.type_of(right).precision.is_f8 else sheet.cast(right, scale, "right factor in F8")

    column_axis = from_start(2, grid.columns, 16, ZERO, heads)
    shape = (heads, rows, columns)
    multiply = sheet.type_of(left).precision
    memory_class = target.layout.memory_class
    if grid.inner == 1:
        layout = Layout(LEFT, Tiling(owners, 1, (head_axis, row_axis, column_axis)), memory_class)
        made = sheet.new(sheet.types.get(shape, target.precision, layout), "product on the grid")
        sheet.product((left, right), made, multiply, accumulate)
    else:
        axes = (
            from_start(0, grid.inner, 1, ZERO, at_inner),
            from_start(1, heads, 1, ZERO, 1),
            from_start(2, grid.rows, 1, ZERO, at_row),
            from_start(3, grid.columns, 16, ZERO, heads),
        )
        layout = Layout(LEFT, Tiling(owners, 1, axes), memory_class)
        partials = sheet.new(sheet.types.get((grid.inner, *shape), target.precision, layout), "partial products")
        sheet.product((left, right), partials, multiply, accumulate)
        made = sheet.new(sheet.derived(target, shape=shape), "product on the grid")
        sheet.sum(partials, made, Staging(StagingKind.COMPLETE))
    return sheet.copy(made, target, "product")
