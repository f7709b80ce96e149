"""The planner's cycles: its own price of every step, operation and program.

An estimate that the planner makes before scheduling and placement and compares plans by, no measurement. Prices depend
on types and on what a step says, its nature, never on numbers, and are kept by that: after a swap only natures that
never occurred are priced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tileview.core.columns import ProgramColumns, program_columns
from tileview.core.cycles import attention, elementwise
from tileview.core.cycles.moves import copy_on_tile, exchange, sum_on_tile
from tileview.core.cycles.products import product
from tileview.core.cycles.shards import Shard, shard_of
from tileview.core.memory.exchange import step_movement
from tileview.core.memory.scratch import contributors, stages
from tileview.model.program import (
    Copy,
    Kernel,
    MergePart,
    Opaque,
    Product,
    Program,
    Repeat,
    SoftmaxKeys,
    Step,
    Sum,
    Value,
)
from tileview.model.sizes import U64_MAX, UNAVAILABLE, Size, Unavailable


class Price(NamedTuple):
    """Planner's cycles of one run of a step, and the part of them that moves data between tiles."""

    cycles: Size
    exchange: Size


FREE: Final = Price(0, 0)
UNPRICED: Final = Price(UNAVAILABLE, UNAVAILABLE)

_KERNELS: Final[Mapping[str, Callable[[list[Shard], Shard], int | None]]] = {
    "Add": elementwise.add,
    "Gelu": elementwise.gelu,
    "BiasGelu": elementwise.bias_gelu,
    "LayerNorm": elementwise.layer_norm,
    "AddLayerNorm": elementwise.add_layer_norm,
    "LayerNormMoments": elementwise.layer_norm_moments,
    "AddLayerNormMoments": elementwise.add_layer_norm_moments,
    "Cast": elementwise.cast,
    "FlashAttention": elementwise.scalar_attention,
}
_MOST_KNOWN: Final = 1 << 15

_BY_NATURE: dict[int, Price] = {}
"""Nature of a step → its price."""
_KNOWN_BY_TYPES: dict[tuple[object, ...], tuple[Price, object]] = {}
"""Prices by the identities of what a step says and of its values' types: these stay when values are renumbered."""


def step_prices(columns: ProgramColumns) -> list[Price]:
    """What :func:`step_price` gives of every step of a program."""
    return columns.by_nature(_BY_NATURE, step_price)


def step_price(step: Step, values: Sequence[Value]) -> Price:
    """The price of one run of a step.

    Unavailable where a value of it does not resolve, where the operation is not known, or where the price is beyond
    2^64 − 2. The Repeat's own step is free: its body's steps are priced.
    """
    return FREE if isinstance(step, Repeat) else _price_by_types(step, values)


def _price_by_types(step: Step, values: Sequence[Value]) -> Price:
    """The price kept for a step that says the same of values of the same types."""
    said = _said(step)
    types: list[object] = []
    for number in step.inputs + step.results:
        value = values[number]
        types += (value.shape, value.precision, value.layout, value.owners)
    key = (type(step), len(step.inputs), *map(id, said), *map(id, types))
    known = _KNOWN_BY_TYPES.get(key)
    if known is None:
        if len(_KNOWN_BY_TYPES) >= _MOST_KNOWN:
            _KNOWN_BY_TYPES.clear()
        known = _KNOWN_BY_TYPES[key] = (_priced(step, values), (said, types))
    return known[0]


def _said(step: Step) -> tuple[object, ...]:
    """What of a step, beside its values, its price hangs on."""
    if isinstance(step, Copy):
        return (step.mapping,)
    if isinstance(step, Kernel):
        return (step.kernel, step.part)
    if isinstance(step, Product):
        return (step.multiply, step.blocks)
    return (step.axis, step.staging) if isinstance(step, Sum) else ()


def _priced(step: Step, values: Sequence[Value]) -> Price:
    if isinstance(step, Opaque | Repeat):
        return UNPRICED
    shards = [shard_of(values[number]) for number in (*step.inputs, *step.results)]
    found = [shard for shard in shards if shard is not None]
    if len(found) < len(shards) or not step.results:
        return UNPRICED
    inputs, result = found[: len(step.inputs)], found[len(step.inputs)]
    if isinstance(step, Copy | Sum):
        return _moving(step, values, inputs[0], result)
    operands = inputs[: len(inputs) - _donors(step)]
    if isinstance(step, Product):
        made = None
        if step.blocks is not None and len(operands) > 1:
            made = product(operands[0], operands[1], result, step.multiply.kind, step.blocks)
        return _bounded(made, 0)
    return _bounded(_kernel(step, operands, result, values), 0)


