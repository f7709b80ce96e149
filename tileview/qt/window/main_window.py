"""The window: verdict bar, docks, menus, status bar, and how they work together."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
)
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from tileview.qt.base.command import Actions, Command
from tileview.qt.base.settings import Settings
from tileview.qt.base.theme import apply_theme, icon, load_theme, program_icon, system_theme_name
from tileview.qt.files.export_view import ViewExporter
from tileview.qt.files.exports import Exporter, ReportExporter
from tileview.qt.files.opening import MANY_FILES, Files, samples
from tileview.qt.jobs.estimates import Estimates
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import View
from tileview.qt.views.verdict import VerdictBar
from tileview.qt.widgets.dialogs import show_error
from tileview.qt.window.docks import DockArea, take_paths
from tileview.qt.window.keyguard import KeyGuard
from tileview.qt.window.menus import Menus
from tileview.qt.window.navigation import Navigator
from tileview.qt.window.status import StatusBar
from tileview.qt.window.tools import Tools
from tileview.qt.window.welcome import Welcome
from tileview.session.session import Session

LEAST_SIZE = QSize(1280, 720)
LARGEST_SIZE = QSize(1920, 1200)
"""Between these is the first window's size, by the screen."""
ICON_DELAY_MS = 200
"""The menus' icons are drawn after the window has been painted: nobody sees them before."""


