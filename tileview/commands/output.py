"""Writing results: never over the file that was read, never half."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from pathlib import Path

from tileview import __version__
from tileview.commands.base import UsageError
from tileview.formats.save import Changes, render, write_atomic
from tileview.formats.search_state import SearchState
from tileview.model.tensor import Format


def write_file(target: str, data: bytes | Iterable[bytes], source: str, force: bool = False) -> None:
    """Write ``data`` (whole, or pieces as they come) whole or not at all.

    Raises
    ------
    UsageError
        Where the target is the file that was read and ``force`` is not set.
    SaveError
        Where it cannot be written; what stood there is untouched.
    """
    if not force and _same_file(target, source):
        raise UsageError(f"{target} is the file that was read; name another one")
    write_atomic(target, data)


def refuse_source(target: str | None, source: str, force: bool | None = None) -> None:
    """Complain before the work rather than after it. ``force`` is None for commands that cannot be forced.

    Raises
    ------
    UsageError
        As :func:`write_file` would.
    """
    if target is not None and not force and _same_file(target, source):
        remedy = "name another one" if force is None else "name another one, or give --force"
        raise UsageError(f"{target} is the file that was read; {remedy}")


def write_recipe(
    target: str,
    state: SearchState,
    swaps: Iterable[tuple[int, int]],
    homes: dict[int, Format] | None = None,
    force: bool = False,
) -> None:
    """Write a recipe with swaps (and new homes of inputs); nothing else differs from the file."""
    write_file(target, render(state, Changes(dict(swaps), homes or {})), state.path, force)


def _same_file(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return os.path.abspath(a) == os.path.abspath(b)


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
