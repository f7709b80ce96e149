"""The views as docks: which there are, where they stand at first, how the arrangement is kept."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QChildEvent, QEvent, QObject, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QFont, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMainWindow,
    QTabBar,
    QTabWidget,
    QToolButton,
    QWidget,
)

from tileview.qt.base.command import Command
from tileview.qt.base.theme import icon
from tileview.qt.jobs.collector import GuiCollector
from tileview.qt.jobs.process import Reporter
from tileview.qt.jobs.runner import Job, Runner
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import View
from tileview.qt.views.kinds import VIEW_KINDS, Views, WindowView
from tileview.qt.widgets.docked import FocusHolder, is_in_sight
from tileview.session.document import Document

WIDE: Final = 1400
"""From this width on the Graph has a place beside the Tiles."""
TITLE_ICON: Final = 12
LEAST_VIEW: Final = QSize(120, 60)
_OF_ADDRESSES: Final = "address_map"
_OF_PLANS: Final = "alternatives"
"""The view that has nothing to show for a file without plans."""
FIRST_VIEW: Final = "timeline"
"""The view that has the keys when a file has been opened: there the plain arrows step."""
_LAYOUT: Final = zlib.crc32(" ".join(kind.name for kind in VIEW_KINDS).encode()) & 0x7FFF_FFFF
"""Version of a stored arrangement: one that was made with other views is not restored."""


class Pane(FocusHolder):
    """Holds one view, once it is made, and gives it all its room.

    A layout tells its parent's whenever a button in it comes or goes or a line of text wraps, and that one its own, up
    to the area of docks, which then places all docks anew: at every step of a held key, for nothing, since a dock's
    least size is its own. There is no layout here, so it ends here.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self.is_in_front = False
        """Whether its dock is there and not behind another."""
        self._inner: View | None = None
        self.setMinimumSize(LEAST_VIEW)

    def hold(self, inner: View) -> None:
        """Show a view, which gets the focus where the pane has it."""
        self._inner = inner
        inner.setMinimumSize(LEAST_VIEW)
        inner.setParent(self)
        inner.setGeometry(self.rect())
        self.lead_focus(inner)
        inner.set_in_front(self.is_in_front)
        inner.show()
        if self.hasFocus():
            inner.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._inner is not None:
            self._inner.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            return True
        return super().event(event)


class TitleBar(QWidget):
    """The title of a dock that stands alone, with buttons to maximise, float and close it; dragged like Qt's own."""

    def __init__(self, dock: QDockWidget, bridge: SessionSignals, maximise: Callable[[], None]) -> None:
        super().__init__(dock)
        self._bridge = bridge
        self._maximise = maximise
        self._label = QLabel(dock.windowTitle(), self)
        dock.windowTitleChanged.connect(self._label.setText)
        font = QFont(self._label.font())
        font.setBold(True)
        self._label.setFont(font)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 1, 2, 1)
        row.setSpacing(2)
        row.addWidget(self._label, 1)
        self._buttons: list[tuple[QToolButton, str]] = []
        for name, text, slot in (
            ("maximise", "Maximise or restore (F11)", maximise),
            ("float", "Float in a window of its own, or put back", lambda: dock.setFloating(not dock.isFloating())),
            ("close", "Close (the View menu brings it back)", dock.close),
        ):
            button = QToolButton(self)
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.setToolTip(text)
            button.setAccessibleName(f"{text}: {dock.windowTitle()}")
            button.setIconSize(QSize(TITLE_ICON, TITLE_ICON))
            button.clicked.connect(lambda _=False, run=slot: run())
            row.addWidget(button)
            self._buttons.append((button, name))
        bridge.theme_changed.connect(self.dress)
        self.dress()

    @Slot()
    def dress(self) -> None:
        """Draw the icons in the colours of the theme."""
        for button, name in self._buttons:
            button.setIcon(icon(name, self._bridge.theme))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._maximise()
        event.accept()


