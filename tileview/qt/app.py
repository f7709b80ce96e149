"""The program with a window: what has to be there before Qt starts, starting it, ending it."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
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


def run(paths: list[Path], compare: bool = False) -> int:
    """Open the window on some files and stay until it is closed; the exit code.

    Without ``compare`` a recipe and a timeline stand together, as every further file does beside the first.
    """
    application = make_application()
    faults = FaultHandler()
    window = MainWindow()
    window.show()
    if paths:
        window.open_paths(paths, ask=False)
    else:
        QTimer.singleShot(0, window, window.files.offer_recovery)
    code = application.exec()
    faults.close()
    clear_cache()
    return int(code)
