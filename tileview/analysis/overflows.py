"""Every place where a program is over a limit: one for each run of steps, the worst first, with what lies there.

The verdict names one limit and one step. Here is all that has to be cured: for each run of steps over the total budget
or over the interleaved region its worst step, and for standard memory every allocation that is larger than the largest
unbroken piece. Each names the operation at fault, the one whose plan makes most of the bytes there, and what it makes.
Steps that exchange more pieces than a tile may are told here too: every recipe's notes speak of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tileview.analysis.loads import PeakPlace, largest_bytes
from tileview.analysis.words import allocation_name, at_start, in_words, name_parts, scratch_name
from tileview.core.memory.verdict import contiguous_bytes
from tileview.model.sizes import kib_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import ByteArray, Cause, Timeline, last_largest

if TYPE_CHECKING:
    from tileview.model.program import Program


MOST_FRAGMENTS: Final = 16_384
"""What a tile may send or receive in one exchange, in pieces."""
_MOST_LISTED: Final = 6


def _fragments(program: Program) -> list[tuple[int, int, int | None]]:
    """(pieces, step, operation) of every step that moves something, most first."""
    from tileview.core.memory.exchange import step_fragments  # no part of a timeline's way

    found = []
    for entry in program.flatten():
        pieces = step_fragments(entry.step, program.values)
        if isinstance(pieces, int) and pieces:
            found.append((pieces, entry.index, entry.step.source))
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))


def too_many_fragments(program: Program) -> str:
    """The steps that exchange more pieces than a tile may, by estimate, in a sentence; empty where none does."""
    over = [entry for entry in _fragments(program) if entry[0] > MOST_FRAGMENTS]
    listed = [f"step {index} (operation {source}) {pieces:,}" for pieces, index, source in over[:_MOST_LISTED]]
    limit = f"the {MOST_FRAGMENTS:,} pieces that a tile may exchange at once"
    return f"Steps above {limit}, by estimate: {', '.join(listed)}." if over else ""


def fragment_lines(program: Program) -> list[str]:
    """The steps whose estimated pieces are above the per-tile limit; a sentence where none is."""
    over = too_many_fragments(program)
    if over:
        return [over]
    pieces, index, source = next(iter(_fragments(program)), (0, 0, None))
    return [
        f"By estimate no step comes above {MOST_FRAGMENTS:,} pieces; the most are {pieces:,} at step {index} "
        f"(operation {source}). The compiler counts the pieces of its messages, which may be more."
    ]


TOTAL: Final = "total"
INTERLEAVED: Final = "interleaved"
STANDARD_ALLOCATION: Final = "standard allocation"

_JUDGED = (Cause.FITS, Cause.TOTAL, Cause.INTERLEAVED, Cause.CONTIGUOUS)
"""Verdicts that rest on known sums; with any other it is not known what is over."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class MadeBytes:
    """Bytes that the operation at fault makes at an overflow; ``root`` is None for the step's scratch."""

    root: int | None
    name: str
    memory_class: MemoryClass
    bytes: int
    what: str
    of: str


@dataclass(frozen=True, slots=True)
class Overflow:
    """A run of steps ``first_step`` … ``last_step`` over a limit, both included, and its worst ``step``.

    ``tile`` is the last of the fullest at that step, ``tiles_over`` how many are over then. ``operation`` is at fault:
    its plan makes the largest part of what is made there; None where nothing says so. ``made`` is what it makes there,
    largest first.
    """

    limit: str
    step: int
    first_step: int
    last_step: int
    tile: int
    tiles_over: int
    operation: int | None
    over_bytes: int
    made: tuple[MadeBytes, ...]


def total_limit(timeline: Timeline) -> int:
    """Bytes that a tile may hold beside the reserve."""
    return timeline.budget_bytes - timeline.reserve_bytes


