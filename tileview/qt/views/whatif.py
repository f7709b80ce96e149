"""What if: another budget, another reserve, other memory to place in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QPushButton, QSlider, QVBoxLayout, QWidget

from tileview.analysis.fusions import fusion_facts
from tileview.analysis.words import sentence
from tileview.core.fusion.verdict_words import verdict_sentence
from tileview.model.config import PLANNED_BYTES
from tileview.model.recipe import Overrides
from tileview.model.sizes import exact_text, kib_text
from tileview.model.timeline import Peak, Timeline
from tileview.present.fusion_rows import FUSION_TIP
from tileview.present.override_limits import NEVER_EXPORTED, limits, not_modelled, sentences
from tileview.present.tables import outcome
from tileview.qt.base.text import plain_tip
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Part
from tileview.qt.plot.picture_parts import Line, TextPart
from tileview.qt.views.base import View, allow
from tileview.qt.views.memory_choice import MemoryChoice
from tileview.qt.widgets.byte_box import ByteBox
from tileview.qt.widgets.elided import WrappedLabel
from tileview.qt.widgets.flow import FlowLayout
from tileview.qt.widgets.scrolled import Scrolled

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
        self.typed = self._label()
        self.typed.setVisible(False)
        self.verdict = self._label()
        self.text = self._label()
        self.hint = self._label()
        self.hint.setText(NEVER_EXPORTED)
        self.notes = self._label()
        self.smallest_button = self._button(
            "Set the s&mallest budget that fits", "Total peak + reserve as the budget", self.set_smallest
        )
        self.reset_button = self._button("Rese&t", _RESET, self.reset)
        self.fusion_box = QCheckBox("Use fusions")
        self.fusion_box.setToolTip(plain_tip(FUSION_TIP))
        self.fusion_box.setAccessibleDescription(FUSION_TIP)
        self.fusion_box.clicked.connect(self._fusion_clicked)
        self.fusion = self._label()
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

    def _label(self) -> QLabel:
        return WrappedLabel()

    def _button(self, text: str, tip: str, slot: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

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
