"""What edits change: everything about a document that is not the file itself, also as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tileview.formats.check import FieldError
from tileview.formats.tensorjson import format_to_json, layout_from_json, layout_to_json, precision_from_json
from tileview.model.recipe import NO_OVERRIDES, Overrides
from tileview.model.sizes import LARGEST_LIMIT_BYTES
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


MOST_NUMBER = 2**32
"""No operation, value or alternative has a larger number."""


def state_to_json(state: EditState) -> dict[str, Any]:
    """Edits as JSON; layouts and formats as a recipe writes them."""
    return {
        "swaps": {str(key): index for key, index in state.swaps.items()},
        "homes": {str(key): format_to_json(home) for key, home in state.homes.items()},
        "boundaries": {str(key): is_open for key, is_open in state.boundaries.items()},
        "layouts": {str(key): layout_to_json(layout) for key, layout in state.layouts.items()},
        "budget_bytes": state.overrides.budget_bytes,
        "reserve_bytes": state.overrides.reserve_bytes,
        "fusion": state.overrides.fusion,
    }


def state_from_json(raw: Mapping[str, Any]) -> EditState:
    """:func:`state_to_json` undone. Raises ValueError, KeyError, TypeError or AttributeError for anything else."""
    try:
        homes = {
            _key(key): Format(precision_from_json(home["precision"]), layout_from_json(home["layout"]))
            for key, home in raw["homes"].items()
        }
        layouts = {_key(key): layout_from_json(layout) for key, layout in raw["layouts"].items()}
    except FieldError as error:
        raise ValueError(str(error)) from None
    return EditState(
        swaps={_key(key): whole_number(index, MOST_NUMBER) for key, index in raw["swaps"].items()},
        homes=homes,
        boundaries={_key(key): yes_or_no(is_open) for key, is_open in raw["boundaries"].items()},
        layouts=layouts,
        overrides=Overrides(
            _limit(raw["budget_bytes"]), _limit(raw["reserve_bytes"]), yes_or_no(raw.get("fusion", True))
        ),
    )


def json_of(text: str) -> Any:
    """Parse JSON without infinite numbers. Raises ValueError or RecursionError for anything else."""
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _key(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise ValueError(f"{text[:40]!r} is not a number of an operation or a value")
    return whole_number(int(text), MOST_NUMBER)


def whole_number(value: object, most: int, least: int = 0) -> int:
    """The value, if it is a whole number of the range. Raises ValueError otherwise."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{str(value)[:40]} is not a whole number from {least:,} to {most:,}")
    return value


def _limit(value: object) -> int | None:
    return None if value is None else whole_number(value, LARGEST_LIMIT_BYTES)


def yes_or_no(value: object) -> bool:
    """The value, if it is true or false. Raises ValueError otherwise."""
    if type(value) is not bool:
        raise ValueError(f"{str(value)[:40]} is neither true nor false")
    return value
