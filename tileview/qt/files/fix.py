"""Find fix: the search for swaps (or layouts) that make the program fit, and its proposals beside the current state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.fix import DEFAULT_LIMIT, FixResult, Mode, PlacedFix, Prefer, RankedFix
from tileview.analysis.layout_fix import LayoutFix, fix_layouts
from tileview.analysis.placement import Placeability
from tileview.analysis.trials import Swap, Swaps, Trial
from tileview.analysis.words import layout_words
from tileview.core.cycles.words import cycles_between, exact_cycles, percent_between, short_change
from tileview.core.fusion.verdict_words import verdict_words
from tileview.core.placement.ranges import presets
from tileview.model.recipe import Recipe, configured
from tileview.model.sizes import Size, Unavailable, exact_text
from tileview.model.timeline import Timeline
from tileview.present.choices import fix_trials
from tileview.present.compare_rows import PLANNERS
from tileview.present.plan_words import plan_differences, plan_words
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.dialogs import plain_label, show_error
from tileview.session import edits
from tileview.session.edits import Edit

MOST_SWAPS = 6
DEFAULT_SWAPS = 3


def signed_text(difference: int) -> str:
    """``+1,024 B``, ``−1,024 B`` or ``same``."""
    if difference == 0:
        return "same"
    return f"{'+' if difference > 0 else '−'}{abs(difference):,} B"


def difference_text(before: Size, after: Size) -> str:
    if isinstance(before, Unavailable) or isinstance(after, Unavailable):
        return ""
    return signed_text(after - before)


def comparison(before: Trial, after: Trial) -> list[tuple[str, str, str, str]]:
    """Rows of (what, now, then, difference); empty where either cannot be lowered."""
    if before.peak is None or after.peak is None:
        return []
    rows: list[tuple[str, Size, Size]] = [
        ("Total peak", before.peak.total, after.peak.total),
        ("Standard peak", before.peak.standard, after.peak.standard),
        ("Interleaved peak", before.peak.interleaved, after.peak.interleaved),
        (
            "Largest standard allocation",
            before.peak.maximum_standard_allocation,
            after.peak.maximum_standard_allocation,
        ),
    ]
    lines = [(name, exact_text(now), exact_text(then), difference_text(now, then)) for name, now, then in rows]
    if before.price is not None and after.price is not None:
        for name, now, then in (
            ("Planner's cycles", before.price.cycles, after.price.cycles),
            ("Of them exchange", before.price.exchange, after.price.exchange),
        ):
            lines.append((name, exact_cycles(now), exact_cycles(then), cycles_change(now, then)))
    return [("Verdict", _fits(before), _fits(after), ""), *lines]


def cycles_change(before: Size | None, after: Size | None) -> str:
    """``−4.11 M (−17 %)``; empty where one is not known."""
    change = cycles_between(before, after)
    return "" if change is None else f"{short_change(change)}{percent_between(before, after)}"


_OF_SWAPS = (
    "Proposal", "Swaps", "Total peak", "Against now", "Planner's cycles", "Tiles placed", "Standard peak",
    "Exchange rows",
)  # fmt: skip
_OF_LAYOUTS = ("Layouts", "Values", "Largest shard")
"""Columns of the proposals for a recipe, and for a timeline, which has layouts to change and no swaps."""

_NAME = 48
"""Characters of the column that names a proposal; layouts have twice as many."""


def _fits(trial: Trial) -> str:
    return verdict_words(trial.verdict)


def _short_text(swaps: Iterable[Swap]) -> str:
    """Swaps in few words, so that proposals can be told apart in a column: ``op 4 → alt 0, op 21 → alt 3``."""
    return ", ".join(f"op {operation} → alt {index}" for operation, index in swaps)


def _placed_text(left: Placeability) -> str:
    """``all``, or how many tiles are not placed."""
    if left.placed:
        return "all"
    counts = ((left.over, "over"), (left.not_placed, "not placed"))
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def _item(cells: Sequence[str]) -> QTreeWidgetItem:
    """A row whose cells can be read in full as tooltips."""
    item = QTreeWidgetItem(list(cells))
    for column, cell in enumerate(cells):
        item.setToolTip(column, plain_tip(cell))
    return item


class FixDialog(QDialog):
    """Searches when told to, shows each proposal as a comparison, applies the chosen one as one edit.

    A recipe is searched in a worker process; a timeline alone has no plans to swap, so its invalid layouts are repaired
    on a thread. Edits made meanwhile make the proposals stale, and the dialog says so.
    """

    def __init__(self, signals: SessionSignals, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("fix")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Find fix")
        self._signals = signals
        self._revision = -1
        self._job: Job | None = None
        self._result: FixResult | None = None
        self._layouts: LayoutFix | None = None
        self._runner = Runner(self, keep=False, say=signals.message.emit)
        self._runner.progress.connect(self._on_progress)
        self._runner.part.connect(self._on_part)
        self._runner.ended.connect(self._on_ended)
        self._build()
        signals.state_changed.connect(self._on_state)
        signals.document_changed.connect(self.reject)

    # -- building -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        column = QVBoxLayout(self)
        self._options = QWidget(self)
        column.addWidget(self._options)
        row = QHBoxLayout(self._options)
        row.setContentsMargins(0, 0, 0, 0)
        self._modes = QButtonGroup(self)
        for number, (text, tip) in enumerate(
            (
                ("&Fewest changes", "The fewest swaps that fit, the lowest total peak among those"),
                ("Most &margin", "The lowest total peak, the fewest swaps among those"),
            )
        ):
            button = QRadioButton(text, self._options)
            button.setToolTip(tip)
            button.setChecked(number == 0)
            self._modes.addButton(button, number)
            row.addWidget(button)
        label = QLabel("At most", self._options)
        self._most = QSpinBox(self._options)
        self._most.setRange(1, MOST_SWAPS)
        self._most.setValue(DEFAULT_SWAPS)
        self._most.setSuffix(" swaps")
        self._most.setAccessibleName("Most swaps")
        label.setBuddy(self._most)
        row.addSpacing(12)
        row.addWidget(label)
        row.addWidget(self._most)
        self.prefer_box = QComboBox(self._options)
        self.prefer_box.setAccessibleName("Which of several fixes comes first")
        self.prefer_box.setToolTip("Which comes first among fixes with equally few swaps")
        for text, prefer in (("Lowest peak first", Prefer.MEMORY), ("Fewest cycles first", Prefer.CYCLES)):
            self.prefer_box.addItem(text, prefer.value)
        row.addSpacing(12)
        row.addWidget(self.prefer_box)
        self.memory_box = QComboBox(self._options)
        self.memory_box.setAccessibleName("Memory that every tile has to be placed in")
        self.memory_box.setToolTip(
            "Also require that the compiler's two orders place every tile; with Fewest changes only"
        )
        self._fill_memory()
        row.addSpacing(12)
        row.addWidget(self.memory_box)
        row.addStretch(1)
        run = QHBoxLayout()
        self.search_button = QPushButton("&Search", self)
        self.search_button.clicked.connect(self.search)
        self._bar = QProgressBar(self)
        self._bar.setAccessibleName("Progress of the search")
        run.addWidget(self.search_button, 0, Qt.AlignmentFlag.AlignLeft)
        run.addWidget(self._bar, 1)
        column.addLayout(run)
        self._text = plain_label("", self)
        self._text.setObjectName("outcome")
        self._text.setAccessibleName("Outcome of the search")
        column.addWidget(self._text)
        self.proposals = self._tree(
            _OF_SWAPS,
            "Proposals",
            (_NAME, 8, 14, 14, 22, 16, 16, 15),
        )
        header = self.proposals.headerItem()
        if header is not None:
            header.setToolTip(4, plain_tip(f"Against now. {PLANNERS}"))
        self.proposals.currentItemChanged.connect(self._show_current)
        self.rows = self._tree(("What", "Now", "With the proposal", "Difference"), "Comparison", (32, 34, 34, 40))
        column.addWidget(self.proposals, 2)
        column.addWidget(self.rows, 3)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        self.apply_button = QPushButton("&Apply as one edit", self)
        self.apply_button.setEnabled(False)
        self.apply_button.clicked.connect(self.apply)
        buttons.addButton(self.apply_button, QDialogButtonBox.ButtonRole.ActionRole)
        self.choose_button = QPushButton("&Memory against cycles…", self)
        self.choose_button.setEnabled(False)
        self.choose_button.clicked.connect(self._choose)
        buttons.addButton(self.choose_button, QDialogButtonBox.ButtonRole.ActionRole)
        column.addWidget(buttons)
        metrics = self.fontMetrics()
        self.resize(metrics.averageCharWidth() * 160, metrics.height() * 36)

    def _fill_memory(self) -> None:
        """The memory looked at, and the presets; chosen is the one in which a program that fits by the sum fails."""
        self.memory_box.addItem("Fits by the sum", None)
        session = self._signals.session
        recipe = session.file_recipe
        if recipe is None:
            return
        reserve = configured(recipe.config, session.state.overrides).reserve_bytes
        known = [one for one in presets(reserve) if one.ranges[0][0] < one.ranges[0][1]]
        fits = session.verdict is not None and session.verdict.fits
        failing = session.unplaced.preset if fits and session.unplaced is not None else None
        for one in known if session.ranges in known else [session.ranges, *known]:
            self.memory_box.addItem(f"Placed in {one.title}", one)
            if one == failing:
                self.memory_box.setCurrentIndex(self.memory_box.count() - 1)

    def _tree(self, titles: tuple[str, ...], name: str, widths: tuple[int, ...]) -> QTreeWidget:
        tree = QTreeWidget(self)
        tree.setHeaderLabels(list(titles))
        tree.setRootIsDecorated(False)
        tree.setAlternatingRowColors(True)
        tree.setUniformRowHeights(True)
        tree.setAccessibleName(name)
        for column, width in enumerate(widths):
            tree.setColumnWidth(column, self.fontMetrics().averageCharWidth() * width)
        return tree

    # -- searching ------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._job is not None

    @Slot()
    def search(self) -> None:
        """Start a search of the current state; while one runs, stop it and take the best so far."""
        if self._job is not None:
            self._runner.cancel(self._job)
            return
        session = self._signals.session
        self._clear()
        self._revision = session.revision
        recipe = session.recipe
        shown = _OF_LAYOUTS if recipe is None else _OF_SWAPS
        self.proposals.setHeaderLabels(list(shown))
        self.proposals.setColumnCount(len(shown))
        characters = _NAME if recipe is not None else 2 * _NAME
        self.proposals.setColumnWidth(0, self.fontMetrics().averageCharWidth() * characters)
        self._options.setVisible(recipe is not None)
        if recipe is not None:
            mode = Mode.FEWEST if self._modes.checkedId() == 0 else Mode.MARGIN
            prefer = str(self.prefer_box.currentData())
            asked = self.memory_box.currentData()
            ranges, placing = (session.ranges, False) if asked is None else (asked, True)
            payload = (
                recipe, self._most.value(), mode.value, session.state.overrides, DEFAULT_LIMIT, prefer, ranges, placing,
            )  # fmt: skip
            self._job = Job("fix", payload)
            self._say("Searching …", running=True)
        elif session.timeline is not None:
            self._job = Job(partial(_fix_layouts, session.timeline))
            self._say("Looking for valid layouts …", running=True)
        if self._job is not None:
            self._runner.submit(self._job)

    def _clear(self) -> None:
        self._result = self._layouts = None
        self.proposals.clear()
        self.rows.clear()
        self.apply_button.setEnabled(False)
        self.choose_button.setEnabled(False)
        self.search_button.setDefault(True)

    def _say(self, text: str, running: bool = False) -> None:
        self._text.setText(text)
        self._bar.setVisible(running)
        self._bar.setRange(0, 0)
        stoppable = running and self._job is not None and not callable(self._job.work)
        self.search_button.setText("&Stop" if stoppable else "&Search")
        self.search_button.setEnabled(not running or stoppable)

    @Slot(object, object)
    def _on_progress(self, job: Job, payload: tuple[int, int, str]) -> None:
        if job is self._job:
            done, total, text = payload
            self._bar.setRange(0, max(total, 1))
            self._bar.setValue(done)
            self._text.setText(text)

    @Slot(object, object)
    def _on_part(self, job: Job, payload: object) -> None:
        """What was found, before proposals of equal peak are placed."""
        if job is self._job and isinstance(payload, FixResult):
            self._show_result(payload)
            if len(payload.proposals) > 1:
                self._say(f"{payload.text} Placing the best proposals …", running=True)

    @Slot(object, str, object)
    def _on_ended(self, job: Job, outcome: str, payload: object) -> None:
        if job is not self._job:
            return
        self._job = None
        if isinstance(payload, RankedFix):
            self._show_result(payload.result, payload.why, dict(payload.left))
        elif isinstance(payload, PlacedFix):
            self._show_result(payload.result, "", dict(payload.left), payload.result.found)
        elif isinstance(payload, LayoutFix):
            self._show_layouts(payload)
        elif outcome == "cancelled":
            self._say("The search was stopped.")
        else:
            summary, details = failure_of(outcome, payload)
            self._say(f"The search failed: {summary}")
            if details:
                show_error("The search failed", summary, details, self)

    # -- proposals ------------------------------------------------------------------------------------------------

    def _show_result(
        self,
        result: FixResult,
        why: str = "",
        left: Mapping[Swaps, Placeability] | None = None,
        all_placed: bool = False,
    ) -> None:
        """List the proposals; ``why`` the first is first, the tiles ``left`` without a placement where counted."""
        before, counted = self.proposals.currentIndex().row(), left or {}
        chosen = self._chosen() if before > 0 else None  # the first is offered, others were chosen
        self._result = None
        self.proposals.clear()
        self._result = result
        self._say(" ".join(filter(None, (result.text, why))))
        now = None if result.before.peak is None else result.before.peak.total
        for trial in fix_trials(result) if result.found else ():
            if not trial.swaps and not result.homes:
                continue
            total: Size | None = None if trial.peak is None else trial.peak.total
            change = "" if total is None or now is None else difference_text(now, total)
            words = _short_text(trial.swaps) or f"new homes for {len(result.homes)} inputs"
            cells = [words, str(len(trial.swaps)), "" if total is None else exact_text(total), change]
            cells.append(cycles_change(result.before.cycles, trial.cycles))
            missing = counted.get(trial.swaps)
            cells.append("all" if all_placed else "" if missing is None else _placed_text(missing))
            if trial.peak is not None:
                cells += [exact_text(trial.peak.standard), exact_text(trial.peak.exchange_rows)]
            item = _item(cells)
            item.setData(0, Qt.ItemDataRole.UserRole, self.proposals.topLevelItemCount())
            self.proposals.addTopLevelItem(item)
        first = self.proposals.topLevelItem(0)
        if first is not None:
            shown = [trial.swaps for trial in result.proposals if trial.swaps or result.homes]
            place = 0 if chosen is None or chosen.swaps not in shown else shown.index(chosen.swaps)
            self.proposals.setCurrentItem(self.proposals.topLevelItem(place) or first)
            self._offer()
        self.choose_button.setEnabled(first is not None and self._is_current())

    @Slot()
    def _choose(self) -> None:
        """Show the proposals in the view of memory against cycles."""
        result = self._result
        self.accept()
        self._signals.requested.emit("choose", result)

    def _offer(self) -> None:
        """Give the keys to the proposals: the arrows choose, Enter applies."""
        self.apply_button.setDefault(True)
        self.proposals.setFocus()

    def _chosen(self) -> Trial | None:
        item, result = self.proposals.currentItem(), self._result
        if item is None or result is None:
            return None
        shown = [trial for trial in fix_trials(result) if trial.swaps or result.homes]
        return shown[int(item.data(0, Qt.ItemDataRole.UserRole))]

    @Slot()
    def _show_current(self) -> None:
        trial, result = self._chosen(), self._result
        self.rows.clear()
        if trial is None or result is None:
            return
        for row in comparison(result.before, trial):
            self.rows.addTopLevelItem(_item(row))
        recipe = self._signals.session.recipe
        if recipe is not None:
            for row in self._plan_rows(recipe, trial):
                self.rows.addTopLevelItem(_item(row))
        for value, home in result.homes.items():
            self.rows.addTopLevelItem(_item([f"Home of input {value}", "", layout_words(home.layout), ""]))
        self.apply_button.setEnabled(self._is_current())

    def _plan_rows(self, recipe: Recipe, trial: Trial) -> list[tuple[str, str, str, str]]:
        rows = []
        for operation, index in trial.swaps:
            before, after = recipe.plans[operation], recipe.alternatives[operation][index]
            what = "; ".join(plan_differences(before, after))
            rows.append((f"Plan of operation {operation}", plan_words(before), plan_words(after), what))
        return rows

    def _is_current(self) -> bool:
        return self._signals.session.revision == self._revision

    @Slot()
    def _on_state(self) -> None:
        if (self._result is not None or self._layouts is not None) and not self._is_current():
            self.apply_button.setEnabled(False)
            self.choose_button.setEnabled(False)
            self._say("The edits changed since this search: search again.")

    @Slot()
    def apply(self) -> None:
        """Apply the chosen proposal as one edit."""
        session = self._signals.session
        trial, result, layouts = self._chosen(), self._result, self._layouts
        if not self._is_current():
            return
        if trial is not None and result is not None:
            edit: Edit = edits.swap_plans(session.state, trial.swaps, result.homes)
        elif layouts is not None:
            chosen = {index: layout for repair in layouts.repairs for index, layout in repair.layouts.items()}
            edit = edits.set_layouts(session.state, f"Fix: valid layouts for {len(chosen)} values", chosen)
        else:
            return
        self.accept()
        session.do(edit)

    # -- timelines ------------------------------------------------------------------------------------------------

    def _show_layouts(self, found: LayoutFix) -> None:
        self._say(found.text)
        if not self._is_current():
            return
        self._layouts = found
        session = self._signals.session
        before = session.timeline
        for repair in found.repairs:
            cells = [repair.label, f"{len(repair.layouts):,}", exact_text(repair.shard_bytes)]
            self.proposals.addTopLevelItem(_item(cells))
        if before is not None and found.repairs:
            pairs = (
                ("Total peak", before.peak.total, found.timeline.peak.total),
                ("Standard peak", before.peak.standard, found.timeline.peak.standard),
                ("Interleaved peak", before.peak.interleaved, found.timeline.peak.interleaved),
            )
            for name, now, then in pairs:
                cells = [name, exact_text(now), exact_text(then), difference_text(now, then)]
                self.rows.addTopLevelItem(_item(cells))
            self.apply_button.setEnabled(True)
            self._offer()

    def done(self, result: int) -> None:
        self._runner.close()
        super().done(result)


def _fix_layouts(timeline: Timeline, _reporter: Reporter) -> LayoutFix:
    return fix_layouts(timeline)
