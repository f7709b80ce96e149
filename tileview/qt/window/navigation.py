"""Going places by key: steps, peaks, steps over the budget, an operation, a step or a tile by number or name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Slot

from tileview.analysis.loads import peak_place
from tileview.analysis.overflows import next_place_over, steps_over
from tileview.model.graph import kind_name
from tileview.qt.base.command import Command
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.session import Selection, Session

MOST_PLACES = 100
"""Selections that are kept to walk back to."""
LEAP = 10
"""Steps that a step key moves with Shift held."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Somewhere to go, as typed: ``kind`` is ``operation``, ``step`` or ``tile``."""

    kind: str
    number: int


def places_named(session: Session, text: str) -> list[tuple[Destination, str]]:
    """What a typed text can mean, the likeliest first, each with a line that describes it.

    ``step 12``, ``op 21``, ``tile 212``, ``L212`` and ``12`` (all three that exist), or part of an operation's kind.
    """
    words = text.strip().lower()
    if not words:
        return []
    match = re.fullmatch(r"(op|operation|o|step|s|tile|t|l)?\s*#?\s*([0-9]{1,9})", words)
    if match is None:
        return _operations_like(session, words)
    number = int(match.group(2))
    kinds = {"o": ["operation"], "s": ["step"], "t": ["tile"], "l": ["tile"]}.get(
        (match.group(1) or "")[:1], ["operation", "step", "tile"]
    )
    found = ((Destination(kind, number), _description(session, kind, number)) for kind in kinds)
    return [(place, line) for place, line in found if line is not None]


def _description(session: Session, kind: str, number: int) -> str | None:
    timeline = session.timeline
    if kind == "operation":
        return _operation_lines(session).get(number)
    if timeline is None:
        return None
    if kind == "step" and number < len(timeline.steps):
        return f"step {number} · {timeline.steps[number].kind}"
    if kind == "tile" and number < timeline.tile_count:
        return f"tile {number}"
    return None


def _operation_lines(session: Session) -> dict[int, str]:
    graph = session.graph
    if graph is not None:
        return {operation.id: f"op {operation.id} {kind_name(operation.kind)}" for operation, _ in graph.walk()}
    timeline = session.timeline
    if timeline is None:
        return {}
    return {step.source: f"op {step.source} {step.kind}" for step in timeline.steps if step.source is not None}


def _operations_like(session: Session, words: str) -> list[tuple[Destination, str]]:
    lines = sorted(_operation_lines(session).items())
    return [(Destination("operation", number), line) for number, line in lines if words in line.lower()][:200]


def go_to(session: Session, place: Destination) -> None:
    """Select a place; an operation takes its first step along."""
    timeline = session.timeline
    selection = session.selection
    if place.kind == "step":
        session.select_step(place.number)
    elif place.kind == "tile":
        session.select_tiles((place.number,))
    else:
        step = selection.step
        if timeline is not None:
            step = next((one.index for one in timeline.steps if one.source == place.number), step)
        session.select(replace(selection, operation=place.number, step=step, allocation=None))


class SelectionTrail:
    """The selections of one document in the order in which they were made, to walk back and forth.

    A walk from step to step is one place: only where it ended is kept.
    """

    def __init__(self) -> None:
        self._places: list[Selection] = []
        self._at = -1
        self._walks = False

    def clear(self) -> None:
        self._places, self._at, self._walks = [], -1, False

    def note(self, selection: Selection) -> None:
        """A selection was made; what lay ahead is forgotten."""
        if self._at >= 0:
            last = self._places[self._at]
            if selection == last:
                return
            is_walk = replace(last, step=selection.step) == selection
            if is_walk and self._walks:
                self._places[self._at :] = [selection]
                return
            self._walks = is_walk
        self._places[self._at + 1 :] = [selection]
        del self._places[:-MOST_PLACES]
        self._at = len(self._places) - 1

    def step(self, by: int) -> Selection | None:
        """The selection before (−1) or after (+1) the current one; None at an end."""
        place = self._at + by
        if not 0 <= place < len(self._places):
            return None
        self._at, self._walks = place, False
        return self._places[place]


