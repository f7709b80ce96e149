"""``tileview open`` and ``tileview screenshot``: the commands that need Qt.

Whether Qt can start is found out by :mod:`tileview.qt.app` before Qt is asked: it ends a process outright where its
platform plugin cannot be loaded.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence

from tileview.commands.base import EXIT_OK, Arguments, UsageError, clean, emit
from tileview.commands.output import refuse_source
from tileview.formats.files import STANDARD_INPUT


def run_open(arguments: Arguments) -> int:
    """Open the window and stay until it is closed; its exit code."""
    _refuse_input(arguments.files)
    for name in arguments.files:
        if not os.path.exists(name):
            other = "" if set(name) & set("./\\") else ", and no command of this name (see tileview --help)"
            raise UsageError(f"{name}: there is no such file{other}")
    _require_qt()
    from tileview.qt.app import run

    return run(arguments.files, arguments.compare)


def run_screenshot(arguments: Arguments) -> int:
    """Draw the real window offscreen and write the picture."""
    first, *others = arguments.files
    _refuse_input(arguments.files)
    for name in arguments.files:
        refuse_source(arguments.output, name)
    _require_qt()
    from tileview.qt.app import screenshot

    screenshot(
        first,
        arguments.output,
        size=arguments.size,
        theme=arguments.theme,
        step=arguments.step,
        tile=arguments.tile,
        operation=arguments.operation,
        view=arguments.view,
        others=others,
    )
    emit(f"Written: {clean(arguments.output)}")
    return EXIT_OK


def _refuse_input(names: Sequence[str]) -> None:
    """Complain about standard input.

    Raises
    ------
    UsageError
        Where one of the names stands for it.
    """
    if STANDARD_INPUT in names:
        raise UsageError(
            f"{STANDARD_INPUT}: the window reads a file again and again and watches it, so it cannot show standard "
            "input; write that to a file first (summary, profile, report and others do read it)"
        )


def _require_qt() -> None:
    """Complain where the libraries of the window are not installed.

    Raises
    ------
    UsageError
        Naming them, and the commands that do without.
    """
    try:
        there = importlib.util.find_spec("PySide6") is not None
    except (ImportError, ValueError):
        there = False
    if not there:
        raise UsageError(
            "PySide6 is not installed, so there is no window; summary, swap, alternatives, fix, diff, profile, layout, "
            "check and report do without (see tileview --help)"
        )
