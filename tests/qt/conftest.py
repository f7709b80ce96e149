"""What the window's tests share: no display, a state folder of their own, and a guard against what is left over."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtWidgets import QDialog, QMenu, QMenuBar, QWidget
from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000
"""A test waits so long at least for what it waits for: a busy machine is no fault."""
_wait_until = QtBot.waitUntil


def _wait_long(self: QtBot, callback: Callable[[], object], *, timeout: int = PATIENCE_MS) -> None:
    _wait_until(self, callback, timeout=max(timeout, PATIENCE_MS))


QtBot.waitUntil = _wait_long

SHARED: set[QObject] = set()
"""The window that the tests of a module share, while it is open."""
SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def children() -> set[int]:
    """Ids of the processes that this one has started and that still run (Linux; empty elsewhere)."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat") if Path("/proc").is_dir() else ():
        try:
            text = status.read_text()
            command = status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        state, parent = text.rpartition(")")[2].split()[:2]
        if int(parent) == os.getpid() and state != "Z" and b"resource_tracker" not in command:
            found.add(int(status.parent.name))
    return found


TIMERS: WeakSet[QTimer] = WeakSet()
"""All timers; looking for them among all objects took longer than most tests do."""
_make_timer = QTimer.__init__


def _make_and_note(self: QTimer, *arguments: object, **named: object) -> None:
    _make_timer(self, *arguments, **named)
    TIMERS.add(self)


QTimer.__init__ = _make_and_note


def running_timers() -> list[QTimer]:
    """The timers that still tick, but for those of a window that is shared."""
    timers = [one for one in TIMERS if type(one) is QTimer and shiboken6.isValid(one) and one.isActive()]
    return [one for one in timers if not SHARED.intersection(_around(one))]


def _around(one: QObject | None) -> Iterator[QObject]:
    while one is not None:
        yield one
        one = one.parent()


def run_deletions() -> None:
    """Let everything be deleted that waits for it."""
    for _ in range(3):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """Fails where a thread, a process or a running timer is left behind by what runs in it."""
    threads, processes = set(threading.enumerate()), children()
    yield
    run_deletions()
    until = time.monotonic() + 5
    left: list[object] = []
    while time.monotonic() < until:
        left = [one for one in threading.enumerate() if one not in threads and one.is_alive()]
        left += sorted(children() - processes)
        left += running_timers()
        if not left:
            return
        run_deletions()
        time.sleep(0.02)
    pytest.fail(f"left over: {left}")


@pytest.fixture(autouse=True)
def nothing_is_left(qapp, request):
    """A test leaves nothing behind; a window that is shared is looked at when it closes."""
    if "shared_window" in request.fixturenames:
        yield
        return
    with leaving_nothing():
        yield


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch) -> Path:
    """Settings, log and recovery files of the test."""
    folder = tmp_path / "state"
    folder.mkdir()
    monkeypatch.setenv("TILEVIEW_STATE_DIR", str(folder))
    return folder


class Driver:
    """A window and the ways a test moves it."""

    def __init__(self, window, qtbot) -> None:
        self.window = window
        self.qtbot = qtbot
        self.session = window.session

    def settle(self, timeout: int = 30_000) -> None:
        """Wait until the estimate in force is that of the state in force."""
        self.qtbot.waitUntil(lambda: self.session.document is not None and self.session.is_current, timeout=timeout)

    def open(self, path: Path) -> None:
        """Open a file and wait for its estimate."""
        self.window.files.open(path)
        self.qtbot.waitUntil(
            lambda: self.session.document is not None and self.session.document.path == path, timeout=30_000
        )
        self.settle()

    def views(self) -> dict[str, QWidget]:
        """All views of the window by name, those too that nobody has looked at yet."""
        return dict(self.window.docks.views)

    def menu(self, *titles: str) -> QMenu:
        """A menu by its titles from the menu bar down, filled as when it is shown."""
        around: QMenuBar | QMenu = self.window.menuBar()
        for title in titles:
            menus = [action.menu() for action in around.actions() if action.menu() is not None]
            around = next(menu for menu in menus if menu.title().replace("&", "") == title)
            around.aboutToShow.emit()
        return around

    def trigger(self, name: str) -> None:
        """What a click on a menu entry does."""
        action = self.window.commands.action(name)
        assert action.isEnabled(), name
        action.trigger()


