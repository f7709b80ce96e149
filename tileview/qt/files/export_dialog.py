"""What is to be exported, and how: a view, as a picture, a drawing or a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from tileview.qt.views.base import View
from tileview.qt.widgets.dialogs import plain_label

SCALES = (1, 2, 3, 4)
FIRST_SCALE = 2


class Kind(StrEnum):
    """What a view can be written as; the value is the ending of the file's name."""

    PNG = ".png"
    SVG = ".svg"
    CSV = ".csv"


KIND_NAMES = {
    Kind.PNG: "Picture of pixels (PNG)",
    Kind.SVG: "Drawing for any size (SVG)",
    Kind.CSV: "Table (CSV)",
}
KIND_FILTERS = {Kind.PNG: "Pictures (*.png)", Kind.SVG: "Drawings (*.svg)", Kind.CSV: "Tables (*.csv)"}


@dataclass(frozen=True, slots=True)
class Wish:
    """What was chosen. ``scale``: pixels for one on a screen without scaling; ``whole``: beyond what is in view."""

    view: View
    kind: Kind = Kind.PNG
    scale: float = FIRST_SCALE
    whole: bool = False


class ExportDialog(QDialog):
    """Asks for a :class:`Wish`; the name of the file is asked for afterwards."""

    def __init__(self, views: Mapping[str, View], chosen: str, kind: Kind, scale: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export view")
        self._views = views
        self.view_box = QComboBox(self)
        self.kind_box = QComboBox(self)
        self.scale_box = QComboBox(self)
        self.whole_box = QCheckBox(self)
        for name, view in views.items():
            self.view_box.addItem(view.title, name)
        for factor in SCALES:
            self.scale_box.addItem(f"{factor} ×", factor)
        self.note = plain_label("", self)
        self.note.setMinimumHeight(self.fontMetrics().lineSpacing() * 3)
        self.note.setAlignment(Qt.AlignmentFlag.AlignTop)
        form = QFormLayout()
        for text, box in (("&View", self.view_box), ("&As", self.kind_box), ("&Scale", self.scale_box)):
            label = QLabel(text, self)
            label.setBuddy(box)
            box.setAccessibleName(text.replace("&", ""))
            form.addRow(label, box)
        form.addRow("", self.whole_box)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.go = buttons.addButton("&Choose a file…", QDialogButtonBox.ButtonRole.AcceptRole)
        self.go.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.note)
        column.addStretch(1)
        column.addWidget(buttons)
        self.resize(self.fontMetrics().averageCharWidth() * 64, self.sizeHint().height())
        self.view_box.setCurrentIndex(max(self.view_box.findData(chosen), 0))
        self._fill_kinds(kind)
        self.scale_box.setCurrentIndex(max(self.scale_box.findData(scale), 0))
        self._refresh()
        self.view_box.currentIndexChanged.connect(self._on_view)
        for box in (self.kind_box, self.scale_box):
            box.currentIndexChanged.connect(self._refresh)
        self.whole_box.toggled.connect(self._refresh)

    def wish(self) -> Wish:
        """What is chosen now."""
        scale = float(self.scale_box.currentData())
        return Wish(self._view(), self._kind(), scale, self.whole_box.isEnabled() and self.whole_box.isChecked())

    def _view(self) -> View:
        return self._views[str(self.view_box.currentData())]

    def _kind(self) -> Kind:
        return Kind(str(self.kind_box.currentData()))

    @Slot()
    def _on_view(self) -> None:
        self._fill_kinds(self._kind())
        self._refresh()

    def _fill_kinds(self, wanted: Kind) -> None:
        """Offer what the view can be written as."""
        self.kind_box.blockSignals(True)
        self.kind_box.clear()
        for kind in Kind:
            if kind is not Kind.CSV or self._view().has_table():
                self.kind_box.addItem(KIND_NAMES[kind], kind.value)
        self.kind_box.setCurrentIndex(max(self.kind_box.findData(wanted.value), 0))
        self.kind_box.blockSignals(False)

    @Slot()
    def _refresh(self) -> None:
        view, kind = self._view(), self._kind()
        self.scale_box.setEnabled(kind is Kind.PNG)
        self.whole_box.setText(f"The &whole {view.whole_name}, not only the part in view" if view.whole_name else "")
        self.whole_box.setVisible(bool(view.whole_name))
        self.whole_box.setEnabled(bool(view.whole_name) and kind is not Kind.CSV)
        self.note.setText(self._words(view, kind))

    def _words(self, view: View, kind: Kind) -> str:
        if kind is Kind.CSV:
            filtered = view.table_filter()
            rows = f"The rows that the filter “{filtered}” leaves" if filtered else "All rows"
            return f"{rows}, also those that are scrolled out of sight; byte counts as plain numbers."
        if self.whole_box.isEnabled() and self.whole_box.isChecked():
            return f"All of the {view.whole_name} at full detail."
        more = " The CSV file holds all rows." if view.has_table() else ""
        return f"What is in sight: the same zoom, the same rows.{more}"
