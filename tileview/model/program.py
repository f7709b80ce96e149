"""The lowered program: values with layouts and owners, and the steps that make them.

This is what ``core.lowering`` builds from a recipe and what ``core.memory`` measures. Value ids are dense:
``values[i].id == i``. A value that no step mentions any more (after copy composition) keeps its number and holds no
memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tileview.model.graph import InputKind
from tileview.model.owners import DIRECT_OWNERS, Owners
from tileview.model.plan import Staging
from tileview.model.records import from_columns
from tileview.model.tensor import Layout, Precision, Shape


@dataclass(frozen=True, slots=True)
class Value:
    """A lowered value. ``origin`` is the graph value it stems from, ``group`` the name its memory is counted under."""

    id: int
    origin: int
    name: str
    group: str
    shape: Shape
    precision: Precision
    layout: Layout
    storage_group: int
    owners: Owners = DIRECT_OWNERS


@dataclass(frozen=True, slots=True)
class AxisView:
    """A view: ``factor`` split off one axis and merged into another; or the way back."""

    split_axis: int
    merge_axis: int
    factor: int
    reversed: bool


@dataclass(frozen=True, slots=True)
class Mapping:
    """A copy's map from destination to source coordinates: add ``offsets`` (missing ones 0), then undo ``view``."""

    offsets: tuple[int, ...] = ()
    view: AxisView | None = None

    @property
    def is_identity(self) -> bool:
        return self.view is None and not any(self.offsets)


IDENTITY = Mapping()


@dataclass(frozen=True, slots=True)
class Copy:
    """``policy``: Automatic | DirectRetile | StageLogicalThenTransform. One input, one result."""

    source: int | None
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    mapping: Mapping = IDENTITY
    policy: str = "Automatic"


@dataclass(frozen=True, slots=True)
class SoftmaxKeys:
    """The keys of a softmax's block: ``valid`` ones, and with the block's padding."""

    valid: int
    padded: int


@dataclass(frozen=True, slots=True)
class MergePart:
    """A merge's place in its attention: values a row, whether it is of the first block, whether it ends the work."""

    values: int
    initial: bool
    final: bool


@dataclass(frozen=True, slots=True)
class ProductBlocks:
    """How a plan cuts a product into calls: blocks of the inner and the column extent, and where these extents lie.

    ``inner_dimension`` is of the left operand, ``column_dimension`` of the result, both from 0. ``most_inner``: so many
    elements of the left operand's inner extent are read at most; None: all.
    """

    inner_block: int
    column_block: int
    inner_dimension: int
    column_dimension: int
    most_inner: int | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compute step on local shards. ``aliases``: (index of result, index of input) pairs that share memory.

    Kernels: Cast, Add, Gelu, LayerNorm, LayerNormMoments, LayerNormApply, AttentionSoftmax, AttentionMerge,
    FlashAttention. Aliased donors are the last inputs. ``part`` is what its price needs of the plan, no part of what it
    does to memory: programs that differ in it alone are equal.
    """

    source: int | None
    kernel: str
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    aliases: tuple[tuple[int, int], ...] = ()
    part: SoftmaxKeys | MergePart | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product: ``inputs`` are the physical left and right operand, then a donor where it accumulates.

    ``blocks`` is for its price only, as ``part`` of a :class:`Kernel`.
    """

    source: int | None
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    multiply: Precision
    accumulate: Precision
    aliases: tuple[tuple[int, int], ...] = ()
    blocks: ProductBlocks | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """Sum over dimension ``axis`` of the one input."""

    source: int | None
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    axis: int
    staging: Staging


@dataclass(frozen=True, slots=True)
class Opaque:
    """An operation that the re-planner does not know: it reads, it writes, its temporaries are unknown."""

    source: int | None
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """``count`` runs of ``body``; the Repeat's own step follows its body's steps.

    ``inputs``: carried, then invariant. ``iterated``: one tuple of members per sequence. ``arguments``: carried,
    invariant, one per sequence. ``yields``: one per carried input, as are ``results``.
    """

    source: int | None
    count: int
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    carried: int
    iterated: tuple[tuple[int, ...], ...]
    arguments: tuple[int, ...]
    body: tuple[Step, ...]
    yields: tuple[int, ...]


Step = Copy | Kernel | Product | Sum | Opaque | Repeat


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """A graph input, and the number of its lowered value."""

    name: str
    kind: InputKind
    value: int


@dataclass(frozen=True, slots=True)
class FlatStep:
    """One step of the flattened program; ``execution_count`` is the product of the Repeat counts around it."""

    index: int
    step: Step
    execution_count: int


@dataclass(frozen=True, slots=True)
class Program:
    """A whole-device program. ``unknown``: (operation id, reason) of each operation that could not be modelled."""

    tile_count: int
    inputs: tuple[ProgramInput, ...]
    outputs: tuple[int, ...]
    values: tuple[Value, ...]
    steps: tuple[Step, ...]
    unknown: tuple[tuple[int, str], ...] = ()

    def flatten(self) -> tuple[FlatStep, ...]:
        """The steps in the order of the timeline: a Repeat's body, then the Repeat itself."""
        steps, counts = self.in_order()
        return tuple(from_columns(FlatStep, range(len(steps)), steps, counts))

    def in_order(self) -> tuple[list[Step], list[int]]:
        """The steps as :meth:`flatten` has them, and how often each is run."""
        steps: list[Step] = []
        counts: list[int] = []
        _flatten(self.steps, 1, steps, counts)
        return steps, counts


def _flatten(region: tuple[Step, ...], count: int, steps: list[Step], counts: list[int]) -> None:
    done = 0
    for place in [place for place, step in enumerate(region) if type(step) is Repeat]:
        repeat = region[place]
        assert type(repeat) is Repeat
        steps += region[done:place]
        counts += [count] * (place - done)
        _flatten(repeat.body, count * repeat.count, steps, counts)
        done = place
    steps += region[done:]
    counts += [count] * (len(region) - done)
