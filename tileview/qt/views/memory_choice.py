"""The memory that placement is looked at in: presets with their origin, typed ranges, parts, or what a dump left."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Slot
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from tileview.analysis.placement_files import ranges_of_dump
from tileview.analysis.placement_words import enlargement_sentence, failing_sentence, totals_text
from tileview.analysis.words import at_start
from tileview.core.placement.ranges import CODE_START, Preset, RangeError, from_parts, parse_ranges, presets
from tileview.formats.opening import open_dump
from tileview.model.placement import DATA_START, REGION0_ELEMENT, PlacementProfile, TileDump
from tileview.model.sizes import exact_text
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner, failure_of
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.widgets.elided import WrappedLabel
from tileview.qt.widgets.flow import FlowLayout

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
