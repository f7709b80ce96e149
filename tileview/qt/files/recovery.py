"""Edits that survive: carried over to other content, or kept in a small file for after a crash.

The file is JSON of this program's own making. It holds the edits, never the document: what it names is opened again the
usual way. Each file belongs to one window, which holds a lock beside it; a file whose lock is free was left by a
crash. A window of another machine (a shared home folder) shows by renewing its lock that it lives.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLockFile, QObject, QTimer, Slot

from tileview.formats.check import FieldError
from tileview.model.recipe import Recipe
from tileview.model.timeline import Timeline, TimelineValue
from tileview.model.timeline_file import FileValue, TimelineFile
from tileview.qt.base.settings import private_folder, read_private, state_folder, write_private
from tileview.qt.files.watch import look
from tileview.qt.jobs.session_signals import SessionSignals
from tileview.session.document import Document
from tileview.session.edits import EditState, Step, json_of, state_from_json, state_to_json, whole_number, yes_or_no
from tileview.session.session import Selection

Marks = Mapping[str, Mapping[str, str]]
"""Kind of edit → what it is on, by number → what tells that from something else of the same number."""

OTHER_KIND = "The file is of another kind now: no edit applies."


@dataclass(frozen=True, slots=True)
class Carried:
    """Edits for other content, and a sentence for each edit that makes no sense in it."""

    steps: tuple[Step, ...]
    conflicts: tuple[str, ...]

    @property
    def state(self) -> EditState:
        return self.steps[-1][1] if self.steps else EditState()


def marks_of(document: Document, steps: Sequence[Step]) -> Marks:
    """What to keep beside edits that name plans and values by number: the file may be another one later.

    A swap's mark is that of the plan it swaps in; its number is written ``operation:alternative``.
    """
    recipe = document.recipe
    states = [state for _, state in steps]
    if recipe is None:
        values = document.source.values if isinstance(document.source, TimelineFile) else ()
        return {
            "layouts": {str(index): _mark(_file_identity(values[index])) for one in states for index in one.layouts}
        }
    return {
        "swaps": {
            f"{one}:{index}": _mark(recipe.alternatives[one][index])
            for state in states
            for one, index in state.swaps.items()
        },
        "homes": {str(value): _mark(recipe.graph.shape_of(value)) for state in states for value in state.homes},
        "boundaries": {str(one): _mark(recipe.graph.shape_of(one)) for state in states for one in state.boundaries},
    }


def _mark(thing: object) -> str:
    return hashlib.sha256(repr(thing).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def carry_over(document: Document, steps: Sequence[Step], marks: Marks) -> Carried:
    """What of edits made on other content can be done on a document's, step by step.

    A swap is carried over where the document has the same operation and an alternative *equal* to the one swapped in,
    wherever it stands in its list (where it is current already, nothing is left to do); homes and boundaries where the
    value still has the same shape; layouts where the timeline still has a value of the same id, name and shape. Budgets
    are always kept. Conflicts are those of the last step: what is current.
    """
    carry = _RecipeCarrier(document.recipe, marks) if document.recipe is not None else _LayoutCarrier(document, marks)
    done: list[Step] = []
    conflicts: list[str] = []
    for label, state in steps:
        conflicts = []
        after = carry.carry(state, conflicts)
        if after != (done[-1][1] if done else EditState()):
            done.append((label, after))
    return Carried(tuple(done), tuple(conflicts))


class _RecipeCarrier:
    """Carries states over to a recipe."""

    def __init__(self, recipe: Recipe, marks: Marks) -> None:
        self._recipe = recipe
        self._marks = marks
        self._places: dict[tuple[int, int], int | None] = {}

    def carry(self, state: EditState, conflicts: list[str]) -> EditState:
        swaps: dict[int, int] = {}
        for operation, index in state.swaps.items():
            place = self._place(operation, index)
            if operation not in self._recipe.plans:
                conflicts.append(f"Operation {operation} is gone; alternative {index} was swapped in.")
            elif place is None:
                conflicts.append(f"Operation {operation} has lost the alternative that was swapped in ({index}).")
            elif place >= 0:
                swaps[operation] = place
        homes = {value: home for value, home in state.homes.items() if self._is_same("homes", value)}
        boundaries = {value: one for value, one in state.boundaries.items() if self._is_same("boundaries", value)}
        for value in state.homes.keys() - homes.keys():
            conflicts.append(f"Input {value}, whose home was changed, is gone or has another shape.")
        for value in state.boundaries.keys() - boundaries.keys():
            conflicts.append(f"Value {value}, whose boundary was changed, is gone or has another shape.")
        conflicts += [OTHER_KIND] * bool(state.layouts)
        return EditState(swaps=swaps, homes=homes, boundaries=boundaries, overrides=state.overrides)

    def _place(self, operation: int, index: int) -> int | None:
        """Where the alternative is now: −1 where it is current without a swap, None where it is gone."""
        if (operation, index) not in self._places:
            plans = self._recipe.alternatives.get(operation, ())
            in_force = self._recipe.plans.get(operation)
            mark = self._marks.get("swaps", {}).get(f"{operation}:{index}")
            place = -1 if mark == _mark(in_force) else _place(index, plans, mark)
            self._places[operation, index] = -1 if place is not None and plans[place] == in_force else place
        return self._places[operation, index]

    def _is_same(self, kind: str, value: int) -> bool:
        shape = self._recipe.graph.shape_of(value)
        return shape is not None and self._marks.get(kind, {}).get(str(value), _mark(shape)) == _mark(shape)


class _LayoutCarrier:
    """Carries states over to a timeline."""

    def __init__(self, document: Document, marks: Marks) -> None:
        values = document.source.values if isinstance(document.source, TimelineFile) else ()
        self._marks = [_mark(_file_identity(value)) for value in values]
        self._wanted = marks.get("layouts", {})

    def carry(self, state: EditState, conflicts: list[str]) -> EditState:
        layouts = {}
        for index, layout in state.layouts.items():
            wanted = self._wanted.get(str(index))
            if 0 <= index < len(self._marks) and wanted in (None, self._marks[index]):
                layouts[index] = layout
            elif wanted in self._marks:
                layouts[self._marks.index(wanted)] = layout
            else:
                conflicts.append(f"Value {index}, whose layout was changed, is gone or has another shape.")
        conflicts += [OTHER_KIND] * state.is_exportable_change
        return EditState(layouts=layouts, overrides=state.overrides)


def _place(index: int, things: Sequence[object], mark: str | None) -> int | None:
    """Where among things the one stands that had this index and this mark; None where it is gone."""
    if 0 <= index < len(things) and mark in (None, _mark(things[index])):
        return index
    return None if mark is None else next((at for at, thing in enumerate(things) if _mark(thing) == mark), None)


def _file_identity(value: FileValue) -> tuple[object, ...]:
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


VERSION = 2
DELAY_MS = 400
"""Edits in quick succession are written once."""
MOST_BYTES = 16 << 20
"""A file of edits is never larger."""
BEAT_MS = 60_000
"""How often a window renews its lock."""
SILENT_SECONDS = 300
"""A lock of another machine that was not renewed for so long belongs to a window that is gone."""
ASIDE = "set-aside"


@dataclass(frozen=True, slots=True)
class KeptEdits:
    """Edits found in a recovery file, step by step, with their marks (:func:`marks_of`).

    ``fingerprint`` is that of the content they were made on. ``is_rest``: they could not all be applied to what stood
    under their path; they are for that very content only.
    """

    file: Path
    document: Path
    fingerprint: str
    stamp: tuple[int, ...]
    steps: tuple[Step, ...]
    marks: Marks
    is_rest: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for label, _ in self.steps)

    @property
    def state(self) -> EditState:
        """All of the edits together."""
        return self.steps[-1][1]

    @property
    def same_file(self) -> bool:
        """Whether what stands under the path is, by size and time, what the edits were made on."""
        return self.stamp == _size_and_time(self.document) != ()

    def belongs_to(self, document: Document, fingerprint: str) -> bool:
        """Whether the edits are to be offered for a document that was opened."""
        return fingerprint == self.fingerprint or (document.path == self.document and not self.is_rest)

    def discard(self) -> None:
        """The edits are in another file by now, or not wanted."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)

    def keep_rest(self) -> None:
        """Keep them for the content they were made on, since they could not all be applied to another."""
        with suppress(OSError):
            _write(self.file, _to_json(replace(self, is_rest=True)))