def steps_over(timeline: Timeline) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(steps,): whether some tile is over a budget: total + reserve over the budget, or interleaved over its own.

    A step with an unavailable term counts when what is known of it is over already.
    """
    if not timeline.steps:
        return np.zeros(0, dtype=np.bool_)
    worst = timeline.tiles.worst()
    over: np.ndarray[tuple[int], np.dtype[np.bool_]] = (worst[:, 2] > total_limit(timeline)) | (
        worst[:, 1] > timeline.interleaved_budget_bytes
    )
    return over


def tiles_over(timeline: Timeline, usage: ByteArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(tiles,): total + reserve over the budget, or interleaved over its own; ``usage`` is (tiles, 2)."""
    over: np.ndarray[tuple[int], np.dtype[np.bool_]] = (usage[:, 0] + usage[:, 1] > total_limit(timeline)) | (
        usage[:, 1] > timeline.interleaved_budget_bytes
    )
    return over


def fullest_tile_over(timeline: Timeline, step: int) -> int:
    """The tile to look at where a step is over a budget: of those over the last with the largest total.

    A tile within its budgets may hold more, but is not at fault. Where none is over, the last with the largest total.
    """
    usage = timeline.tiles.usage(step)
    total = usage[:, 0] + usage[:, 1]
    over = tiles_over(timeline, usage)
    return last_largest(np.where(over, total, -1) if bool(over.any()) else total)


def next_place_over(timeline: Timeline, step: int | None, forward: bool) -> PeakPlace | None:
    """The next step over a budget after (or before) ``step`` (from an end where that is None), and its fullest tile.

    The one rule for every key, button and list that goes from overflow to overflow; None where there is none.
    """
    places: list[int] = np.flatnonzero(steps_over(timeline)).tolist()
    if forward:
        found = next((place for place in places if step is None or place > step), None)
    else:
        found = next((place for place in reversed(places) if step is None or place < step), None)
    return None if found is None else PeakPlace(found, fullest_tile_over(timeline, found))


def overflows(timeline: Timeline) -> tuple[Overflow, ...] | None:
    """All overflows, those with most bytes over first; empty where the program fits, None where that is not known.

    Not known: sizes are missing, or the file's verdict and its own steps say different things.
    """
    if timeline.verdict.cause not in _JUDGED:
        return None
    found = [*_runs(timeline, TOTAL), *_runs(timeline, INTERLEAVED), *_large_allocations(timeline)]
    if bool(found) == timeline.verdict.fits:
        return None
    return tuple(sorted(found, key=lambda one: (-one.over_bytes, one.step, one.limit)))


def _runs(timeline: Timeline, limit: str) -> Iterator[Overflow]:
    """The runs of steps over the total budget or the interleaved region."""
    column, room = (2, total_limit(timeline)) if limit == TOTAL else (1, timeline.interleaved_budget_bytes)
    figures = timeline.tiles.worst()[:, column] if timeline.steps else np.zeros(0, dtype=np.int64)
    places = np.flatnonzero(figures > room)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        if not len(run):
            continue
        step = int(run[int(figures[run].argmax())])
        usage = timeline.tiles.usage(step)
        on_tiles = usage.sum(axis=1) if limit == TOTAL else usage[:, 1]
        tile = last_largest(on_tiles)
        operation, made = _at_fault(timeline, step, tile, limit)
        over, count = int(on_tiles[tile]) - room, int((on_tiles > room).sum())
        yield Overflow(limit, step, int(run[0]), int(run[-1]), tile, count, operation, over, made)


