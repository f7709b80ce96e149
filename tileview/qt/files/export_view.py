"""Views that leave the window: as a picture, a drawing or a table; what is asked before, and what is drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QDialogButtonBox, QFormLayout, QLabel, QVBoxLayout, QWidget

from tileview.errors import SaveError, TileViewError
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.base.text import visible_text
from tileview.qt.files.saving import FileWriter, ask_target, may_replace
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.plot.picture import Picture, Recording, image_to_png, png_image, svg_bytes
from tileview.qt.views.base import View
from tileview.qt.widgets.dialogs import plain_label

SETTLE_MS = 50
"""How long a view that was just brought to the front has to take its size and to fill itself."""
_ODD = re.compile(r"[^\w.\-]+")
_TITLE_ROOM = 600
"""Pixels up to which a narrow picture is made wider for its title."""
SCALES = (1, 2, 3, 4)
FIRST_SCALE = 2


class ViewFormat(StrEnum):
    """What a view can be written as; the value is the ending of the file's name."""

    PNG = ".png"
    SVG = ".svg"
    CSV = ".csv"


KIND_NAMES = {
    ViewFormat.PNG: "PNG image",
    ViewFormat.SVG: "SVG drawing",
    ViewFormat.CSV: "CSV table",
}
KIND_FILTERS = {
    ViewFormat.PNG: "PNG image (*.png)",
    ViewFormat.SVG: "SVG drawing (*.svg)",
    ViewFormat.CSV: "CSV table (*.csv)",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What was chosen. ``scale``: pixels for one on a screen without scaling; ``whole``: beyond what is in view."""

    view: View
    kind: ViewFormat = ViewFormat.PNG
    scale: float = FIRST_SCALE
    whole: bool = False


class ExportDialog(QDialog):
    """Asks for a :class:`Wish`; the name of the file is asked for afterwards."""

    def __init__(
        self,
        titles: Mapping[str, str],
        find: Callable[[str], View],
        chosen: str,
        kind: ViewFormat,
        scale: int,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("export")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export view")
        self._find = find
        self.view_box = QComboBox(self)
        self.kind_box = QComboBox(self)
        self.scale_box = QComboBox(self)
        self.whole_box = QCheckBox(self)
        for name, title in titles.items():
            self.view_box.addItem(title, name)
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
        return self._find(str(self.view_box.currentData()))

    def _kind(self) -> ViewFormat:
        return ViewFormat(str(self.kind_box.currentData()))

    @Slot()
    def _on_view(self) -> None:
        self._fill_kinds(self._kind())
        self._refresh()

    def _fill_kinds(self, wanted: ViewFormat) -> None:
        """Offer what the view can be written as."""
        self.kind_box.blockSignals(True)
        self.kind_box.clear()
        for kind in ViewFormat:
            if kind is not ViewFormat.CSV or self._view().has_table():
                self.kind_box.addItem(KIND_NAMES[kind], kind.value)
        self.kind_box.setCurrentIndex(max(self.kind_box.findData(wanted.value), 0))
        self.kind_box.blockSignals(False)

    @Slot()
    def _refresh(self) -> None:
        view, kind = self._view(), self._kind()
        self.scale_box.setEnabled(kind is ViewFormat.PNG)
        self.whole_box.setText(f"The &whole {view.whole_name}, not only the part in view" if view.whole_name else "")
        self.whole_box.setVisible(bool(view.whole_name))
        self.whole_box.setEnabled(bool(view.whole_name) and kind is not ViewFormat.CSV)
        self.note.setText(self._words(view, kind))

    def _words(self, view: View, kind: ViewFormat) -> str:
        if kind is ViewFormat.CSV:
            filtered = view.table_filter()
            rows = f"The rows that the filter “{filtered}” leaves" if filtered else "All rows"
            return f"{rows}, also those that are scrolled out of sight; byte counts as plain numbers."
        if self.whole_box.isEnabled() and self.whole_box.isChecked():
            return f"All of the {view.whole_name} at full detail."
        more = " The CSV file holds all rows." if view.has_table() else ""
        return f"What is in sight: the same zoom, the same rows.{more}"


def picture_of(view: View, whole: bool = False) -> Picture:
    """A view as a picture, under its title, the name of the file, and its sentence.

    A picture is as wide as its title needs, up to a limit: the title is one line, cut in its middle.

    Raises
    ------
    SaveError
        Where the view has nothing to draw.
    """
    from tileview.qt.plot.picture_parts import Line, TextPart

    view.catch_up()
    parts = [part for part in view.picture_parts(whole) if part.width() > 0 and part.height() > 0]
    if not parts:
        raise SaveError(f"The view {view.title} has nothing to show. {view.why_empty()}".strip())
    session, theme = view.session, view.bridge.theme
    document = session.document
    title = view.title if document is None else f"{view.title} · {document.name}"
    count = len(session.history.done)
    if count and document is not None:
        title += f" with {count} edit{'s' if count != 1 else ''}"
    words = view.picture_words().strip()
    bold = QFont(view.font())
    bold.setBold(True)
    metrics = QFontMetrics(bold)
    width = max(*(part.width() for part in parts), min(metrics.horizontalAdvance(visible_text(title)) + 1, _TITLE_ROOM))
    head = metrics.elidedText(visible_text(title), Qt.TextElideMode.ElideMiddle, width)
    lines = [Line(head, is_bold=True), *(Line(line, "muted") for line in words.splitlines() if line)]
    caption = TextPart(lines, width, view.font(), theme)
    return Picture(title, words or view.accessibleDescription(), [caption, *parts], theme.color("surface"))


def suggested_stem(view: View) -> str:
    """``so400m-over.timeline``: the open file and the view, with nothing that a file system could refuse."""
    document = view.session.document
    stem = "tileview" if document is None else document.path.name.removesuffix(".json").removesuffix(".recipe")
    stem = _ODD.sub("_", stem.removesuffix(".timeline"))[:80]
    return f"{stem or 'tileview'}.{view.name}"


def kind_of(path: Path, otherwise: ViewFormat) -> tuple[Path, ViewFormat]:
    """The ending of a name decides what is written; a name without one of ours gets the one chosen."""
    try:
        return path, ViewFormat(path.suffix.lower())
    except ValueError:
        return path.with_name(path.name + otherwise.value), otherwise


class ViewExporter(FileWriter):
    """The commands that write a view. What takes long happens on a thread.

    Parameters
    ----------
    titles : mapping
        The title of every view that can be written, by name; the first is offered where none has the focus.
    find : callable
        The view of a name.
    current : callable
        The view that has the focus, or had it last.
    show : callable
        Brings the view of a name to the front.
    """

    work_key = "view"

    def __init__(
        self,
        signals: SessionSignals,
        settings: Settings,
        window: QWidget,
        titles: Mapping[str, str],
        find: Callable[[str], View],
        current: Callable[[], View | None],
        show: Callable[[str], object],
    ) -> None:
        super().__init__(signals, settings, window)
        self._titles = titles
        self._find = find
        self._current = current
        self._show = show
        self._last = (ViewFormat.PNG, FIRST_SCALE)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("export_view", "Export &view…", "File", self.export_view, ("Ctrl+Shift+E",),
                    "Write the view with the focus, or another one, as PNG, SVG or CSV", self._is_open, icon="picture"),
            Command("export_table", "Export &table as CSV…", "File", self.export_table, (),
                    "Write the table of the view with the focus as CSV", self._is_open, icon="table"),
            Command("copy_picture", "Copy &picture", "File", self.copy_picture, (),
                    "Put a picture of the view with the focus on the clipboard", self._is_open, in_menu=False),
        )  # fmt: skip

    def _is_open(self) -> bool:
        return self.signals.session.document is not None

    @property
    def is_writing(self) -> bool:
        return self.writing.is_busy

    # -- asking ---------------------------------------------------------------------------------------------------

    def _named(self, argument: object) -> View | None:
        if isinstance(argument, str):
            return self._find(argument) if argument in self._titles else None
        return self._current()

    def export_view(self, argument: object = None) -> None:
        """Ask what to export, beginning with the view named, else with the one that has the focus."""
        view = self._named(argument)
        chosen = view.name if view is not None else ""
        dialog = ExportDialog(self._titles, self._find, chosen, *self._last, self.window)
        dialog.accepted.connect(self._on_chosen)
        dialog.open()

    @Slot()
    def _on_chosen(self) -> None:
        dialog = self.sender()
        if isinstance(dialog, ExportDialog):
            wish = dialog.wish()
            self._last = (wish.kind, int(wish.scale))
            self._bring(wish.view, partial(self._ask, wish))

    def export_table(self, argument: object = None) -> None:
        """Ask for a file for the table of the view named, else of the one that has the focus."""
        view = self._named(argument)
        if view is None or not view.has_table():
            self.signals.message.emit("Click in the table to export first.")
            return
        self._bring(view, partial(self._ask, Wish(view, ViewFormat.CSV)))

    def copy_picture(self, argument: object = None) -> None:
        """Put a picture of the view named, else of the one that has the focus, on the clipboard."""
        view = self._named(argument)
        if view is None:
            self.signals.message.emit("Click in the view to copy first.")
            return
        try:
            image = png_image(picture_of(view), view.devicePixelRatioF())
        except SaveError as error:
            self.signals.message.emit(str(error))
            return
        QGuiApplication.clipboard().setImage(image)
        self.signals.message.emit(f"Copied a picture of {view.title}")

    def _bring(self, view: View, then: Callable[[], None]) -> None:
        """Have a view in sight: one behind others has not the size that it is drawn in, and may not be filled."""
        if not view.is_in_sight:
            self._show(view.name)
            QTimer.singleShot(SETTLE_MS, self, then)
        else:
            then()

    def _ask(self, wish: Wish) -> None:
        kinds = [wish.kind, *(kind for kind in ViewFormat if kind is not wish.kind)]
        offered = [kind for kind in kinds if kind is not ViewFormat.CSV or wish.view.has_table()]
        document = self.signals.session.document
        folder = Path.cwd() if document is None else document.path.absolute().parent
        found = ask_target(
            self.window,
            self.settings,
            f"Export {wish.view.title}",
            folder / f"{suggested_stem(wish.view)}{wish.kind.value}",
            ";;".join(KIND_FILTERS[kind] for kind in offered),
        )
        if found is None:
            return
        chosen = next((kind for kind in offered if KIND_FILTERS[kind] == found[1]), wish.kind)
        target, kind = kind_of(found[0], chosen)
        if may_replace(self.window, None if document is None else document.path, target):
            self.write_view(Wish(wish.view, kind, wish.scale, wish.whole), target)

    # -- writing --------------------------------------------------------------------------------------------------

    def write_view(self, wish: Wish, target: Path) -> bool:
        """Draw the view, and write the file on a thread; False where there is nothing to write (said to the user)."""
        if self.writing.is_busy:
            self.signals.message.emit("Another view is still being written.")
            return False
        try:
            make = self._drawn(wish)
        except (TileViewError, OSError, MemoryError) as error:
            self.failed(str(error) or "There is not enough memory.")
            return False
        self.write(target, make)
        return True

    def _drawn(self, wish: Wish) -> Callable[[Reporter], tuple[bytes, str]]:
        """What is left to do when the view has been drawn, which only this thread may do."""
        view = wish.view
        if self.signals.session.document is None:
            raise SaveError("Nothing is open: there is nothing to export.")
        if wish.kind is ViewFormat.CSV:
            view.catch_up()
            make = view.table_maker() if view.has_table() else None
            if make is None:
                raise SaveError(f"The view {view.title} has no table to write.")
            filtered = view.table_filter()
            note = f" Only the rows that the filter “{filtered}” leaves." if filtered else ""
            return partial(_table, make, note)
        picture = picture_of(view, wish.whole)
        if wish.whole:
            return partial(_draw, picture, wish)
        if wish.kind is ViewFormat.SVG:
            drawing = svg_bytes(picture)
            return lambda _: (drawing, "")
        return partial(_paint, Recording(picture), wish.scale)


def _table(make: Callable[[], str], note: str, _reporter: Reporter) -> tuple[bytes, str]:
    return make().encode("utf-8", errors="backslashreplace"), note


def _paint(picture: Picture | Recording, scale: float, reporter: Reporter) -> tuple[bytes, str]:
    """Paint what was recorded, or may be drawn on a thread, into pixels."""
    try:
        image = png_image(picture, scale)
        note = f" {image.width():,} × {image.height():,} pixels."
        if image.devicePixelRatio() < scale:
            ratio = image.devicePixelRatio()
            note += f" More are too many for a picture: the scale is {ratio:.2g}. SVG has no such limit."
        reporter.check()
        return image_to_png(image), note
    except MemoryError:
        raise SaveError("There is not enough memory for a picture of this size.") from None


def _draw(picture: Picture, wish: Wish, reporter: Reporter) -> tuple[bytes, str]:
    """Draw a picture that may be drawn here."""
    if wish.kind is ViewFormat.PNG:
        return _paint(picture, wish.scale, reporter)
    try:
        return svg_bytes(picture), ""
    except MemoryError:
        raise SaveError("There is not enough memory for a picture of all of it.") from None
