"""Edits: frozen, labelled, each knowing its inverse; the state that they change, also as JSON; undo and redo.

An edit holds the old value beside the new one, so that applying it and then its inverse gives back the identical
state. The factory functions (:func:`swap_plan` …) read the old value from the state the edit is made for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from tileview.formats.check import FieldError
from tileview.formats.tensorjson import format_to_json, layout_from_json, layout_to_json, precision_from_json
from tileview.model.recipe import NO_OVERRIDES, Overrides
from tileview.model.sizes import LARGEST_LIMIT_BYTES
from tileview.model.tensor import Format, Layout

Part = Literal["swaps", "homes", "boundaries", "layouts"]
"""The parts of a state that have entries."""
Entry = int | Format | bool | Layout
"""The index of an alternative, a home, whether a boundary is open, a layout."""


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

    def part(self, part: Part) -> Mapping[int, Entry]:
        """The entries of a part."""
        entries: Mapping[int, Entry] = getattr(self, part)
        return entries

    def with_entry(self, part: Part, key: int, value: Entry | None) -> EditState:
        """A copy with an entry of a part set, or removed where ``value`` is None; keys in the order of insertion."""
        changed = dict(self.part(part))
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = value
        parts: dict[str, Any] = {part: changed}
        return replace(self, **parts)

    def with_swap(self, operation: int, alternative: int | None) -> EditState:
        return self.with_entry("swaps", operation, alternative)

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


class Edit(Protocol):
    """One undoable change."""

    @property
    def label(self) -> str:
        """What the edit does, as a menu shows it: ``Swap operation 21 to alternative 3``."""
        ...

    def apply(self, state: EditState) -> EditState: ...

    def inverse(self) -> Edit: ...


def _swap_label(operation: int, alternative: object) -> str:
    if alternative is None:
        return f"Operation {operation}: back to the file's plan"
    return f"Swap operation {operation} to alternative {alternative}"


def _home_label(value: int, home: object) -> str:
    return f"Home of input {value}" if home is not None else f"Input {value}: back to the file's home"


def _boundary_label(value: int, is_open: object) -> str:
    if is_open is None:
        return f"Boundary {value}: back to the file's choice"
    return f"{'Open' if is_open else 'Close'} boundary {value}"


def _layout_label(value: int, layout: object) -> str:
    return f"Layout of value {value}" if layout is not None else f"Value {value}: back to the file's layout"


_LABELS: Final[Mapping[Part, Callable[[int, object], str]]] = {
    "swaps": _swap_label,
    "homes": _home_label,
    "boundaries": _boundary_label,
    "layouts": _layout_label,
}


@dataclass(frozen=True, slots=True)
class SetEntry:
    """Set one entry of a part of the state; a value of None is what the file has."""

    part: Part
    key: int
    new: Entry | None
    old: Entry | None

    @property
    def label(self) -> str:
        return _LABELS[self.part](self.key, self.new)

    def apply(self, state: EditState) -> EditState:
        return state.with_entry(self.part, self.key, self.new)

    def inverse(self) -> SetEntry:
        return SetEntry(self.part, self.key, self.old, self.new)


@dataclass(frozen=True, slots=True)
class SetOverrides:
    """What-if budget and reserve, and whether the compiler's fusions are looked for."""

    new: Overrides
    old: Overrides

    @property
    def label(self) -> str:
        if replace(self.new, fusion=self.old.fusion) == self.old:
            return "Use the compiler's fusions" if self.new.fusion else "Leave the compiler's fusions out"
        if self.new == Overrides():
            return "Budget and reserve as configured"
        parts = []
        if self.new.budget_bytes is not None:
            parts.append(f"budget {self.new.budget_bytes:,} B")
        if self.new.reserve_bytes is not None:
            parts.append(f"reserve {self.new.reserve_bytes:,} B")
        if not self.new.fusion:
            parts.append("no fusions")
        return "What if " + ", ".join(parts)

    def apply(self, state: EditState) -> EditState:
        return state.with_overrides(self.new)

    def inverse(self) -> SetOverrides:
        return SetOverrides(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Together:
    """Several edits as one step of undo."""

    title: str
    edits: tuple[Edit, ...]

    @property
    def label(self) -> str:
        return self.title

    def apply(self, state: EditState) -> EditState:
        for edit in self.edits:
            state = edit.apply(state)
        return state

    def inverse(self) -> Together:
        return Together(self.title, tuple(edit.inverse() for edit in reversed(self.edits)))


def _set_entry(state: EditState, part: Part, key: int, value: Entry | None) -> SetEntry:
    return SetEntry(part, key, value, state.part(part).get(key))


def swap_plan(state: EditState, operation: int, alternative: int | None) -> SetEntry:
    """The edit that swaps an alternative in, given the state it will be applied to."""
    return _set_entry(state, "swaps", operation, alternative)


def swap_plans(state: EditState, swaps: Iterable[tuple[int, int]], homes: Mapping[int, Format]) -> Together:
    """A fix as one step of undo: its swaps, and the homes that were repaired (graph value → format)."""
    swaps = tuple(swaps)
    parts: list[Edit] = [swap_plan(state, operation, index) for operation, index in swaps]
    parts += [set_home(state, value, home) for value, home in homes.items()]
    words = " and ".join(f"operation {operation} to alternative {index}" for operation, index in swaps)
    return Together(f"Fix: {words or f'new homes for {len(homes)} inputs'}", tuple(parts))


def set_home(state: EditState, value: int, home: Format | None) -> SetEntry:
    """The edit that gives a graph input another home."""
    return _set_entry(state, "homes", value, home)


def set_boundary(state: EditState, value: int, is_open: bool | None) -> SetEntry:
    """The edit that opens or closes a result's boundary."""
    return _set_entry(state, "boundaries", value, is_open)


def set_layout(state: EditState, value: int, layout: Layout | None) -> SetEntry:
    """The edit that gives one value of a timeline another layout."""
    return _set_entry(state, "layouts", value, layout)


def set_layouts(state: EditState, title: str, layouts: dict[int, Layout]) -> Together:
    """One edit for all values of a kind."""
    return Together(title, tuple(set_layout(state, value, layout) for value, layout in layouts.items()))


def set_overrides(state: EditState, overrides: Overrides) -> SetOverrides:
    return SetOverrides(overrides, state.overrides)


def between(title: str, before: EditState, after: EditState) -> Together:
    """One edit that leads from a state to another."""
    found: list[Edit] = []
    for part in _LABELS:
        old, new = before.part(part), after.part(part)
        found += [
            SetEntry(part, key, new.get(key), old.get(key)) for key in {**old, **new} if old.get(key) != new.get(key)
        ]
    return Together(title, (*found, set_overrides(before, after.overrides)))


Step = tuple[str, EditState]
"""The label of an edit, and the state it leads to."""


class History:
    """The edits done and undone, and the state they lead to.

    The clean mark is the state last exported (at first the unedited one); :attr:`is_clean` compares states, not
    counts, so that undoing back to it, or editing back to it, is clean again.
    """

    def __init__(self, state: EditState | None = None) -> None:
        self._state = EditState() if state is None else state
        self._clean = self._state
        self._done: list[Edit] = []
        self._undone: list[Edit] = []

    @property
    def state(self) -> EditState:
        return self._state

    @property
    def is_clean(self) -> bool:
        """True where nothing would be lost by closing: budgets are what-if and do not count."""
        return self._state.plan_key() == self._clean.plan_key()

    @property
    def undo_label(self) -> str | None:
        return self._done[-1].label if self._done else None

    @property
    def redo_label(self) -> str | None:
        return self._undone[-1].label if self._undone else None

    @property
    def done(self) -> tuple[Edit, ...]:
        """The current edits, oldest first."""
        return tuple(self._done)

    def steps(self) -> tuple[Step, ...]:
        """The current edits by label and the state each led to, oldest first."""
        found, state = [], self._state
        for edit in reversed(self._done):
            found.append((edit.label, state))
            state = edit.inverse().apply(state)
        return tuple(reversed(found))

    def do(self, edit: Edit) -> bool:
        """Apply an edit; False (and no new entry) where it changes nothing."""
        state = edit.apply(self._state)
        if state == self._state:
            return False
        self._state = state
        self._done.append(edit)
        self._undone.clear()
        return True

    def undo(self) -> Edit | None:
        """Undo the last edit; the edit that was undone, None where there is none."""
        if not self._done:
            return None
        edit = self._done.pop()
        self._state = edit.inverse().apply(self._state)
        self._undone.append(edit)
        return edit

    def redo(self) -> Edit | None:
        if not self._undone:
            return None
        edit = self._undone.pop()
        self._state = edit.apply(self._state)
        self._done.append(edit)
        return edit

    def mark_clean(self) -> None:
        self._clean = self._state
