"""Reading a large file begins before Qt is loaded: on a second core it is half read when the window stands."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tileview.qt.jobs.child import ChildProcess

LARGE_BYTES = 5 * 1024 * 1024
"""Files from this size on are read in a worker process: a parser holds the interpreter's lock for its whole run."""
TOKEN = 0
"""Of the request that an early process has been sent."""

_begun: dict[str, ChildProcess] = {}


def is_large(path: Path) -> bool:
    """Whether a path names a file that is read in a process of its own."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size >= LARGE_BYTES


def begin(path: Path) -> None:
    """Start reading a file, if it is a large one."""
    path = path.absolute()
    if is_large(path) and str(path) not in _begun:
        process = ChildProcess()
        try:
            process.send((TOKEN, "load", str(path)))
        except OSError:
            process.close()
            return
        _begun[str(path)] = process


def take(path: Path) -> ChildProcess | None:
    """The process that reads a file already, for whoever wants the file; None where there is none."""
    return _begun.pop(str(path), None)


def drop() -> None:
    """End what nobody has asked for."""
    while _begun:
        _begun.popitem()[1].close()
