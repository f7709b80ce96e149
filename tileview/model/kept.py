"""What was worked out for an object is kept for whoever asks again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class KeptFor(Generic[T]):
    """Results by the objects that they were made of, told apart by identity, and by facts; the last ``limit`` of them.

    Each result is kept with its objects, so that an id stays theirs. May be used from several threads: then a result
    may be made twice.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: OrderedDict[tuple[Hashable, ...], tuple[tuple[object, ...], T]] = OrderedDict()

    def get(self, of: tuple[object, ...], make: Callable[[], T], facts: tuple[Hashable, ...] = ()) -> T:
        """What was made of some objects, made now where it is not there."""
        key = (*map(id, of), *facts)
        found = self._found.get(key)
        if found is not None:
            return found[1]
        made = make()
        self._found[key] = of, made
        while len(self._found) > self._limit:
            with suppress(KeyError):
                self._found.popitem(last=False)
        return made