def _at_fault(timeline: Timeline, step: int, tile: int, limit: str) -> tuple[int | None, tuple[MadeBytes, ...]]:
    """The operation that makes most of what is made on a tile at a step (the step's own of equals), and all of that."""
    by_maker: dict[int, list[MadeBytes]] = {}
    for root in timeline.steps[step].live:
        maker = timeline.maker(root)
        if maker is None or root in timeline.unavailable_roots:
            continue
        item = _made(timeline, root, int(timeline.tiles.allocation(root)[tile]))
        if item.bytes and (limit == TOTAL or item.memory_class is MemoryClass.INTERLEAVED):
            by_maker.setdefault(maker, []).append(item)
    source = timeline.steps[step].source
    scratch: list[int] = timeline.tiles.scratch(step)[tile].tolist()
    if source is not None:
        for memory_class, size in zip((MemoryClass.STANDARD, MemoryClass.INTERLEAVED), scratch, strict=True):
            if size and (limit == TOTAL or memory_class is MemoryClass.INTERLEAVED):
                name, kind = scratch_name(timeline, step), timeline.steps[step].kind
                by_maker.setdefault(source, []).append(
                    MadeBytes(None, name, memory_class, size, f"scratch for its {kind}", "")
                )
    if not by_maker:
        return source, ()
    sums = {maker: sum(item.bytes for item in items) for maker, items in by_maker.items()}
    most = max(sums, key=lambda maker: (sums[maker], maker == source, -maker))
    return most, tuple(sorted(by_maker[most], key=lambda item: -item.bytes))


def _made(timeline: Timeline, root: int, size: int) -> MadeBytes:
    parts = name_parts(timeline, root)
    memory_class = timeline.values[timeline.aliases.get(root, (root,))[-1]].memory_class
    return MadeBytes(root, allocation_name(timeline, root), memory_class, size, parts.what or parts.given, parts.of)


def _large_allocations(timeline: Timeline) -> Iterator[Overflow]:
    """Standard allocations, and scratch of steps, that are larger than the largest unbroken piece of memory."""
    room = contiguous_bytes(timeline.reserve_bytes)
    largest = timeline.peak.maximum_standard_allocation
    if not isinstance(largest, int) or largest <= room:
        return
    for root, members in timeline.aliases.items():
        size = largest_bytes(timeline, root)
        if not isinstance(size, int) or size <= room:
            continue
        if timeline.values[members[-1]].memory_class is not MemoryClass.STANDARD:
            continue
        steps = [step.index for step in timeline.steps if root in step.live]
        if steps:
            row = timeline.tiles.allocation(root)
            made = (_made(timeline, root, int(row[last_largest(row)])),)
            yield _too_large((steps[0], steps[-1]), row, timeline.maker(root), made, room)
    for step in timeline.steps:
        if isinstance(step.scratch.standard, int) and step.scratch.standard > room:
            row = timeline.tiles.scratch(step.index)[:, 0]
            name = scratch_name(timeline, step.index)
            size = int(row[last_largest(row)])
            made = (MadeBytes(None, name, MemoryClass.STANDARD, size, f"scratch for its {step.kind}", ""),)
            yield _too_large((step.index, step.index), row, step.source, made, room)


def _too_large(
    span: tuple[int, int], row: ByteArray, maker: int | None, made: tuple[MadeBytes, ...], room: int
) -> Overflow:
    tile = last_largest(row)
    over, count = int(row[tile]) - room, int((row > room).sum())
    return Overflow(STANDARD_ALLOCATION, span[0], span[0], span[1], tile, count, maker, over, made)


# -- in words -------------------------------------------------------------------------------------------------------

Phrase = tuple[str, str]
"""Words and what they lead to (``step:69``, ``op:21``, ``root:454``, ``tile:174``), empty where they lead nowhere."""

LIMIT_WORDS = {
    TOTAL: "",
    INTERLEAVED: " (interleaved memory)",
    STANDARD_ALLOCATION: " (one piece of standard memory)",
}


def overflow_phrases(found: Sequence[Overflow], kinds: Mapping[int, str], most: int | None = None) -> list[Phrase]:
    """All overflows as one sentence in pieces, which a window can make links of; see :func:`overflow_sentence`.

    Parameters
    ----------
    kinds : mapping
        Operation → its kind (``Gemm``); may lack some or all.
    most : int, optional
        How many overflows are named; the rest are counted.
    """
    if not found:
        return []
    shown = found if most is None else found[:most]
    phrases: list[Phrase] = [(_opening(found), "")]
    for index, one in enumerate(shown):
        phrases += [("; " if index else "", ""), *_place_phrases(one, kinds)]
    if len(shown) < len(found):
        phrases.append((f"; and {len(found) - len(shown):,} more", ""))
    return [*(phrase for phrase in phrases if phrase[0]), (".", "")]


