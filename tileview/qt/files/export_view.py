"""Views that leave the window: as a picture, a drawing or a table."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QWidget

from tileview.errors import SaveError, TileViewError
from tileview.formats.save import write_atomic
from tileview.qt.base.command import Command
from tileview.qt.base.settings import Settings
from tileview.qt.files.export_dialog import FIRST_SCALE, KIND_FILTERS, ExportDialog, Kind, Wish
from tileview.qt.files.saving import ask_target, may_replace
from tileview.qt.files.view_picture import picture_of, suggested_stem
from tileview.qt.jobs.estimator import Background
from tileview.qt.jobs.session_signals import Bridge
from tileview.qt.plot.picture import Picture, Recording, png_bytes, png_image, svg_bytes
from tileview.qt.views.base import View
from tileview.qt.widgets.dialogs import show_error
from tileview.qt.window.docks import DockArea
from tileview.qt.window.status import Work

WORK = "view"
SETTLE_MS = 50
"""How long a view that was just brought to the front has to take its size and to fill itself."""


def kind_of(path: Path, otherwise: Kind) -> tuple[Path, Kind]:
    """The ending of a name decides what is written; a name without one of ours gets the one chosen."""
    try:
        return path, Kind(path.suffix.lower())
    except ValueError:
        return path.with_name(path.name + otherwise.value), otherwise


class ViewExporter(QObject):
    """The commands that write a view. What takes long happens on a thread."""

    def __init__(
        self, bridge: Bridge, settings: Settings, docks: DockArea, verdict: View, work: Work, window: QWidget
    ) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._settings = settings
        self._docks = docks
        self._views: dict[str, View] = {verdict.name: verdict, **docks.views}
        self._work = work
        self._window = window
        self._stopped = threading.Event()
        self._last = (Kind.PNG, FIRST_SCALE)
        self._writing = Background(self)
        self._writing.done.connect(self._on_written)
        self._writing.failed.connect(self._on_failed)

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
        return self._bridge.session.document is not None

    def close(self) -> None:
        """Wait for a file that is being written; what is still drawn is given up."""
        self.stop()
        self._writing.close()

    @property
    def is_writing(self) -> bool:
        return self._writing.is_running

    # -- asking ---------------------------------------------------------------------------------------------------

    def _named(self, argument: object) -> View | None:
        if isinstance(argument, str):
            return self._views.get(argument)
        return self._docks.current_view()

    def export_view(self, argument: object = None) -> None:
        """Ask what to export, beginning with the view named, else with the one that has the focus."""
        view = self._named(argument)
        chosen = view.name if view is not None else next(iter(self._docks.views))
        dialog = ExportDialog(self._views, chosen, *self._last, self._window)
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
            self._bridge.message.emit("Click into the table that is to be exported first.")
            return
        self._bring(view, partial(self._ask, Wish(view, Kind.CSV)))

    def copy_picture(self, argument: object = None) -> None:
        """Put a picture of the view named, else of the one that has the focus, on the clipboard."""
        view = self._named(argument)
        if view is None:
            self._bridge.message.emit("Click into the view that is to be copied first.")
            return
        try:
            image = png_image(picture_of(view), view.devicePixelRatioF())
        except SaveError as error:
            self._bridge.message.emit(str(error))
            return
        QGuiApplication.clipboard().setImage(image)
        self._bridge.message.emit(f"Copied a picture of {view.title}")

    def _bring(self, view: View, then: Callable[[], None]) -> None:
        """Have a view in sight: one behind others has not the size that it is drawn in, and may not be filled."""
        if view.visibleRegion().isEmpty() and view.name in self._docks.views:
            self._docks.show_view(view.name)
            QTimer.singleShot(SETTLE_MS, self, then)
        else:
            then()

    def _ask(self, wish: Wish) -> None:
        kinds = [wish.kind, *(kind for kind in Kind if kind is not wish.kind)]
        offered = [kind for kind in kinds if kind is not Kind.CSV or wish.view.has_table()]
        document = self._bridge.session.document
        folder = Path.cwd() if document is None else document.path.absolute().parent
        found = ask_target(
            self._window,
            self._settings,
            f"Export {wish.view.title}",
            folder / f"{suggested_stem(wish.view)}{wish.kind.value}",
            ";;".join(KIND_FILTERS[kind] for kind in offered),
        )
        if found is None:
            return
        chosen = next((kind for kind in offered if KIND_FILTERS[kind] == found[1]), wish.kind)
        target, kind = kind_of(found[0], chosen)
        if may_replace(self._window, None if document is None else document.path, target):
            self.write(Wish(wish.view, kind, wish.scale, wish.whole), target)

    # -- writing --------------------------------------------------------------------------------------------------

    def write(self, wish: Wish, target: Path) -> bool:
        """Draw the view, and write the file on a thread; False where there is nothing to write (said to the user)."""
        if self._writing.is_running:
            self._bridge.message.emit("Another view is still being written.")
            return False
        self._stopped = threading.Event()
        try:
            call = self._drawn(wish, target)
        except (TileViewError, OSError, MemoryError) as error:
            self._on_failed(str(error) or "There is not enough memory.", "")
            return False
        self._work.show_work(WORK, f"Writing {target.name}")
        self._writing.start(call)
        return True

    def stop(self) -> None:
        """Write nothing of what is still drawn; a file that is being written is finished."""
        self._stopped.set()

    def _drawn(self, wish: Wish, target: Path) -> Callable[[], tuple[Path, str] | None]:
        """What is left to do when the view has been drawn, which only this thread may do."""
        view = wish.view
        if self._bridge.session.document is None:
            raise SaveError("Nothing is open: there is nothing to export.")
        if wish.kind is Kind.CSV:
            view.catch_up()
            make = view.table_maker() if view.has_table() else None
            if make is None:
                raise SaveError(f"The view {view.title} has no table to write.")
            filtered = view.table_filter()
            note = f" Only the rows that the filter “{filtered}” leaves." if filtered else ""
            return partial(_write_table, target, make, note, self._stopped)
        picture = picture_of(view, wish.whole)
        if wish.whole:
            return partial(_draw, target, picture, wish, self._stopped)
        if wish.kind is Kind.SVG:
            return partial(_write, target, svg_bytes(picture), "")
        return partial(_paint, target, Recording(picture), wish.scale, self._stopped)

    @Slot(object)
    def _on_written(self, result: tuple[Path, str] | None) -> None:
        self._work.end_work(WORK)
        if result is None:
            self._bridge.message.emit("Stopped: nothing was exported.")
            return
        target, note = result
        self._settings.folder = str(target.parent)
        self._bridge.message.emit(f"Exported to {target}.{note}")

    @Slot(str, str)
    def _on_failed(self, summary: str, details: str) -> None:
        self._work.end_work(WORK)
        show_error("Not exported", summary, details, self._window)


def _write(target: Path, data: bytes, note: str) -> tuple[Path, str]:
    write_atomic(target, data)
    return target, note


def _write_table(target: Path, make: Callable[[], str], note: str, stopped: threading.Event) -> tuple[Path, str] | None:
    data = make().encode("utf-8", errors="backslashreplace")
    return None if stopped.is_set() else _write(target, data, note)


def _write_image(target: Path, image: QImage, scale: float, stopped: threading.Event) -> tuple[Path, str] | None:
    note = f" {image.width():,} × {image.height():,} pixels."
    if image.devicePixelRatio() < scale:
        note += f" More are too many for a picture: the scale is {image.devicePixelRatio():.2g}. SVG has no such limit."
    data = b"" if stopped.is_set() else png_bytes(image)
    return None if stopped.is_set() else _write(target, data, note)


def _paint(target: Path, recording: Recording, scale: float, stopped: threading.Event) -> tuple[Path, str] | None:
    """Paint what was recorded, and write it; None where that was stopped."""
    try:
        return _write_image(target, png_image(recording, scale), scale, stopped)
    except MemoryError:
        raise SaveError("There is not enough memory for a picture of this size.") from None


def _draw(target: Path, picture: Picture, wish: Wish, stopped: threading.Event) -> tuple[Path, str] | None:
    """Draw a picture that may be drawn here, and write it; None where that was stopped."""
    try:
        if wish.kind is Kind.PNG:
            return _write_image(target, png_image(picture, wish.scale), wish.scale, stopped)
        data = svg_bytes(picture)
    except MemoryError:
        raise SaveError("There is not enough memory for a picture of all of it.") from None
    return None if stopped.is_set() else _write(target, data, "")
