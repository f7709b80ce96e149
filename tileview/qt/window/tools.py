"""The commands that open something: palette, "go to", key sheet, reference, About, a folder; and background work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QInputDialog, QLineEdit, QWidget

from tileview.present.cycle_words import FUSION_TIP
from tileview.qt.base.command import Actions, Command
from tileview.qt.base.settings import Settings
from tileview.qt.files.opening import Files
from tileview.qt.jobs.estimates import Estimates
from tileview.qt.jobs.evaluation import Evaluation
from tileview.qt.jobs.placing import Placing
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.qt.views.base import View
from tileview.qt.widgets.dialogs import about
from tileview.qt.window.docks import DockArea
from tileview.qt.window.faults import versions
from tileview.qt.window.navigation import go_to, places_named
from tileview.qt.window.palette import CommandPalette, GoTo, PaletteEntry, entry_of

FIND = "find_operation"


class Tools(QObject):
    """Opens the dialogs of one window and owns them while they are open; ``window`` is only their parent.

    ``menu_actions`` returns every action of the window with the menu it is in, for the palette.
    """

    stopping = Signal()
    """The user asked to end whatever runs in the background."""

    def __init__(
        self,
        bridge: SessionSignals,
        settings: Settings,
        files: Files,
        estimates: Estimates,
        docks: DockArea,
        commands: Actions,
        menu_actions: Callable[[], list[tuple[str, QAction]]],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._session = bridge.session
        self._settings = settings
        self._files = files
        self._estimates = estimates
        self._docks = docks
        self._actions = commands
        self._menu_actions = menu_actions
        self._window = window
        self._closing = False
        self._folder: QDialog | None = None
        self._fix: QDialog | None = None
        self._explain: QDialog | None = None
        self.evaluation = Evaluation(bridge, settings, self)
        self.evaluation.fault.connect(bridge.fault)
        self.evaluation.turned.connect(commands.refresh)
        self.placing = Placing(bridge, settings, self)
        self.placing.fault.connect(bridge.fault)

    def commands(self) -> tuple[Command, ...]:
        there = self._is_open
        evaluation = self.evaluation
        return (
            Command("evaluate_alternatives", "&Evaluate all alternatives", "Plan", self._evaluate, ("Ctrl+R",),
                    "Work out peak and verdict of every alternative in the background", evaluation.can_run,
                    icon="run"),
            Command("pause_evaluation", "Pause e&valuation", "Plan", lambda _: evaluation.toggle_pause(), (),
                    "Rest until you continue; the results that are there stay", evaluation.can_pause,
                    checked=lambda: evaluation.is_paused),
            Command("evaluate_by_itself", "Evaluate &automatically", "Plan", lambda _: evaluation.toggle(), (),
                    "Start in the background as soon as there is an estimate",
                    checked=lambda: self._settings.evaluate_by_itself),
            Command("place", "P&lace now", "Plan", lambda _: self.placing.place(), (),
                    "Work out whether every tile can be placed", self.placing.can_run),
            Command("place_by_itself", "Place au&tomatically", "Plan", lambda _: self.placing.toggle(), (),
                    "Place the program in the background as soon as there is an estimate",
                    checked=lambda: self._settings.place_by_itself),
            Command("go_to", "&Go to operation, step or tile…", "Go", lambda _: self.ask_where(), ("Ctrl+G",),
                    "Go to an operation, a step or a tile by number or name", there, separator_before=True,
                    icon="search"),
            Command("find", "Fin&d in view", "Go", lambda _: self._in_view(FIND), ("Ctrl+F",),
                    "Search in the view with the focus, else in the graph", there),
            Command("centre", "&Centre the selection", "Go", lambda _: self._in_view("centre_selection"), ("F",),
                    "Bring what is selected into the middle of the view", there),
            Command("fit", "Show &all", "Go", lambda _: self._in_view("fit"), ("0",),
                    "Fit the whole picture into the view", there),
            Command("look_for_fusions", "Use f&usions", "Plan", lambda _: self._toggle_fusions(), (), FUSION_TIP,
                    self._has_recipe, separator_before=True, checked=lambda: self._session.state.overrides.fusion),
            Command("compare_fusions", "Compare &with and without fusions", "Plan", lambda _: self._compare_fusions(),
                    (), "Show the program with the other choice of fusions beside the current one",
                    self._can_compare_fusions),
            Command("choose", "&Memory against cycles", "Plan", self._choose, ("Ctrl+M",),
                    "See all alternatives, single swaps or fixes by memory and planner's cycles", self._has_recipe),
            Command("find_fix", "&Find fix…", "Plan", lambda _: self.find_fix(), ("Ctrl+Shift+F",),
                    "Search for the fewest swaps that make the program fit", self._is_current, icon="fix"),
            Command("pin", "&Pin the current state…", "Plan", lambda name: self._pin(name), (),
                    "Keep the current state for comparison", self._is_current, icon="pin"),
            Command("compare_alternative", "Compare alternative", "Plan", self._compare_alternative, in_menu=False),
            Command("stop", "&Stop background work", "Plan", lambda _: self.stop(), (),
                    "End what runs in the background", icon="stop"),
            Command("commands", "&All commands…", "Help", lambda _: self.show_palette(), ("Ctrl+Shift+P",),
                    "Find any command by typing", icon="commands"),
            Command("key_sheet", "&Keys", "Help", lambda _: self.show_keys(), ("?", "F1"), "All keys", icon="keys"),
            Command("reference", "&Reference", "Help", lambda page: self.show_reference(page), (),
                    "Formats, how the estimate is made, glossary", icon="help"),
            Command("explain", "&Explain a compiler message…", "Help", lambda _: self.explain_message(), (),
                    "What a compiler message means for the open files"),
            Command("about", "A&bout TileView", "Help", lambda _: about(self._window, versions()).open(), (),
                    "Versions", separator_before=True, icon="note"),
        )  # fmt: skip

    def _evaluate(self, argument: object) -> None:
        self.evaluation.evaluate(argument if isinstance(argument, int | tuple) else None)

    def file_commands(self) -> tuple[Command, ...]:
        return (
            Command("show_folder", "Show folder", "File", lambda folder: self.show_folder(Path(str(folder))),
                    in_menu=False),
            Command("back_to_list", "&Back to the list of dumps", "File", lambda _: self.back_to_list(), ("Ctrl+L",),
                    "Show the list of dumps that the file was opened from", self._has_list, icon="folder"),
        )  # fmt: skip

    def _has_list(self) -> bool:
        return self._folder is not None

    def _is_open(self) -> bool:
        return self._session.document is not None

    def _has_recipe(self) -> bool:
        return self._session.recipe is not None

    def _toggle_fusions(self) -> None:
        self._session.set_fusion(not self._session.state.overrides.fusion)

    def _can_compare_fusions(self) -> bool:
        return self._has_recipe() and self._session.is_current

    def _compare_fusions(self) -> None:
        """Pin the current state with the other choice of fusions, beside it in Compare."""
        self._estimates.compare_fusion(not self._session.state.overrides.fusion)
        self._docks.show_view("compare")

    def _choose(self, argument: object) -> None:
        """Show memory against cycles; of an operation where its number is given, of fixes where these are."""
        from tileview.qt.views.choose import ChooseView

        view = self._docks.show_view("choose")
        if isinstance(view, ChooseView) and argument is not None:
            view.show_choices(argument)

    def _is_current(self) -> bool:
        document = self._session.document
        return self._session.is_current and document is not None and not document.no_program

    # -- going and finding ----------------------------------------------------------------------------------------

    def ask_where(self) -> None:
        """Ask for an operation, a step or a tile."""
        GoTo(self._places, self._window).start()

    def _places(self, text: str) -> Sequence[PaletteEntry]:
        session = self._session
        return [PaletteEntry(line, "", partial(go_to, session, place)) for place, line in places_named(session, text)]

    def _in_view(self, method: str) -> None:
        """Call what the current view offers under this name, else what the graph or the tiles do."""
        docks = self._docks
        for find in (docks.current_view, partial(docks.views.get, "graph"), partial(docks.views.get, "tiles")):
            view = find()
            call = getattr(view, method, None)
            if isinstance(view, View) and callable(call):
                if method == FIND:
                    docks.show_view(view.name)
                call()
                return

    def _pin(self, name: object) -> None:
        session = self._session
        edits = session.history.done
        label = str(name) if name else (edits[-1].label if edits else "as opened")
        if not name:
            label, named = QInputDialog.getText(
                self._window, "Pin the current state", "Name:", QLineEdit.EchoMode.Normal, label
            )
            if not named:
                return
        if session.pin_current(label) is not None:
            self._bridge.message.emit(f"Pinned as {label}.")

    def _compare_alternative(self, argument: object) -> None:
        if isinstance(argument, tuple) and len(argument) == 2:
            self._estimates.compare_swap(int(argument[0]), int(argument[1]))

    # -- dialogs --------------------------------------------------------------------------------------------------

    def show_palette(self) -> None:
        docks = self._docks.toggle_actions()
        entries = [entry_of(action, menu, before="Show or hide " if action in docks else "")
                   for menu, action in self._menu_actions()]  # fmt: skip
        entries += [
            PaletteEntry(f"Open {path.name}", "recent", partial(self._files.open, path), path.exists(), str(path))
            for path in self._settings.recent
        ]
        CommandPalette(entries, self._window).start()

    def show_keys(self) -> None:
        from tileview.qt.window.help import KeySheet, action_sections, view_sections

        more = [action for view in self._docks.views.values() for action in view.view_actions()]
        KeySheet([*action_sections(self._actions, more), *view_sections()], self._window).open()

    def show_reference(self, page: object = None) -> None:
        from tileview.qt.window.help import Reference

        dialog = Reference(self._window)
        if isinstance(page, str):
            dialog.show_page(page)
        dialog.show()

    def show_folder(self, source: Path | Sequence[Path]) -> None:
        """List the dumps of a folder, or those named, with their verdicts."""
        from tileview.qt.files.folder import FolderDialog

        if self._folder is not None:
            self._folder.destroyed.disconnect(self._on_folder_gone)
            self._folder.close()
        self._folder = FolderDialog(source, self._bridge.theme, self._window)
        self._folder.chosen.connect(self._on_chosen)
        self._folder.together.connect(self._on_together)
        self._folder.destroyed.connect(self._on_folder_gone)
        self._folder.show()
        self._actions.refresh()

    def back_to_list(self) -> None:
        """Show the list of dumps as it was left, with what has become known meanwhile."""
        if self._folder is not None:
            self._folder.show()
            self._folder.raise_()
            self._folder.activateWindow()

    @Slot(object)
    def _on_together(self, paths: list[Path]) -> None:
        """Open files of the list as one; it gives way as for a single one."""
        if self._folder is not None and self._files.may_leave():
            self._files.open_together(paths[0], paths[1:])
            self._folder.hide()

    @Slot(object)
    def _on_chosen(self, path: Path) -> None:
        """Open a file of the list, which gives way but is kept; it stays where the user keeps what is open."""
        if self._files.open(path) and self._folder is not None:
            self._folder.hide()
            self._bridge.message.emit("Ctrl+L shows the list of dumps again.")

    @Slot()
    def _on_folder_gone(self) -> None:
        self._folder = None
        if not self._closing:
            self._actions.refresh()

    def find_fix(self) -> None:
        """Open the fix dialog and start its search."""
        from tileview.qt.files.fix import FixDialog

        dialog = FixDialog(self._bridge, self._window)
        self._fix = dialog
        dialog.destroyed.connect(self._on_fix_gone)
        dialog.open()
        dialog.search()

    def explain_message(self) -> None:
        """Open the dialog that explains a compiler's sentence; it stays beside the window."""
        from tileview.qt.files.explain_message import ExplainDialog

        if self._explain is None:
            self._explain = ExplainDialog(self._bridge, self._window)
            self._explain.finished.connect(self._on_explain_gone)
        self._explain.show()
        self._explain.activateWindow()

    @Slot()
    def _on_explain_gone(self) -> None:
        if self._explain is not None:
            self._explain.deleteLater()
        self._explain = None

    @Slot()
    def _on_fix_gone(self) -> None:
        self._fix = None

    # -- background work ------------------------------------------------------------------------------------------

    @Slot()
    def stop(self) -> None:
        """End what the status bar shows as running."""
        self.evaluation.stop()
        self.placing.stop()
        self._files.loader.cancel()
        self.stopping.emit()

    def close(self) -> None:
        self._closing = True
        if self._folder is not None:
            self._folder.close()
        if self._fix is not None:
            self._fix.reject()
        if self._explain is not None:
            self._explain.reject()
        self.evaluation.close()
        self.placing.close()
