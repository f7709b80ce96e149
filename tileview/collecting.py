"""How often Python looks for objects in rings.

Reading a file or working an estimate out makes objects by the hundred thousand, and none of them in a ring. Python's
own rule looks at them after every 700, which takes a fifth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SELDOM: Final = (50_000, 20, 100)


def collect_seldom() -> None:
    """From now on, for the whole process."""
    gc.set_threshold(*_SELDOM)


def collect_no_more() -> None:
    """Before the process ends: what is there goes with it. Python would look through all of it for rings, twice."""
    gc.freeze()


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Meanwhile; afterwards as before."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
