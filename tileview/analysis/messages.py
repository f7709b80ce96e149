"""What a compiler's error sentence about memory means, and what open dumps say of the place that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tileview.analysis.loads import tile_load
from tileview.analysis.overflows import MOST_FRAGMENTS, fragment_lines
from tileview.analysis.placement import PlacementUnknownError, RequestNames, program_requests
from tileview.analysis.trials import never, with_swaps
from tileview.core.estimate import judge_recipe
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.outcome import TileOutcome, solve
from tileview.core.placement.ranges import presets
from tileview.core.placement.requests import ProgramRequests, TileClass
from tileview.model.placement import END, TileDump
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.sizes import exact_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline

_MOST_TRIED: Final = 60
_MOST_LISTED: Final = 6


class MessageKind(StrEnum):
    """Which of the compiler's sentences a text is."""

    INSUFFICIENT = "insufficient memory"
    RANGES = "rejected ranges"
    TRANSFERS = "too many transfers"
    TABLES = "exchange tables too large"
    SEQUENCES = "overlapping sequences"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Message:
    """A compiler's sentence taken apart; tile, class and bytes where it names them."""

    kind: MessageKind
    tile: int | None = None
    memory_class: MemoryClass | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """``meaning``: what the sentence says and does not say. ``findings``: what a file says of the place it names."""

    message: Message
    meaning: tuple[str, ...]
    findings: tuple[tuple[str, tuple[str, ...]], ...]


_INSUFFICIENT = re.compile(
    r"tile (\d{1,9}) has insufficient (Ipu21Standard|Ipu21Interleaved) SRAM for (\d{1,19}) bytes"
)
_OTHERS = (
    (re.compile(r"exchange transfer count exceeds per-tile limit"), MessageKind.TRANSFERS),
    (re.compile(r"exchange tables? exceeds? per-tile budget"), MessageKind.TABLES),
    (re.compile(r"repeat iterated placement constraints overlap incompatibly"), MessageKind.SEQUENCES),
)

_MEANINGS: Final = {
    MessageKind.INSUFFICIENT: (
        "The compiler gives the tile's allocations addresses one after the other and found no place for this one in "
        "what was left: neither in the order of first use, nor by size, nor in its bounded search.",
        "The number is the size of the request at which it stopped, not what is missing. That request is often not the "
        "culprit: whatever lives to the end of the run comes late in the order and finds the memory cut up by what "
        "came before. Any of the tiles that fail may be named.",
    ),
    MessageKind.RANGES: (
        "Tile 0 and 0 bytes: no allocation failed. The compiler rejected the ranges of open memory themselves: one is "
        "empty, not ascending, ends above 949,168 or starts below 362,208 without being the host's window. "
        "Descriptors, code or exchange tables have left nothing sound.",
    ),
    MessageKind.TRANSFERS: (
        f"A tile would send or receive more than {MOST_FRAGMENTS:,} pieces in one exchange. It is no lack of memory: a "
        "copy cuts a tensor into too many small pieces. Another distribution, or one that keeps rows together, helps.",
    ),
    MessageKind.TABLES: (
        "The tables that say what a tile sends and receives, step by step, take more of its memory than is kept for "
        "them. Fewer or larger pieces in the copies and Sums of the program help; what the estimate calls exchange "
        "rows is this storage.",
    ),
    MessageKind.SEQUENCES: (
        "Two inputs of a Repeat that take another value each round share some of their values but not all. Each such "
        "input is placed in one piece, so a value cannot be in two of them.",
    ),
    MessageKind.UNKNOWN: (
        "This is not one of the compiler's messages about memory that TileView knows: insufficient SRAM of a tile, "
        "exchange transfer count, exchange tables, and placement constraints of a Repeat.",
    ),
}


def find_message(text: str) -> Message:
    """Find a known sentence in a text, which may be a whole log."""
    found = _INSUFFICIENT.search(text)
    if found is not None:
        tile, size = int(found.group(1)), int(found.group(3))
        kind = MessageKind.RANGES if tile == size == 0 else MessageKind.INSUFFICIENT
        return Message(kind, tile, MemoryClass(found.group(2)), size)
    return Message(next((kind for pattern, kind in _OTHERS if pattern.search(text)), MessageKind.UNKNOWN))


