"""A product of an attention spread over a grid of rows × columns × inner parts for every head."""

from __future__ import annotations

from dataclasses import dataclass

from tileview.core.lowering.sheet import Sheet
from tileview.core.lowering.tilings import ZERO, from_start
from tileview.core.lowering.valuetypes import RefusedError, ValueType
from tileview.model.plan import ProductGrid, Staging, StagingKind
from tileview.model.program import ProductBlocks
from tileview.model.tensor import LEFT, TRANSPOSED_RIGHT, Axis, Layout, MemoryClass, Order, OrderKind, Precision, Tiling


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
