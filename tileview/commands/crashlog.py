"""Where the details of an unexpected fault go: a log file per fault, in the user's state folder."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tileview import __version__


def log_folder() -> Path:
    """The folder for log files of this user, by the manners of the platform; it need not exist yet."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "TileView" / "log"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Logs" / "TileView"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "tileview"


def write_crash_log(error: BaseException) -> str:
    """Write the traceback of ``error`` to a new file and return its path, or a phrase where none can be written."""
    text = "".join(
        [
            f"TileView {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
            f"arguments: {sys.argv[1:]!r}\n\n",
            *traceback.format_exception(error),
        ]
    )
    name = f"fault-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-"
    try:
        folder = log_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        places: list[str | None] = [str(folder), None]
    except (OSError, RuntimeError):
        places = [None]
    for place in places:
        try:  # a new file that only its owner reads, under a name that nobody could have guessed and put a link at
            handle, path = tempfile.mkstemp(".log", name, place)
            with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return path
    return "no file, because none could be written"
