"""What no placement can get round: more live bytes than there is memory for them, or a request that no range holds."""

from __future__ import annotations

from dataclasses import dataclass

from tileview.core.placement.fit import Asked, places
from tileview.model.placement import Memory


@dataclass(frozen=True, slots=True)
class Shortage:
    """Live bytes of some requests at their worst event (None where there are none), and the memory they may use."""

    peak: int
    event: int | None
    capacity: int

    @property
    def over(self) -> int:
        """Bytes that are missing whatever the order; 0 where the bytes alone prove nothing."""
        return max(0, self.peak - self.capacity)


@dataclass(frozen=True, slots=True)
class Proofs:
    """``all``: the compiler's own. ``kept``: what lives before or after the run, which may not use the window.
    ``interleaved``: against region 1. ``no_place``: requests that no range can hold even alone."""

    all: Shortage
    kept: Shortage
    interleaved: Shortage
    no_place: tuple[int, ...]

    @property
    def worst(self) -> tuple[str, Shortage]:
        """The shortage with the most bytes missing, by name: "all requests", "kept requests" or "interleaved"."""
        named = (("all requests", self.all), ("kept requests", self.kept), ("interleaved requests", self.interleaved))
        return max(named, key=lambda entry: entry[1].over)

    @property
    def over(self) -> int:
        """The most bytes that are missing by any of the three."""
        return self.worst[1].over

    @property
    def impossible(self) -> bool:
        """Whether it is proved that nothing places these requests."""
        return self.over > 0 or bool(self.no_place)


def prove(asked: Asked, memory: Memory) -> Proofs:
    """The proofs of one tile's requests against its bare ranges.

    A request counts with its smallest bytes over its places, with none where it has no place.
    """
    smallest: list[int] = []
    no_place = []
    remembered: dict[tuple[int, int, int, int, bool, bool], int | None] = {}
    for index in range(len(asked)):
        sizes = (asked.sizes[index], asked.grains[index], asked.sizes1[index], asked.grains1[index])
        key = (*sizes, asked.interleaved[index], asked.kept[index])
        if key not in remembered:
            found = places(asked, index, memory.ranges, memory)
            remembered[key] = min((place.bytes for place in found), default=None)
        least = remembered[key]
        smallest.append(least or 0)
        if least is None:
            no_place.append(index)
    window, lowest = memory.window, memory.boundary + memory.interleaved_offset
    outside = sum(b - a for a, b in memory.ranges if not (window[0] <= a and b <= window[1]))
    above = sum(max(0, b - max(a, lowest)) for a, b in memory.ranges)
    return Proofs(
        _shortage(asked, smallest, [True] * len(asked), memory.bytes),
        _shortage(asked, smallest, asked.kept, outside),
        _shortage(asked, smallest, asked.interleaved, above),
        tuple(no_place),
    )


def live_peak(asked: Asked, memory: Memory) -> int:
    """The most bytes live at once, as the proofs count them."""
    return prove(asked, memory).all.peak


def _shortage(asked: Asked, sizes: list[int], counted: list[bool], capacity: int) -> Shortage:
    """Sweep the events at which a counted request begins; of equal peaks the earliest event is named."""
    changes: dict[int, int] = {}
    firsts = set()
    for size, first, last, counts in zip(sizes, asked.firsts, asked.lasts, counted, strict=True):
        if counts:
            firsts.add(first)
            changes[first] = changes.get(first, 0) + size
            changes[last + 1] = changes.get(last + 1, 0) - size
    peak, event, live = 0, None, 0
    for moment in sorted(changes):
        live += changes[moment]
        if moment in firsts and live > peak:
            peak, event = live, moment
    return Shortage(peak, event, capacity)
