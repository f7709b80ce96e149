"""Faults: whatever goes wrong in a slot, a model or a thread is logged and shown, and the window lives on."""

from __future__ import annotations

import logging
import logging.handlers
import os
import platform
import re
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

import PySide6
from PySide6.QtCore import QObject, QtMsgType, Signal, Slot, qInstallMessageHandler, qVersion
from PySide6.QtWidgets import QApplication

from tileview import __version__
from tileview.qt.base.settings import private_file, state_folder
from tileview.qt.widgets.dialogs import LOGGER, ErrorDialog

LOG_BYTES = 1024 * 1024


def versions() -> list[tuple[str, str]]:
    """TileView and what it runs on, as (name, version)."""
    import numpy

    return [
        ("TileView", __version__),
        ("Python", platform.python_version()),
        ("Qt", qVersion() or "unknown"),
        ("PySide6", PySide6.__version__),
        ("NumPy", numpy.__version__),
        ("System", platform.platform()),
    ]


def log_path() -> Path:
    """The log file of the window."""
    return state_folder() / "tileview.log"


def _where_logged() -> str:
    try:
        return f"The details are in {log_path()} too."
    except OSError:
        return "No log file can be written here."


_LOST_DISPLAY = re.compile(r"The (X11|Wayland) connection broke|The Wayland connection experienced a fatal error")

_OVERRIDES = re.compile(r"^(Error calling Python override of [\w:]+\(\): )+")
"""What PySide puts before the text of an error on its way through Qt, once for every method it passes."""


class FaultHandler(QObject):
    """Catches what no one else caught, on any thread.

    One dialog is open at a time; further faults are counted in it and written to the log, so that a fault that
    comes back with every paint does not bury the window under dialogs.
    """

    _caught = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._dialog: ErrorDialog | None = None
        self._before = (sys.excepthook, threading.excepthook)
        self._file: logging.Handler | None = None
        self._caught.connect(self._show)
        self._open_log()
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(self._on_qt_message)

    def _open_log(self) -> None:
        try:
            handler = logging.handlers.RotatingFileHandler(
                private_file(log_path()),
                maxBytes=LOG_BYTES,
                backupCount=1,
                encoding="utf-8",
                errors="backslashreplace",
                delay=True,
            )
        except OSError:
            return  # without a log the dialog still shows everything
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        LOGGER.addHandler(handler)
        LOGGER.propagate = False
        self._file = handler

    def close(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook = self._before
        qInstallMessageHandler(None)
        if self._file is not None:
            LOGGER.removeHandler(self._file)
            self._file.close()
            self._file = None

    # -- where faults come in -------------------------------------------------------------------------------------

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        self._report(error, "".join(traceback.format_exception(kind, error, trace)))

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        error = arguments.exc_value
        if error is not None:
            self._report(error, "".join(traceback.format_exception(error)))

    def _report(self, error: BaseException, details: str) -> None:
        text = _OVERRIDES.sub("", str(error))
        summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
        LOGGER.error("%s\n%s", summary, details)
        self._caught.emit(summary[:500], details)

    def _on_qt_message(self, kind: QtMsgType, context: object, message: str) -> None:
        level = {QtMsgType.QtWarningMsg: logging.WARNING, QtMsgType.QtCriticalMsg: logging.ERROR}
        LOGGER.log(level.get(kind, logging.INFO), "Qt: %s", message)
        if _LOST_DISPLAY.match(message):  # Qt ends the process right after this, with 1: "does not fit"
            sys.stderr.write("tileview: the connection to the display is lost\n")
            sys.stderr.flush()
            os._exit(2)

    # -- what is shown --------------------------------------------------------------------------------------------

    @Slot(str, str)
    def _show(self, summary: str, details: str) -> None:
        if self._dialog is not None:
            self._dialog.add(summary, details)
            return
        lines = "\n".join(f"{name} {version}" for name, version in versions())
        self._dialog = ErrorDialog(
            "A fault in TileView",
            f"Something went wrong inside TileView: {summary}. Your edits are still there; the window goes on. "
            f"{_where_logged()}",
            f"{details}\n{lines}",
            QApplication.activeWindow(),
        )
        self._dialog.finished.connect(self._on_closed)
        self._dialog.open()

    @Slot()
    def _on_closed(self) -> None:
        self._dialog = None

    def show(self, summary: str, details: str) -> None:
        """Show and log a fault that some part has caught itself."""
        LOGGER.error("%s\n%s", summary, details)
        self._show(summary, details)
