"""Edits and selection carried over to other content: what they are on is known again by a mark, not by its number."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline, TimelineValue
from tileview.model.timeline_file import FileValue, TimelineFile
from tileview.session.document import Document
from tileview.session.history import Step
from tileview.session.selection import Selection
from tileview.session.state import EditState

Marks = Mapping[str, Mapping[str, str]]
"""Kind of edit → what it is on, by number → what tells that from something else of the same number."""

OTHER_KIND = "The file is of another kind now: no edit applies."


@dataclass(frozen=True, slots=True)
class Carried:
    """Edits for other content, and a sentence for each edit that makes no sense in it."""

    steps: tuple[Step, ...]
    conflicts: tuple[str, ...]

    @property
    def state(self) -> EditState:
        return self.steps[-1][1] if self.steps else EditState()


def marks_of(document: Document, steps: Sequence[Step]) -> Marks:
    """What to keep beside edits that name plans and values by number: the file may be another one later.

    A swap's mark is that of the plan it swaps in; its number is written ``operation:alternative``.
    """
    recipe = document.recipe
    states = [state for _, state in steps]
    if recipe is None:
        values = document.source.values if isinstance(document.source, TimelineFile) else ()
        return {
            "layouts": {str(index): _mark(_file_identity(values[index])) for one in states for index in one.layouts}
        }
    return {
        "swaps": {
            f"{one}:{index}": _mark(recipe.alternatives[one][index])
            for state in states
            for one, index in state.swaps.items()
        },
        "homes": {str(value): _mark(recipe.graph.shape_of(value)) for state in states for value in state.homes},
        "boundaries": {str(one): _mark(recipe.graph.shape_of(one)) for state in states for one in state.boundaries},
    }


def _mark(thing: object) -> str:
    return hashlib.sha256(repr(thing).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def carry_over(document: Document, steps: Sequence[Step], marks: Marks) -> Carried:
    """What of edits made on other content can be done on a document's, step by step.

    A swap is carried over where the document has the same operation and an alternative *equal* to the one swapped in,
    wherever it stands in its list (where it is current already, nothing is left to do); homes and boundaries where the
    value still has the same shape; layouts where the timeline still has a value of the same id, name and shape. Budgets
    are always kept. Conflicts are those of the last step: what is current.
    """
    carry = _RecipeCarrier(document.recipe, marks) if document.recipe is not None else _LayoutCarrier(document, marks)
    done: list[Step] = []
    conflicts: list[str] = []
    for label, state in steps:
        conflicts = []
        after = carry.carry(state, conflicts)
        if after != (done[-1][1] if done else EditState()):
            done.append((label, after))
    return Carried(tuple(done), tuple(conflicts))


class _RecipeCarrier:
    """Carries states over to a recipe."""

    def __init__(self, recipe: Recipe, marks: Marks) -> None:
        self._recipe = recipe
        self._marks = marks
        self._places: dict[tuple[int, int], int | None] = {}

    def carry(self, state: EditState, conflicts: list[str]) -> EditState:
        swaps: dict[int, int] = {}
        for operation, index in state.swaps.items():
            place = self._place(operation, index)
            if operation not in self._recipe.plans:
                conflicts.append(f"Operation {operation} is gone; alternative {index} was swapped in.")
            elif place is None:
                conflicts.append(f"Operation {operation} has lost the alternative that was swapped in ({index}).")
            elif place >= 0:
                swaps[operation] = place
        homes = {value: home for value, home in state.homes.items() if self._is_same("homes", value)}
        boundaries = {value: one for value, one in state.boundaries.items() if self._is_same("boundaries", value)}
        for value in state.homes.keys() - homes.keys():
            conflicts.append(f"Input {value}, whose home was changed, is gone or has another shape.")
        for value in state.boundaries.keys() - boundaries.keys():
            conflicts.append(f"Value {value}, whose boundary was changed, is gone or has another shape.")
        conflicts += [OTHER_KIND] * bool(state.layouts)
        return EditState(swaps=swaps, homes=homes, boundaries=boundaries, overrides=state.overrides)

    def _place(self, operation: int, index: int) -> int | None:
        """Where the alternative is now: −1 where it is current without a swap, None where it is gone."""
        if (operation, index) not in self._places:
            plans = self._recipe.alternatives.get(operation, ())
            in_force = self._recipe.plans.get(operation)
            mark = self._marks.get("swaps", {}).get(f"{operation}:{index}")
            place = -1 if mark == _mark(in_force) else _place(index, plans, mark)
            self._places[operation, index] = -1 if place is not None and plans[place] == in_force else place
        return self._places[operation, index]

    def _is_same(self, kind: str, value: int) -> bool:
        shape = self._recipe.graph.shape_of(value)
        return shape is not None and self._marks.get(kind, {}).get(str(value), _mark(shape)) == _mark(shape)


class _LayoutCarrier:
    """Carries states over to a timeline."""

    def __init__(self, document: Document, marks: Marks) -> None:
        values = document.source.values if isinstance(document.source, TimelineFile) else ()
        self._marks = [_mark(_file_identity(value)) for value in values]
        self._wanted = marks.get("layouts", {})

    def carry(self, state: EditState, conflicts: list[str]) -> EditState:
        layouts = {}
        for index, layout in state.layouts.items():
            wanted = self._wanted.get(str(index))
            if 0 <= index < len(self._marks) and wanted in (None, self._marks[index]):
                layouts[index] = layout
            elif wanted in self._marks:
                layouts[self._marks.index(wanted)] = layout
            else:
                conflicts.append(f"Value {index}, whose layout was changed, is gone or has another shape.")
        conflicts += [OTHER_KIND] * state.is_exportable_change
        return EditState(layouts=layouts, overrides=state.overrides)


def _place(index: int, things: Sequence[object], mark: str | None) -> int | None:
    """Where among things the one stands that had this index and this mark; None where it is gone."""
    if 0 <= index < len(things) and mark in (None, _mark(things[index])):
        return index
    return None if mark is None else next((at for at, thing in enumerate(things) if _mark(thing) == mark), None)


def _file_identity(value: FileValue) -> tuple[object, ...]:
    """What a value of a timeline is known again by."""
    return value.id, value.name, value.shape


def carry_selection(selection: Selection, old: Timeline | None, new: Timeline | None) -> Selection:
    """The selection in a new timeline: the same step, tiles and operation; the allocation by id, name and shape."""
    allocation = selection.allocation
    if allocation is not None and old is not None and new is not None and allocation < len(old.values):
        wanted = _identity(old.values[allocation])
        allocation = next((root for root in new.aliases if _identity(new.values[root]) == wanted), None)
    return replace(selection, allocation=allocation)


def _identity(value: TimelineValue) -> tuple[object, ...]:
    return value.id, value.name, value.shape
