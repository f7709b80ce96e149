"""The command ``tileview``, also as ``python -m tileview``: signals are heard before anything large is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_ENDED = 2
"""The exit code where nothing can be said of the files."""


def _end(number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt(f"ended by {signal.Signals(number).name}")


def main() -> int:
    """Run the command line; a request to terminate ends it as Ctrl+C does: with code 2, at any moment.

    What whoever started the program wants ignored (``nohup``) stays ignored.
    """
    try:
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
        from tileview.cli import main as run

        return run()
    except KeyboardInterrupt as request:
        sys.stderr.write(f"tileview: {str(request) or 'interrupted'}\n")
        sys.stderr.flush()
        os._exit(_ENDED)  # half-imported modules would only complain


if __name__ == "__main__":
    raise SystemExit(main())
