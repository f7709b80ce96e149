"""What a timeline file leaves unsaid about its allocations, inferred from what it says.
 Files list sizes, not reasons. Which allocations fill whole memory elements, and which have an access tail, follows
from how ``shard_bytes`` and ``aligned_bytes`` of all values of a group go together, and from the kind of step at
which a group is first live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tileview.model.config import INTERLEAVED_ELEMENT_BYTES, STANDARD_ELEMENT_BYTES, TAIL_ELEMENTS
from tileview.model.sizes import Unavailable, exact_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Problem
from tileview.model.timeline_file import FileValue, TimelineFile

PRODUCT_KINDS = frozenset({"Gemm", "Product"})
"""First words of steps that are matrix products."""
_ELEMENT_SIZES = (2, 1, 4)


@dataclass(frozen=True, slots=True)
class Inferred:
    """Groups of a file. ``aliases``: root → members, ascending; ``tails`` and ``aligned`` as in a timeline."""

    aliases: dict[int, tuple[int, ...]]
    interleaved: dict[int, bool]
    tails: dict[int, int]
    aligned: frozenset[int]
    problems: tuple[Problem, ...]


def infer_groups(file: TimelineFile, spans: Sequence[tuple[int, int, int]]) -> Inferred:
    """Alias groups, alignment and tails of a file.

    Parameters
    ----------
    spans : sequence of (root, first step, step after the last)
        When each root is live.
    """
    members: dict[int, list[int]] = {}
    for index, value in enumerate(file.values):
        members.setdefault(value.root, []).append(index)
    products = {index for index, step in enumerate(file.steps) if step.kind in PRODUCT_KINDS}
    made_by_product = {root for root, first, _ in spans if first in products and first > 0}
    tails: dict[int, int] = {}
    aligned: set[int] = set()
    problems: list[Problem] = []
    for root, indices in members.items():
        known = [file.values[index] for index in indices if _is_known(file.values[index])]
        found = _explain(known, root in made_by_product)
        if found is None:
            problems.append(_unexplained(file, root))
            continue
        rounded, tail = found
        if rounded:
            aligned.add(root)
        if tail:
            tails[root] = tail
    return Inferred(
        {root: tuple(indices) for root, indices in members.items()},
        {root: file.values[indices[-1]].memory_class is MemoryClass.INTERLEAVED for root, indices in members.items()},
        tails,
        frozenset(aligned),
        tuple(problems),
    )


def _is_known(value: FileValue) -> bool:
    return not isinstance(value.shard_bytes, Unavailable) and not isinstance(value.aligned_bytes, Unavailable)


def _explain(values: Sequence[FileValue], made_by_product: bool) -> tuple[bool, int] | None:
    """(element aligned, tail) that explain all sizes of a group; None where nothing does.

    The result of a product is aligned and has no tail, its left operand is aligned with a tail of 8 elements of the
    multiply precision, which is as a rule its own. Where several explanations hold, the one that fits the step which
    makes the group comes first.
    """
    own = [value.precision.element_bytes for value in values]
    sizes = [size for size in (*own, *_ELEMENT_SIZES) if size is not None]
    left = [(True, TAIL_ELEMENTS * size) for size in dict.fromkeys(sizes)]
    order = [(True, 0), (False, 0), *left] if made_by_product else [(False, 0), *left, (True, 0)]
    for rounded, tail in order:
        if all(expected_size(value, rounded, tail) == value.aligned_bytes for value in values):
            return rounded, tail
    return None


def expected_size(value: FileValue, rounded: bool, tail: int) -> int:
    """Bytes of a value's largest size by its ``shard_bytes``; 0 where it has none."""
    if isinstance(value.shard_bytes, Unavailable) or value.shard_bytes == 0:
        return 0
    size = value.shard_bytes + tail
    if not rounded:
        return size
    element = element_size(value)
    return -(-size // element) * element


def element_size(value: FileValue) -> int:
    """Bytes of a memory element of the value's class."""
    return INTERLEAVED_ELEMENT_BYTES if value.memory_class is MemoryClass.INTERLEAVED else STANDARD_ELEMENT_BYTES


def _unexplained(file: TimelineFile, root: int) -> Problem:
    value = file.values[root]
    return Problem(
        "warning",
        f"timeline.values[{root}].aligned_bytes",
        f"{value.name}: no rounding and no access tail makes {exact_text(value.aligned_bytes)} of a shard of "
        f"{exact_text(value.shard_bytes)}",
        "The file's figure is used for every tile that owns a part.",
        value=root,
    )


def born(spans: Sequence[tuple[int, int, int]]) -> Mapping[int, list[int]]:
    """Step → roots that are first live there (later stretches of the same root left out)."""
    first: dict[int, int] = {}
    for root, start, _ in spans:
        first[root] = min(start, first.get(root, start))
    result: dict[int, list[int]] = {}
    for root, start in first.items():
        result.setdefault(start, []).append(root)
    return result
