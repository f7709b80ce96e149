"""Cancelling a layout and following its progress."""

from __future__ import annotations

from typing import Protocol


class LayoutCancelled(Exception):  # noqa: N818 - it is no error, it is what was asked for
    """Raised out of a layout whose token says that nobody waits for it any more."""


class Token(Protocol):
    """What a layout asks and tells while it runs; called on the thread that runs the layout."""

    def cancelled(self) -> bool:
        """True as soon as the result is of no use any more."""
        ...

    def progress(self, fraction: float) -> None:
        """How far the layout is, 0 … 1, never falling."""
        ...


class Silent:
    """The token of a caller that waits to the end."""

    def cancelled(self) -> bool:
        return False

    def progress(self, fraction: float) -> None:
        pass


class Part:
    """A stretch of another token's progress: its 0 … 1 is ``start`` … ``stop`` there."""

    def __init__(self, token: Token, start: float, stop: float) -> None:
        self._token = token
        self._start = start
        self._length = stop - start

    def cancelled(self) -> bool:
        return self._token.cancelled()

    def progress(self, fraction: float) -> None:
        self._token.progress(self._start + self._length * fraction)


def check(token: Token) -> None:
    """Leave with :class:`LayoutCancelled` where the token is cancelled."""
    if token.cancelled():
        raise LayoutCancelled