def explain(
    text: str,
    recipes: Sequence[tuple[str, Recipe]] = (),
    timelines: Sequence[tuple[str, Timeline]] = (),
    dumps: Sequence[tuple[str, TileDump]] = (),
    ended: Callable[[], bool] | None = None,
    overrides: Overrides = NO_OVERRIDES,
) -> Explanation:
    """Explain a compiler's sentence with what is open.

    Parameters
    ----------
    text : str
        The sentence, or a log that holds it.
    recipes, timelines, dumps : sequences of (name, what was opened)
    ended : callable, optional
        Asked between two alternatives that are tried whether the answer is no longer wanted.
    overrides : Overrides
        What-if values of the recipes.
    """
    message = find_message(text)
    findings: list[tuple[str, tuple[str, ...]]] = []
    for name, recipe in recipes:
        findings.append((name, tuple(_about_recipe(message, recipe, overrides, ended or never))))
    for name, timeline in timelines:
        findings.append((name, tuple(_about_timeline(message, timeline))))
    for name, dump in dumps:
        findings.append((name, tuple(_about_dump(message, dump))))
    return Explanation(message, _MEANINGS[message.kind], tuple(entry for entry in findings if entry[1]))


# -- recipes --------------------------------------------------------------------------------------------------------


def _about_recipe(message: Message, recipe: Recipe, overrides: Overrides, ended: Callable[[], bool]) -> list[str]:
    try:
        requests = program_requests(recipe, overrides)
    except PlacementUnknownError as error:
        return [f"This recipe cannot be used: {error}."]
    if message.kind is MessageKind.TRANSFERS:
        return fragment_lines(requests.program)
    if message.kind is MessageKind.TABLES:
        rows = judge_recipe(recipe, overrides).peak
        return [] if rows is None else [f"Exchange rows of the program as planned: {exact_text(rows.exchange_rows)}."]
    if message.kind is not MessageKind.INSUFFICIENT or message.tile is None:
        return []
    if message.tile >= requests.program.tile_count:
        return [f"The recipe is planned for {requests.program.tile_count:,} tiles; it has no tile {message.tile}."]
    each = requests.class_of(message.tile)
    lines = _named_requests(message, requests, each)
    failing = _failures(message, recipe, requests, each)
    for title, outcome in failing:
        lines += _filled_by(title, requests, each, outcome)
    if failing:
        lines += _helping(message.tile, recipe, requests, each, failing, overrides, ended)
    else:
        lines.append(
            "With these plans the compiler's two orders place this tile in every memory known here. The compile had "
            "less open, or another program."
        )
    return lines


def _named_requests(message: Message, requests: ProgramRequests, each: TileClass) -> list[str]:
    """Which requests of the tile the sentence can mean."""
    templates, name = requests.templates, RequestNames(requests)
    same = [
        name(templates[index])
        for index, size in zip(each.present, each.bytes, strict=True)
        if size == message.bytes and templates[index].memory_class is message.memory_class
    ]
    size = exact_text(message.bytes or 0)
    alike = "" if len(each.tiles) == 1 else f" ({len(each.tiles) - 1:,} other tiles request the same)"
    if not same:
        return [
            f"Tile {message.tile} asks for no {size} of this class with these plans: the recipe belongs to another "
            "compile."
        ]
    return [f"On tile {message.tile}{alike}, {size} are requested by: {_listed(same)}."]


_Failure = tuple[str, TileOutcome]


def _failures(message: Message, recipe: Recipe, requests: ProgramRequests, each: TileClass) -> list[_Failure]:
    """The largest memory in which the tile is not placed, rather one in which order 2 ends at the request named."""
    found: list[tuple[bool, _Failure]] = []
    for preset in sorted(presets(recipe.config.reserve_bytes), key=lambda each: -each.bytes):
        memory = preset.memory
        outcome = solve(requests.asked(each, memory), memory)
        if outcome.by is None and outcome.placing.failed is not None:
            found.append((each.bytes[outcome.placing.failed] == message.bytes, (preset.title, outcome)))
    found.sort(key=lambda entry: not entry[0])
    return [failure for _, failure in found[:1]]


def _filled_by(title: str, requests: ProgramRequests, each: TileClass, outcome: TileOutcome) -> list[str]:
    """What lives with the request that failed, largest first."""
    failed = outcome.placing.failed
    assert failed is not None
    templates = [requests.templates[index] for index in each.present]
    own, name = templates[failed], RequestNames(requests)
    together = [
        (each.bytes[index], template)
        for index, template in enumerate(templates)
        if index != failed and template.first <= own.last and own.first <= template.last
    ]
    together.sort(key=lambda entry: -entry[0])
    largest = _listed([f"{name(template)} {exact_text(size)}" for size, template in together[:_MOST_LISTED]])
    resident = sum(
        size
        for size, template in zip(each.bytes, templates, strict=True)
        if template.first == 0 and template.last == END
    )
    lines = [
        f"In {title} order 2 ends at {name(own)} ({exact_text(each.bytes[failed])}): the largest "
        f"hole is {exact_text(outcome.placing.hole)}, {exact_text(outcome.placing.free_bytes)} are free in all.",
        f"What else is live then, largest first: {largest}. Parameters take {exact_text(resident)} of the tile.",
    ]
    if outcome.proofs is not None and outcome.proofs.over:
        lines.append(f"The tile is over by {exact_text(outcome.proofs.over)} whatever the order: that is proved.")
    return lines


