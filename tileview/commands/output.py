"""Writing results: never over the file that was read, never half."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tileview.analysis.trials import Swaps
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
    target: str, state: SearchState, swaps: Swaps, homes: dict[int, Format] | None = None, force: bool = False
) -> None:
    """Write a recipe with swaps (and new homes of inputs) in force; nothing else differs from the file."""
    write_file(target, render(state, Changes(dict(swaps), homes or {})), state.path, force)


def _same_file(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return os.path.abspath(a) == os.path.abspath(b)
