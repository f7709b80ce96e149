"""``tileview open`` and ``tileview screenshot``: the commands that need Qt, and what to say where it cannot start.

Qt ends a process outright where its platform plugin cannot be loaded; so whether it can is found out before it is
asked.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from tileview.commands.base import EXIT_OK, UsageError, emit
from tileview.commands.parser import Arguments

_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
}
"""What QtGui and QtWidgets are linked against, with the packages of Debian and Ubuntu that hold it."""

_X_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What the X11 platform plugin needs on top."""

_NO_DISPLAY_NEEDED = frozenset({"offscreen", "minimal", "vnc", "linuxfb", "eglfs"})

_ELSEWHERE = "the other commands work without it: tileview summary, swap, fix, report (see tileview --help)"


def run_open(arguments: Arguments) -> int:
    """Open the window and stay until it is closed; its exit code."""
    for name in arguments.files:
        if not os.path.exists(name):
            raise UsageError(f"{name}: there is no such file")
    _require_window()
    try:
        from tileview.qt.app import run
    except ImportError as error:
        raise _no_qt(error) from None
    return run([Path(name) for name in arguments.files], arguments.compare)


def run_screenshot(arguments: Arguments) -> int:
    """Draw the real window offscreen and write the picture."""
    if not os.path.isfile(arguments.file):
        raise UsageError(f"{arguments.file}: there is no such file")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    _require_libraries(_LIBRARIES)
    try:
        from tileview.qt.screenshot import take
    except ImportError as error:
        raise _no_qt(error) from None
    take(
        Path(arguments.file),
        Path(arguments.output),
        size=arguments.size,
        theme=arguments.theme,
        step=arguments.step,
        tile=arguments.tile,
        operation=arguments.operation,
        view=arguments.view,
    )
    emit(f"Written: {arguments.output}")
    return EXIT_OK


def _require_window() -> None:
    """Complain, in one sentence, where no window can be shown.

    Raises
    ------
    UsageError
        No display, or missing libraries.
    """
    platform = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if sys.platform.startswith("linux") and platform not in _NO_DISPLAY_NEEDED:
        wayland = bool(os.environ.get("WAYLAND_DISPLAY"))
        if not os.environ.get("DISPLAY") and not wayland:
            raise UsageError(f"there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); {_ELSEWHERE}")
        if platform == "xcb" or not wayland:
            _require_libraries({**_LIBRARIES, **_X_LIBRARIES})
    _require_libraries(_LIBRARIES)


def _require_libraries(libraries: dict[str, str]) -> None:
    """Complain where a library that Qt is linked against is missing (on Linux: elsewhere they come with Qt)."""
    if not sys.platform.startswith("linux"):
        return
    missing = {name: package for name, package in libraries.items() if not _loads(name)}
    if missing:
        raise UsageError(
            f"the window needs libraries that are missing here ({', '.join(missing)}): "
            f"apt-get install {' '.join(missing.values())}; {_ELSEWHERE}"
        )


def _no_qt(error: ImportError) -> UsageError:
    return UsageError(f"the window needs PySide6 and pyqtgraph, which cannot be imported here ({error}); {_ELSEWHERE}")


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
