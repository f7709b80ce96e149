"""What a diagnosis consists of: figures, contributions, levers, invalid layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileview.analysis.loads import LoadChange, PeakPlace, TileLoad
from tileview.analysis.overflows import Overflow
from tileview.analysis.relief import Cure, Relief
from tileview.core.geometry.resolve import LayoutErrorKind
from tileview.model.sizes import Size, Unavailable
from tileview.model.tensor import Layout, MemoryClass, Shape
from tileview.model.timeline import Cause


@dataclass(frozen=True, slots=True)
class Figure:
    """One term of a sum, or its result. ``bytes`` may be negative."""

    label: str
    bytes: Size


@dataclass(frozen=True, slots=True)
class Contribution:
    """One thing on the tile at the place of the verdict.

    ``root`` is an index into the timeline's values, None for scratch. ``operation`` makes it (None for inputs).
    ``smaller_by`` is what the choice ``choice`` = (operation, alternative) would take off it at least, 0 where no
    alternative is known to. ``growth`` is the difference from the baseline in bytes, None without one.
    """

    root: int | None
    name: str
    memory_class: MemoryClass
    bytes: Size
    operation: int | None
    resident: bool
    smaller_by: int = 0
    choice: tuple[int, int] | None = None
    growth: int | None = None
    group: str = ""
    """The name its memory is counted under: one for all members of a parameter sequence."""
    relief: int = 0
    """What a tile would hold less at most during its operation's steps, where that was measured."""


@dataclass(frozen=True, slots=True)
class ContributionGroup:
    """Contributions of one group, class and maker; ``bytes`` and ``smaller_by`` are sums over the ``count`` members."""

    name: str
    memory_class: MemoryClass
    bytes: int
    count: int
    operation: int | None
    resident: bool
    smaller_by: int
    choice: tuple[int, int] | None
    relief: int = 0


@dataclass(frozen=True, slots=True)
class Lever:
    """The best single swap of an operation: change of the total peak, and whether the program then fits, ``only_fused``
    with the compiler's fusions only."""

    operation: int
    alternative: int
    delta_total: int
    fits: bool | None
    only_fused: bool = False


@dataclass(frozen=True, slots=True)
class BadLayout:
    """A value without a valid layout: the rule that it breaks, and what would resolve.

    ``value`` is an index into the timeline's values; where there is no timeline, a graph input's value.
    """

    value: int
    name: str
    shape: Shape
    kind: LayoutErrorKind | None
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer. ``figures``: terms, then their sum, then what it is measured against and the difference.

    ``contributions`` are ranked (see the module); their bytes add up to ``load``. ``details`` are further sentences,
    ``next_step`` one more that says what to do.
    """

    cause: Cause
    fits: bool | None
    headline: str
    figures: tuple[Figure, ...]
    details: tuple[str, ...]
    next_step: str
    place: PeakPlace | None = None
    load: TileLoad | None = None
    contributions: tuple[Contribution, ...] = ()
    changes: tuple[LoadChange, ...] = ()
    """Against the baseline, largest growth first; empty without one."""
    reliefs: tuple[Relief, ...] = ()
    """What the operations at the place could do for their own steps; as given."""
    levers: tuple[Lever, ...] = ()
    """Best first; empty as long as no alternatives were evaluated."""
    bad_layouts: tuple[BadLayout, ...] = ()
    repaired: tuple[tuple[int, Layout], ...] = ()
    """(index of a value of the timeline, layout): what to give those without a valid one; empty for a recipe."""
    cure: Cure | None = None
    """The best alternatives of the operations at fault taken together, as measured."""
    overflows: tuple[Overflow, ...] | None = ()
    """Everything that is over, the worst first; None where that is not known."""


def grouped(contributions: Sequence[Contribution]) -> tuple[ContributionGroup, ...]:
    """The contributions of known size with the members of a parameter sequence taken together, in the same ranking."""
    groups: dict[tuple[object, ...], ContributionGroup] = {}
    for item in contributions:
        if isinstance(item.bytes, Unavailable):
            continue
        name = item.group if item.resident and item.group else item.name
        alone = None if item.resident else item.root
        key = (name, item.memory_class, item.operation, item.resident, alone, item.choice)
        known = groups.get(key)
        groups[key] = ContributionGroup(
            name,
            item.memory_class,
            item.bytes + (0 if known is None else known.bytes),
            1 + (0 if known is None else known.count),
            item.operation,
            item.resident,
            item.smaller_by + (0 if known is None else known.smaller_by),
            item.choice,
            item.relief,
        )
    return tuple(sorted(groups.values(), key=lambda group: (-group.relief, -group.smaller_by, -group.bytes)))
