"""Tensors, layouts and allocations in plain words, everywhere the same.

A layout is taken apart into *facts*: (label, text) pairs in a fixed order. The one-line form and the differences are
both made from plain fields, so that a field which TileView learns to read shows up in all of them.

``op 21's copy of op 20's result (F16) #454``: the operation whose plan makes it, what its step makes, the value that it
holds, and the number of the allocation's first value, by which one finds it again in any list. An input keeps its name:
``vit.embedding.bias #3``. The aliases of an allocation are told in its details; they never name it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from tileview.model.timeline import Timeline

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


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def in_words(number: int) -> str:
    """``two``, ``12``: small numbers as words."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


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


# -- operations -----------------------------------------------------------------------------------------------------


def step_place(step: int, steps: int) -> str:
    """``step 69/165``: the index of a step, which counts from 0, and how many steps there are.

    So the last step of 165 is ``step 164/165``: the first number is the one to type into Go to, the second is a count.
    """
    return f"step {step:,}/{steps:,}"


def at_start(text: str) -> str:
    """A text with a capital at its start, the rest untouched."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """A text with a capital at its start and a full stop at its end, unless it ends a sentence already."""
    return at_start(text) + ("" if text.endswith((".", "!", "?", '."')) else ".")


_RESULT = re.compile(r"operation (\d+) result (\d+)")
_ARGUMENT = " (body argument)"
_COPIES = {"Copy": "copy", "Cast": "cast"}


@dataclass(frozen=True, slots=True)
class AllocationName:
    """A name in parts.

    ``maker``: the operation whose plan makes it, None for inputs. ``what`` it makes: ``copy``, ``cast``, ``result``,
    ``partial result``, or a name of its own; ``of``: the value that is copied, cast or computed from, empty for the
    maker's own result. An input has ``what`` and ``of`` empty. ``given``: the value's name in the file.
    """

    maker: int | None
    what: str
    of: str
    precision: str
    given: str
    number: int

    @property
    def bare(self) -> str:
        """Without precision and number."""
        if self.maker is None:
            return self.given
        return f"op {self.maker}'s {self.what}" + (f" of {self.of}" if self.of else "")

    def __str__(self) -> str:
        precision = "" if self.maker is None else f" ({self.precision})"
        return f"{self.bare}{precision} #{self.number}"


def name_parts(timeline: Timeline, root: int) -> AllocationName:
    value = timeline.values[root]
    given, result = _given_name(value.name)
    precision = precision_short(value.precision)
    maker = timeline.maker(root)
    if maker is None:
        return AllocationName(None, "", "", precision, given, value.id)
    step = timeline.made_at[root]
    kind = timeline.steps[step].kind
    own = result == maker
    if kind in _COPIES:
        return AllocationName(maker, _COPIES[kind], "its result" if own else given, precision, given, value.id)
    if result is None:
        return AllocationName(maker, given, "", precision, given, value.id)
    if not own:
        return AllocationName(maker, f"{kind} result", given, precision, given, value.id)
    what = "partial result" if kind == "Product" and _is_summed(timeline, step) else "result"
    number = given.partition(" result ")[2]
    return AllocationName(maker, f"{what} {number}".rstrip(), "", precision, given, value.id)


def allocation_name(timeline: Timeline, root: int) -> str:
    """The one name of an allocation: ``op 21's copy of op 20's result (F16) #454``, ``vit.embedding.bias #3``."""
    return str(name_parts(timeline, root))


def scratch_name(timeline: Timeline, step: int) -> str:
    """What a step's scratch is called: ``scratch of op 4's Sum``; without an operation ``scratch of step 7``."""
    entry = timeline.steps[step]
    return f"scratch of step {step}" if entry.source is None else f"scratch of op {entry.source}'s {entry.kind}"


def _given_name(name: str) -> tuple[str, int | None]:
    """A value's name with results as ``op 20's result``, and the operation that it is a result of."""
    name = name.removesuffix(_ARGUMENT)
    found = _RESULT.fullmatch(name)
    if found is None:
        return name, None
    number = "" if found[2] == "0" else f" {found[2]}"
    return f"op {found[1]}'s result{number}", int(found[1])


def _is_summed(timeline: Timeline, step: int) -> bool:
    """Whether a later one of the same operation's steps in a row is a Sum: then a product makes partial results."""
    source = timeline.steps[step].source
    for later in timeline.steps[step + 1 :]:
        if later.source != source:
            return False
        if later.kind == "Sum":
            return True
    return False


def shortened_names(names: Sequence[str], limit: int) -> list[str]:
    """Names of at most about ``limit`` characters, cut where they are alike and never where they differ.

    Of a name in parts between dots, those that most of the names share go first, those nearest to the middle before
    others; the first part, the last and the number stay, and so does what tells names apart: the layer of a parameter.
    """
    split = [name.split(".") for name in names]
    common = Counter(part for parts in set(map(tuple, split)) for part in set(parts))
    return [
        name if len(name) <= limit else _shortened(parts, limit, common)
        for name, parts in zip(names, split, strict=True)
    ]


def _shortened(parts: list[str], limit: int, common: Counter[str]) -> str:
    middle = (len(parts) - 1) / 2
    inner = list(range(1, len(parts) - 1))
    inner.sort(key=lambda index: (any(map(str.isdigit, parts[index])), -common[parts[index]], abs(index - middle)))
    gone: set[int] = set()
    for index in inner:
        if len(_joined(parts, gone)) <= limit or (gone and common[parts[index]] == 1):
            break
        gone.add(index)
    return _joined(parts, gone)


def _joined(parts: list[str], gone: set[int]) -> str:
    kept = ["…" if index in gone else part for index, part in enumerate(parts)]
    return ".".join(part for index, part in enumerate(kept) if part != "…" or kept[index - 1] != "…")