class ViewDock(QDockWidget):
    """A dock that takes dropped files also while it floats, where the window under it would not see them."""

    def __init__(self, title: str, bridge: SessionSignals, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._bridge = bridge
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        take_paths(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = take_paths(event)
        if paths:
            self._bridge.requested.emit("open_paths", paths)


def take_paths(event: QDropEvent) -> list[Path]:
    """The files and folders of this machine that are dragged in or dropped, accepted where there are any."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    if paths:
        event.acceptProposedAction()
    return paths


class DockArea(QMainWindow):
    """All views, each in a dock that can be moved, tabbed, floated and closed.

    A window inside the window, so that the welcome page can stand in its place while nothing is open without
    disturbing the arrangement of the docks.
    """

    def __init__(self, bridge: SessionSignals, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Widget)
        self.setObjectName("docks")
        self._bridge = bridge
        self.setDockNestingEnabled(True)
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.views = Views(self._make)
        self._panes: dict[str, Pane] = {}
        self._docks: dict[str, QDockWidget] = {}
        self._no_titles: dict[str, QWidget] = {}
        self._titles: dict[str, TitleBar] = {}
        self._before_maximised: QByteArray | None = None
        self._maximised = ""
        self._is_for_file = False
        self._suited: Document | None = None
        self._is_put_away = False
        self._current = ""
        self._title_timer = QTimer(self)
        self._title_timer.setSingleShot(True)
        self._title_timer.setInterval(0)
        self._title_timer.timeout.connect(self._fit_titles)
        self._collector = GuiCollector(self)
        self._loaded: set[str] = set()
        self._begun: dict[str, View] = {}
        self._importer = Runner(self)
        self._importer.ended.connect(self._on_imported)
        bridge.document_changed.connect(self._make_soon)
        for kind in VIEW_KINDS:
            self._add(kind)
        self.reset()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    def _add(self, kind: WindowView) -> None:
        name = kind.name
        dock = ViewDock(kind.title, self._bridge, self)
        dock.setObjectName(f"dock.{name}")
        dock.setAccessibleName(kind.title)
        self._panes[name] = Pane(name, dock)
        dock.setWidget(self._panes[name])
        dock.toggleViewAction().setStatusTip(f"Show {kind.title}")
        for signal in (dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged):
            signal.connect(self._titles_later)
        dock.visibilityChanged.connect(partial(self._on_front, name))
        self._docks[name] = dock
        self._no_titles[name] = QWidget(dock)
        self._no_titles[name].hide()
        dock.setTitleBarWidget(self._no_titles[name])

    # -- making views: only what is looked at, and after the verdict ------------------------------------------------

    def _make(self, kind: WindowView) -> View:
        view = self._begun.pop(kind.name, None) or kind.load()(self._bridge)
        view.finish()
        self._settle(kind, view)
        view.show_all()
        return view

    def _settle(self, kind: WindowView, view: View) -> None:
        for field in view.findChildren(QLineEdit):
            field.setAcceptDrops(False)  # a file dropped on a filter is to be opened
        self._panes[kind.name].hold(view)
        view.windowTitleChanged.connect(self._docks[kind.name].setWindowTitle)
        if self._is_open():
            view.begin()

    def _on_front(self, name: str, is_in_front: bool) -> None:
        self._panes[name].is_in_front = is_in_front
        if name in self.views.made:
            self.views.made[name].set_in_front(is_in_front)
        elif is_in_front and self._loaded:
            self._bridge.turns.add(self._make_next)
        elif is_in_front:
            self._make_soon()

    def _missing(self) -> list[WindowView]:
        """What is to be there and is not made yet."""
        if not self._is_open():
            return []
        wanted = [kind for kind in VIEW_KINDS if kind.is_needed or self._panes[kind.name].is_in_front]
        return [kind for kind in wanted if kind.name not in self.views.made]

    @property
    def is_busy(self) -> bool:
        """Whether a view is still to be made, or works on something."""
        made = self.views.made.values()
        return bool(self._missing()) or any(bool(getattr(view, "is_busy", bool)()) for view in made)

    @Slot()
    def _make_soon(self) -> None:
        """Make what is missing, part by part; while a file's first estimate is made, that goes first."""
        if self._missing():
            self._bridge.quiet.add(self._make_next)

    def _make_next(self) -> None:
        missing = self._missing()
        unknown = [kind for kind in missing if kind.name not in self._loaded]
        if unknown:  # beside the window: the libraries for plots alone take longer than it may stand still
            self._importer.submit(Job(partial(_load, unknown), payload=unknown, place="import"))
        elif missing:
            self._make_part(missing[0])

    def _make_part(self, kind: WindowView) -> None:
        """Make one part of a view, or show it when all are made; the next part follows in another turn."""
        view = self._begun.get(kind.name)
        if view is None:
            self._begun[kind.name] = kind.load().begun(self._bridge)
        elif view.make_more():
            del self._begun[kind.name]
            self.views.made[kind.name] = view
            self._settle(kind, view)
            self._make_soon()
            return
        self._bridge.turns.add(self._make_next)

    @Slot(object, str, object)
    def _on_imported(self, job: Job, outcome: str, _payload: object) -> None:
        assert isinstance(job.payload, list)
        if outcome != "cancelled":  # what cannot be imported says so where the view is made
            self._loaded.update(kind.name for kind in job.payload)
        self._bridge.turns.add(self._make_next)

    @Slot()
    def _titles_later(self) -> None:
        """Which docks share tabs is settled only when the event that moved them is done."""
        self._title_timer.start()

    @Slot()
    def _fit_titles(self) -> None:
        """A dock among tabs needs no title bar: its tab says the same, and is what it is dragged by."""
        for name, dock in self._docks.items():
            tabbed = bool(self.tabifiedDockWidgets(dock)) and not dock.isFloating()
            nothing = self._no_titles[name]
            hidden = dock.titleBarWidget() is nothing
            if tabbed and not hidden:
                dock.setTitleBarWidget(nothing)
                nothing.show()
            elif hidden and not tabbed:
                if name not in self._titles:
                    self._titles[name] = TitleBar(dock, self._bridge, partial(self.maximise, name))
                dock.setTitleBarWidget(self._titles[name])
                self._titles[name].show()

    def dock(self, name: str) -> QDockWidget | None:
        return self._docks.get(name)

    def toggle_action(self, name: str) -> QAction:
        """The checkable action that shows a dock or takes it away."""
        return self._docks[name].toggleViewAction()

    def toggle_actions(self) -> list[QAction]:
        """One checkable action a dock, for the palette."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def commands(self) -> tuple[Command, ...]:
        """A command a view that brings it to the front, for menu, palette and keys; and going from one to the next."""
        there = self._is_open
        found = []
        for place, (name, title) in enumerate(self.views.titles().items(), start=1):
            keys = (f"Ctrl+{place}",) if place < 10 else ()
            found.append(
                Command(f"show_{name}", f"Go to {title}", "View", partial(self._go_to, name), keys,
                        f"Bring {title} to the front and work in it", there, in_menu=False)
            )  # fmt: skip
        return (
            *found,
            Command("next_view", "Go to the &next view", "View", lambda _: self.step_view(1), ("F6",),
                    "Move to the next visible view", there, in_menu=False),
            Command("previous_view", "Go to the &previous view", "View", lambda _: self.step_view(-1), ("Shift+F6",),
                    "Move to the previous visible view", there, in_menu=False),
            Command("maximise_view", "&Maximise or restore the view", "View", lambda _: self.maximise(), ("F11",),
                    "Give the view with the focus the whole window, or put all views back", there),
            Command("show_view", "Show view", "View", lambda name: self.show_view(str(name)), in_menu=False),
        )  # fmt: skip

    def _is_open(self) -> bool:
        return self._bridge.session.document is not None

    def _go_to(self, name: str, _argument: object) -> None:
        self.show_view(name)

    def step_view(self, by: int) -> None:
        """Give the keys to the next view in sight, in the order of the View menu, round and round."""
        names = [name for name, pane in self._panes.items() if is_in_sight(pane)]
        if names:
            place = names.index(self._current) if self._current in names else (-1 if by > 0 else 0)
            self.show_view(names[(place + by) % len(names)])

    def show_view(self, name: str) -> View | None:
        """Bring a view to the front and give it the focus; None where there is no such view."""
        dock = self._docks.get(name)
        if dock is None:
            return None
        dock.show()
        dock.raise_()
        self.views[name].setFocus(Qt.FocusReason.ShortcutFocusReason)
        return self.views[name]

    @property
    def maximised(self) -> str:
        """The name of the view that has the whole window; empty where none has."""
        return self._maximised

    def maximise(self, name: str = "") -> None:
        """Give a view (the one that has the keys where none is named) all the room; a second time, put all back."""
        if self._before_maximised is not None:
            before, self._before_maximised, self._maximised = self._before_maximised, None, ""
            self.restoreState(before, _LAYOUT)
            self._suit_plans()
            return
        chosen = name or self._current
        dock = self._docks.get(chosen)
        if dock is None or dock.isFloating():
            return
        self._before_maximised, self._maximised = self.saveState(_LAYOUT), chosen
        for other in self._docks.values():
            if other is not dock and not other.isFloating():
                other.hide()
        self.show_view(chosen)

    def suit_document(self) -> None:
        """Give the address map all the room for a file that speaks of addresses alone, and take it back after that;
        show the alternatives only where there can be some."""
        self._suit_plans()
        document = self._bridge.session.document
        if document is self._suited:
            return
        self._suited = document
        is_alone = document is not None and bool(document.no_program)
        if is_alone and not self._maximised:
            self.maximise(_OF_ADDRESSES)
        elif not is_alone and self._is_for_file and self._maximised == _OF_ADDRESSES:
            self.maximise()
        self._is_for_file = is_alone

    def _suit_plans(self) -> None:
        document, dock = self._bridge.session.document, self._docks[_OF_PLANS]
        has_plans = document is None or document.is_recipe
        if has_plans and self._is_put_away and not self._maximised:
            self._is_put_away = False
            dock.show()
        elif not has_plans and not dock.isHidden() and not dock.isFloating() and not self._maximised:
            self._is_put_away = True
            dock.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A double click on a tab maximises its view, as one on a title does."""
        if (
            isinstance(watched, QTabBar)
            and event.type() == QEvent.Type.MouseButtonDblClick
            and isinstance(event, QMouseEvent)
        ):
            title = watched.tabText(watched.tabAt(event.position().toPoint()))
            for name, dock in self._docks.items():
                if dock.windowTitle() == title:
                    self.maximise(name)
                    return True
        return super().eventFilter(watched, event)

    def childEvent(self, event: QChildEvent) -> None:
        """Name the tabs that Qt makes when docks are put behind one another."""
        super().childEvent(event)
        child = event.child()
        if event.type() == QEvent.Type.ChildPolished and isinstance(child, QTabBar):
            child.setAccessibleName("Views behind one another")
            child.installEventFilter(self)

    def take_keys(self) -> None:
        """Give the keys to the view in which the plain arrows step, else to the first in sight."""
        for pane in (self._panes[FIRST_VIEW], *self._panes.values()):
            if is_in_sight(pane):
                pane.setFocus(Qt.FocusReason.OtherFocusReason)
                return

    def current_view(self) -> View | None:
        """The view that has the keyboard focus, or had it last; None before any had."""
        return self.views.get(self._current)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        widget = new
        while widget is not None and not (isinstance(widget, Pane) and self._panes[widget.name] is widget):
            widget = widget.parentWidget()
        if isinstance(widget, Pane):
            self._current = widget.name

    # -- arrangement ----------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """The arrangement of a first start: what a failing file needs in sight.

        In a narrow window the Graph is behind the Tiles, and the Details are beside them: the tables need the width.
        """
        self._before_maximised, self._maximised, self._is_put_away = None, "", False
        is_narrow = self.width() < WIDE
        for dock in self._docks.values():
            dock.setFloating(False)
            self.removeDockWidget(dock)
        columns = self._place_columns()
        self._place("alternatives", columns[0], Qt.Orientation.Vertical)
        lower = self._place("timeline", columns[1], Qt.Orientation.Vertical)
        tables = self._place("allocations", lower, Qt.Orientation.Vertical)
        if not is_narrow:
            self._place("tiles", columns[1], Qt.Orientation.Horizontal)
        side = self._place("details", columns[1] if is_narrow else tables, Qt.Orientation.Horizontal)
        if is_narrow:
            self._tab("tiles", columns[1])
        self._tab("operations", columns[0])
        self._tab("problems", columns[0])
        self._tab("address_map", "tiles")
        self._tab("choose", lower)
        self._tab("compare", tables)
        self._tab("fusions", tables)
        self._tab("whatif", side)
        for name in ("why", "graph", "tiles", "alternatives", "timeline", "allocations", "details"):
            if name in self._docks:
                self._docks[name].raise_()
        self.share_space()
        self._suit_plans()

    def _place_columns(self) -> tuple[str | None, str | None]:
        left = self._first("why", "operations", "problems", "alternatives")
        right = self._first("graph", "tiles", "timeline", "allocations", "details")
        if left is not None:
            self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._docks[left])
            self._docks[left].show()
        if right is not None:
            if left is None:
                self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._docks[right])
            else:
                self.splitDockWidget(self._docks[left], self._docks[right], Qt.Orientation.Horizontal)
            self._docks[right].show()
        return left, right

    def _first(self, *names: str) -> str | None:
        return next((name for name in names if name in self._docks), None)

    def _place(self, name: str, beside: str | None, orientation: Qt.Orientation) -> str | None:
        """Put a dock below or right of another; returns the dock that later ones are placed by."""
        if name not in self._docks or name == beside:
            return beside
        if beside is None:
            self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._docks[name])
        else:
            self.splitDockWidget(self._docks[beside], self._docks[name], orientation)
        self._docks[name].show()
        return name

    def _tab(self, name: str, onto: str | None) -> None:
        if name not in self._docks or onto is None or name == onto:
            return
        self.tabifyDockWidget(self._docks[onto], self._docks[name])
        self._docks[name].show()

    def share_space(self) -> None:
        """Give every dock its part of the window: a quarter to the left column, the rest to what is looked at."""
        width, height = max(self.width(), 1), max(self.height(), 1)
        if width < WIDE:
            self._resize({"why": 0.27, "tiles": 0.45, "details": 0.28}, width, Qt.Orientation.Horizontal)
            rows = {"tiles": 0.33, "timeline": 0.40, "allocations": 0.27}
        else:
            self._resize({"why": 0.25, "graph": 0.31, "tiles": 0.44}, width, Qt.Orientation.Horizontal)
            self._resize({"allocations": 0.47, "details": 0.28}, width, Qt.Orientation.Horizontal)
            rows = {"graph": 0.30, "timeline": 0.45, "allocations": 0.25}
        self._resize({"why": 0.55, "alternatives": 0.45}, height, Qt.Orientation.Vertical)
        self._resize(rows, height, Qt.Orientation.Vertical)

    def _resize(self, parts: dict[str, float], length: int, orientation: Qt.Orientation) -> None:
        here = [(self._docks[name], part) for name, part in parts.items() if name in self._docks]
        self.resizeDocks([dock for dock, _ in here], [max(1, int(part * length)) for _, part in here], orientation)

    def enlarge(self, name: str) -> None:
        """Bring a view to the front and give it most of the room."""
        if self.show_view(name) is None:
            return
        dock = self._docks[name]
        self.resizeDocks([dock], [int(self.width() * 0.74)], Qt.Orientation.Horizontal)
        self.resizeDocks([dock], [int(self.height() * 0.62)], Qt.Orientation.Vertical)

    def keep(self) -> QByteArray:
        """The arrangement, to be stored: with what is away only while a file without plans is open."""
        if self._before_maximised is not None:
            return self._before_maximised
        dock = self._docks[_OF_PLANS]
        is_away = self._is_put_away and dock.isHidden()
        if is_away:
            dock.show()
        kept = self.saveState(_LAYOUT)
        if is_away:
            dock.hide()
        return kept

    def restore(self, kept: QByteArray) -> bool:
        """Take a stored arrangement; False where it does not fit this version (then nothing changes)."""
        return not kept.isEmpty() and self.restoreState(kept, _LAYOUT)

    def shut_down(self) -> None:
        self._importer.close()
        for view in self._begun.values():
            view.finish()
        for view in (*self.views.made.values(), *self._begun.values()):
            view.shut_down()
        self._collector.close()


def _load(kinds: list[WindowView], _reporter: Reporter) -> None:
    for kind in kinds:
        kind.load()
