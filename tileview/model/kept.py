"""What was worked out is kept for whoever asks again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeptResults(Generic[K, V]):
    """The results asked for last, at most ``limit`` of them; may be used from several threads.

    An object that caches its own methods with ``functools.lru_cache`` is part of a ring: a document's arrays would stay
    in memory until the garbage collector comes by.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[K], V]) -> V:
        """What ``make`` gives for a key, made when it is not there."""
        try:
            value = self._found[key]
            self._found.move_to_end(key)
        except KeyError:  # not there, or put out by another thread between the two lines
            value = self._found[key] = make(key)
            if len(self._found) > self._limit:
                with suppress(KeyError):
                    self._found.popitem(last=False)
        return value


class KeptFor(Generic[V]):
    """Results by the objects that they were made of, told apart by identity, and by facts; the last ``limit`` of them.

    Each result is kept with its objects, so that an id stays theirs. May be used from several threads: then a result
    may be made twice.
    """

    def __init__(self, limit: int) -> None:
        self._results: KeptResults[tuple[Hashable, ...], tuple[tuple[object, ...], V]] = KeptResults(limit)

    def get(self, of: tuple[object, ...], make: Callable[[], V], facts: tuple[Hashable, ...] = ()) -> V:
        """What was made of some objects, made now where it is not there."""
        return self._results.get((*map(id, of), *facts), lambda _: (of, make()))[1]
