"""Edits that survive a crash: kept in a small file while they are not exported, offered at the next start.

The file is JSON of this program's own making. It holds the edits, never the document: what it names is opened again the
usual way. Each file belongs to one window, which holds a lock beside it; a file whose lock is free was left by a
crash.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLockFile, QObject, QTimer, Slot

from tileview.formats.check import FieldError
from tileview.formats.tensorjson import format_to_json, layout_from_json, layout_to_json, precision_from_json
from tileview.model.recipe import Overrides
from tileview.model.tensor import Format
from tileview.model.timeline_file import TimelineFile
from tileview.qt.base.settings import state_folder
from tileview.qt.files.watch import Carried, file_identity, stamp
from tileview.qt.jobs.session_signals import Bridge
from tileview.session.document import Document
from tileview.session.state import EditState

VERSION = 1
DELAY_MS = 400
"""Edits in quick succession are written once."""


Marks = Mapping[str, Mapping[str, str]]
"""Kind of edit → what it is on, by number → what tells that from something else of the same number."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Edits found in a recovery file, with their marks (:func:`marks_of`).

    ``same_file``: the document has not changed since they were made.
    """

    file: Path
    document: Path
    state: EditState
    labels: tuple[str, ...]
    same_file: bool
    marks: Marks

    def discard(self) -> None:
        """The edits are in another file by now, or not wanted."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


def state_to_json(state: EditState) -> dict[str, Any]:
    """Edits as JSON; layouts and formats as a recipe writes them."""
    return {
        "swaps": {str(key): index for key, index in state.swaps.items()},
        "homes": {str(key): format_to_json(home) for key, home in state.homes.items()},
        "boundaries": {str(key): is_open for key, is_open in state.boundaries.items()},
        "layouts": {str(key): layout_to_json(layout) for key, layout in state.layouts.items()},
        "budget_bytes": state.overrides.budget_bytes,
        "reserve_bytes": state.overrides.reserve_bytes,
    }


def state_from_json(raw: dict[str, Any]) -> EditState:
    """:func:`state_to_json` undone. Raises ValueError, KeyError, TypeError or AttributeError for anything else."""
    try:
        homes = {
            int(key): Format(precision_from_json(home["precision"]), layout_from_json(home["layout"]))
            for key, home in raw["homes"].items()
        }
        layouts = {int(key): layout_from_json(layout) for key, layout in raw["layouts"].items()}
    except FieldError as error:
        raise ValueError(str(error)) from None
    return EditState(
        swaps={int(key): int(index) for key, index in raw["swaps"].items()},
        homes=homes,
        boundaries={int(key): bool(is_open) for key, is_open in raw["boundaries"].items()},
        layouts=layouts,
        overrides=Overrides(_number(raw["budget_bytes"]), _number(raw["reserve_bytes"])),
    )


def _number(value: object) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ValueError("a number of bytes")
    return value


def marks_of(document: Document, state: EditState) -> Marks:
    """What to keep beside edits that name plans and values by number: the file may be another one later."""
    recipe = document.recipe
    if recipe is None:
        values = document.source.values if isinstance(document.source, TimelineFile) else ()
        return {"layouts": {str(index): _mark(file_identity(values[index])) for index in state.layouts}}
    return {
        "swaps": {str(one): _mark(recipe.alternatives[one][index]) for one, index in state.swaps.items()},
        "homes": {str(value): _mark(recipe.graph.shape_of(value)) for value in state.homes},
        "boundaries": {str(value): _mark(recipe.graph.shape_of(value)) for value in state.boundaries},
    }