def _opening(found: Sequence[Overflow]) -> str:
    single = all(one.first_step == one.last_step for one in found)
    what = "step" if single else "run of steps"
    if any(one.limit == STANDARD_ALLOCATION for one in found):
        what = "place"
    count = len(found)
    plural = "" if count == 1 else "runs of steps" if what == "run of steps" else what + "s"
    number = at_start(in_words(count))
    return f"{number} {what if count == 1 else plural} overflow{'s' if count == 1 else ''}: "


def _place_phrases(one: Overflow, kinds: Mapping[int, str]) -> list[Phrase]:
    """``step 69 (op 21 Gemm: its 155.3 KiB copy …) by 29.8 KiB on tile 174``."""
    whole = f"steps {one.first_step} to {one.last_step}"
    if one.first_step == one.last_step:
        phrases: list[Phrase] = [(f"step {one.step}", f"step:{one.step}")]
    elif one.limit == STANDARD_ALLOCATION:
        phrases = [(whole, f"step:{one.step}")]
    else:
        phrases = [(f"step {one.step}", f"step:{one.step}"), (f" of {whole}", "")]
    if one.operation is not None:
        operation = f"op {one.operation} {kinds.get(one.operation, '')}".rstrip()
        phrases += [(" (", ""), (operation, f"op:{one.operation}")]
        if one.made:
            phrases += [(": its ", ""), *_made_phrases(one.made)]
        phrases.append((")", ""))
    elif one.made:
        phrases += [(" (", ""), *_made_phrases(one.made), (")", "")]
    by = f" by {kib_text(one.over_bytes)}{LIMIT_WORDS[one.limit]} on "
    return [*phrases, (by, ""), (f"tile {one.tile}", f"tile:{one.tile}")]


def _made_phrases(made: Sequence[MadeBytes]) -> list[Phrase]:
    """``155.3 KiB copy and 80.0 KiB cast of op 20's result``: the largest, those of one value together."""
    shown = made[:_MOST_NAMED]
    phrases: list[Phrase] = []
    for index, item in enumerate(shown):
        last = index == len(shown) - 1
        joined = "" if not index else " and " if last and len(made) == len(shown) else ", "
        words = f"{kib_text(item.bytes)} {item.what}"
        if item.of and (last or shown[index + 1].of != item.of):
            words += f" of {item.of}"
        phrases += [(joined, ""), (words, "" if item.root is None else f"root:{item.root}")]
    left = made[_MOST_NAMED:]
    if left:
        phrases.append((f" and {len(left):,} more with {kib_text(sum(item.bytes for item in left))}", ""))
    return phrases


def overflow_sentence(found: Sequence[Overflow], kinds: Mapping[int, str], most: int | None = None) -> str:
    """``Two steps overflow: step 69 (op 21 Gemm: its 155.3 KiB copy and 80.0 KiB cast of op 20's result) by 29.8 KiB
    on tile 174; step 20 (…) by 14.4 KiB on tile 153.``; empty where nothing is over."""
    return "".join(words for words, _ in overflow_phrases(found, kinds, most))


def overflow_lines(found: Sequence[Overflow], kinds: Mapping[int, str]) -> list[str]:
    """One sentence for each overflow, for lists."""
    lines = []
    for one in found:
        text = "".join(words for words, _ in _place_phrases(one, kinds))
        tiles = "1 tile is" if one.tiles_over == 1 else f"{one.tiles_over:,} tiles are"
        lines.append(f"{at_start(text)}; {tiles} over.")
    return lines
