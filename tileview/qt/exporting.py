"""Everything that leaves the window: a recipe, a picture, a table, a summary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QWidget

from tileview.errors import TileViewError
from tileview.formats.save import Changes, render, write_atomic
from tileview.formats.search_state import SearchState
from tileview.formats.timeline_writer import dump_timeline
from tileview.model.sizes import Size, Unavailable, exact_text
from tileview.model.timeline import Timeline
from tileview.model.timeline_file import TimelineFile
from tileview.qt.actions import Command
from tileview.qt.bridge import Bridge
from tileview.qt.dialogs import ErrorDialog, confirm
from tileview.qt.docks import DockArea
from tileview.qt.jobs import Background
from tileview.qt.settings import Settings
from tileview.qt.views.base import View
from tileview.session.session import Session

RECIPES = "Recipes (*.json);;All files (*)"


def suggested_name(path: Path) -> str:
    """``x.recipe.json`` becomes ``x.fixed.recipe.json``: never the name of the opened file."""
    name = path.name
    for ending in (".recipe.json", ".json"):
        if name.endswith(ending):
            return f"{name.removesuffix(ending)}.fixed{ending}"
    return f"{name}.fixed.json"


def same_file(first: Path, second: Path) -> bool:
    """Whether two paths name one file, links and spellings included."""
    try:
        return first.exists() and second.exists() and first.samefile(second)
    except OSError:
        return first.absolute() == second.absolute()


def summary_markdown(session: Session) -> str:
    """What the window shows, as Markdown: verdict, peaks, budgets, edits, notes."""
    document, timeline, verdict = session.document, session.timeline, session.verdict
    if document is None or verdict is None:
        return ""
    word = "fits" if verdict.fits else "does not fit"
    lines = [f"## {_markdown(document.name)}: {word}", "", _markdown(verdict.text), ""]
    if timeline is not None:
        peak = timeline.peak
        rows: list[tuple[str, Size]] = [
            ("total peak", peak.total),
            ("standard peak", peak.standard),
            ("interleaved peak", peak.interleaved),
            ("largest standard allocation", peak.maximum_standard_allocation),
            ("exchange rows (not counted)", peak.exchange_rows),
            ("reserve", timeline.reserve_bytes),
            ("budget", timeline.budget_bytes),
            ("interleaved budget", timeline.interleaved_budget_bytes),
        ]
        lines += ["| | bytes |", "| --- | ---: |", *(f"| {name} | {exact_text(size)} |" for name, size in rows), ""]
    if isinstance(verdict.short_bytes, Unavailable):
        lines += ["How many bytes are short is unavailable.", ""]
    edits = session.history.done
    if edits:
        lines += ["Edits:", "", *(f"- {_markdown(edit.label)}" for edit in edits), ""]
    if timeline is not None and timeline.notes:
        lines += ["Notes:", "", *(f"- {_markdown(note)}" for note in timeline.notes), ""]
    return "\n".join(lines)


def _markdown(text: str) -> str:
    """A text with everything that Markdown or HTML would take for markup set off by backslashes."""
    line = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|~&" else char for char in line)


class Exporter(QObject):
    """The export commands of one window."""

    written = Signal(object)
    """A recipe now stands under this path."""

    def __init__(self, bridge: Bridge, settings: Settings, docks: DockArea, window: QWidget) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._settings = settings
        self._docks = docks
        self._window = window
        self._writing = Background(self)
        self._writing.done.connect(self._on_written)
        self._writing.failed.connect(self._on_not_written)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command("export_recipe", "&Export recipe…", "File", self.export_recipe, ("Ctrl+E",),
                    "Write the recipe with the edits in force to a file", self._has_recipe, icon="export",
                    separator_before=True),
            Command("export_timeline", "Export ti&meline…", "File", self.export_timeline, (),
                    "Write the estimate in force as a memory timeline of version 3", self._has_timeline),
            Command("export_picture", "Export view as &picture…", "File", self.export_picture, (),
                    "Write the view with the focus as PNG or SVG", icon="picture"),
            Command("export_table", "Export &table as CSV…", "File", self.export_table, (),
                    "Write the table of the view with the focus as CSV", icon="table"),
        )  # fmt: skip

    def edit_commands(self) -> tuple[Command, ...]:
        return (
            Command("copy_summary", "&Copy summary", "Edit", self.copy_summary, ("Ctrl+Shift+C",),
                    "Copy verdict, peaks and edits as Markdown", self._has_verdict, separator_before=True, icon="copy"),
        )  # fmt: skip

    def _has_recipe(self) -> bool:
        document = self._bridge.session.document
        return document is not None and document.is_recipe

    def _has_timeline(self) -> bool:
        session = self._bridge.session
        return session.is_current and session.timeline is not None

    def _has_verdict(self) -> bool:
        return self._bridge.session.verdict is not None

    # -- the recipe -----------------------------------------------------------------------------------------------

    def export_recipe(self, argument: object = None) -> bool:
        """Ask for a file (or take the path given) and write the recipe; False where nothing was written."""
        session = self._bridge.session
        document, recipe = session.document, session.recipe
        if document is None or recipe is None or not isinstance(document.source, SearchState):
            return False
        target = (
            Path(str(argument))
            if argument is not None
            else self._ask("Export recipe", document.path.with_name(suggested_name(document.path)), RECIPES)
        )
        if target is None or not self._may_replace(document.path, target):
            return False
        try:
            state = session.state
            boundaries = recipe.open_boundaries if state.boundaries else None
            changes = Changes(plans=state.swaps, inputs=state.homes, open_boundaries=boundaries)
            write_atomic(target, render(document.source, changes))
        except (TileViewError, OSError) as error:
            ErrorDialog("Not exported", str(error), "", self._window).open()
            return False
        self._settings.folder = str(target.parent)
        session.mark_clean()
        self.written.emit(target)
        text = f"Exported to {target}."
        if session.state.overrides.budget_bytes is not None or session.state.overrides.reserve_bytes is not None:
            text += " What-if budget and reserve are no part of a recipe and are not in the file."
        self._bridge.message.emit(text)
        return True

    def _ask(self, title: str, suggested: Path, kinds: str) -> Path | None:
        """Ask where to write; whether something may be replaced is asked later, in words of our own."""
        folder = Path(self._settings.folder) if self._settings.folder else suggested.parent
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            title,
            str(folder / suggested.name),
            kinds,
            options=QFileDialog.Option.DontConfirmOverwrite,
        )
        return Path(name) if name else None

    def _may_replace(self, opened: Path, target: Path) -> bool:
        if same_file(opened, target):
            return confirm(
                self._window,
                "Replace the opened file?",
                f"{target.name} is the file that is open. Replace it with the edited recipe?",
                "Replace the opened file",
                "Its plans as opened would then be in no file any more.",
            )
        if target.exists():
            return confirm(self._window, "Replace file?", f"{target} exists already. Replace it?", "Replace")
        return True

    # -- the timeline ---------------------------------------------------------------------------------------------

    def export_timeline(self, argument: object = None) -> None:
        """Ask for a file (or take the path given) and write the estimate in force in the compiler's own schema.

        Written on a thread: with the numbers of every tile it can be tens of megabytes.
        """
        session = self._bridge.session
        document, timeline = session.document, session.timeline
        if document is None or timeline is None or self._writing.is_running:
            return
        if argument is not None:
            target: Path | None = Path(str(argument))
        else:
            name = f"{document.path.stem.removesuffix('.recipe')}.timeline.json"
            target = self._ask("Export timeline", document.path.with_name(name), "Timelines (*.json);;All files (*)")
        if target is None or not self._may_replace(document.path, target):
            return
        options = document.source.options if isinstance(document.source, TimelineFile) else ()
        self._writing.start(partial(_write_timeline, target, timeline, options))

    @Slot(object)
    def _on_written(self, target: Path) -> None:
        self._settings.folder = str(target.parent)
        self._bridge.message.emit(f"Exported to {target}.")

    @Slot(str, str)
    def _on_not_written(self, summary: str, details: str) -> None:
        ErrorDialog("Not exported", summary, details, self._window).open()

    def close(self) -> None:
        """Wait for a file that is being written: it would be left half done otherwise."""
        self._writing.close()

    # -- views ----------------------------------------------------------------------------------------------------

    def _view(self, argument: object) -> View | None:
        if isinstance(argument, str):
            return self._docks.views.get(argument)
        return self._docks.current_view()

    def export_picture(self, argument: object = None) -> None:
        view = self._view(argument)
        if view is None:
            self._bridge.message.emit("Click into the view that is to be exported first.")
            return
        name, chosen = QFileDialog.getSaveFileName(
            self._window,
            f"Export {view.title} as picture",
            str(Path(self._settings.folder) / f"{view.name}.png"),
            "Pictures (*.png);;Drawings (*.svg)",
        )
        if name:
            ending = ".svg" if chosen.startswith("Drawings") else ".png"
            path = Path(name)
            self.write_picture(view, path if path.suffix.lower() in (".png", ".svg") else Path(f"{name}{ending}"))

    def write_picture(self, view: View, path: Path) -> bool:
        """Write a view as PNG, or as SVG where the name ends so and the view can; False where it failed."""
        if path.suffix.lower() == ".svg":
            written = view.export_svg(path) or save_svg(view, path)
        else:
            written = view.grab().save(str(path), "PNG")
        self._report(path, written)
        return written

    def export_table(self, argument: object = None) -> None:
        view = self._view(argument)
        text = None if view is None else view.table_csv()
        if view is None or text is None:
            self._bridge.message.emit("Click into the table that is to be exported first.")
            return
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            f"Export {view.title} as CSV",
            str(Path(self._settings.folder) / f"{view.name}.csv"),
            "Tables (*.csv)",
        )
        if name:
            self.write_table(view, Path(name))

    def write_table(self, view: View, path: Path) -> bool:
        """Write a view's table as CSV; False where it has none or the file cannot be written."""
        text = view.table_csv()
        if text is None:
            return False
        try:
            write_atomic(path, text.encode("utf-8", errors="backslashreplace"))
            written = True
        except (TileViewError, OSError):
            written = False
        self._report(path, written)
        return written

    def _report(self, path: Path, written: bool) -> None:
        if written:
            self._settings.folder = str(path.parent)
            self._bridge.message.emit(f"Exported to {path}.")
        else:
            ErrorDialog("Not exported", f"{path} could not be written.", "", self._window).open()

    def copy_summary(self, _argument: object = None) -> None:
        QGuiApplication.clipboard().setText(summary_markdown(self._bridge.session))
        self._bridge.message.emit("Summary copied as Markdown.")


def _write_timeline(target: Path, timeline: Timeline, options: Sequence[tuple[str, str]]) -> Path:
    write_atomic(target, dump_timeline(timeline, options))
    return target


def save_svg(view: View, path: Path) -> bool:
    """Paint a view into an SVG file."""
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(view.size())
    generator.setViewBox(view.rect())
    generator.setTitle(view.title)
    view.render(generator)
    return path.exists() and path.stat().st_size > 0