class MainWindow(QMainWindow):
    """One window on one session. It owns everything it shows; closing it ends all its work."""

    new_window = Signal(object)
    """Asks for another window on a list of paths."""
    gone = Signal(object)
    """The window has been closed and has ended all its work."""

    def __init__(
        self, session: Session | None = None, settings: Settings | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("window")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowIcon(program_icon())
        self.setAcceptDrops(True)
        self.settings = Settings() if settings is None else settings
        self.session = Session() if session is None else session
        self.bridge = SessionSignals(self.session, load_theme(self._theme_name()), self)
        apply_theme(self.bridge.theme)
        self.closed = False
        self._arranged = False
        self._build_centre()
        self._build_parts()
        self._build_menus()
        self._connect()
        self._restore()
        self._refresh()

    # -- building -------------------------------------------------------------------------------------------------

    def _build_centre(self) -> None:
        centre = QWidget(self)
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.verdict = VerdictBar(self.bridge, centre)
        self.docks = DockArea(self.bridge, centre)
        self.welcome = Welcome(self.bridge.theme, centre)
        self._pages = QStackedWidget(centre)
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.docks)
        column.addWidget(self.verdict)
        column.addWidget(self._pages, 1)
        self.setCentralWidget(centre)
        self.status = StatusBar(self.bridge, self)
        self.setStatusBar(self.status)

    def _build_parts(self) -> None:
        self.commands = Actions(self)
        self.keyguard = KeyGuard(self.commands, self)
        self.estimates = Estimates(self.bridge, self)
        self.exporter = Exporter(self.bridge, self.settings, self)
        self.view_exporter = ViewExporter(
            self.bridge, self.settings, self, {**self.docks.views.titles(), self.verdict.name: self.verdict.title},
            self._view_named, self.docks.current_view, self.docks.show_view,
        )  # fmt: skip
        self.report_exporter = ReportExporter(self.bridge, self.settings, self)
        self.files = Files(self.bridge, self.settings, self.estimates, self.exporter, self)
        self.files.elsewhere.connect(self.new_window)
        self.navigator = Navigator(self.bridge, self)
        self.tools = Tools(
            self.bridge, self.settings, self.files, self.estimates, self.docks, self.commands,
            self.all_actions, self,
        )  # fmt: skip
        self.tools.stopping.connect(self.view_exporter.stop)
        self.tools.stopping.connect(self.report_exporter.stop)
        self.commands.add(self.files.commands())
        self.commands.add(self.tools.file_commands())
        self.commands.add(self.exporter.commands())
        self.commands.add(self.view_exporter.commands())
        self.commands.add(self.report_exporter.commands())
        self.commands.add(self._own_commands())
        self.commands.add(self.exporter.edit_commands())
        self.commands.add(self.navigator.commands())
        self.commands.add(self.tools.commands())
        self.commands.add(self.docks.commands())
        self.addActions([self.commands.action(command.name) for command in self.commands.commands()])

    def _view_named(self, name: str) -> View:
        if name == self.verdict.name:
            return self.verdict
        view = self.docks.views[name]
        view.show_all()
        return view

    def _own_commands(self) -> tuple[Command, ...]:
        history = self.session
        return (
            Command("new_window", "New empty &window", "File", lambda _: self.new_window.emit([]), ("Ctrl+N",),
                    "Open another window with no file", separator_before=True),
            Command("quit", "&Quit", "File", lambda _: self.close(), ("Ctrl+Q",), "Close the window"),
            Command("undo", "&Undo", "Edit", lambda _: history.undo(), ("Ctrl+Z",), "Undo the last edit",
                    lambda: history.history.undo_label is not None, repeats=True, icon="undo"),
            Command("redo", "&Redo", "Edit", lambda _: history.redo(), ("Ctrl+Shift+Z", "Ctrl+Y"),
                    "Redo an edit that was undone", lambda: history.history.redo_label is not None,
                    repeats=True, icon="redo"),
            Command("reset_layout", "&Reset layout", "View", lambda _: self.reset_layout(), (),
                    "Put all views back to their first places", separator_before=True),
            Command("open_paths", "Open files", "File", self._open_named, in_menu=False),
            Command("full_screen", "&Full screen", "View", lambda _: self._toggle_full_screen(), ("Shift+F11",),
                    "Use the whole screen"),
        )  # fmt: skip

    def _build_menus(self) -> None:
        self.menus = Menus(self.menuBar(), self.commands, self.docks, self.settings, self)
        self.menus.path_chosen.connect(self._open_path)
        self.menus.theme_chosen.connect(self.set_theme)
        QTimer.singleShot(ICON_DELAY_MS, self, self._set_icons)

    def _set_icons(self) -> None:
        for command in self.commands.commands():
            if command.icon:
                self.commands.action(command.name).setIcon(icon(command.icon, self.bridge.theme))

    def _connect(self) -> None:
        bridge = self.bridge
        bridge.requested.connect(self._on_requested)
        bridge.message.connect(self._on_message)
        for signal in (bridge.document_changed, bridge.state_changed, bridge.estimate_changed):
            signal.connect(self._refresh)
        self.estimates.took.connect(self.status.show_duration)
        self.estimates.fault.connect(self._on_fault)
        bridge.fault.connect(self._on_background_fault)
        self.status.work.stop.clicked.connect(self.tools.stop)
        self.status.work.pause.clicked.connect(self.tools.evaluation.toggle_pause)
        self.welcome.open_asked.connect(self._ask_to_open)
        self.welcome.path_chosen.connect(self._open_path)
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._on_system_theme)

    def _restore(self) -> None:
        if not self.restoreGeometry(self.settings.geometry):
            screen = self.screen().availableSize()
            self.resize(
                min(max(LEAST_SIZE.width(), screen.width() * 9 // 10), LARGEST_SIZE.width(), screen.width()),
                min(max(LEAST_SIZE.height(), screen.height() * 9 // 10), LARGEST_SIZE.height(), screen.height()),
            )

    # -- state of the window --------------------------------------------------------------------------------------

    @Slot()
    def _refresh(self) -> None:
        document, history = self.session.document, self.session.history
        self.setWindowTitle("TileView" if document is None else f"{document.name}[*] – TileView")
        self.setWindowModified(document is not None and not history.is_clean)
        for name, label, word in (("undo", history.undo_label, "&Undo"), ("redo", history.redo_label, "&Redo")):
            shown = "" if label is None else f": {label.replace('&', '&&')}"
            self.commands.action(name).setText(f"{word}{shown}")
        self.commands.refresh()
        if document is None:
            self.welcome.show_files(self.settings.recent, samples())
        page = self.welcome if document is None else self.docks
        if self._pages.currentWidget() is not page:
            self._pages.setCurrentWidget(page)
            if document is not None:
                QTimer.singleShot(0, self, self._arrange)
        elif document is not None and self._arranged:
            self.docks.suit_document()

    @Slot()
    def _arrange(self) -> None:
        """Place the docks as they were left, once the area has its size: sizes given before that would be squeezed."""
        if self.closed:
            return
        if not self._arranged:
            self._arranged = True
            if not self.docks.restore(self.settings.layout):
                self.docks.reset()
        self.docks.suit_document()
        self.docks.take_keys()

    @Slot(str, object)
    def _on_requested(self, name: str, argument: object) -> None:
        self.commands.run(name, argument)

    @Slot(str)
    def _on_message(self, text: str) -> None:
        self.status.showMessage(text, 10_000)

    @Slot(str, str)
    def _on_fault(self, summary: str, details: str) -> None:
        show_error("The estimate could not be made", summary, details, self)

    @Slot(str, str)
    def _on_background_fault(self, summary: str, details: str) -> None:
        show_error("Background work failed", summary, details, self)

    @Slot()
    def _ask_to_open(self) -> None:
        self.files.open()

    @Slot(object)
    def _open_path(self, path: Path) -> None:
        self.files.open(path)

    def _open_named(self, paths: object) -> None:
        if isinstance(paths, list) and paths:
            self.open_paths(paths)

    def all_actions(self) -> list[tuple[str, QAction]]:
        """Every action with the menu it is in, for the palette."""
        return self.menus.all_actions()

    # -- look -----------------------------------------------------------------------------------------------------

    def _theme_name(self) -> str:
        name = self.settings.theme
        return system_theme_name() if name == "system" else name

    @Slot(str)
    def set_theme(self, name: str) -> None:
        """``light``, ``dark`` or ``system``; remembered."""
        self.settings.theme = name
        self.menus.show_theme(name)
        self._apply_theme()

    @Slot()
    def _on_system_theme(self) -> None:
        if self.settings.theme == "system":
            self._apply_theme()

    def _apply_theme(self) -> None:
        theme = load_theme(self._theme_name())
        apply_theme(theme)
        self.bridge.set_theme(theme)
        self.welcome.set_theme(theme)
        self._set_icons()

    def reset_layout(self) -> None:
        """All docks as at a first start."""
        self.settings.forget_layout()
        self.docks.reset()

    def _toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # -- events ---------------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        take_paths(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = take_paths(event)
        if paths:
            self.open_paths(paths)

    def open_paths(self, paths: list[Path], ask: bool = True) -> None:
        """Open what was dropped or named: a folder or many files as a list with verdicts; of a few the first, and the
        others beside it."""
        folders = [path for path in paths if path.is_dir()]
        if folders:
            self.tools.show_folder(folders[0])
            if len(paths) > 1:
                left = len(paths) - 1
                self.bridge.message.emit(f"Only {folders[0].name} is listed; drop the {left} other on its own.")
        elif len(paths) >= MANY_FILES:
            self.tools.show_folder(paths)
        elif not ask or self.files.may_leave():
            self.files.open_together(paths[0], paths[1:])

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes past what stands in a view behind another: Qt takes that for visible, but nobody sees it."""
        start: QWidget | None = self.focusWidget()
        if start is None:
            return super().focusNextPrevChild(forward)
        after = QWidget.nextInFocusChain if forward else QWidget.previousInFocusChain
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        widget = after(start)
        while widget is not None and widget is not start:
            if _takes_tab(widget) and widget.window() is self and not _is_behind(widget):
                widget.setFocus(reason)
                return True
            widget = after(widget)
        return False

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.closed:
            if not self.files.may_leave():
                event.ignore()
                return
            layout = self.docks.keep() if self._arranged else self.settings.layout
            self.settings.keep_window(self.saveGeometry(), layout)
            self.settings.sync()
            self.shut_down()
        super().closeEvent(event)

    def shut_down(self, keep_edits: bool = False) -> None:
        """End every thread, process and timer of this window.

        ``keep_edits``: there was no asking about edits that are not exported, so they are offered at the next start.
        """
        self.closed = True
        self.hide()
        self.keyguard.release()
        self.tools.close()
        self.files.close(keep_edits)
        self.exporter.close()
        self.view_exporter.close()
        self.report_exporter.close()
        self.estimates.close()
        self.docks.shut_down()
        self.verdict.shut_down()
        self.bridge.close()
        self.gone.emit(self)


def _takes_tab(widget: QWidget) -> bool:
    by_tab = Qt.FocusPolicy.TabFocus
    takes = widget.focusPolicy() & by_tab == by_tab and widget.focusProxy() is None
    return takes and widget.isVisible() and widget.isEnabled()


def _is_behind(widget: QWidget) -> bool:
    """Whether a widget belongs to a view of which nothing can be seen."""
    around: QWidget | None = widget
    while around is not None and not isinstance(around, View):
        around = around.parentWidget()
    return around is not None and not around.is_in_sight
