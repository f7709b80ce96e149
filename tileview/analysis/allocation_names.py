"""What an allocation is called, everywhere the same: who made it, of what, in which precision, and its number.

``op 21's copy of op 20's result (F16) #454``: the operation whose plan makes it, what its step makes, the value that it
holds, and the number of the allocation's first value, by which one finds it again in any list. An input keeps its name:
``vit.embedding.bias #3``. The aliases of an allocation are told in its details; they never name it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tileview.analysis.words import precision_short
from tileview.model.timeline import Timeline

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
