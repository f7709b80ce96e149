"""What the window remembers between runs, and folders and files that only their owner looks into."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths


def private_folder(folder: Path) -> Path:
    """A folder that only its owner looks into, made where it does not exist. Raises OSError where it takes nothing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    with suppress(OSError):
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def private_file(path: Path) -> Path:
    """A file that only its owner reads, made empty where it does not exist. Raises OSError where it cannot be."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600), "rb") as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            os.fchmod(file.fileno(), 0o600)
    return path


def read_private(path: Path, most_bytes: int) -> bytes:
    """The content of a file of this program's own making, never of a link, a pipe or a folder.

    Raises
    ------
    OSError
        Where it cannot be read just now.
    ValueError
        Where it is no file, or a larger one.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError("it is no file")
    with open(os.open(path, flags), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no file")
        if status.st_size > most_bytes:
            raise ValueError(f"it has {status.st_size:,} bytes, never more than {most_bytes:,} are written")
        return stream.read(most_bytes + 1)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner reads, at once or not at all. Raises OSError where it cannot be."""
    part = path.with_name(f"{path.stem}-{uuid.uuid4().hex[:8]}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


FOLDER_VARIABLE = "TILEVIEW_STATE_DIR"
"""Names a folder that holds settings, log, recovery files and kept results instead of the user's own (tests, portable
use)."""

RECENT_LIMIT = 12


def state_folder() -> Path:
    """The folder for the log, the recovery files and the kept results; made where it does not exist.

    Where a home takes nothing (none, read-only, full), a folder of this user's among the temporary files serves.

    Raises
    ------
    OSError
        Where that cannot be written either.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    location = QStandardPaths.StandardLocation.AppDataLocation
    try:
        return private_folder(Path(named) if named else Path(QStandardPaths.writableLocation(location)))
    except OSError:
        return temporary_folder()


def temporary_folder() -> Path:
    """The folder where a home takes nothing: the same at each start, so that what a crash left is found; refused where
    somebody else could look in, or has put it there."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir(), f"tileview-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if hasattr(os, "getuid") and (not stat.S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o077):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    return folder


class Settings:
    """Typed access to the stored settings.

    Stored texts may come from an older version or a broken file, so every getter checks what it read and falls back
    to the default instead of raising.
    """

    def __init__(self, store: QSettings | None = None) -> None:
        if store is None:
            named = os.environ.get(FOLDER_VARIABLE)
            if named:
                store = QSettings(str(Path(named) / "settings.ini"), QSettings.Format.IniFormat)
            else:
                store = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "TileView", "TileView")
            with suppress(OSError):  # Qt keeps the permissions of a file that is there
                private_file(private_folder(Path(store.fileName()).parent) / Path(store.fileName()).name)
        self._store = store

    # -- look -----------------------------------------------------------------------------------------------------

    @property
    def theme(self) -> str:
        """``light``, ``dark`` or ``system``."""
        name = str(self._store.value("theme", "system"))
        return name if name in ("light", "dark", "system") else "system"

    @theme.setter
    def theme(self, name: str) -> None:
        self._store.setValue("theme", name)

    @property
    def evaluate_by_itself(self) -> bool:
        """Whether alternatives are evaluated in the background without being asked for."""
        return str(self._store.value("evaluate", "true")).lower() != "false"

    @evaluate_by_itself.setter
    def evaluate_by_itself(self, on: bool) -> None:
        self._store.setValue("evaluate", "true" if on else "false")

    @property
    def place_by_itself(self) -> bool:
        """Whether programs are placed in the background without being asked for."""
        return str(self._store.value("place", "true")).lower() != "false"

    @place_by_itself.setter
    def place_by_itself(self, on: bool) -> None:
        self._store.setValue("place", "true" if on else "false")

    # -- window ---------------------------------------------------------------------------------------------------

    def _bytes(self, key: str) -> QByteArray:
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    @property
    def geometry(self) -> QByteArray:
        return self._bytes("window/geometry")

    @property
    def layout(self) -> QByteArray:
        return self._bytes("window/layout")

    def keep_window(self, geometry: QByteArray, layout: QByteArray) -> None:
        self._store.setValue("window/geometry", geometry)
        self._store.setValue("window/layout", layout)

    def forget_layout(self) -> None:
        self._store.remove("window/layout")

    # -- files ----------------------------------------------------------------------------------------------------

    @property
    def recent(self) -> list[Path]:
        """Opened files, newest first; some may be gone by now."""
        stored = self._store.value("files/recent", [])
        entries = [stored] if isinstance(stored, str) else stored
        if not isinstance(entries, list):
            return []
        return [Path(entry) for entry in entries if isinstance(entry, str) and entry][:RECENT_LIMIT]

    def add_recent(self, path: Path) -> None:
        path = path.absolute()
        kept = [path, *(other for other in self.recent if other != path)][:RECENT_LIMIT]
        self._store.setValue("files/recent", [str(entry) for entry in kept])

    def clear_recent(self) -> None:
        self._store.remove("files/recent")

    def notes(self, path: Path) -> dict[str, str]:
        """The notes on the steps of a file, by what the step is."""
        try:
            found = json.loads(str(self._store.value(self._notes_key(path), "{}")))
        except ValueError:
            return {}
        return {str(key): str(text) for key, text in found.items()} if isinstance(found, dict) else {}

    def keep_notes(self, path: Path, notes: dict[str, str]) -> None:
        key = self._notes_key(path)
        if notes:
            self._store.setValue(key, json.dumps(notes))
        else:
            self._store.remove(key)

    def memory(self, path: Path) -> dict[str, object]:
        """The memory that the placement of a file is looked at in, as :meth:`keep_memory` was given it."""
        try:
            found = json.loads(str(self._store.value(self._file_key("memory", path), "{}")))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def keep_memory(self, path: Path, memory: dict[str, object]) -> None:
        key = self._file_key("memory", path)
        if memory:
            self._store.setValue(key, json.dumps(memory))
        else:
            self._store.remove(key)

    @classmethod
    def _notes_key(cls, path: Path) -> str:
        return cls._file_key("notes", path)

    @staticmethod
    def _file_key(kind: str, path: Path) -> str:
        """One key a file; its path holds what a key may not."""
        return f"{kind}/{hashlib.sha256(str(path.absolute()).encode(errors='surrogateescape')).hexdigest()[:32]}"

    @property
    def folder(self) -> str:
        """Where the last file dialog was."""
        return str(self._store.value("files/folder", ""))

    @folder.setter
    def folder(self, folder: str) -> None:
        self._store.setValue("files/folder", folder)

    def sync(self) -> None:
        self._store.sync()
