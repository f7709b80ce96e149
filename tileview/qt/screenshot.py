"""A picture of the real window, drawn without a display."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSettings, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from tileview.errors import TileViewError
from tileview.formats.opening import open_dump
from tileview.formats.save import write_atomic
from tileview.qt.base.settings import Settings
from tileview.qt.base.theme import apply_theme, drop_pixmaps
from tileview.qt.plot.picture import image_to_png
from tileview.qt.program import make_application
from tileview.qt.window.main_window import MainWindow
from tileview.session.document import Document
from tileview.session.session import Session

PATIENCE_SECONDS = 300.0


def take_screenshot(
    path: Path,
    out: Path,
    size: tuple[int, int] = (1600, 1000),
    theme: str = "light",
    step: int | None = None,
    tile: int | None = None,
    operation: int | None = None,
    view: str | None = None,
    others: Sequence[Path] = (),
) -> None:
    """Write the picture; for what the arguments mean and what is raised see :func:`tileview.qt.app.screenshot`."""
    wanted = {"step": step, "tile": tile, "operation": operation}
    documents = [Document(one, open_dump(one)) for one in (path, *others)]
    application = make_application()
    before = qInstallMessageHandler(_quiet)
    with tempfile.TemporaryDirectory(prefix="tileview-") as folder:
        settings = Settings(QSettings(str(Path(folder, "picture.ini")), QSettings.Format.IniFormat))
        settings.theme = theme
        settings.evaluate_by_itself = False
        window = MainWindow(settings=settings)
        try:
            apply_theme(window.bridge.theme)
            window.resize(*size)
            window.show()
            window.docks.reset()
            _open(application, window, documents)
            _select(window.session, wanted)
            if view is not None:
                window.docks.enlarge(view)
            _settle(application, window)
            write_atomic(out, image_to_png(window.grab().toImage()))
        finally:
            window.close()
            application.processEvents()
            drop_pixmaps()
            qInstallMessageHandler(before)


def _quiet(_kind: QtMsgType, _context: object, _message: str) -> None:
    """What Qt says about a screen that is not there is of no use to anyone."""


def _open(application: QApplication, window: MainWindow, documents: list[Document]) -> None:
    session = window.session
    window.files.show_document(documents[0])
    _wait(application, lambda: session.is_current)
    for position, document in enumerate(documents[1:], start=1):
        window.files.show_beside(document)
        _wait(application, lambda count=position: len(session.pins) >= count)  # type: ignore[misc]


def _select(session: Session, wanted: Mapping[str, int | None]) -> None:
    """Select what was asked for; says so where there is no such thing."""
    timeline, selection = session.timeline, session.selection
    step, tile, operation = wanted.get("step"), wanted.get("tile"), wanted.get("operation")
    if step is not None:
        count = 0 if timeline is None else len(timeline.steps)
        if step >= count:
            raise TileViewError(f"there is no step {step}: the timeline has {count} steps, from 0")
        selection = replace(selection, step=step)
    if tile is not None:
        count = 0 if timeline is None else timeline.tile_count
        if tile >= count:
            raise TileViewError(f"there is no tile {tile}: there are {count} tiles, from 0")
        selection = replace(selection, tiles=(tile,))
    if operation is not None:
        known = {one.id for one, _ in session.graph.walk()} if session.graph is not None else set()
        known |= {one.source for one in timeline.steps if one.source is not None} if timeline is not None else set()
        if operation not in known:
            raise TileViewError(f"there is no operation {operation}")
        selection = replace(selection, operation=operation)
    session.select(selection)


def _settle(application: QApplication, window: MainWindow) -> None:
    """Until no view works on anything and the last paint is done."""

    def quiet() -> bool:
        if window.session.wants_placing or not window.bridge.turns.is_done or window.estimates.steps_reader.is_running:
            return False
        return not window.docks.is_busy

    operation = window.session.selection.operation
    if window.session.graph is not None and operation is not None:
        window.tools.evaluation.evaluate(operation)
        _wait(application, lambda: not window.tools.evaluation.is_running)
    _wait(application, quiet)
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        application.processEvents()
        time.sleep(0.01)


def _wait(application: QApplication, done: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not done():
        if time.monotonic() > until:
            raise TileViewError("the window did not settle in time")
        application.processEvents()
        time.sleep(0.003)
