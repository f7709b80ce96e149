"""The menu bar: commands by menu, recent files, samples, themes, and what each view offers."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QMenuBar

from tileview.qt.base.command import MENUS, Actions, with_mnemonics
from tileview.qt.base.settings import Settings
from tileview.qt.base.text import safe_tip, short_path
from tileview.qt.files.opening import samples
from tileview.qt.window.docks import DockArea

THEMES = (("system", "As the &system"), ("light", "&Light"), ("dark", "&Dark"))


class Menus(QObject):
    """Fills a menu bar with the commands of one window and keeps its lists up to date."""

    path_chosen = Signal(object)
    """A recent file or a sample is to be opened."""
    theme_chosen = Signal(str)
    """``light``, ``dark`` or ``system``."""

    def __init__(
        self, bar: QMenuBar, commands: Actions, docks: DockArea, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._commands = commands
        self._docks = docks
        self._settings = settings
        self._recent = QMenu("Open rece&nt", bar)
        self._recent.setToolTipsVisible(True)
        self._recent.aboutToShow.connect(self._fill_recent)
        self._fill_recent()
        self._samples = QMenu("&Samples", bar)
        self._fill_samples()
        self._themes = QMenu("&Theme", bar)
        self._theme_group = QActionGroup(self)
        self._fill_themes()
        menus = {title: bar.addMenu(f"&{title}") for title in MENUS}
        for title, menu in menus.items():
            menu.setToolTipsVisible(True)
            self._fill(title, menu)
        self._fill_view(menus["View"])

    def _fill(self, title: str, menu: QMenu) -> None:
        for command in self._commands.commands():
            if command.menu != title or not command.in_menu:
                continue
            if command.separator_before:
                menu.addSeparator()
            menu.addAction(self._commands.action(command.name))
            if command.name == "open":
                menu.addMenu(self._recent)
                menu.addMenu(self._samples)

    def _fill_view(self, menu: QMenu) -> None:
        """Themes, then one submenu a view: go to it, show or hide it, and what it offers itself."""
        menu.addMenu(self._themes)
        menu.addSeparator()
        once = Qt.ConnectionType.SingleShotConnection
        titles = self._docks.views.titles()
        for name, title in zip(titles, with_mnemonics(list(titles.values()), "tfrm"), strict=True):
            submenu = menu.addMenu(title)
            submenu.addAction(self._commands.action(f"show_{name}"))
            submenu.addAction(self._docks.toggle_action(name))
            submenu.aboutToShow.connect(partial(self._add_offers, name, submenu), once)

    def _add_offers(self, name: str, submenu: QMenu) -> None:
        """What a view offers itself is asked of it when its menu is first opened."""
        view = self._docks.views[name]
        submenu.addSeparator()
        submenu.addActions(view.view_actions())
        submenu.addSeparator()
        submenu.addActions(view.export_actions())

    @Slot()
    def _fill_recent(self) -> None:
        self._recent.clear()
        for place, path in enumerate(self._settings.recent, start=1):
            there = path.exists()
            name = short_path(path).replace("&", "&&")
            number = f"&{place}" if place < 10 else str(place)
            action = self._recent.addAction(f"{number}  {name if there else f'{name} (missing)'}")
            action.setToolTip(safe_tip(str(path) if there else f"{path} is no longer there"))
            action.setEnabled(there)
            action.triggered.connect(partial(self._choose, path))
        self._recent.addSeparator()
        clear = self._recent.addAction("&Clear the list")
        clear.triggered.connect(self._settings.clear_recent)
        clear.setEnabled(bool(self._settings.recent))

    def _fill_samples(self) -> None:
        found = samples()
        for path in found:
            action = self._samples.addAction(path.name.replace("&", "&&"))
            action.triggered.connect(partial(self._choose, path))
        self._samples.setEnabled(bool(found))

    def _choose(self, path: object, _checked: bool = False) -> None:
        self.path_chosen.emit(path)

    def _fill_themes(self) -> None:
        for name, text in THEMES:
            action = QAction(text, self._theme_group)
            action.setCheckable(True)
            action.setData(name)
            self._themes.addAction(action)
        self._theme_group.triggered.connect(self._on_theme)
        self.show_theme(self._settings.theme)

    @Slot(QAction)
    def _on_theme(self, action: QAction) -> None:
        self.theme_chosen.emit(str(action.data()))

    def show_theme(self, name: str) -> None:
        """Mark the theme that was chosen."""
        for action in self._theme_group.actions():
            action.setChecked(action.data() == name)

    def all_actions(self) -> list[tuple[str, QAction]]:
        """Every action with the menu it is in, for the palette: commands, docks, themes, actions of views."""
        going = {f"show_{name}" for name in self._docks.views} | {"next_view", "previous_view"}
        found = [(command.menu, self._commands.action(command.name)) for command in self._commands.commands()
                 if command.in_menu or command.name in going]  # fmt: skip
        found += [("View", action) for action in self._docks.toggle_actions()]
        found += [("Theme", action) for action in self._theme_group.actions()]
        for view in self._docks.views.values():
            found += [(view.title, action) for action in view.menu_actions()]
        return found
