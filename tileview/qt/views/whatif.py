"""What if: another budget, another reserve, other memory to place in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QPalette, QValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from tileview.analysis.fusions import fusion_facts
from tileview.analysis.placement import enlargement_sentence, failing_sentence, totals_text
from tileview.analysis.placement_files import ranges_of_dump
from tileview.analysis.words import at_start, sentence
from tileview.core.fusion.verdict_words import verdict_sentence
from tileview.core.placement.ranges import CODE_START, Preset, RangeError, from_parts, parse_ranges, presets
from tileview.formats.opening import open_dump
from tileview.model.config import PLANNED_BYTES
from tileview.model.placement import DATA_START, REGION0_ELEMENT, PlacementProfile, TileDump
from tileview.model.recipe import Overrides
from tileview.model.sizes import bytes_from_text, exact_text, kib_text
from tileview.model.timeline import Peak, Timeline
from tileview.present.cycle_words import FUSION_TIP
from tileview.present.override_limits import NEVER_EXPORTED, limits, not_modelled, sentences
from tileview.present.tables import outcome
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import Line, TextPart
from tileview.qt.views.base import View, allow
from tileview.qt.widgets.docked import FlowLayout, Scrolled, WrappedLabel, dock_button


class ByteBox(QSpinBox):
    """Exact bytes, typed in every way that TileView prints them.

    What is not understood stays as it was typed, with the value as it was; what is more than the most becomes the most.
    Both are said by :attr:`complaint`.
    """

    judged = Signal()
    """A text was taken or refused: :attr:`complaint` may be another."""

    def __init__(self, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.complaint = ""
        self._kept = ""
        self.setSingleStep(1024)
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.set_most(most)
        self.editingFinished.connect(self.judged)

    def set_most(self, most: int) -> None:
        """The largest number taken."""
        self.setRange(0, most)
        self.setToolTip(f"0 … {exact_text(most)}")

    def setValue(self, value: int) -> None:
        """Show a number in place of what was typed."""
        self._kept = self.complaint = ""
        super().setValue(value)
        self.lineEdit().setText(self.textFromValue(self.value()))
        self.judged.emit()

    def stepBy(self, steps: int) -> None:
        self._kept = self.complaint = ""
        super().stepBy(steps)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, place

    def valueFromText(self, text: str) -> int:
        try:
            number = bytes_from_text(text)
        except ValueError as error:
            self._kept, self.complaint = text, f"Not understood: {error}."
            return self.value()
        self._kept = self.complaint = ""
        if number > self.maximum():
            self.complaint = f"{exact_text(number)} is cut to {exact_text(self.maximum())}: a tile has no more."
        return min(number, self.maximum())

    def textFromValue(self, value: int) -> str:
        return self._kept or exact_text(value)


_PARTS, _TYPED, _DUMP = "Descriptors and elements", "Typed ranges", "From a dump…"
_MOST_DESCRIPTORS, _MOST_ELEMENTS = 14_620, 34
"""Bytes in front of the code, whole elements behind its start."""


def ranges_text(preset: Preset) -> str:
    """The ranges as they are typed."""
    return ",".join(f"{start}-{end}" for start, end in preset.ranges)


class MemoryChoice(QWidget):
    """Chooses :attr:`Session.ranges`, and says what became of the tiles there; what cannot be is said beside it."""

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._session = bridge.session
        self._runner = Runner(self)
        self._runner.ended.connect(self._on_ended)
        self._build()
        bridge.placement_changed.connect(self.refresh)
        bridge.document_changed.connect(self.refresh)
        bridge.theme_changed.connect(self.refresh)
        self.refresh()

    def _build(self) -> None:
        self.box = QComboBox(self)
        self.box.setAccessibleName("Memory for placement")
        self.box.activated.connect(self._chosen)
        self.descriptors = self._number("Bytes of host descriptors", "D = ", " B", 6_168, _MOST_DESCRIPTORS)
        self.elements = self._number("Elements of code and exchange table", "E = ", "", 7, _MOST_ELEMENTS)
        self.typed = QLineEdit(self)
        self.typed.setAccessibleName("Ranges")
        self.typed.setPlaceholderText("368376-376832,491520-949168")
        self.typed.setToolTip("First and end address of each range, decimal or with 0x")
        self.typed.editingFinished.connect(self._take_typed)
        self.complaint, self.origin, self.result = WrappedLabel(), WrappedLabel(), WrappedLabel()
        title = QLabel("Memory for placement", self)
        title.setBuddy(self.box)
        row = FlowLayout(spacing=4)
        for widget in (title, self.box, self.descriptors, self.elements):
            row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.addLayout(row)
        for label in (self.typed, self.complaint, self.origin, self.result):
            column.addWidget(label)

    def _number(self, name: str, before: str, after: str, usual: int, most: int) -> QSpinBox:
        box = QSpinBox(self)
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setRange(0, most)
        box.setPrefix(before)
        box.setSuffix(after)
        box.setGroupSeparatorShown(True)
        box.setKeyboardTracking(False)
        box.setValue(usual)
        box.valueChanged.connect(self._take_parts)
        return box

    def widgets(self) -> tuple[QWidget, ...]:
        """What the keys reach, in order."""
        return self.box, self.descriptors, self.elements, self.typed

    # -- what is shown --------------------------------------------------------------------------------------------

    def _known(self) -> tuple[Preset, ...]:
        recipe = self._session.file_recipe
        if recipe is None:
            return ()
        reserve = self._session.state.overrides.reserve_bytes
        found = presets(recipe.config.reserve_bytes if reserve is None else reserve)
        return tuple(each for each in found if each.ranges[0][0] < each.ranges[0][1])

    @Slot()
    def refresh(self) -> None:
        """Show the memory chosen and what is known of the tiles in it."""
        known, chosen = self._known(), self._session.ranges
        self.setVisible(bool(known))
        if not known:
            return
        titles = [at_start(each.title) for each in known]
        with QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItems([*titles, _PARTS, _TYPED, _DUMP])
            names = [each.name for each in known]
            place = names.index(chosen.name) if chosen.name in names else len(known) + {"parts": 0, "typed": 1}.get(
                chosen.origin.split(":")[0], 2
            )  # fmt: skip
            self.box.setCurrentIndex(place)
        shown = self.box.currentText()
        for box in (self.descriptors, self.elements):
            box.setVisible(shown == _PARTS)
        if shown == _PARTS:
            self._show_parts(chosen)
        if not self.typed.hasFocus() or not self.complaint.text():
            self.typed.setText(ranges_text(chosen))
        self.typed.setReadOnly(shown != _TYPED)
        self.origin.setText(f"{exact_text(chosen.bytes)}: {chosen.origin}")
        self.complaint.setVisible(bool(self.complaint.text()))
        self.result.setText(self._result_text())

    def _show_parts(self, chosen: Preset) -> None:
        """The parts that left the memory chosen: the window, what descriptors leave, what code and table leave."""
        low = chosen.ranges[1][0] - DATA_START
        elements = (chosen.ranges[2][0] - CODE_START) // REGION0_ELEMENT if len(chosen.ranges) > 2 else 0
        for box, value in ((self.descriptors, low), (self.elements, elements)):
            with QSignalBlocker(box):
                box.setValue(value)

    def _result_text(self) -> str:
        placed, session = self._session.placed, self._session
        if placed is None:
            why = session.placement_unknown
            return f"Placement is not known: {why}." if why else "Placing…"
        if placed.failing is None:
            return f"{at_start(totals_text(placed.totals))}."
        more = enlargement_sentence(placed)
        if more.endswith("would do.") or " more would do, " in more:
            size, _, rest = more.partition(" more would do, ")
            more = f"Placed with {size} more, {rest}"
        return " ".join(filter(None, (failing_sentence(placed), more)))

    # -- user -----------------------------------------------------------------------------------------------------

    @Slot(int)
    def _chosen(self, index: int) -> None:
        known = self._known()
        self._complain("")
        if index < len(known):
            self._session.set_ranges(known[index])
        elif index == len(known):
            self._take_parts()
        elif index == len(known) + 1:
            chosen = self._session.ranges
            self._session.set_ranges(Preset("", "the ranges typed", chosen.ranges, "typed"))
            self.typed.setFocus()
        else:
            self._ask_dump()

    @Slot()
    def _take_parts(self) -> None:
        descriptors, elements = self.descriptors.value(), self.elements.value()
        try:
            ranges = from_parts(descriptors, elements)
        except RangeError as error:
            self._complain(str(error))
            return
        self._complain("")
        origin = (
            f"parts: {exact_text(descriptors)} of host descriptors, {elements:,} elements of code and exchange table"
        )
        self._session.set_ranges(
            Preset("", f"what {exact_text(descriptors)} and {elements} elements leave", ranges, origin)
        )

    @Slot()
    def _take_typed(self) -> None:
        if self.typed.isReadOnly():
            return
        try:
            ranges = parse_ranges(self.typed.text())
        except RangeError as error:
            self._complain(at_start(str(error)))
            return
        self._complain("")
        self._session.set_ranges(Preset("", "the ranges typed", ranges, "typed"))

    def _ask_dump(self) -> None:
        document = self._session.document
        folder = "" if document is None else str(document.path.parent)
        path, _ = QFileDialog.getOpenFileName(self, "A tile dump or a placement profile", folder, "Dumps (*.json)")
        if path:
            self.take_dump(Path(path))
        else:
            self.refresh()

    def take_dump(self, path: Path) -> None:
        """Take the memory that a dump left open; of a profile that of the selected tile."""
        self._runner.submit(Job(partial(_read, path, self._session.selection.tile), place="dump"))

    @Slot(object, str, object)
    def _on_ended(self, _job: Job, outcome: str, payload: object) -> None:
        if isinstance(payload, Preset):
            self._complain("")
            self._session.set_ranges(payload)
        elif outcome != "cancelled":
            self._complain(at_start(failure_of(outcome, payload)[0]))
            self.refresh()

    def _complain(self, text: str) -> None:
        """Say why what was asked for cannot be; an empty text takes that away."""
        self.complaint.setText(text)
        self.complaint.setVisible(bool(text))
        palette = self.complaint.palette()
        palette.setColor(self.complaint.foregroundRole(), self._bridge.theme.color("warning"))
        self.complaint.setPalette(palette)
        self.typed.setAccessibleDescription(text)

    def shut_down(self) -> None:
        self._runner.close()


def _read(path: Path, tile: int | None, _reporter: Reporter) -> Preset:
    source = open_dump(path)
    try:
        if not isinstance(source, TileDump | PlacementProfile):
            raise RangeError(f"{path.name} is neither a tile dump nor a placement profile: it states no ranges")
        try:
            return ranges_of_dump(source, path.name, tile if isinstance(source, PlacementProfile) else None)
        except RangeError as error:
            raise RangeError(f"{path.name} {error}") from None
    finally:
        tiles = getattr(source, "tiles", None)
        if tiles is not None:
            tiles.close()


_RESET = "Budget and reserve as the file has them, with fusions"
_PICTURE_WIDTH = 560
"""Pixels that a picture of the view is wide at least."""
_SETTLE_MS = 150
"""A slider that moves is taken up after this rest, so that dragging makes one edit and not a hundred."""
_SLIDER_BYTES = 256
"""One position of a slider; the boxes take every byte."""
_BOX_BYTES = 2**31 - 1
"""What a box can hold; a file may name more."""


class WhatIfView(View):
    """Budget and reserve in exact bytes, by box and by slider; reset gives back the configuration's."""

    title = "What if"
    name = "whatif"

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(bridge, parent)
        self.budget_box, self.budget_slider, self.budget_kib = self._row("Budget in bytes")
        self.reserve_box, self.reserve_slider, self.reserve_kib = self._row("Reserve in bytes")
        self.typed = WrappedLabel()
        self.typed.setVisible(False)
        self.verdict = WrappedLabel()
        self.text = WrappedLabel()
        self.hint = WrappedLabel()
        self.hint.setText(NEVER_EXPORTED)
        self.notes = WrappedLabel()
        self.smallest_button = dock_button(
            "Set the s&mallest budget that fits", "Total peak + reserve as the budget", self.set_smallest
        )
        self.reset_button = dock_button("Rese&t", _RESET, self.reset)
        self.fusion_box = QCheckBox("Use fusions")
        self.fusion_box.setToolTip(plain_tip(FUSION_TIP))
        self.fusion_box.setAccessibleDescription(FUSION_TIP)
        self.fusion_box.clicked.connect(self._fusion_clicked)
        self.fusion = WrappedLabel()
        self.memory = MemoryChoice(bridge, self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLE_MS)
        self._timer.timeout.connect(self.apply)
        self._shown: tuple[int, int] | None = None
        self._lay_out()
        self.lead_focus(self.budget_box)
        self._reset_action = QAction("Budget and reserve as configured", self)
        self._reset_action.triggered.connect(self.reset)
        self._refresh()

    def _row(self, name: str) -> tuple[ByteBox, QSlider, QLabel]:
        box = ByteBox(PLANNED_BYTES)
        box.setAccessibleName(name)
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, -(-PLANNED_BYTES // _SLIDER_BYTES))
        slider.setPageStep(16 * 1024 // _SLIDER_BYTES)
        slider.setSingleStep(1024 // _SLIDER_BYTES)
        slider.setAccessibleName(f"{name}, slider")
        box.valueChanged.connect(self._box_changed)
        box.judged.connect(self._show_complaints)
        slider.valueChanged.connect(self._slider_changed)
        kib = QLabel()
        kib.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return box, slider, kib

    def _lay_out(self) -> None:
        grid = QGridLayout()
        rows = (
            ("&Budget", self.budget_box, self.budget_slider, self.budget_kib),
            ("&Reserve", self.reserve_box, self.reserve_slider, self.reserve_kib),
        )
        for line, (title, box, slider, kib) in enumerate(rows):
            label = QLabel(title)
            label.setBuddy(box)
            grid.addWidget(label, line, 0)
            grid.addWidget(box, line, 1)
            grid.addWidget(slider, line, 2)
            grid.addWidget(kib, line, 3)
        grid.setColumnStretch(2, 1)
        buttons = FlowLayout(spacing=4)
        buttons.addWidget(self.smallest_button)
        buttons.addWidget(self.reset_button)
        area = Scrolled(self)
        for widget in (self.budget_box, self.budget_slider, self.reserve_box, self.reserve_slider):
            area.follow(widget)
        area.follow(self.fusion_box, self.smallest_button, self.reset_button, *self.memory.widgets())
        column = area.column
        column.setContentsMargins(4, 4, 4, 4)
        column.addLayout(grid)
        column.addWidget(self.typed)
        column.addWidget(self.fusion_box)
        column.addWidget(self.fusion)
        column.addWidget(self.verdict)
        column.addWidget(self.text)
        column.addLayout(buttons)
        column.addWidget(self.memory)
        column.addWidget(self.hint)
        column.addWidget(self.notes)
        column.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addWidget(area)

    # -- session --------------------------------------------------------------------------------------------------

    def on_document(self) -> None:
        self._timer.stop()
        self._refresh()

    def on_state(self) -> None:
        self._refresh()

    def on_estimate(self) -> None:
        self._refresh()

    def on_theme(self) -> None:
        self._refresh()

    def configured(self) -> tuple[int, int] | None:
        """Budget and reserve of the file; None where nothing is open."""
        recipe = self.session.file_recipe
        if recipe is not None:
            return recipe.config.budget_bytes, recipe.config.reserve_bytes
        document = self.session.document
        if document is None:
            return None
        budget = getattr(document.source, "budget_bytes", PLANNED_BYTES)
        return min(int(budget), PLANNED_BYTES), int(getattr(document.source, "reserve_bytes", 0))

    def _refresh(self) -> None:
        configured = self.configured()
        overrides = self.session.state.overrides
        here = configured is not None
        for widget in (self.budget_box, self.budget_slider, self.reserve_box, self.reserve_slider):
            widget.setEnabled(here)
        reason = "" if overrides != Overrides() else "Everything is as in the file"
        allow(self.reset_button, _RESET, reason if here else "Nothing open")
        self.fusion_box.setEnabled(self.session.file_recipe is not None)
        self.fusion_box.setChecked(overrides.fusion)
        facts = None if self.session.estimate is None or not here else fusion_facts(self.session.estimate)
        self.fusion.setText("" if facts is None else sentence(facts.text))
        self.fusion.setVisible(facts is not None)
        timeline = self.session.timeline if here else None
        if configured is not None and not self._timer.isActive():
            budget = configured[0] if overrides.budget_bytes is None else overrides.budget_bytes
            reserve = configured[1] if overrides.reserve_bytes is None else overrides.reserve_bytes
            self._show(budget, reserve)
        self.text.setText("\n".join(sentences(timeline, overrides, self._other_peak())) if here else "Nothing open")
        reason = "There is no estimate" if here else "Nothing open"
        if timeline is not None:
            found = limits(timeline, self._other_peak())
            reason = found.obstacle or ("" if isinstance(found.smallest_budget, int) else "The peak is not known")
        allow(self.smallest_button, "Total peak + reserve as the budget", reason)
        self._show_verdict(timeline)
        self.notes.setText("\n".join(not_modelled(timeline)))

    def _show_verdict(self, timeline: Timeline | None) -> None:
        verdict = self.session.verdict if timeline is not None else None
        if verdict is None:
            self.verdict.setText("")
            return
        sign, _, tone = outcome(verdict.fits)
        self.verdict.setText(f"{sign} {verdict_sentence(verdict)}")
        palette = self.verdict.palette()
        palette.setColor(self.verdict.foregroundRole(), self.bridge.theme.color(tone))
        self.verdict.setPalette(palette)

    def _show(self, budget: int, reserve: int) -> None:
        """Put values into boxes and sliders without taking them for edits."""
        self._shown = (budget, reserve)
        for box, slider, kib, value in (
            (self.budget_box, self.budget_slider, self.budget_kib, budget),
            (self.reserve_box, self.reserve_slider, self.reserve_kib, reserve),
        ):
            with QSignalBlocker(box), QSignalBlocker(slider):
                box.set_most(max(PLANNED_BYTES, min(value, _BOX_BYTES)))
                box.setValue(min(value, _BOX_BYTES))
                slider.setValue(min(value // _SLIDER_BYTES, slider.maximum()))
            kib.setText(kib_text(value))
            kib.setToolTip(exact_text(value))

    # -- user -----------------------------------------------------------------------------------------------------

    def _box_changed(self) -> None:
        self._mirror()
        self.apply()

    def _show_complaints(self) -> None:
        """Mark the fields whose text was not understood, or was cut, and say so."""
        theme = self.bridge.theme
        boxes = (self.budget_box, self.reserve_box)
        self.typed.setText("\n".join(box.complaint for box in boxes if box.complaint))
        self.typed.setVisible(bool(self.typed.text()))
        for box in boxes:
            palette = box.palette()
            palette.setColor(QPalette.ColorRole.Text, theme.color("warning" if box.complaint else "text"))
            box.setPalette(palette)
            box.setAccessibleDescription(box.complaint)

    def _slider_changed(self) -> None:
        """Carry a slider's position into its box; the edit follows when it rests."""
        sender = self.sender()
        box = self.budget_box if sender is self.budget_slider else self.reserve_box
        slider = self.budget_slider if sender is self.budget_slider else self.reserve_slider
        with QSignalBlocker(box):
            box.setValue(min(slider.value() * _SLIDER_BYTES, PLANNED_BYTES))
        self._mirror()
        self._timer.start()

    def _mirror(self) -> None:
        self.budget_kib.setText(kib_text(self.budget_box.value()))
        self.reserve_kib.setText(kib_text(self.reserve_box.value()))

    def apply(self) -> None:
        """Make what the boxes show the current what-if values; the configuration's own count as none."""
        self._timer.stop()
        configured = self.configured()
        if configured is None:
            return
        budget, reserve = self.budget_box.value(), self.reserve_box.value()
        self.session.set_overrides(
            Overrides(
                None if budget == min(configured[0], _BOX_BYTES) else budget,
                None if reserve == min(configured[1], _BOX_BYTES) else reserve,
                self.session.state.overrides.fusion,
            )
        )

    def _other_peak(self) -> Peak | None:
        """Peaks of the recipe's program that does not stand, fused or composed: with another budget it may."""
        made = self.session.estimate
        return None if made is None else made.other_peak

    def _fusion_clicked(self, on: bool) -> None:
        self._timer.stop()
        self.session.set_fusion(on)

    def set_smallest(self) -> None:
        """Take the smallest budget that fits."""
        timeline = self.session.timeline
        if timeline is None:
            return
        found = limits(timeline, self._other_peak())
        if isinstance(found.smallest_budget, int) and not found.obstacle:
            self.budget_box.setValue(found.smallest_budget)

    def reset(self) -> None:
        """Give back the configuration's budget and reserve."""
        self._timer.stop()
        self.session.set_overrides(Overrides(fusion=self.session.state.overrides.fusion))
        self._refresh()

    def view_actions(self) -> list[QAction]:
        return [self._reset_action]

    def picture_parts(self, whole: bool = False) -> Sequence[Part]:
        """In words: a picture of boxes and sliders would say no more."""
        verdict = self.session.verdict
        token = "muted" if verdict is None else outcome(verdict.fits)[2]
        values = ((name, box.value()) for name, box in (("Budget", self.budget_box), ("Reserve", self.reserve_box)))
        lines = [Line(f"{name} {exact_text(value)} ({kib_text(value)})") for name, value in values]
        lines += [Line(self.fusion.text()), Line(self.verdict.text(), token), *map(Line, self.text.text().splitlines())]
        if not self.memory.isHidden():
            lines += [Line(self.memory.box.currentText()), Line(self.memory.result.text())]
        lines += [Line(text, "muted") for text in (self.hint.text(), *self.notes.text().splitlines())]
        shown = [line for line in lines if line.text]
        return (TextPart(shown, max(self.width(), _PICTURE_WIDTH), self.font(), self.bridge.theme),)

    def shut_down(self) -> None:
        self._timer.stop()
        self.memory.shut_down()
