"""Following a file that another program replaces: noticing it, and carrying the edits over to the new content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline, TimelineValue
from tileview.model.timeline_file import FileValue, TimelineFile
from tileview.session.document import Document
from tileview.session.selection import Selection
from tileview.session.state import EditState

SETTLE_MS = 300
"""A file is looked at when it has been left alone for so long."""


def stamp(path: Path) -> list[int]:
    """What tells one content of a file from another without reading it: size and time; empty where it is gone."""
    try:
        status = path.stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]


class FileWatch(QObject):
    """Tells when the content under a path is another one.

    Compilers replace files by rename, which ends the watch on the old file, so the folder is watched as well; what
    counts is size and time under the path, compared after things have settled.
    """

    changed = Signal(object)
    missing = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._on_event)
        self._watcher.directoryChanged.connect(self._on_event)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLE_MS)
        self._timer.timeout.connect(self._look)
        self._path: Path | None = None
        self._seen: list[int] = []
        self._unsettled: list[int] = []

    def watch(self, path: Path | None) -> None:
        """Watch another path, as its content is now; None watches nothing."""
        self._timer.stop()
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._path = path
        if path is not None:
            self._seen = stamp(path)
            self._arm()

    def seen(self) -> None:
        """The content that stands there now has been taken in."""
        if self._path is not None:
            self._seen = stamp(self._path)

    def _arm(self) -> None:
        """(Re)place the watches; a file that was renamed over has lost its own."""
        assert self._path is not None
        wanted = {str(self._path), str(self._path.parent)}
        missing = wanted - set(self._watcher.files()) - set(self._watcher.directories())
        for name in missing:
            if Path(name).exists():
                self._watcher.addPath(name)

    @Slot(str)
    def _on_event(self, _name: str) -> None:
        if self._path is not None:
            self._unsettled = stamp(self._path)
            self._timer.start()

    @Slot()
    def _look(self) -> None:
        if self._path is None:
            return
        now = stamp(self._path)
        if now != self._unsettled:
            self._unsettled = now
            self._timer.start()
            return
        self._arm()
        if now == self._seen:
            return
        self._seen = now
        (self.changed if now else self.missing).emit(self._path)

    def close(self) -> None:
        self.watch(None)


@dataclass(frozen=True, slots=True)
class Carried:
    """Edits for the new content, and a sentence for each edit that no longer makes sense in it."""

    state: EditState
    conflicts: tuple[str, ...]


def carry_over(old: Document, new: Document, state: EditState) -> Carried:
    """What of the edits on a document can be done on its new content.

    A swap is carried over where the new file has the same operation and an alternative *equal* to the one swapped in,
    wherever it stands in its list; homes and boundaries where the value still has the same shape; layouts where the
    timeline still has a value of the same id, name and shape. Budgets are always kept.
    """
    if old.recipe is not None and new.recipe is not None:
        return _carry_recipe(old.recipe, new.recipe, state)
    if isinstance(old.source, TimelineFile) and isinstance(new.source, TimelineFile):
        return _carry_timeline(old.source, new.source, state)
    lost = () if state.plan_key() == EditState().plan_key() else ("The file is of another kind now: no edit applies.",)
    return Carried(EditState(overrides=state.overrides), lost)


def _carry_recipe(old: Recipe, new: Recipe, state: EditState) -> Carried:
    conflicts: list[str] = []
    swaps: dict[int, int] = {}
    for operation, index in state.swaps.items():
        wanted = old.alternatives[operation][index]
        if operation not in new.plans:
            conflicts.append(f"Operation {operation} is gone; alternative {index} was swapped in.")
            continue
        if new.plans[operation] == wanted:
            continue  # the new file has the swap already
        found = [place for place, plan in enumerate(new.alternatives.get(operation, ())) if plan == wanted]
        if found:
            swaps[operation] = found[0]
        else:
            conflicts.append(f"Operation {operation} has lost the alternative that was swapped in ({index}).")
    homes = {}
    for value, home in state.homes.items():
        if _same_shape(old, new, value):
            homes[value] = home
        else:
            conflicts.append(f"Input {value}, whose home was changed, is gone or has another shape.")
    boundaries = {}
    for value, is_open in state.boundaries.items():
        if _same_shape(old, new, value):
            boundaries[value] = is_open
        else:
            conflicts.append(f"Value {value}, whose boundary was changed, is gone or has another shape.")
    kept = EditState(swaps=swaps, homes=homes, boundaries=boundaries, overrides=state.overrides)
    return Carried(kept, tuple(conflicts))


def _same_shape(old: Recipe, new: Recipe, value: int) -> bool:
    before, after = old.graph.shape_of(value), new.graph.shape_of(value)
    return before is not None and before == after


def _carry_timeline(old: TimelineFile, new: TimelineFile, state: EditState) -> Carried:
    places = {file_identity(value): index for index, value in enumerate(new.values)}
    layouts, conflicts = {}, []
    for index, layout in state.layouts.items():
        value = old.values[index]
        found = places.get(file_identity(value))
        if found is None:
            conflicts.append(f"Value {value.name}, whose layout was changed, is gone or has another shape.")
        else:
            layouts[found] = layout
    return Carried(EditState(layouts=layouts, overrides=state.overrides), tuple(conflicts))


def file_identity(value: FileValue) -> tuple[object, ...]:
    """What a value of a timeline is known again by."""
    return value.id, value.name, value.shape


def carry_selection(selection: Selection, old: Timeline | None, new: Timeline | None) -> Selection:
    """The selection in a new timeline: the same step, tiles and operation; the allocation by id, name and shape."""
    allocation = selection.allocation
    if allocation is not None and old is not None and new is not None and allocation < len(old.values):
        wanted = _identity(old.values[allocation])
        allocation = next((root for root in new.aliases if _identity(new.values[root]) == wanted), None)
    return replace(selection, allocation=allocation)


def _identity(value: TimelineValue) -> tuple[object, ...]:
    return value.id, value.name, value.shape
