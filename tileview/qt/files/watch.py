"""Following a file that another program replaces, in whatever way: its path is looked up again and again."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

LOOK_SECONDS = 0.35
"""How often the path is looked up. What has changed is told at the second look that finds the same."""

Seen = tuple[int, ...]


def look(path: Path) -> Seen:
    """What stands under a path, links followed: device, inode, size, time of writing, of the inode; empty where nothing
    does."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class FileWatch(QObject):
    """Tells when the content under a path is another one.

    A system's notices end with the file or folder they are for, which a clean rebuild removes and a link leaves behind;
    and they need a place for each. One look at the path tells the same, whatever was done to its folders, on network
    disks too. It is made on a thread: a disk that does not answer holds nobody up.
    """

    changed = Signal(object)
    missing = Signal(object)
    _settled = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._seen: Seen = ()
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._settled.connect(self._on_settled)

    def watch(self, path: Path | None) -> None:
        """Watch another path, as its content is now; None watches nothing."""
        with self._wake:
            self._path = path
            self._seen = () if path is None else look(path)
            self._wake.notify()
        if path is not None and self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="tileview watch", daemon=True)
            self._thread.start()

    def seen(self) -> None:
        """The content that stands there now has been taken in."""
        self.watch(self._path)

    @Slot(object, object)
    def _on_settled(self, path: Path, now: Seen) -> None:
        if path == self._path and now != self._seen:
            self._seen = now
            (self.changed if now else self.missing).emit(path)

    def close(self) -> None:
        with self._wake:
            self._path = None
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(2 * LOOK_SECONDS)
            self._thread = None

    # -- on the thread ------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        before: tuple[Path | None, Seen] = (None, ())
        while True:
            with self._wake:
                if not self._closing:
                    self._wake.wait(LOOK_SECONDS if self._path is not None else None)
                is_over, path, seen = self._closing, self._path, self._seen
            if is_over:
                return
            if path is None:
                continue
            now = (path, look(path))
            if now == before and now[1] != seen:
                self._settled.emit(*now)
            before = now
