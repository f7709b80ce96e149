"""How far a long command is."""

from __future__ import annotations

import sys
import time


class Meter:
    """Shown only where standard error is a terminal, and only after a moment; never in scripts."""

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._done = 0
        self._start = time.monotonic()
        self._shown = False
        self._last = 0.0
        self._active = sys.stderr is not None and sys.stderr.isatty()

    def add(self, count: int) -> None:
        """So many more are done."""
        self.show(self._done + count, self._total)

    def show(self, done: int, total: int, more: str = "") -> None:
        """So many of so many are done."""
        self._done, self._total = done, total
        now = time.monotonic()
        if not self._active or now - self._start < 0.5 or (now - self._last < 0.1 and done < total):
            return
        self._last = now
        self._shown = True
        sys.stderr.write(f"\r{done:,} of {total:,} {self._what}{more}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
