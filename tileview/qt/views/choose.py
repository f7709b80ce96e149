"""Memory against cycles: alternatives, single swaps or fixes as a scatter, to choose by eye."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from heapq import nsmallest

from PySide6.QtCore import QPointF, QTimer, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.fix import FixResult
from tileview.analysis.trials import Swaps, Trial
from tileview.present.choices import (
    Choice,
    Choices,
    ChoiceScope,
    Standing,
    choice_sentence,
    choices_csv,
    choices_of,
    choices_sentence,
    fix_trials,
    swaps_of,
)
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.views.base import View, action_of
from tileview.qt.views.choose_plot import ChoicePlot
from tileview.qt.widgets.docked import ElidedLabel, FlowLayout, WrappedLabel, dock_button
from tileview.session import edits
from tileview.session.edits import EditState

_SETTLE_MS = 200
"""Results that stream in are drawn after this rest."""

MOST_NEEDS = 400
"""Choices whose memory that places every tile is worked out, each of which may take a second."""
MOST_KNOWN = 4_000
"""Choices of which it is looked whether that memory is known."""

_NOTE = (
    "Planner's cycles are the planner's own estimate for each choice, of the fused program where that is used. They "
    "are not a measurement: compare differences."
)


class ChooseView(View):
    """A click selects, a double click or Enter swaps in; the table of it is exported as CSV."""

    title = "Memory against cycles"
    name = "choose"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self._fixes: tuple[int, FixResult] | None = None
        self._shown: tuple[object, ...] = ()
        self.choices = Choices()
        self.scope_box = QComboBox()
        self.scope_box.setAccessibleName("Which choices are shown")
        for scope in ChoiceScope:
            self.scope_box.addItem(str(scope), scope)
        self.scope_box.activated.connect(self._scope_chosen)
        self.headline = ElidedLabel()
        self.plot = ChoicePlot(bridge.theme, self)
        self.plot.chosen.connect(self.choose)
        self.plot.activated.connect(self.swap_in)
        self.plot.pointed.connect(self._pointed)
        self.chosen_label = WrappedLabel()
        self.note = QLabel("Cycles are an estimate")
        self.note.setToolTip(plain_tip(_NOTE))
        self.swap_button = dock_button(
            "Swap in", "Swap the chosen ones in (Enter, double click)", lambda: self.swap_in()
        )
        self.compare_button = dock_button("Compare", "Show the chosen swap beside the current state", self.compare)
        self.evaluate_button = dock_button("Evaluate", "Work out what is not yet evaluated", self.evaluate)
        self.fix_button = dock_button("Find fix…", "Search for swaps that make the program fit", self._find_fix)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLE_MS)
        self._timer.timeout.connect(self._refill)
        bridge.placement_changed.connect(self.on_alternatives)
        self._lay_out()
        self.lead_focus(self.plot)
        self._refill()

    def _lay_out(self) -> None:
        fit = dock_button("Fit", "Show all choices (0)", self.fit)
        buttons = FlowLayout(spacing=4)
        for widget in (self.scope_box, fit, self.evaluate_button, self.fix_button, self.swap_button,
                       self.compare_button, self.note):  # fmt: skip
            buttons.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.setSpacing(3)
        layout.addLayout(buttons)
        layout.addWidget(self.headline)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.chosen_label)

    # -- what is shown ------------------------------------------------------------------------------------------------

    @property
    def scope(self) -> ChoiceScope:
        return ChoiceScope(self.scope_box.currentData())

    def show_choices(self, what: object) -> None:
        """Show the alternatives of an operation (its number), fixes (a result of the search), or a scope."""
        if isinstance(what, FixResult):
            self._fixes = (self.session.revision, what)
            what = ChoiceScope.FIXES
        elif isinstance(what, int):
            self.session.select_operation(what)
            what = ChoiceScope.OPERATION
        if isinstance(what, ChoiceScope):
            self.scope_box.setCurrentIndex(list(ChoiceScope).index(what))
            self._refill()

    def _scope_chosen(self) -> None:
        self._refill()

    def _operation(self) -> int | None:
        return self.session.selection.operation

    def _trials(self) -> tuple[Iterable[Trial | AlternativeResult], int]:
        """Outcomes of the scope, and how many are not there yet."""
        session, recipe = self.session, self.session.recipe
        if recipe is None or not session.is_current:
            return (), 0
        if self.scope is ChoiceScope.FIXES:
            fixes = self._fixes
            return (fix_trials(fixes[1]) if fixes is not None and fixes[0] == session.revision else ()), 0
        operation = self._operation()
        one = () if operation is None else (operation,)
        operations = sorted(recipe.alternatives) if self.scope is ChoiceScope.SINGLE else one
        results, found, missing = session.results, [], 0
        for number in operations:
            for index in range(len(recipe.alternatives.get(number, ()))):
                result = results.get((number, index))
                if result is not None:
                    found.append(result)
                else:
                    missing += recipe.in_force(number) != index
        return found, missing

    def _left(self, swaps: Swaps) -> int | None:
        """Tiles without a place in the memory looked at; None where not known."""
        session = self.session
        if not swaps:
            totals = None if session.placed is None else session.placed.totals
            return None if totals is None else totals.not_placed + totals.over
        found = session.placed_of(*swaps[0]) if len(swaps) == 1 else None
        return None if found is None else found.not_placed + found.over

    def _refill(self) -> None:
        self._timer.stop()
        session = self.session
        operation = self._operation() if self.scope is ChoiceScope.OPERATION else None
        shown = (session.document, session.revision, self.scope, operation, self._fixes)
        kept = self.chosen
        trials, missing = self._trials()
        has_recipe = session.recipe is not None
        estimate = session.estimate if has_recipe else None
        memory = session.ranges if has_recipe else None
        trials = tuple(trials)
        states = self._states(trials)
        known = session.needs()
        needs = {swaps: known[state] for swaps, state in states.items() if state in known}
        self.choices = choices_of(estimate, trials, needs, missing, self._left, memory)
        self._want(states)
        swaps = kept.swaps if kept is not None and shown == self._shown else None
        places = [place for place, point in enumerate(self.choices.points) if point.swaps == swaps]
        is_alone = len(self.choices.points) < 2 and (
            self.scope is ChoiceScope.FIXES or missing > 0 or operation is None
        )
        message = self._message()
        show = Choices() if not has_recipe or (is_alone and message) else self.choices
        self.plot.show_choices(show, places[0] if places and show.points else None, message, shown == self._shown)
        self._shown = shown
        text = choices_sentence(self.scope, self.choices, operation) if show.points else ""
        self.headline.setText(text)
        self.plot.set_description(text or message)
        self.evaluate_button.setVisible(missing > 0)
        self.fix_button.setVisible(self.scope is ChoiceScope.FIXES)
        self.fix_button.setEnabled(has_recipe and session.is_current)
        self._show_chosen()

    def _states(self, trials: Sequence[Trial | AlternativeResult]) -> dict[Swaps, EditState]:
        """The state in force, and those that the choices would give; of very many those with the fewest cycles."""
        session, fixes = self.session, self._fixes
        homes = fixes[1].homes if fixes is not None and self.scope is ChoiceScope.FIXES else {}
        if len(trials) > MOST_KNOWN:
            trials = nsmallest(MOST_KNOWN, trials, key=_cycles)
        every = ((), *(swaps_of(trial) for trial in trials))
        return {swaps: session.state_with(swaps, homes if swaps else {}) for swaps in every}

    def _want(self, states: Mapping[Swaps, EditState]) -> None:
        """Ask for the memory that the choices need while they are in sight: the chosen one, the best, those that fit,
        by cycles."""
        choices, chosen = self.choices, self.chosen
        best = {choices.points[place].swaps for place in choices.front}

        def rank(point: Choice) -> tuple[bool, bool, bool, bool, int]:
            is_chosen = chosen is not None and point.swaps == chosen.swaps
            is_over = point.standing is Standing.OVER
            return bool(point.swaps), not is_chosen, point.swaps not in best, is_over, point.cycles

        wanted = sorted(choices.points, key=rank)[:MOST_NEEDS] if self.is_in_sight else []
        self.bridge.needs_wanted.emit(tuple(states[point.swaps] for point in wanted))

    @Slot(bool)
    def set_in_front(self, is_in_front: bool) -> None:
        super().set_in_front(is_in_front)
        self._timer.start()

    def _message(self) -> str:
        session = self.session
        if session.document is None:
            return "Nothing open"
        if session.recipe is None:
            return "A timeline alone holds no alternatives: open the recipe of the same compile"
        if not session.is_current:
            return "No estimate yet"
        if session.timeline is None:
            return "The recipe cannot be lowered: there is no program to compare with"
        if self.scope is ChoiceScope.FIXES:
            return "No fixes yet: run Find fix, its button shows them here"
        if self.scope is ChoiceScope.OPERATION and self._operation() is None:
            return "Select an operation to see its alternatives"
        return "Nothing evaluated yet: Evaluate works the alternatives out"

    # -- choosing -----------------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> Choice | None:
        """The chosen one; None where none is."""
        place = self.plot.current
        points = self.plot.choices.points
        return points[place] if place is not None and place < len(points) else None

    def choose(self, place: int) -> None:
        """Make a choice the chosen one, and its operation the selected one where it is a single swap."""
        self.plot.set_current(place)
        self._show_chosen()
        point = self.chosen
        if point is not None and len(point.swaps) == 1:
            self.session.select_operation(point.swaps[0][0])

    def _show_chosen(self) -> None:
        point = self.chosen
        self.chosen_label.setText("" if point is None else choice_sentence(point, self.choices))
        self.chosen_label.setVisible(point is not None)
        can = point is not None and bool(point.swaps) and self.session.is_current
        self.swap_button.setEnabled(can)
        self.compare_button.setEnabled(can and point is not None and len(point.swaps) == 1)
        if point is not None:
            self.plot.set_description(f"{choice_sentence(point, self.choices)}. {self.headline.text()}")

    def _pointed(self, value: QPointF | None) -> None:
        near = [] if value is None else self.plot.near(self.plot.pixel(value.x(), value.y()))
        point = self.choices.points[near[0]] if near else None
        is_single = point is not None and len(point.swaps) == 1
        self.bridge.hovered.emit(point.swaps[0][0] if point is not None and is_single else None, None, None)

    def swap_in(self, place: int | None = None) -> None:
        """Make the swaps of a choice (the chosen one), as one edit."""
        point = self.chosen if place is None else self.plot.choices.points[place]
        session = self.session
        if point is None or not point.swaps or not session.is_current:
            return
        if len(point.swaps) == 1 and self.scope is not ChoiceScope.FIXES:
            session.swap(*point.swaps[0])
        else:
            homes = self._fixes[1].homes if self._fixes is not None else {}
            session.do(edits.swap_plans(session.state, point.swaps, homes))

    def compare(self) -> None:
        """Ask for the chosen swap beside the current state."""
        point = self.chosen
        if point is not None and len(point.swaps) == 1:
            self.bridge.requested.emit("compare_alternative", point.swaps[0])

    def evaluate(self) -> None:
        """Ask for what is missing."""
        operation = self._operation() if self.scope is ChoiceScope.OPERATION else None
        self.bridge.requested.emit("evaluate_alternatives", operation)

    def _find_fix(self) -> None:
        self.bridge.requested.emit("find_fix", None)

    def fit(self) -> None:
        """Show all choices."""
        if self.plot.zoom is not None:
            self.plot.zoom.fit()

    # -- session ------------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._fixes = None
        self._refill()

    def on_state(self) -> None:
        self._timer.start()

    def on_estimate(self) -> None:
        self._refill()

    def on_alternatives(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def on_selection(self) -> None:
        if self.scope is ChoiceScope.OPERATION and self._shown[3:4] != (self._operation(),):
            self._refill()

    def on_theme(self) -> None:
        self.plot.set_theme(self.bridge.theme)

    # -- out ----------------------------------------------------------------------------------------------------------

    def view_actions(self) -> list[QAction]:
        entries: list[tuple[str, Callable[[], object]]] = [
            (f"Memory against cycles: {str(scope).lower()}", partial(self.show_choices, scope)) for scope in ChoiceScope
        ]
        entries += [
            ("Memory against cycles: next best trade-off", partial(self.plot.step_front, 1)),
            ("Memory against cycles: swap the chosen one in", self.swap_in),
            ("Memory against cycles: show all", self.fit),
        ]
        return [action_of(self, text, slot) for text, slot in entries]

    def table_maker(self) -> Callable[[], str] | None:
        return partial(choices_csv, self.choices) if self.choices.points else None

    def picture_words(self) -> str:
        return "\n".join(filter(None, (self.headline.text(), self.chosen_label.text(), _NOTE)))

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        return (self.plot,)

    def shut_down(self) -> None:
        self._timer.stop()


def _cycles(trial: Trial | AlternativeResult) -> int:
    cycles = trial.price.cycles if trial.price is not None else None
    return cycles if isinstance(cycles, int) else 1 << 64