def _helping(
    tile: int,
    recipe: Recipe,
    requests: ProgramRequests,
    each: TileClass,
    failing: list[_Failure],
    overrides: Overrides,
    ended: Callable[[], bool],
) -> list[str]:
    """Single alternatives with which the tile is placed in the memory where it failed, of operations that fill it."""
    title, outcome = failing[0]
    memory = next(p.memory for p in presets(recipe.config.reserve_bytes) if p.title == title)
    wanted = _operations_at(requests, each, outcome)
    tried, helpful = 0, []
    replanner = Replanner()
    for operation in wanted:
        for alternative, plan in enumerate(recipe.alternatives.get(operation, ())):
            if plan == recipe.plans.get(operation):
                continue
            if tried >= _MOST_TRIED or ended():
                break
            tried += 1
            swapped = with_swaps(recipe, [(operation, alternative)])
            try:
                other = program_requests(swapped, overrides, replanner)
            except PlacementUnknownError:
                continue
            placed = solve(other.asked(other.class_of(tile), memory), memory).by is not None
            if placed and judge_recipe(swapped, overrides).verdict.fits:
                helpful.append(f"operation {operation} to alternative {alternative}")
    if not tried:
        return []
    if not helpful:
        return [f"Of {tried} single alternatives of the operations that fill it, none places this tile there."]
    return [f"Placed there with one swap: {_listed(helpful[:_MOST_LISTED])} ({len(helpful)} of {tried} tried)."]


def _operations_at(requests: ProgramRequests, each: TileClass, outcome: TileOutcome) -> list[int]:
    """Operations whose steps make or read what lives with the failed request, those with the most bytes first."""
    failed = outcome.placing.failed
    assert failed is not None
    own = requests.templates[each.present[failed]]
    bytes_of: dict[int, int] = {}
    makers = {result: entry.step.source for entry in requests.program.flatten() for result in entry.step.results}
    for index, size in zip(each.present, each.bytes, strict=True):
        template = requests.templates[index]
        if template.first <= own.last and own.first <= template.last:
            maker = template.step.source if template.step is not None else makers.get(template.roots[0])
            if maker is not None:
                bytes_of[maker] = max(bytes_of.get(maker, 0), size)
    return sorted(bytes_of, key=lambda operation: -bytes_of[operation])


# -- timelines and dumps --------------------------------------------------------------------------------------------


def _about_timeline(message: Message, timeline: Timeline) -> list[str]:
    """The fullest step of the tile named, and what lies there."""
    if message.kind is not MessageKind.INSUFFICIENT or message.tile is None:
        return []
    if message.tile >= timeline.tile_count:
        return [f"The timeline has {timeline.tile_count:,} tiles; there is no tile {message.tile}."]
    if not timeline.steps:
        return []
    curve = timeline.tiles.tile_curve(message.tile).sum(axis=1)
    step = int(curve.argmax())
    load = tile_load(timeline, step, message.tile)
    items = [(item.bytes, item.name) for item in load.items if isinstance(item.bytes, int)]
    items.sort(key=lambda item: -item[0])
    listed = _listed([f"{name} {exact_text(size)}" for size, name in items[:_MOST_LISTED]])
    return [
        f"Tile {message.tile} holds most at step {step}: {exact_text(int(curve[step]))} by the sum; largest first: "
        f"{listed}. A timeline lists bytes, not requests: whether they can be placed takes the recipe or a tile dump."
    ]


def _about_dump(message: Message, dump: TileDump) -> list[str]:
    problem = dump.problem
    if message.kind is not MessageKind.INSUFFICIENT:
        return []
    if message.tile != problem.tile:
        return [f"It is a dump of tile {problem.tile}, not of tile {message.tile}; any tile that fails may be named."]
    same = [
        request for request in problem.requests
        if request.bytes == message.bytes and request.memory_class is message.memory_class
    ]  # fmt: skip
    if not same:
        return ["None of its requests has these bytes and this class: it was written by another compile."]
    roots = ", ".join(str(root) for root in same[0].roots[:_MOST_LISTED])
    more = "" if len(same[0].roots) <= _MOST_LISTED else " …"
    end = "the end" if same[0].last == END else f"event {same[0].last}"
    life = f"lives from event {same[0].first} to {end}"
    return [f"The request holds root {roots}{more} and {life}. Place the dump to see more."]


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items)
