"""What edits change: everything about an open document that is not the file itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tileview.model.recipe import NO_OVERRIDES, Overrides
from tileview.model.tensor import Format, Layout

K = TypeVar("K")
V = TypeVar("V")


def with_entry(mapping: Mapping[K, V], key: K, value: V | None) -> Mapping[K, V]:
    """A copy with the entry set, or removed where ``value`` is None; keys in the order of insertion."""
    changed = dict(mapping)
    if value is None:
        changed.pop(key, None)
    else:
        changed[key] = value
    return changed


@dataclass(frozen=True, slots=True)
class EditState:
    """The sum of all current edits, as differences from the file. The default is the unedited document.

    ``swaps``: operation id → index of the alternative swapped in. ``homes``: graph value id → home. ``boundaries``:
    value id → open (True) or closed (False), where that differs from the file. ``layouts``: index of a timeline's
    value → layout (timelines without a recipe). ``overrides``: what-if budget and reserve, never exported. Compare
    with ``==``: equal states give equal estimates.
    """

    swaps: Mapping[int, int] = field(default_factory=dict)
    homes: Mapping[int, Format] = field(default_factory=dict)
    boundaries: Mapping[int, bool] = field(default_factory=dict)
    layouts: Mapping[int, Layout] = field(default_factory=dict)
    overrides: Overrides = NO_OVERRIDES

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EditState):
            return NotImplemented
        return self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> tuple[object, ...]:
        """A hashable identity of the state, for caches."""
        return (
            frozenset(self.swaps.items()),
            frozenset(self.homes.items()),
            frozenset(self.boundaries.items()),
            frozenset(self.layouts.items()),
            self.overrides,
        )

    def plan_key(self) -> tuple[object, ...]:
        """The part of :meth:`key` that decides the program: all but the what-if budgets."""
        return self.key()[:-1]

    @property
    def is_exportable_change(self) -> bool:
        """True where an export would differ from the file (budgets are what-if only)."""
        return bool(self.swaps or self.homes or self.boundaries)

    def with_swap(self, operation: int, alternative: int | None) -> EditState:
        return replace(self, swaps=with_entry(self.swaps, operation, alternative))

    def with_home(self, value: int, home: Format | None) -> EditState:
        return replace(self, homes=with_entry(self.homes, value, home))

    def with_boundary(self, value: int, is_open: bool | None) -> EditState:
        return replace(self, boundaries=with_entry(self.boundaries, value, is_open))

    def with_layout(self, value: int, layout: Layout | None) -> EditState:
        return replace(self, layouts=with_entry(self.layouts, value, layout))

    def with_overrides(self, overrides: Overrides) -> EditState:
        return replace(self, overrides=overrides)
