"""The running program: the application object, its windows, its end."""

from __future__ import annotations

import signal
import socket
import sys
from pathlib import Path

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Slot
from PySide6.QtWidgets import QApplication

from tileview.qt.base.theme import drop_pixmaps
from tileview.qt.files.opening import MANY_FILES
from tileview.qt.jobs import process
from tileview.qt.window.faults import FaultHandler
from tileview.qt.window.main_window import MainWindow

SWITCH_SECONDS = 0.0002
"""How long a thread that computes may keep the window's thread from running. A paint calls Python hundreds of times and
waits so long each time: Python's own 5 ms would make seconds of that."""


def make_application() -> QApplication:
    """The application object; the one that is there already where there is one."""
    application = QApplication.instance()
    if isinstance(application, QApplication):
        return application
    sys.setswitchinterval(SWITCH_SECONDS)
    application = QApplication(sys.argv[:1])
    application.setApplicationName("TileView")
    application.setOrganizationName("TileView")
    application.setDesktopFileName("tileview")
    return application


ENDED_FROM_OUTSIDE = 2
"""Exit code after Ctrl+C or a request to terminate: the process never ends with another code than 0, 1 or 2."""


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
            window.shut_down(keep_edits=True)

    @Slot(object)
    def _on_gone(self, window: MainWindow) -> None:
        self._windows.remove(window)


class Interrupts(QObject):
    """Ends the program on Ctrl+C and on a request to terminate: at once, without questions, edits kept for next time.

    Python runs its handlers only when Python code runs, which may be never while a window is idle; so the signal's
    number is written to a socket that the event loop watches.
    """

    SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._before = [(number, signal.signal(number, self._ignore)) for number in self.SIGNALS]
        self._wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)

    @staticmethod
    def _ignore(_number: int, _frame: object) -> None:
        """The number has gone to the socket already."""

    @Slot()
    def _on_signal(self) -> None:
        try:
            received = self._read.recv(64)
        except OSError:
            return
        ends = [number for number in received if number in self.SIGNALS]
        if ends:
            QApplication.exit(ENDED_FROM_OUTSIDE)

    def close(self) -> None:
        """Give the handlers back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before:
            signal.signal(number, handler)
        self._read.close()
        self._write.close()


def run_windows(paths: list[Path], compare: bool) -> int:
    """Open windows on files and run until the last one is closed; the exit code."""
    application = make_application()
    faults = FaultHandler()
    windows = Windows()
    together = compare or len(paths) >= MANY_FILES
    if len(paths) >= MANY_FILES:
        process.drop()  # they are listed: nobody asks for the first of them
    window = windows.open(paths if together else paths[:1])
    if not together:
        for path in paths[1:]:
            window.files.stand_beside(path)
    if not paths:
        QTimer.singleShot(0, window, window.files.offer_recovery)
    interrupts = Interrupts()
    code = application.exec()
    windows.close()
    interrupts.close()
    faults.close()
    drop_pixmaps()
    return int(code)
