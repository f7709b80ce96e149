"""The window: verdict bar, docks, menus, status bar, and how they work together."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from tileview.qt.actions import MENUS, Actions, Command
from tileview.qt.bridge import Bridge
from tileview.qt.docks import DockArea
from tileview.qt.settings import Settings
from tileview.qt.theme import load_theme, system_theme_name
from tileview.session.session import Session


class MainWindow(QMainWindow):
    """One window on one session. It owns everything it shows; closing it ends all its work."""

    def __init__(
        self, session: Session | None = None, settings: Settings | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("window")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.settings = Settings() if settings is None else settings
        self.session = Session() if session is None else session
        self.bridge = Bridge(self.session, load_theme(self._theme_name()), self)
        self.commands = Actions(self)
        self.docks = DockArea(self.bridge, self)
        self.setCentralWidget(self.docks)
        self.commands.add(self._own_commands())
        self._build_menus()
        self.bridge.requested.connect(self._on_requested)
        self.bridge.message.connect(self._on_message)
        self.resize(QSize(1280, 800))

    def _theme_name(self) -> str:
        name = self.settings.theme
        return system_theme_name() if name == "system" else name

    def _own_commands(self) -> tuple[Command, ...]:
        return (
            Command("quit", "&Quit", "File", lambda _: self.close(), ("Ctrl+Q",)),
            Command("undo", "&Undo", "Edit", lambda _: self.session.undo(), ("Ctrl+Z",)),
            Command("redo", "&Redo", "Edit", lambda _: self.session.redo(), ("Ctrl+Shift+Z", "Ctrl+Y")),
            Command("reset_layout", "&Reset layout", "View", lambda _: self.docks.reset()),
            Command("show_view", "Show view", "View", lambda name: self.docks.show_view(str(name)), in_menu=False),
        )

    def _build_menus(self) -> None:
        for title in MENUS:
            menu = self.menuBar().addMenu(f"&{title}")
            if title == "View":
                menu.addActions(self.docks.toggle_actions())
            for command in self.commands.commands():
                if command.menu == title and command.in_menu:
                    menu.addAction(self.commands.action(command.name))

    def _on_requested(self, name: str, argument: object) -> None:
        self.commands.run(name, argument)

    def _on_message(self, text: str) -> None:
        self.statusBar().showMessage(text, 8000)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.docks.shut_down()
        self.bridge.close()
        super().closeEvent(event)


def show_window(application: QApplication) -> MainWindow:
    """A window on nothing, for trying views."""
    application.setStyle("Fusion")
    window = MainWindow()
    application.setPalette(window.bridge.theme.palette())
    window.show()
    window.docks.share_space()
    return window