@pytest.fixture
def make_driver(qtbot, state_folder):
    """Makes shown windows, closes them at the end without a question; background work only on demand."""
    from tileview.qt.base.settings import Settings
    from tileview.qt.window.main_window import MainWindow

    drivers: list[Driver] = []

    def make(theme: str = "light") -> Driver:
        settings = Settings()
        settings.evaluate_by_itself = settings.place_by_itself = False
        settings.theme = theme
        window = MainWindow(settings=settings)
        window.show()
        qtbot.waitExposed(window)
        drivers.append(Driver(window, qtbot))
        return drivers[-1]

    yield make
    for driver in drivers:
        if shiboken6.isValid(driver.window) and not driver.window.closed:
            driver.session.mark_clean()
            driver.window.close()
    run_deletions()


@pytest.fixture(scope="module")
def shared_window(qapp, tmp_path_factory):
    """One window for the tests of a module, for those that open what they need and leave nothing chosen behind."""
    from tileview.qt.base.settings import Settings
    from tileview.qt.window.main_window import MainWindow

    with leaving_nothing(), pytest.MonkeyPatch.context() as patched:
        patched.setenv("TILEVIEW_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        settings = Settings()
        settings.evaluate_by_itself = settings.place_by_itself = False
        settings.theme = "light"
        window = MainWindow(settings=settings)
        window.show()
        SHARED.add(window)
        yield window
        SHARED.clear()
        window.session.mark_clean()
        window.close()


@pytest.fixture
def shared_driver(shared_window, qtbot) -> Driver:
    """The module's window, its views where they stand at first, its edits forgotten, no dialog open."""
    shared_window.session.mark_clean()
    for dialog in shared_window.findChildren(QDialog):
        dialog.close()
    shared_window.docks.reset()
    shared_window.activateWindow()
    qtbot.waitUntil(shared_window.isActiveWindow)
    return Driver(shared_window, qtbot)


@pytest.fixture
def driver(make_driver) -> Driver:
    """One window with nothing open."""
    return make_driver()


@pytest.fixture
def show_view(qtbot):
    """Shows single views on a session, and shuts them down at the end."""
    from tileview.qt.base.theme import load_theme
    from tileview.qt.jobs.session_signals import SessionSignals

    made = []

    def show(kind, session, theme: str = "light", size: tuple[int, int] = (900, 560)):
        bridge = SessionSignals(session, load_theme(theme))
        view = kind(bridge)
        qtbot.addWidget(view)
        view.resize(*size)
        view.show()
        qtbot.waitExposed(view)
        made.append((view, bridge))
        if hasattr(view, "is_busy"):
            qtbot.waitUntil(lambda: not view.is_busy(), timeout=20_000)
        return view

    yield show
    for view, bridge in made:
        view.shut_down()
        bridge.close()


@pytest.fixture
def samples() -> Path:
    """The folder of sample files."""
    return SAMPLES


@pytest.fixture
def over(tmp_path) -> Path:
    """A copy of the sample that does not fit."""
    return copy_of("so400m-over.recipe.json", tmp_path)


@pytest.fixture
def vit3(tmp_path) -> Path:
    """A copy of the 64-tile sample."""
    return copy_of("vit3-64tiles.recipe.json", tmp_path)


@pytest.fixture
def pair(tmp_path) -> Path:
    """A copy of the smallest sample recipe."""
    return copy_of("pair-8tiles.recipe.json", tmp_path)


@pytest.fixture
def rejected(tmp_path) -> Path:
    """A copy of the timeline with invalid layouts."""
    return copy_of("rejected-op0.timeline.json", tmp_path)


def copy_of(name: str, folder: Path) -> Path:
    target = folder / name
    target.write_bytes((SAMPLES / name).read_bytes())
    return target
