"""The running program: the application object, its windows, its end."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

from tileview.qt.faults import FaultHandler
from tileview.qt.icons import clear_cache
from tileview.qt.main_window import MainWindow


def make_application() -> QApplication:
    """The application object; the one that is there already where there is one."""
    application = QApplication.instance()
    if isinstance(application, QApplication):
        return application
    application = QApplication(sys.argv[:1])
    application.setApplicationName("TileView")
    application.setOrganizationName("TileView")
    application.setDesktopFileName("tileview")
    return application


class Windows(QObject):
    """All windows of the program; each is on its own, and deletes itself when it is closed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._windows: list[MainWindow] = []

    @Slot(object)
    def open(self, paths: list[Path]) -> MainWindow:
        """A new window on some files."""
        window = MainWindow()
        window.new_window.connect(self.open)
        window.gone.connect(self._on_gone)
        self._windows.append(window)
        window.show()
        if paths:
            window.open_paths(paths, ask=False)
        return window

    def close(self) -> None:
        """End the work of windows that are still there: the program is going, whatever they would like to ask."""
        for window in tuple(self._windows):
            window.shut_down()

    @Slot(object)
    def _on_gone(self, window: MainWindow) -> None:
        self._windows.remove(window)


def run_windows(paths: list[Path], compare: bool) -> int:
    """Open windows on files and run until the last one is closed; the exit code."""
    application = make_application()
    faults = FaultHandler()
    windows = Windows()
    window = windows.open(paths[:1] if not compare else paths)
    if not compare:
        for path in paths[1:]:
            window.files.stand_beside(path)
    if not paths:
        QTimer.singleShot(0, window, window.files.offer_recovery)
    code = application.exec()
    windows.close()
    faults.close()
    clear_cache()
    return int(code)
