"""Edits: frozen, labelled, each knowing its inverse; undo and redo.

An edit holds the old value beside the new one, so that applying it and then its inverse gives back the identical
state. The factory functions (:func:`swap_plan` …) read the old value from the state the edit is made for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from tileview.model.recipe import Overrides
from tileview.model.tensor import Format, Layout
from tileview.session.state import EditState


class Edit(Protocol):
    """One undoable change."""

    @property
    def label(self) -> str:
        """What the edit does, as a menu shows it: ``Swap operation 21 to alternative 3``."""
        ...

    def apply(self, state: EditState) -> EditState: ...

    def inverse(self) -> Edit: ...


@dataclass(frozen=True, slots=True)
class SwapPlan:
    """Swap alternative ``new`` of an operation in; None is the plan of the file."""

    operation: int
    new: int | None
    old: int | None

    @property
    def label(self) -> str:
        if self.new is None:
            return f"Operation {self.operation}: back to the file's plan"
        return f"Swap operation {self.operation} to alternative {self.new}"

    def apply(self, state: EditState) -> EditState:
        return state.with_swap(self.operation, self.new)

    def inverse(self) -> SwapPlan:
        return SwapPlan(self.operation, self.old, self.new)


@dataclass(frozen=True, slots=True)
class SetHome:
    """Give a graph input another home; None is the file's."""

    value: int
    new: Format | None
    old: Format | None

    @property
    def label(self) -> str:
        return f"Home of input {self.value}" if self.new is not None else f"Input {self.value}: back to the file's home"

    def apply(self, state: EditState) -> EditState:
        return state.with_home(self.value, self.new)

    def inverse(self) -> SetHome:
        return SetHome(self.value, self.old, self.new)


@dataclass(frozen=True, slots=True)
class SetBoundary:
    """Open (True) or close (False) a result's boundary; None is the file's choice."""

    value: int
    new: bool | None
    old: bool | None

    @property
    def label(self) -> str:
        if self.new is None:
            return f"Boundary {self.value}: back to the file's choice"
        return f"{'Open' if self.new else 'Close'} boundary {self.value}"

    def apply(self, state: EditState) -> EditState:
        return state.with_boundary(self.value, self.new)

    def inverse(self) -> SetBoundary:
        return SetBoundary(self.value, self.old, self.new)


@dataclass(frozen=True, slots=True)
class SetLayout:
    """Give one value of a timeline another layout; None is the file's."""

    value: int
    new: Layout | None
    old: Layout | None

    @property
    def label(self) -> str:
        return (
            f"Layout of value {self.value}"
            if self.new is not None
            else f"Value {self.value}: back to the file's layout"
        )

    def apply(self, state: EditState) -> EditState:
        return state.with_layout(self.value, self.new)

    def inverse(self) -> SetLayout:
        return SetLayout(self.value, self.old, self.new)


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


def swap_plan(state: EditState, operation: int, alternative: int | None) -> SwapPlan:
    """The edit that swaps an alternative in, given the state it will be applied to."""
    return SwapPlan(operation, alternative, state.swaps.get(operation))


def swap_plans(state: EditState, swaps: Iterable[tuple[int, int]], homes: Mapping[int, Format]) -> Together:
    """A fix as one step of undo: its swaps, and the homes that were repaired (graph value → format)."""
    swaps = tuple(swaps)
    parts: list[Edit] = [swap_plan(state, operation, index) for operation, index in swaps]
    parts += [set_home(state, value, home) for value, home in homes.items()]
    words = " and ".join(f"operation {operation} to alternative {index}" for operation, index in swaps)
    return Together(f"Fix: {words or f'new homes for {len(homes)} inputs'}", tuple(parts))


def set_home(state: EditState, value: int, home: Format | None) -> SetHome:
    return SetHome(value, home, state.homes.get(value))


def set_boundary(state: EditState, value: int, is_open: bool | None) -> SetBoundary:
    return SetBoundary(value, is_open, state.boundaries.get(value))


def set_layout(state: EditState, value: int, layout: Layout | None) -> SetLayout:
    return SetLayout(value, layout, state.layouts.get(value))


def set_layouts(state: EditState, title: str, layouts: dict[int, Layout]) -> Together:
    """One edit for all values of a kind."""
    return Together(title, tuple(set_layout(state, value, layout) for value, layout in layouts.items()))


def set_overrides(state: EditState, overrides: Overrides) -> SetOverrides:
    return SetOverrides(overrides, state.overrides)


def between(title: str, before: EditState, after: EditState) -> Together:
    """One edit that leads from a state to another."""
    return Together(
        title,
        (
            *(swap_plan(before, key, after.swaps.get(key)) for key in _changed(before.swaps, after.swaps)),
            *(set_home(before, key, after.homes.get(key)) for key in _changed(before.homes, after.homes)),
            *(
                set_boundary(before, key, after.boundaries.get(key))
                for key in _changed(before.boundaries, after.boundaries)
            ),
            *(set_layout(before, key, after.layouts.get(key)) for key in _changed(before.layouts, after.layouts)),
            set_overrides(before, after.overrides),
        ),
    )


def _changed(before: Mapping[int, object], after: Mapping[int, object]) -> list[int]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


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
