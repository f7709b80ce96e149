"""The command line: takes the arguments apart, runs one command, turns every failure into one line and an exit code.

The commands themselves live in :mod:`tileview.commands`. Exit codes: 0 fits / nothing wrong, 1 does not fit / differs,
2 bad input or usage, 3 not known; Ctrl+C and requests to terminate end with 2 too. Nothing but ``open`` and
``screenshot`` needs Qt or a display.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tileview.collecting import collect_no_more, collected_seldom
from tileview.commands.base import CONSOLE, EXIT_BAD, EXIT_INTERRUPTED, complain, provide_streams
from tileview.commands.parser import parse_arguments
from tileview.errors import TileViewError


@collected_seldom()
def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str or None
        Arguments without the program's name; None takes the process's own.

    Returns
    -------
    int
        The exit code. No exception leaves this function: bad input becomes one line on standard error, a fault of
        TileView itself one line that names a log file.
    """
    CONSOLE.reset()
    provide_streams()
    _any_text_can_be_written()
    if argv is None:
        os.environ["PYTHONSAFEPATH"] = "1"  # the processes that this one starts import nothing from the current folder
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's algebra would start a thread a core, for nothing
    try:
        code = parse_arguments(sys.argv[1:] if argv is None else list(argv)).run()
    except TileViewError as error:
        complain(str(error))
        code = EXIT_BAD
    except KeyboardInterrupt as request:
        complain(str(request) or "interrupted")
        code = EXIT_INTERRUPTED
    except SystemExit as request:
        code = request.code if isinstance(request.code, int) else EXIT_BAD
    except MemoryError:
        complain("there is not enough memory for this file")
        code = EXIT_BAD
    except Exception as error:  # the last line of defence: a user never sees a traceback
        from tileview.commands.output import write_crash_log

        complain(f"a fault in TileView itself ({type(error).__name__}); details are in {write_crash_log(error)}")
        code = EXIT_BAD
    try:
        CONSOLE.flush()
    except TileViewError as error:
        complain(str(error))
        code = EXIT_BAD
    if argv is None and "PySide6" not in sys.modules:  # what Qt holds has an order to go in
        collect_no_more()
    return code


def _any_text_can_be_written() -> None:
    """Let names be written that the terminal's encoding lacks (lone surrogates too): as escapes, not exceptions."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