@dataclass(slots=True)
class LeftBehind:
    """What crashes have left: edits to offer, newest first, and what was set aside as no file of edits, and why."""

    kept: list[KeptEdits] = field(default_factory=list)
    set_aside: list[str] = field(default_factory=list)

    def note(self) -> str:
        """One sentence about what was set aside; empty where nothing was."""
        if not self.set_aside:
            return ""
        count, more = len(self.set_aside), len(self.set_aside) - 1
        files = "A recovery file" if count == 1 else f"{count} recovery files"
        return (
            f"{files} could not be read and was moved to {recovery_folder() / ASIDE}: {self.set_aside[0]}"
            f"{f'; and {more} more' if more else ''}."
        )


# -- the file ---------------------------------------------------------------------------------------------------------


def _to_json(kept: KeptEdits) -> dict[str, Any]:
    """The content of a file of edits; of each step only the kinds of edits that differ from the step before."""
    steps, before = [], state_to_json(EditState())
    for label, state in kept.steps:
        after = state_to_json(state)
        steps.append({"label": label, "edits": {key: value for key, value in after.items() if value != before[key]}})
        before = after
    return {
        "version": VERSION,
        "document": str(kept.document),
        "fingerprint": kept.fingerprint,
        "stamp": list(kept.stamp),
        "steps": steps,
        "marks": kept.marks,
        "rest": kept.is_rest,
    }


