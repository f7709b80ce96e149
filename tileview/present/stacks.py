"""What the total is made of: layers of parameters and of what each operation makes, which add up to a curve.

An allocation is in the layer of the operation whose plan makes it, the scratch of a step in that of its operation. What
no operation makes and is no parameter has a layer under its own name.

The layers need every allocation and the scratch of every step on one tile. A file holds those as text that is decoded
when it is looked at, which takes a second or two for a hundred megabytes: :class:`StackSource` reads them a few at a
time and keeps what it read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tileview.analysis.lifetimes import live_spans
from tileview.model.timeline import ByteArray, ClassBytes, Timeline
from tileview.present.curves import Curves, tile_at


@dataclass(frozen=True, slots=True)
class Series:
    """One layer of a stack: (steps,) bytes. ``kind`` is ``parameters``, ``group``, ``rest``, ``scratch`` or ``other``;
    ``operation`` is set for what one operation makes."""

    name: str
    kind: str
    sizes: ByteArray
    operation: int | None = None


_Group = int | str
"""The operation that makes a layer, or the name of what none makes."""


def _order(group: _Group) -> tuple[bool, int, str]:
    """Operations by number, then names."""
    return (False, group, "") if isinstance(group, int) else (True, 0, group)


NO_BYTES = ClassBytes(0, 0)
PARAMETERS = "parameters"
THROUGHOUT = "live throughout"
SCRATCH = "scratch"
REST = "other operations"
UNEXPLAINED = "not explained by the allocations"


class StackSource:
    """Reads what a stack of a timeline needs, a few arrays at a time, and makes stacks for any tile from it.

    Scratch is kept for the steps that have any, as 32-bit numbers where they fit; allocations are left to the timeline.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._spans = live_spans(timeline)
        self._roots = list(self._spans)
        self._steps = [step.index for step in timeline.steps if step.scratch != NO_BYTES]
        self._scratch: dict[int, npt.NDArray[np.integer]] = {}
        self._next = 0

    @property
    def count(self) -> int:
        """Arrays to read in all."""
        return len(self._steps) + len(self._roots)

    @property
    def read(self) -> int:
        """Arrays read so far."""
        return self._next

    @property
    def done(self) -> bool:
        return self._next >= self.count

    def advance(self, arrays: int = 1) -> bool:
        """Read the next ``arrays`` arrays; True when all are there."""
        for index in range(self._next, min(self._next + arrays, self.count)):
            if index < len(self._steps):
                self._read_scratch(self._steps[index])
            else:
                self.timeline.tiles.allocation(self._roots[index - len(self._steps)])
            self._next = index + 1
        return self.done

    def _read_scratch(self, step: int) -> ByteArray:
        both = self.timeline.tiles.scratch(step)
        sizes: ByteArray = both[:, 0] + both[:, 1]
        small = int(sizes.max(initial=0)) <= np.iinfo(np.int32).max
        self._scratch[step] = sizes.astype(np.int32) if small else sizes
        return sizes

    def layers(self, shown: Curves, top: int = 6) -> tuple[Series, ...]:
        """The layers that add up to ``shown.total`` at every step, from the bottom.

        Parameters (where the timeline names none: what is live at every step) come first, then the ``top`` operations
        by what they make, those that hold most at the largest total first, then by their largest bytes, the rest in one
        layer, then the scratch of steps that name no operation. Where a file disagrees with itself, so that the
        allocations do not add up to its usage, the difference is a layer of its own: the sum always is the curve. In
        LARGEST mode the layers are those of the tile with the largest total. What has not been read yet is read now.
        """
        self.advance(self.count)
        count = len(self.timeline.steps)
        resident, name = _resident(self.timeline)
        tiles = np.array([tile_at(self.timeline, shown, step) for step in range(count)], dtype=np.int64)
        base, groups = self._allocations(tiles, resident)
        scratch = self._add_scratch(tiles, groups)
        fullest = int(np.argmax(shown.total)) if count else 0
        ranked = sorted(
            groups,
            key=lambda group: (-int(groups[group][fullest]), -int(groups[group].max(initial=0)), _order(group)),
        )
        layers = [Series(name, "parameters", base)] if resident else []
        layers += [
            Series(f"op {group}", "group", groups[group], group)
            if isinstance(group, int)
            else Series(group, "group", groups[group])
            for group in ranked[:top]
        ]
        if len(ranked) > top:
            rest = _added(count, [groups[group] for group in ranked[top:]])
            layers.append(Series(f"{REST} ({len(ranked) - top:,})", "rest", rest))
        if bool(scratch.any()):
            layers.append(Series(SCRATCH, "scratch", scratch))
        missing = shown.total - _added(count, [layer.sizes for layer in layers])
        if bool(missing.any()):
            layers.append(Series(UNEXPLAINED, "other", missing))
        return tuple(layers)

    def _add_scratch(self, tiles: ByteArray, groups: dict[_Group, ByteArray]) -> ByteArray:
        """Count the scratch of each step for its operation; (steps,) what is left for steps that name none."""
        left = np.zeros(len(self.timeline.steps), dtype=np.int64)
        for step in self._steps:
            source = self.timeline.steps[step].source
            sizes = left if source is None else groups.setdefault(source, np.zeros(len(left), dtype=np.int64))
            sizes[step] += self._scratch[step][tiles[step]]
        return left

    def _allocations(self, tiles: ByteArray, resident: frozenset[int]) -> tuple[ByteArray, dict[_Group, ByteArray]]:
        """Bytes of the resident allocations, and of the others by maker, on the tile of each step."""
        count = len(self.timeline.steps)
        base = np.zeros(count, dtype=np.int64)
        groups: dict[_Group, ByteArray] = {}
        for root, spans in self._spans.items():
            sizes = base
            if root not in resident:
                maker = self.timeline.maker(root)
                group = self.timeline.values[root].group if maker is None else maker
                sizes = groups.setdefault(group, np.zeros(count, dtype=np.int64))
            on_tiles = self.timeline.tiles.allocation(root)
            for start, stop in spans:
                sizes[start:stop] += on_tiles[tiles[start:stop]]
        return base, groups


def stack(timeline: Timeline, shown: Curves, top: int = 6) -> tuple[Series, ...]:
    """The layers of a timeline at once; see :meth:`StackSource.layers`."""
    return StackSource(timeline).layers(shown, top)


def _added(count: int, arrays: Sequence[ByteArray]) -> ByteArray:
    result = np.zeros(count, dtype=np.int64)
    for array in arrays:
        result += array
    return result


def _resident(timeline: Timeline) -> tuple[frozenset[int], str]:
    if timeline.parameters:
        return timeline.parameters, PARAMETERS
    if not timeline.steps:
        return frozenset(), THROUGHOUT
    always = frozenset(timeline.steps[0].live)
    for step in timeline.steps[1:]:
        if not always:
            break
        always = always.intersection(step.live)
    return always, THROUGHOUT
