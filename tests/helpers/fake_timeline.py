"""Small timelines made by hand, for tests of everything that shows one.

A :class:`FakeProgram` lists allocations and steps; :func:`make_timeline` computes all the rest by brute force, so
that a test can state bytes tile by tile and know every sum. :func:`big_timeline` makes one of any size for benchmarks
and screenshots.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tileview.model.sizes import UNAVAILABLE, Size
from tileview.model.tensor import F16, ROW_MAJOR, Axis, AxisBase, Layout, MemoryClass, Tiling
from tileview.model.timeline import (
    ByteArray,
    Cause,
    ClassBytes,
    Origin,
    Peak,
    Timeline,
    TimelineStep,
    TimelineValue,
    Verdict,
)


@dataclass(frozen=True)
class Alloc:
    """An allocation of one value: ``tiles`` are its bytes on each tile (one number: the same on all), None for
    unavailable.

    It is live at steps ``first`` … ``last``, both included; -1 is the last step.
    """

    name: str
    tiles: int | Sequence[int] | None
    first: int
    last: int
    interleaved: bool = False
    parameter: bool = False
    group: str = ""


@dataclass(frozen=True)
class Step:
    """A step: ``scratch`` are standard bytes on each tile (one number: the same on all)."""

    operation: str = "Copy Automatic"
    source: int | None = None
    count: int = 1
    scratch: int | Sequence[int] = 0


@dataclass(frozen=True)
class FakeProgram:
    tiles: int
    steps: Sequence[Step]
    allocs: Sequence[Alloc]
    budget: int = 586_960
    interleaved_budget: int = 424_880
    reserve: int = 49_152
    scope: str = "fake"
    exchange_rows: int = 0
    notes: tuple[str, ...] = ()


@dataclass
class FakeTiles:
    """Per-tile numbers held as plain arrays: ``allocations`` (roots, tiles), ``scratches`` (steps, tiles), ``live``
    (steps, roots).
    """

    allocations: ByteArray
    interleaved: np.ndarray
    scratches: ByteArray
    live: np.ndarray
    _cache: dict[int, ByteArray] = field(default_factory=dict)
    _worst: ByteArray | None = None

    def usage(self, step: int) -> ByteArray:
        found = self._cache.get(step)
        if found is None:
            found = np.zeros((self.allocations.shape[1], 2), dtype=np.int64)
            found[:, 0] = self.allocations[self.live[step] & ~self.interleaved].sum(axis=0) + self.scratches[step]
            found[:, 1] = self.allocations[self.live[step] & self.interleaved].sum(axis=0)
            found.flags.writeable = False
            self._cache[step] = found
        return found

    def scratch(self, step: int) -> ByteArray:
        return np.column_stack([self.scratches[step], np.zeros_like(self.scratches[step])])

    def shards(self, value: int) -> ByteArray:
        return self.allocations[value]

    def allocation(self, root: int) -> ByteArray:
        return self.allocations[root]

    def value_bytes(self, value: int) -> ByteArray:
        return self.allocations[value]

    def worst(self) -> ByteArray:
        if self._worst is None:
            self._worst = self._find_worst()
        return self._worst

    def _find_worst(self) -> ByteArray:
        steps, tiles = self.scratches.shape
        result = np.zeros((steps, 4), dtype=np.int64)
        for step in range(steps):
            usage = self.usage(step)
            total = usage.sum(axis=1)
            last_worst = tiles - 1 - int(np.argmax(total[::-1]))
            result[step] = usage[:, 0].max(), usage[:, 1].max(), total.max(), last_worst
        return result

    def tile_curve(self, tile: int) -> ByteArray:
        return np.array([self.usage(step)[tile] for step in range(len(self.scratches))], dtype=np.int64).reshape(-1, 2)


_LAYOUT = Layout(ROW_MAJOR, Tiling(1, 1, (Axis(AxisBase.LINEAR, 0, 1),)))


def _value(index: int, alloc: Alloc, sizes: np.ndarray) -> TimelineValue:
    memory_class = MemoryClass.INTERLEAVED if alloc.interleaved else MemoryClass.STANDARD
    largest: Size = UNAVAILABLE if alloc.tiles is None else int(sizes.max(initial=0))
    layout = replace(_LAYOUT, memory_class=memory_class)
    return TimelineValue(
        id=index,
        origin=None,
        root=index,
        name=alloc.name,
        group=alloc.group or alloc.name,
        shape=(1,),
        precision=F16,
        layout=layout,
        layout_text=str(layout),
        layout_error="1,472 tiles requested, only 288 grains" if alloc.tiles is None else None,
        memory_class=memory_class,
        storage_group=index,
        shard_bytes=largest,
        aligned_bytes=largest,
        copies=1,
        bytes=largest,
    )


def _per_tile(number: int | Sequence[int] | None, tiles: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(0 if number is None else number, dtype=np.int64), (tiles,))


def make_timeline(program: FakeProgram) -> Timeline:
    """The timeline of a program: live sets, usage, peaks and verdict computed from its allocations and steps."""
    steps, roots = len(program.steps), len(program.allocs)
    allocations = np.array([_per_tile(alloc.tiles, program.tiles) for alloc in program.allocs], dtype=np.int64)
    allocations = allocations.reshape(roots, program.tiles)
    live = np.zeros((steps, roots), dtype=np.bool_)
    for root, alloc in enumerate(program.allocs):
        live[alloc.first : steps if alloc.last == -1 else alloc.last + 1, root] = True
    scratches = np.array([_per_tile(step.scratch, program.tiles) for step in program.steps], dtype=np.int64)
    interleaved = np.array([alloc.interleaved for alloc in program.allocs], dtype=np.bool_)
    tiles = FakeTiles(allocations, interleaved, scratches.reshape(steps, program.tiles), live)
    missing = frozenset(root for root, alloc in enumerate(program.allocs) if alloc.tiles is None)
    made = tuple(_step(program, tiles, index, missing) for index in range(steps))
    worst = tiles.worst()
    peak_steps = [int(np.argmax(worst[:, column])) if steps else None for column in range(3)]
    gone = any(not missing.isdisjoint(step.live) for step in made)
    sizes: list[Size] = [UNAVAILABLE if gone else int(worst[:, column].max(initial=0)) for column in range(3)]
    standard, inter, total = sizes
    return Timeline(
        origin=Origin.FILE,
        version=3,
        scope=program.scope,
        model="fake",
        tile_count=program.tiles,
        budget_bytes=program.budget,
        interleaved_budget_bytes=program.interleaved_budget,
        reserve_bytes=program.reserve,
        peak=Peak(standard, inter, total, standard, program.exchange_rows),
        total_peak_step=peak_steps[2],
        standard_peak_step=peak_steps[0],
        interleaved_peak_step=peak_steps[1],
        values=tuple(_value(root, alloc, allocations[root]) for root, alloc in enumerate(program.allocs)),
        steps=made,
        tiles=tiles,
        unavailable_roots=missing,
        aliases={root: (root,) for root in range(roots)},
        tails={},
        aligned_roots=frozenset(),
        verdict=_verdict(program, inter, total),
        notes=program.notes,
        parameters=frozenset(root for root, alloc in enumerate(program.allocs) if alloc.parameter),
        made_at={root: alloc.first for root, alloc in enumerate(program.allocs) if alloc.first and not alloc.parameter},
    )


def _step(program: FakeProgram, tiles: FakeTiles, index: int, missing: frozenset[int]) -> TimelineStep:
    step = program.steps[index]
    live = tuple(np.flatnonzero(tiles.live[index]).tolist())
    scratch = ClassBytes(int(tiles.scratches[index].max(initial=0)), 0)
    largest = tiles.allocations.max(axis=1, initial=0)
    coarse = [
        int(largest[tiles.live[index] & (tiles.interleaved == kind)].sum()) + (0 if kind else int(scratch.standard))  # type: ignore[arg-type]
        for kind in (False, True)
    ]
    usage, upper = ClassBytes(UNAVAILABLE, UNAVAILABLE), ClassBytes(UNAVAILABLE, UNAVAILABLE)
    if missing.isdisjoint(live):
        on_tiles = tiles.usage(index)
        worst = len(on_tiles) - 1 - int(np.argmax(on_tiles.sum(axis=1)[::-1]))
        usage = ClassBytes(*(int(part) for part in on_tiles[worst]))
        upper = ClassBytes(*coarse)
    kind = step.operation.split(" ")[0]
    return TimelineStep(index, step.source, step.operation, kind, step.count, live, scratch, usage, upper)


def _verdict(program: FakeProgram, interleaved: Size, total: Size) -> Verdict:
    if not isinstance(total, int) or not isinstance(interleaved, int):
        return Verdict(None, Cause.INCOMPLETE, "unavailable", "", UNAVAILABLE, program.budget, UNAVAILABLE)
    needed = total + program.reserve
    fits = needed <= program.budget and interleaved <= program.interleaved_budget
    cause = Cause.FITS if fits else Cause.TOTAL if needed > program.budget else Cause.INTERLEAVED
    text = "fits" if fits else "does not fit"
    return Verdict(fits, cause, text, "total budget", needed, program.budget, needed - program.budget)


def small_timeline() -> Timeline:
    """Eight steps on four tiles: a parameter, three activations, scratch, a Repeat of two steps run 3 times; step 5 is
    over.
    """
    kib = 1024
    steps = [
        Step("Copy Automatic", source=0),
        Step("Product Initialize", source=1),
        Step("Add", source=2, count=3),
        Step("Gelu", source=3, count=3, scratch=2 * kib),
        Step("Repeat", source=4),
        Step("Product Initialize", source=5),
        Step("Sum axis 0", source=5, scratch=[1 * kib, 2 * kib, 3 * kib, 4 * kib]),
        Step("Copy Automatic", source=6),
    ]
    allocs = [
        Alloc("weights", [64 * kib, 64 * kib, 64 * kib, 32 * kib], 0, -1, parameter=True),
        Alloc("left", [32 * kib, 32 * kib, 16 * kib, 0], 0, 1),
        Alloc("product", [0, 64 * kib, 64 * kib, 0], 1, 5, interleaved=True),
        Alloc("wide", [100 * kib, 300 * kib, 500 * kib, 100 * kib], 5, 5),
        Alloc("result", 8 * kib, 5, -1),
    ]
    return make_timeline(FakeProgram(4, steps, allocs))


def big_timeline(
    tiles: int = 1472,
    steps: int = 500,
    allocs: int = 600,
    seed: int = 1,
    unavailable: int = 0,
    peak_bytes: int = 560_000,
) -> Timeline:
    """A timeline that looks like a real one: parameters on all tiles, activations that come and go, a Repeat, a few
    alone tiles.

    The largest usage comes near ``peak_bytes``. ``unavailable`` allocations in the middle have no known size.
    """
    random = np.random.default_rng(seed)
    made: list[Alloc] = []
    resident = max(allocs // 4, 1)
    for index in range(resident):
        size = int(random.integers(1, 40)) * 64
        made.append(Alloc(f"layer.{index % 7}.weight", size, 0, -1, parameter=True, group=f"layer.{index % 7}.weight"))
    for index in range(allocs - resident):
        first = int(random.integers(0, max(steps - 1, 1)))
        last = min(steps - 1, first + int(random.integers(1, max(steps // 25, 3))))
        size = int(random.integers(8, 4096)) * 8
        on = np.full(tiles, size, dtype=np.int64)
        used = int(random.choice([tiles, tiles * 22 // 23, tiles // 2 or 1, max(tiles // 16, 1)]))
        on[used:] = 0
        made.append(
            Alloc(
                f"operation {index} result 0",
                on.tolist(),
                first,
                last,
                interleaved=index % 3 == 0,
                group=f"operation {index // 4}",
            )
        )
    middle = steps // 2
    for index in range(unavailable):
        made.append(Alloc(f"lost {index}", None, middle, min(middle + steps // 20 + 1, steps - 1)))
    body = range(steps // 4, steps // 2)
    kinds = ("Copy Automatic", "Product Initialize", "Add", "Gelu", "LayerNorm")
    listed = [
        Step(
            "Repeat" if index == body.stop else kinds[index % len(kinds)],
            source=index // 3,
            count=27 if index in body else 1,
            scratch=int(random.integers(0, 20)) * 64,
        )
        for index in range(steps)
    ]
    timeline = make_timeline(FakeProgram(tiles, listed, made))
    highest = int(timeline.tiles.worst()[:, 2].max(initial=1)) or 1
    scaled = [
        replace(alloc, tiles=alloc.tiles if alloc.tiles is None else _scaled(alloc.tiles, peak_bytes, highest))
        for alloc in made
    ]
    return make_timeline(FakeProgram(tiles, listed, scaled, scope="big"))


def _scaled(tiles: int | Sequence[int], part: int, whole: int) -> int | list[int]:
    if isinstance(tiles, int):
        return tiles * part // whole // 8 * 8
    return [number * part // whole // 8 * 8 for number in tiles]


def plain(name: str) -> str:
    """An allocation's name as the fake program has it: without maker, precision and number."""
    return re.sub(r"( \(\w+\))? #\d+$", "", re.sub(r"^op \d+'s ", "", name))