def _mark(thing: object) -> str:
    return hashlib.sha256(repr(thing).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def possible(document: Document, state: EditState, marks: Marks) -> Carried:
    """Edits from a recovery file as far as they make sense in a document that may be another one by now.

    What an edit is on is found by its mark, wherever it stands now; without a mark its number counts.
    """
    recipe = document.recipe
    if recipe is None:
        return _possible_layouts(document, state, marks.get("layouts", {}))
    swaps: dict[int, int] = {}
    lost: list[str] = []
    for operation, index in state.swaps.items():
        plans = recipe.alternatives.get(operation, ())
        place = _place(index, plans, marks.get("swaps", {}).get(str(operation)))
        if place is None:
            lost.append(f"Operation {operation} has no alternative {index} any more.")
        elif plans[place] != recipe.plans.get(operation):
            swaps[operation] = place

    def same(kind: str, value: int) -> bool:
        shape = recipe.graph.shape_of(value)
        return shape is not None and marks.get(kind, {}).get(str(value), _mark(shape)) == _mark(shape)

    homes = {value: home for value, home in state.homes.items() if same("homes", value)}
    lost += [f"There is no input {value} of that shape." for value in state.homes if value not in homes]
    boundaries = {value: is_open for value, is_open in state.boundaries.items() if same("boundaries", value)}
    lost += [f"There is no value {value} of that shape." for value in state.boundaries if value not in boundaries]
    kept = EditState(swaps=swaps, homes=homes, boundaries=boundaries, overrides=state.overrides)
    return Carried(kept, tuple(lost))


def _possible_layouts(document: Document, state: EditState, marks: Mapping[str, str]) -> Carried:
    values = document.source.values if isinstance(document.source, TimelineFile) else ()
    identities = tuple(map(file_identity, values))
    places = {index: _place(index, identities, marks.get(str(index))) for index in state.layouts}
    layouts = {place: state.layouts[index] for index, place in places.items() if place is not None}
    lost = [f"There is no value {index} any more." for index, place in places.items() if place is None]
    return Carried(EditState(layouts=layouts, overrides=state.overrides), tuple(lost))


def _place(index: int, things: Sequence[object], mark: str | None) -> int | None:
    """Where among things the one stands that had this index and this mark; None where it is gone."""
    if 0 <= index < len(things) and mark in (None, _mark(things[index])):
        return index
    return None if mark is None else next((at for at, thing in enumerate(things) if _mark(thing) == mark), None)


def recovery_folder() -> Path:
    folder = state_folder() / "recovery"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Recovery(QObject):
    """Keeps the edits of one window."""

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._has_warned = False
        self._no_folder: OSError | None = None
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
        bridge.state_changed.connect(self._timer.start)
        bridge.document_changed.connect(self._timer.start)

    @property
    def file(self) -> Path:
        return self._file

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
        session = self._bridge.session
        document = session.document
        if document is None or session.history.is_clean:
            self._remove()
            return True
        try:
            if self._no_folder is not None:
                raise self._no_folder
            if not self._lock.isLocked() and not self._lock.tryLock(0):
                raise OSError(errno.EACCES, f"{self._file.parent} cannot be written")
            content = {
                "version": VERSION,
                "document": str(document.path.absolute()),
                "stamp": stamp(document.path),
                "edits": state_to_json(session.state),
                "marks": marks_of(document, session.state),
                "labels": [edit.label for edit in session.history.done],
            }
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(content), encoding="utf-8", errors="surrogatepass")
            os.replace(part, self._file)
        except (OSError, FieldError) as error:
            self._warn(error)
            return False
        self._has_warned = False
        return True

    def _warn(self, error: Exception) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        reason = getattr(error, "strerror", None) or str(error)
        self._bridge.message.emit(f"Edits would be lost in a crash: no copy of them can be kept ({reason}).")

    def close(self, keep: bool = False) -> None:
        """The window closes: in order, so that nothing is left to recover, or (``keep``) without having asked."""
        self._timer.stop()
        if not keep:
            self._remove()
            return
        self.write()
        if self._lock.isLocked():
            self._lock.unlock()

    def _remove(self) -> None:
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
        if self._lock.isLocked():
            self._lock.unlock()


def left_behind() -> list[Kept]:
    """The recovery files whose window is gone, newest first.

    Broken ones are removed; those of another version, and those that cannot be read just now, stay as they are.
    """
    found: list[tuple[float, Kept]] = []
    try:
        files = list(recovery_folder().glob("*.json"))
    except OSError:
        return []
    for file in files:
        lock = QLockFile(str(file.with_suffix(".lock")))
        lock.setStaleLockTime(0)
        if not lock.tryLock(0):
            continue
        try:
            found.append((file.stat().st_mtime, _read(file)))
        except (OSError, _OtherVersion):
            continue
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            with suppress(OSError):
                file.unlink(missing_ok=True)
        finally:
            lock.unlock()
    return [kept for _, kept in sorted(found, key=lambda pair: -pair[0])]


class _OtherVersion(Exception):  # noqa: N818 - no error: another program's file
    """The recovery file of another version of TileView, which will want it."""


def _read(file: Path) -> Kept:
    raw = json.loads(file.read_text(encoding="utf-8", errors="surrogatepass"))
    if raw["version"] != VERSION:
        raise _OtherVersion
    document = Path(raw["document"])
    labels = tuple(str(label) for label in raw["labels"])
    marks = {str(kind): dict(entries) for kind, entries in raw.get("marks", {}).items()}
    same = stamp(document) == raw["stamp"] != []
    return Kept(file, document, state_from_json(raw["edits"]), labels, same, marks)