def _donors(step: Kernel | Product) -> int:
    """Inputs at the end that are read for their memory only: aliased ones of kernels that have no place for more."""
    places = OPERANDS.get(step.kernel) if isinstance(step, Kernel) else None
    return max(0, len(step.inputs) - places) if places is not None else 0


OPERANDS: Final[Mapping[str, int]] = {"Add": 2, "Gelu": 1, "LayerNorm": 3, "Cast": 1, "LayerNormMoments": 1}
"""Operands of the kernels that may have a donor behind them."""


def _moving(step: Copy | Sum, values: Sequence[Value], source: Shard, result: Shard) -> Price:
    moved = step_movement(step, values)
    if moved is None:
        return UNPRICED
    sent = exchange(moved)
    if isinstance(step, Copy):
        return _bounded(sent + copy_on_tile(source, result), sent)
    count = contributors(step, values)
    return _bounded(sent + sum_on_tile(result, count, stages(step.staging, count)), sent)


def _kernel(step: Kernel, operands: list[Shard], result: Shard, values: Sequence[Value]) -> int | None:
    if not operands:
        return None
    if step.kernel == "AttentionSoftmax":
        return attention.softmax(result, step.part) if isinstance(step.part, SoftmaxKeys) else None
    if step.kernel == "AttentionMerge":
        return attention.merge(result, step.part) if isinstance(step.part, MergePart) else None
    if step.kernel == "LayerNormApply":
        return _apply(step, result, values)
    formula = _KERNELS.get(step.kernel)
    return None if formula is None else formula(operands, result)


def _apply(step: Kernel, result: Shard, values: Sequence[Value]) -> int | None:
    """LayerNorm from statistics; its parts are the second last extent of these."""
    shape = values[step.inputs[3]].shape if len(step.inputs) > 3 else ()
    return elementwise.layer_norm_apply(result, shape[-2]) if len(shape) > 1 else None


def _bounded(cycles: int | None, sent: int) -> Price:
    if cycles is None or cycles >= U64_MAX:
        return UNPRICED
    return Price(cycles, sent)


@dataclass(frozen=True, slots=True)
class ProgramCycles:
    """The planner's cycles of a program: of every flattened step for one run, with its execution count, and summed.

    ``total`` and ``exchange`` are unavailable as soon as one step's price is; ``known`` is the sum of the others.
    """

    steps: tuple[Price, ...]
    counts: tuple[int, ...]
    sources: tuple[int | None, ...]
    total: Size
    exchange: Size
    known: int

    @property
    def price(self) -> Price:
        """Both totals."""
        return Price(self.total, self.exchange)

    def operations(self) -> dict[int, Price]:
        """Graph operation → the price of all its steps, conversions and closing copy included, times their counts."""
        found: dict[int, Price] = {}
        for (cycles, sent), count, source in zip(self.steps, self.counts, self.sources, strict=True):
            if source is None:
                continue
            before = found.get(source, FREE)
            if isinstance(cycles, Unavailable) or isinstance(sent, Unavailable):
                found[source] = UNPRICED
            elif isinstance(before.cycles, int) and isinstance(before.exchange, int):
                found[source] = Price(before.cycles + cycles * count, before.exchange + sent * count)
        return found


def program_cycles(program: Program) -> ProgramCycles:
    """Price a program: the sum over its flattened steps of price · execution count."""
    columns = program_columns(program)
    steps, counts = step_prices(columns), columns.counts
    natures = columns.natures.tolist()
    prices = dict(zip(natures, steps, strict=True))
    complete, known, moved = True, 0, 0
    for (nature, count), times in Counter(zip(natures, counts, strict=True)).items():
        cycles, sent = prices[nature]
        if isinstance(cycles, Unavailable) or isinstance(sent, Unavailable):
            complete = False
            continue
        known += cycles * count * times
        moved += sent * count * times
    complete = complete and known < U64_MAX
    total, exchanged = (known, moved) if complete else UNPRICED
    return ProgramCycles(tuple(steps), tuple(counts), tuple(columns.sources), total, exchanged, known)


def clear_cache() -> None:
    """Forget every price kept (for measurements from cold)."""
    _BY_NATURE.clear()
    _KNOWN_BY_TYPES.clear()
