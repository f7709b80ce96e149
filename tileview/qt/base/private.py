"""Folders and files that only their owner looks into."""

from __future__ import annotations

import errno
import os
import stat
import uuid
from contextlib import suppress
from pathlib import Path


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
