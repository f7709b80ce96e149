"""Writing down a plan's steps for one set of operand types, before its values have numbers.

What a plan does depends on nothing but the plan, the types of its operands and the type of its result. So it is
written once on a :class:`Sheet`, with references in place of numbers, and the finished :class:`Fragment` is used again
wherever the same plan meets the same types. References: −1, −2, … are the operands, 0 is the result, 1, 2, … are the
temporaries in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tileview.core.lowering.tilings import with_order
from tileview.core.lowering.valuetypes import RefusedError, TypeTable, ValueType
from tileview.errors import WorkError
from tileview.model.plan import Staging
from tileview.model.program import (
    IDENTITY,
    Copy,
    Kernel,
    Mapping,
    MergePart,
    Product,
    ProductBlocks,
    SoftmaxKeys,
    Step,
    Sum,
)
from tileview.model.tensor import Layout, Order, Precision, Shape

RESULT: Final = 0
"""Reference of the result."""

AUTOMATIC: Final = "Automatic"
DIRECT: Final = "DirectRetile"
STAGED: Final = "StageLogicalThenTransform"

_MOST_BLOCKS: Final = 1 << 14
"""Blocks that a plan may divide an extent into; more is a damaged file."""
_MOST_STEPS: Final = 1 << 13
"""Steps of one plan. Attention on 32,768 keys in blocks of 32 takes 6,000 of them; a few bytes can ask for millions."""

Draft = Copy | Kernel | Product | Sum
"""A step whose inputs and results are references instead of numbers."""


def block_starts(extent: int, block: int) -> range:
    """Where the blocks of an extent start.

    Raises
    ------
    RefusedError
        For blocks of no element, or so many that no compiler would have planned them.
    """
    if block < 1:
        raise RefusedError(f"blocks of {block} elements")
    if extent > block * _MOST_BLOCKS:
        raise RefusedError(f"an extent of {extent} in blocks of {block}: more than {_MOST_BLOCKS} blocks")
    return range(0, extent, block)


def operand(index: int) -> int:
    return -1 - index


@dataclass(frozen=True, slots=True)
class Fragment:
    """The steps of one plan for one set of operand types.

    ``temporaries``: types of the values it makes besides the result. ``casts``: (input, result, result's type) of
    every Cast that shares no memory, which later conversions of the same value may use.
    """

    temporaries: tuple[ValueType, ...]
    steps: tuple[Draft, ...]
    casts: tuple[tuple[int, int], ...]

    def place(self, source: int, ids: Sequence[int], into: list[Step]) -> None:
        """Append the steps with numbers for references.

        ``ids`` holds the result, then the temporaries, then the operands from last to first, so that a negative
        reference counts from its end.
        """
        for step in self.steps:
            into.append(numbered(step, source, [ids[r] for r in step.inputs], [ids[r] for r in step.results]))


def numbered(step: Draft, source: int | None, inputs: Sequence[int], results: Sequence[int]) -> Draft:
    """A step with other inputs and results."""
    kind = type(step)
    if kind is Copy:
        return Copy(source, tuple(inputs), tuple(results), step.mapping, step.policy)  # type: ignore[union-attr]
    if kind is Kernel:
        kernel, part = step.kernel, step.part  # type: ignore[union-attr]
        return Kernel(source, kernel, tuple(inputs), tuple(results), step.aliases, part)  # type: ignore[union-attr]
    if kind is Product:
        figures = (step.multiply, step.accumulate, step.aliases, step.blocks)  # type: ignore[union-attr]
        return Product(source, tuple(inputs), tuple(results), *figures)
    return Sum(source, tuple(inputs), tuple(results), step.axis, step.staging)  # type: ignore[union-attr]


class Sheet:
    """A plan being written down. Values are checked as they are made: one that cannot be raises RefusedError."""

    def __init__(self, types: TypeTable, operands: Sequence[ValueType], result: ValueType) -> None:
        self.types = types
        self.result = result
        self.operands = tuple(operands)
        self._temporaries: list[ValueType] = []
        self._steps: list[Draft] = []

    def type_of(self, reference: int) -> ValueType:
        if reference < 0:
            return self.operands[-1 - reference]
        return self.result if reference == RESULT else self._temporaries[reference - 1]

    def new(self, value_type: ValueType, role: str) -> int:
        """A temporary; ``role`` is its name in the message if it cannot be."""
        if value_type.problem is not None:
            raise RefusedError(f"{role} {value_type} {value_type.problem}")
        if len(self._temporaries) >= _MOST_STEPS:
            raise WorkError(
                f"its plan takes more than the {_MOST_STEPS:,} steps that TileView works out for one operation"
            )
        self._temporaries.append(value_type)
        return len(self._temporaries)

    def copy(self, source: int, target: ValueType, role: str, offsets: tuple[int, ...] = ()) -> int:
        """A value of a type, from another at an offset: the value itself where nothing would change, else a Copy.

        Offsets that are all 0 count as none.
        """
        if not any(offsets) and self.types.same_storage(self.type_of(source), target):
            return source
        result = self.new(target, role)
        mapping = Mapping(offsets) if any(offsets) else IDENTITY
        self._steps.append(Copy(None, (source,), (result,), mapping, AUTOMATIC))
        return result

    def map_result(self, source: int, mapping: Mapping) -> None:
        """One Copy with a coordinate mapping, from a value to the result."""
        self._steps.append(Copy(None, (source,), (RESULT,), mapping, AUTOMATIC))

    def kernel(
        self,
        kernel: str,
        inputs: Sequence[int],
        results: Sequence[int],
        aliases: Sequence[tuple[int, int]] = (),
        part: SoftmaxKeys | MergePart | None = None,
    ) -> None:
        self._steps.append(Kernel(None, kernel, tuple(inputs), tuple(results), tuple(aliases), part))

    def cast(self, source: int, precision: Precision, role: str) -> int:
        """The value in another precision, in the same layout; the value itself where it has that precision."""
        own = self.type_of(source)
        if own.precision == precision:
            return source
        result = self.new(self.types.get(own.shape, precision, own.layout), role)
        self.kernel("Cast", (source,), (result,))
        return result

    def product(
        self,
        inputs: Sequence[int],
        result: int,
        multiply: Precision,
        accumulate: Precision,
        blocks: ProductBlocks,
        aliases: Sequence[tuple[int, int]] = (),
    ) -> int:
        self._steps.append(Product(None, tuple(inputs), (result,), multiply, accumulate, tuple(aliases), blocks))
        return result

    def sum(self, source: int, result: int, staging: Staging) -> int:
        """The sum over dimension 0."""
        self._steps.append(Sum(None, (source,), (result,), 0, staging))
        return result

    def derived(
        self,
        base: ValueType,
        shape: Shape | None = None,
        precision: Precision | None = None,
        order: Order | None = None,
        layout: Layout | None = None,
    ) -> ValueType:
        """A type with some parts replaced."""
        chosen = base.layout if layout is None else layout
        if order is not None:
            chosen = with_order(chosen, order)
        return self.types.get(
            base.shape if shape is None else shape, base.precision if precision is None else precision, chosen
        )

    def finish(self, last: int = RESULT) -> Fragment:
        """The fragment, with the last value made standing for the result.

        That value takes the result's number, which comes before the temporaries; those after it move up by one.
        """

        def renamed(reference: int) -> int:
            if last == RESULT or reference <= 0 or reference < last:
                return reference
            return RESULT if reference == last else reference - 1

        if last != RESULT and self.type_of(last) is not self.result:
            raise RefusedError(f"the result {self.result} is left in another format by its plan")
        temporaries = self._temporaries if last == RESULT else self._temporaries[: last - 1] + self._temporaries[last:]
        steps = tuple(self._steps)
        if last != RESULT:
            steps = tuple(
                numbered(step, None, [renamed(r) for r in step.inputs], [renamed(r) for r in step.results])
                for step in steps
            )
        casts = tuple(
            (step.inputs[0], step.results[0])
            for step in steps
            if isinstance(step, Kernel) and step.kernel == "Cast" and not step.aliases
        )
        return Fragment(tuple(temporaries), steps, casts)
