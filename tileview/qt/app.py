"""The way into the window for the command line: Qt is imported only once it is sure that it can start."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tileview.collecting import collected_seldom
from tileview.errors import TileViewError
from tileview.qt.jobs import process

HEADLESS_HINT: Final = (
    "tileview summary, swap, alternatives, fix, diff, profile, layout, check and report need no display "
    "(tileview --help)"
)

_BASE: Final = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libX11.so.6": "libx11-6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
}
"""Shared libraries that Qt's own load wherever it runs, and the Debian package of each."""

_X11: Final = {
    "libxcb.so.1": "libxcb1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_WAYLAND: Final = {"libwayland-client.so.0": "libwayland-client0", "libwayland-cursor.so.0": "libwayland-cursor0"}

_KEPT: Final[list[int]] = []
"""The connection that a look at the X server made. It is kept to the end of the process: a virtual server starts anew
when its last client goes, and would refuse Qt's connection meanwhile."""

_NO_SCREEN: Final = ("offscreen", "minimal")

_TRIAL: Final = """
import sys
from PySide6.QtGui import QGuiApplication
application = QGuiApplication(["tileview"])
sys.exit(application.primaryScreen() is None)
"""
_TRIAL_SECONDS: Final = 30


def trouble(offscreen: bool = False) -> str | None:
    """Why no window can be opened here, in one sentence with the remedy; None where nothing stands against it.

    Parameters
    ----------
    offscreen : bool
        Whether the window is only to be drawn into memory: then no display is needed, but Qt's libraries are.
    """
    if importlib.util.find_spec("PySide6") is None:
        return f"PySide6-Essentials is not installed, so no window can be opened; {HEADLESS_HINT}"
    if not sys.platform.startswith("linux"):
        return None
    missing = _missing(_BASE)
    platform = _platform(offscreen)
    if platform in ("xcb", "wayland", "either"):
        needed = {"xcb": _X11, "wayland": _WAYLAND, "either": {}}[platform]
        missing += _missing(needed)
        if platform == "either" and _missing(_WAYLAND) and (absent := _missing(_X11)):
            missing += absent
    if missing:
        packages = " ".join(sorted(set(missing)))
        remedy = f"Debian, Ubuntu: apt-get install {packages}"
        return f"Qt lacks system libraries here; install them ({remedy}); {HEADLESS_HINT}"
    if platform == "none":
        return _no_display("neither DISPLAY nor WAYLAND_DISPLAY is set")
    if platform == "xcb" and not _x_server_answers():
        return _no_display(f"no X server answers at DISPLAY={os.environ.get('DISPLAY', '')!r}")
    if platform == "wayland" and not _wayland_socket():
        return _no_display(f"no compositor is at WAYLAND_DISPLAY={os.environ.get('WAYLAND_DISPLAY', '')!r}")
    if platform == "other" and not _trial_starts():
        asked = os.environ.get("QT_QPA_PLATFORM", "")
        return f"Qt does not start with QT_QPA_PLATFORM={asked!r}; unset the variable, or set xcb; {HEADLESS_HINT}"
    return None


def _trial_starts() -> bool:
    """Whether Qt starts in another process: for platforms of which only Qt knows what they need, or whether they are.

    Qt aborts where one does not; only the trial shall end so.
    """
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, "-c", _TRIAL], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TRIAL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _no_display(why: str) -> str:
    return (
        f"there is no display to open a window on ({why}); run it in a desktop session, or under a virtual screen "
        f"(Debian, Ubuntu: apt-get install xvfb, then xvfb-run tileview); {HEADLESS_HINT}"
    )


def _platform(offscreen: bool) -> str:
    """Which way Qt will take: ``xcb``, ``wayland``, ``either`` of the two, ``none``, ``offscreen``, or ``other``."""
    asked = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0].partition(";")[0]
    if offscreen or asked in _NO_SCREEN:
        return "offscreen"
    if asked == "xcb" or asked.startswith("wayland"):
        return "xcb" if asked == "xcb" else "wayland"
    if asked:
        return "other"
    x11, wayland = bool(os.environ.get("DISPLAY")), _wayland_socket()
    if x11 and wayland:
        return "either"
    if wayland:
        return "wayland"
    return "xcb" if x11 else "none"


def _missing(libraries: dict[str, str]) -> list[str]:
    """Packages of the libraries that cannot be loaded."""
    absent = []
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            absent.append(package)
    return absent


def _x_server_answers() -> bool:
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = (ctypes.c_char_p, ctypes.POINTER(ctypes.c_int))
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    xcb.xcb_disconnect.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(None, None)
    if xcb.xcb_connection_has_error(connection):
        xcb.xcb_disconnect(connection)
        return False
    _KEPT.append(connection)
    return True


def _wayland_socket() -> bool:
    name = os.environ.get("WAYLAND_DISPLAY", "")
    if not name:
        return False
    return Path(os.environ.get("XDG_RUNTIME_DIR", "/"), name).exists()


class NoWindowError(TileViewError):
    """Qt cannot start here; the text says what is missing and what works instead."""


@collected_seldom()
def run(paths: Sequence[Path | str], compare: bool = False) -> int:
    """Open the window on some files and stay until it is closed.

    Parameters
    ----------
    paths : sequence of paths
        The first is opened. A recipe and a timeline stand together. With ``compare`` all others stand beside the first
        for comparison; without, each gets a window of its own. Very many are listed with their verdicts.
    compare : bool
        See above.

    Returns
    -------
    int
        0 after the last window was closed; 2, with one sentence on standard error, where no window can be opened.
    """
    reason = trouble()
    if reason is not None:
        print(f"tileview: {reason}", file=sys.stderr)
        return 2
    named = [Path(path) for path in paths]
    if named:
        process.begin(named[0])
    try:
        from tileview.qt.program import run_windows

        return run_windows(named, compare)
    finally:
        process.drop()


def screenshot(
    path: Path | str,
    out: Path | str,
    size: tuple[int, int] = (1600, 1000),
    theme: str = "light",
    step: int | None = None,
    tile: int | None = None,
    operation: int | None = None,
    view: str | None = None,
    others: Sequence[Path | str] = (),
) -> None:
    """Draw the real window on a file, without a display, into a PNG.

    Parameters
    ----------
    path, out : path
        What to open, and the picture to write.
    size : (int, int)
        Width and height in pixels.
    theme : str
        ``light`` or ``dark``.
    step, tile, operation : int, optional
        What is selected; left out, it is what the verdict names.
    view : str, optional
        The view that comes to the front and gets most of the room.
    others : sequence of paths
        Files to stand beside the first for comparison.

    Raises
    ------
    TileViewError
        The file cannot be read, the picture cannot be written, Qt cannot start, or there is no such step, tile or
        operation.
    """
    reason = trouble(offscreen=True)
    if reason is not None:
        raise NoWindowError(reason)
    if "PySide6.QtWidgets" not in sys.modules:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from tileview.qt.screenshot import take_screenshot

    take_screenshot(Path(path), Path(out), size, theme, step, tile, operation, view, [Path(other) for other in others])