def _from_json(file: Path, raw: Mapping[str, Any]) -> KeptEdits:
    """:func:`_to_json` undone. Raises ValueError, KeyError, TypeError or AttributeError for anything else."""
    if raw["version"] != VERSION:
        raise ValueError(f"it is of version {str(raw['version'])[:40]}, this program writes {VERSION}")
    steps, before = [], state_to_json(EditState())
    for step in raw["steps"]:
        before = {**before, **step["edits"]}
        steps.append((str(step["label"]), state_from_json(before)))
    if not steps:
        raise ValueError("it holds no edits")
    marks = {str(kind): {str(key): str(mark) for key, mark in one.items()} for kind, one in raw["marks"].items()}
    document = str(raw["document"])
    if "\0" in document:
        raise ValueError("the path of its document cannot be one")
    stamp = tuple(whole_number(one, 2**63) for one in raw["stamp"])
    return KeptEdits(file, Path(document), str(raw["fingerprint"]), stamp, tuple(steps), marks, yes_or_no(raw["rest"]))


def _read(file: Path) -> KeptEdits:
    """Read a file of edits. Raises OSError where it cannot be read just now, others where it is none."""
    content = read_private(file, MOST_BYTES)
    return _from_json(file, json_of(content.decode("utf-8", "surrogatepass")))


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Write a file of edits."""
    write_private(file, json.dumps(content).encode("utf-8", "surrogatepass"))


def _size_and_time(path: Path) -> tuple[int, ...]:
    return look(path)[2:4]


# -- who it belongs to ------------------------------------------------------------------------------------------------


def recovery_folder() -> Path:
    """The folder of the recovery files, which nobody else may look into. Raises OSError where there can be none."""
    return private_folder(state_folder() / "recovery")


def _lock_of(file: Path) -> QLockFile:
    """The lock beside a recovery file.

    Whether a process of this machine lives is looked up; one of another machine is silent for long when it is gone.
    """
    path = file.with_suffix(".lock")
    lock = QLockFile(str(path))
    lock.setStaleLockTime(0)
    with suppress(OSError, ValueError, IndexError):
        host = path.read_text(encoding="utf-8", errors="replace").splitlines()[2]
        if host != platform.node() and time.time() - path.stat().st_mtime > SILENT_SECONDS:
            lock.setStaleLockTime(1)
    return lock


def left_behind() -> LeftBehind:
    """The recovery files whose window is gone.

    One that is malformed in any way is set aside, so that it is told of once; one that cannot be read just now stays.
    """
    found = LeftBehind()
    dated: list[tuple[float, KeptEdits]] = []
    try:
        files = sorted(recovery_folder().glob("*.json"))
    except OSError:
        return found
    for file in files:
        lock = _lock_of(file)
        if not lock.tryLock(0):
            continue
        try:
            dated.append((file.lstat().st_mtime, _read(file)))
        except OSError:
            continue
        except Exception as error:  # malformed in a way that nobody has thought of: it must not keep files from opening
            with suppress(OSError):
                aside = private_folder(file.parent / ASIDE)
                os.replace(file, aside / f"{uuid.uuid4().hex[:8]}-{file.name}")
                reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
                found.set_aside.append(reason.rstrip(".")[:200])
        finally:
            lock.unlock()
    found.kept = [kept for _, kept in sorted(dated, key=lambda pair: -pair[0])]
    return found


class Recovery(QObject):
    """Keeps the edits of one window."""

    def __init__(self, signals: SessionSignals, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._signals = signals
        self._has_warned = False
        self._no_folder: OSError | None = None
        self._known: tuple[Document | None, str] = (None, "")
        try:
            folder = recovery_folder()
        except OSError as error:
            folder, self._no_folder = Path(os.devnull), error
        self._file = folder / f"{uuid.uuid4().hex}.json"
        self._lock = QLockFile(str(self._file.with_suffix(".lock")))
        self._lock.setStaleLockTime(0)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MS)
        self._timer.timeout.connect(self.write)
        self._beat = QTimer(self)
        self._beat.setInterval(BEAT_MS)
        self._beat.timeout.connect(self._renew)
        signals.state_changed.connect(self._timer.start)
        signals.document_changed.connect(self._timer.start)

    @property
    def file(self) -> Path:
        return self._file

    def fingerprint(self, document: Document) -> str:
        """What tells the document's content from any other, worked out once."""
        if self._known[0] is not document:
            self._known = (document, document.source.fingerprint)
        return self._known[1]

    @Slot(result=bool)
    def write(self) -> bool:
        """Bring the file up to date: written while there are edits that are not exported, removed otherwise.

        A folder that cannot be written leaves the edits without a copy; that must not disturb the work on them, and is
        said once.

        Returns
        -------
        bool
            Whether all is in the file that would be lost in a crash.
        """
        session = self._signals.session
        document = session.document
        if document is None or session.history.is_clean:
            self._remove()
            return True
        try:
            if self._no_folder is not None:
                raise self._no_folder
            self._take_lock()
            steps = session.history.steps()
            path, marks = document.path.absolute(), marks_of(document, steps)
            kept = KeptEdits(self._file, path, self.fingerprint(document), _size_and_time(path), steps, marks)
            _write(self._file, _to_json(kept))
        except (OSError, FieldError) as error:
            self._warn(error)
            return False
        self._has_warned = False
        return True

    def _take_lock(self) -> None:
        if self._lock.isLocked():
            return
        if not self._lock.tryLock(0):
            raise OSError(errno.EACCES, f"{self._file.parent} cannot be written")
        os.chmod(self._lock.fileName(), 0o600)
        self._beat.start()

    @Slot()
    def _renew(self) -> None:
        with suppress(OSError):
            os.utime(self._lock.fileName())

    def _warn(self, error: Exception) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        reason = getattr(error, "strerror", None) or str(error)
        self._signals.message.emit(f"Edits would be lost in a crash: no copy of them can be kept ({reason}).")

    def close(self, keep: bool = False) -> None:
        """The window closes: in order, so that nothing is left to recover, or (``keep``) without having asked."""
        self._timer.stop()
        if keep:
            self.write()
            self._unlock()
        else:
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
        self._unlock()

    def _unlock(self) -> None:
        self._beat.stop()
        if self._lock.isLocked():
            self._lock.unlock()


def to_offer(kept: Sequence[KeptEdits]) -> KeptEdits | None:
    """The newest edits whose file can be opened where it was; those for content that is elsewhere wait for it."""
    return next((one for one in kept if one.document.exists() and (one.same_file or not one.is_rest)), None)