class Navigator(QObject):
    """The commands of the Go menu."""

    def __init__(self, bridge: SessionSignals, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._trail = SelectionTrail()
        bridge.document_changed.connect(self._trail.clear)
        bridge.selection_changed.connect(self._note)

    @property
    def _session(self) -> Session:
        return self._bridge.session

    def commands(self) -> tuple[Command, ...]:
        """Step keys, peaks and over-budget steps."""
        there = self._has_steps
        return (
            Command("selection_back", "Selection bac&k", "Go", lambda _: self._walk(-1), ("Alt+Left",),
                    "The selection before this one", there, icon="previous"),
            Command("selection_on", "Selection for&ward", "Go", lambda _: self._walk(1), ("Alt+Right",),
                    "The selection after this one", there, icon="next"),
            Command("step_next", "&Next step", "Go", lambda _: self._move(1), ("Right",), "One step forward", there,
                    repeats=True, icon="next"),
            Command("step_previous", "&Previous step", "Go", lambda _: self._move(-1), ("Left",), "One step back",
                    there, repeats=True, icon="previous"),
            Command("step_leap", "&Ten steps forward", "Go", lambda _: self._move(LEAP), ("Shift+Right",),
                    "Ten steps forward", there, repeats=True),
            Command("step_leap_back", "Ten steps &back", "Go", lambda _: self._move(-LEAP), ("Shift+Left",),
                    "Ten steps back", there, repeats=True),
            Command("step_first", "&First step", "Go", lambda _: self._to(0), ("Home",), "The first step", there),
            Command("step_last", "&Last step", "Go", lambda _: self._to(-1), ("End",), "The last step", there),
            Command("peak_total", "Total p&eak", "Go", lambda _: self._to_peak("total"), ("P",),
                    "The step with the largest total, and the tile that reaches it", there, separator_before=True,
                    icon="peak"),
            Command("peak_standard", "&Standard peak", "Go", lambda _: self._to_peak("standard"),
                    ("Shift+S", "S"),
                    "The step with the most standard memory on a tile (S alone zooms out in pictures)", there),
            Command("peak_interleaved", "&Interleaved peak", "Go", lambda _: self._to_peak("interleaved"), ("I",),
                    "The step with the most interleaved memory on a tile", there),
            Command("over_next", "Next step &over the budget", "Go", lambda _: self._over_budget(1), ("N",),
                    "The next step that does not fit", there, repeats=True),
            Command("over_previous", "Pre&vious step over the budget", "Go", lambda _: self._over_budget(-1), ("B",),
                    "The previous step that does not fit", there, repeats=True),
        )  # fmt: skip

    @Slot()
    def _note(self) -> None:
        self._trail.note(self._session.selection)

    def _walk(self, by: int) -> None:
        selection = self._trail.step(by)
        if selection is None:
            self._bridge.message.emit(f"There is no selection {'before' if by < 0 else 'after'} this one.")
        else:
            self._session.select(selection)

    def _has_steps(self) -> bool:
        timeline = self._session.timeline
        return timeline is not None and bool(timeline.steps)

    def _move(self, by: int) -> None:
        self._session.select_step(max(0, (self._session.selection.step or 0) + by))

    def _to(self, step: int) -> None:
        timeline = self._session.timeline
        if timeline is not None:
            self._session.select_step(step if step >= 0 else len(timeline.steps) + step)

    def _to_peak(self, kind: str) -> None:
        """Go to a peak step, and to the tile that reaches it there."""
        timeline = self._session.timeline
        if timeline is None:
            return
        place = peak_place(timeline, {"total": "P", "standard": "S", "interleaved": "I"}[kind])
        if place is None:
            self._bridge.message.emit(f"The {kind} peak is not reached at a step of this timeline.")
            return
        self._session.select(replace(self._session.selection, step=place.step, tiles=(place.tile,)))

    def _over_budget(self, direction: int) -> None:
        timeline = self._session.timeline
        if timeline is None:
            return
        place = next_place_over(timeline, self._session.selection.step, direction > 0)
        if place is None:
            which = "later" if direction > 0 else "earlier"
            text = (
                f"No {which} step is over the budget." if steps_over(timeline).any() else "No step is over the budget."
            )
            self._bridge.message.emit(text)
            return
        self._session.select(replace(self._session.selection, step=place.step, tiles=(place.tile,)))
