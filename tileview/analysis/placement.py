"""Fits is not yet placed: what becomes of a program once its allocations need addresses, and a verdict in words.

Three steps, each with its own certainty: it fits by the sum; every tile is placed in the memory that the planner
assumes; every tile is placed in memory as a real compile left it open. The sentences are here alone: banner, summary,
report, check and swaps take them from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tileview.analysis.words import allocation_name
from tileview.core.estimate import standing_program
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.measurement import measure
from tileview.core.placement.outcome import (
    Answer,
    Ended,
    TileOutcome,
    Totals,
    count_tiles,
    first_failing,
    smallest_enlargement,
    solve,
    solve_classes,
)
from tileview.core.placement.proofs import Proofs
from tileview.core.placement.ranges import CAPTURED, PLANNER, TIGHTER, Preset, elements_of, presets
from tileview.core.placement.requests import ProgramRequests, RequestTemplate, TileClass, build_requests
from tileview.errors import PlanError, TileViewError
from tileview.model.config import PLANNED_BYTES
from tileview.model.placement import Memory
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe, configured
from tileview.model.sizes import exact_text, kib_text
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline, Verdict


class PlacementUnknownError(TileViewError):
    """Nothing can be said of a program's placement; the text says why."""


@dataclass(frozen=True, slots=True)
class FailingTile:
    """The tile that a sentence speaks of, and the request at which order 2 ended (or that no range can hold).

    ``tiles``: how many tiles are alike. ``over``: bytes over by proof, 0 where there is none by bytes; ``counted``
    names what was added up for it. ``impossible``: no range can hold the request.
    """

    tile: int
    tiles: int
    answer: Answer
    request: str
    memory_class: MemoryClass
    bytes: int
    hole: int
    free_bytes: int
    over: int
    counted: str
    impossible: bool

    @property
    def message(self) -> str:
        """What the compiler writes."""
        return insufficient_message(self.tile, self.memory_class, self.bytes)


OUTCOMES: Final = ("order 1", "order 2", "search", "not placed", "over")
"""What may come of a tile, by its number in :attr:`TilePlacements.by_tile`."""


@dataclass(frozen=True, slots=True, eq=False)
class TilePlacements:
    """What came of every tile of a program in one memory, without its requests: little, to be kept and handed on.

    ``by_tile``: per tile the index in ``OUTCOMES``; ``class_of``: per tile the number of its class of equal tiles.
    ``failing`` is None where every tile is placed. ``searched``: the bounded search was run on some tile.
    ``enlargement``: bytes more with which the two orders place every tile; None where none do, or where ``enlarged`` is
    false: it was not asked for.
    """

    preset: Preset
    memory: Memory
    totals: Totals
    failing: FailingTile | None
    enlargement: int | None
    enlarged: bool
    searched: bool
    by_tile: npt.NDArray[np.uint8]
    class_of: npt.NDArray[np.int32]

    @property
    def tile_count(self) -> int:
        return len(self.by_tile)

    def outcome_of(self, tile: int) -> str:
        """What came of a tile, one of ``OUTCOMES``."""
        return OUTCOMES[self.by_tile[tile]]


@dataclass(frozen=True, slots=True, eq=False)
class ProgramPlacement(TilePlacements):
    """A program's placement in one memory with its requests; ``outcomes`` belong to the classes of ``requests``."""

    requests: ProgramRequests
    outcomes: tuple[TileOutcome, ...]

    def bare(self) -> TilePlacements:
        """The same without the requests."""
        return TilePlacements(*(getattr(self, one.name) for one in fields(TilePlacements)))


@dataclass(frozen=True, slots=True)
class PlacementSteps:
    """The placement of a program in the memories that a verdict speaks of, by the presets' names.

    The planner's and the captured memory always, the tighter capture where the captured memory places every tile.
    ``reserve``: bytes that the planner keeps for support code.
    """

    reserve: int
    by_preset: Mapping[str, TilePlacements]

    @property
    def planner(self) -> TilePlacements:
        return self.by_preset[PLANNER]

    @property
    def captured(self) -> TilePlacements:
        return self.by_preset[CAPTURED]

    @property
    def tighter(self) -> TilePlacements | None:
        return self.by_preset.get(TIGHTER)

    @property
    def failed(self) -> TilePlacements | None:
        """The placement that leaves tiles without a place, in the captured memory before the planner's; else None."""
        return next((each for each in (self.captured, self.planner) if each.failing is not None), None)


def insufficient_message(tile: int, memory_class: MemoryClass, size: int) -> str:
    """The compiler's sentence for a request without a place."""
    return f"tile {tile} has insufficient {memory_class.value} SRAM for {size} bytes"


def program_requests(
    recipe: Recipe,
    overrides: Overrides = NO_OVERRIDES,
    replanner: Replanner | None = None,
    *,
    multicast: bool = True,
) -> ProgramRequests:
    """The requests of the program that stands: fused where it is, the composed one where ``overrides`` say so.

    Raises
    ------
    PlacementUnknownError
        The recipe cannot be lowered, an operation of it is not known, or a value in memory has no size.
    """
    try:
        program = standing_program(recipe, overrides, replanner)
        if program.unknown:
            operation, reason = program.unknown[0]
            raise PlacementUnknownError(
                f"operation {operation} is not modelled ({reason}), so its requests are not known"
            )
        return build_requests(program, multicast=multicast)
    except PlanError as error:
        raise PlacementUnknownError(f"cannot be lowered: {error}") from None


def place_program(
    requests: ProgramRequests,
    preset: Preset,
    *,
    searching: bool = False,
    enlarge: bool = True,
    ended: Ended | None = None,
) -> ProgramPlacement:
    """Place every class of tiles in one memory.

    Parameters
    ----------
    searching : bool
        Run the bounded search where both orders fail and nothing is proved; about a second for each such class.
    enlarge : bool
        Look for the smallest enlargement where a tile is not placed.
    ended : callable, optional
        Asked now and then whether the answer is no longer wanted; then PlacementUnknownError is raised.
    """
    memory = preset.memory
    outcomes: list[TileOutcome] = []
    for outcome in solve_classes(requests, memory, searching=searching, ended=ended):
        if ended is not None and ended():
            raise PlacementUnknownError("placing was ended")
        outcomes.append(outcome)
    totals = count_tiles(requests.classes, tuple(outcomes))
    placed = totals.answer is Answer.PLACED
    by_tile = np.zeros(requests.program.tile_count, np.uint8)
    class_of = np.zeros(requests.program.tile_count, np.int32)
    for index, (each, outcome) in enumerate(zip(requests.classes, outcomes, strict=True)):
        by_tile[list(each.tiles)] = OUTCOMES.index(outcome.by or outcome.answer.value)
        class_of[list(each.tiles)] = index
    return ProgramPlacement(
        preset,
        memory,
        totals,
        _failing(requests, outcomes),
        smallest_enlargement(requests, memory, ended) if enlarge and not placed else 0 if placed else None,
        enlarge or placed,
        any(outcome.searched is not None for outcome in outcomes),
        by_tile,
        class_of,
        requests,
        tuple(outcomes),
    )


def _failing(requests: ProgramRequests, outcomes: list[TileOutcome]) -> FailingTile | None:
    """The tile to speak of: of those over the one with the most bytes missing, else the lowest that is not placed."""
    failed = [index for index, outcome in enumerate(outcomes) if outcome.by is None]
    if not failed:
        return None

    def gravity(index: int) -> tuple[bool, int]:
        proofs = outcomes[index].proofs
        assert proofs is not None
        return proofs.impossible, proofs.over

    worst = max(failed, key=lambda index: (*gravity(index), -index))
    return _failing_tile(requests, requests.classes[worst], outcomes[worst])


def _failing_tile(requests: ProgramRequests, each: TileClass, outcome: TileOutcome) -> FailingTile:
    assert outcome.proofs is not None
    counted, shortage = outcome.proofs.worst
    impossible = outcome.proofs.over == 0 and bool(outcome.proofs.no_place)
    at = outcome.proofs.no_place[0] if impossible else outcome.placing.failed
    assert at is not None
    template = requests.templates[each.present[at]]
    return FailingTile(
        each.tiles[0],
        len(each.tiles),
        outcome.answer,
        RequestNames(requests)(template),
        template.memory_class,
        each.bytes[at],
        outcome.placing.hole,
        outcome.placing.free_bytes,
        shortage.over,
        counted,
        impossible,
    )


class RequestNames:
    """What the requests of a program are called: as its allocations are everywhere, a sequence by the name that its
    members share and their number, scratch by its step. The program is measured once, when a name needs it."""

    def __init__(self, requests: ProgramRequests) -> None:
        self._program = requests.program
        self._timeline: Timeline | None = None

    def __call__(self, template: RequestTemplate) -> str:
        step = template.step
        if step is not None:
            maker = "a" if step.source is None else f"op {step.source}'s"
            return f"{template.what} of {maker} {type(step).__name__}"
        if len(template.roots) > 1:
            return f"{self._program.values[template.roots[0]].group} ×{len(template.roots)}"
        return allocation_name(self.timeline, template.roots[0])

    @property
    def timeline(self) -> Timeline:
        """The timeline of the program, which says who makes its allocations."""
        if self._timeline is None:
            self._timeline = measure(self._program, PLANNED_BYTES, 0)
        return self._timeline


def place_steps(
    recipe: Recipe,
    overrides: Overrides = NO_OVERRIDES,
    replanner: Replanner | None = None,
    *,
    enlarge: bool = True,
    ended: Ended | None = None,
) -> PlacementSteps:
    """The second and third step of a recipe's verdict; about a second for 1,472 tiles.

    Raises
    ------
    PlacementUnknownError
        As :func:`program_requests`; or the reserve leaves the planner no memory.
    """
    requests = program_requests(recipe, overrides, replanner)
    return steps_of(requests, configured(recipe.config, overrides).reserve_bytes, enlarge=enlarge, ended=ended)


def steps_of(
    requests: ProgramRequests, reserve: int, *, enlarge: bool = True, ended: Ended | None = None
) -> PlacementSteps:
    """:func:`place_steps` of requests that are there already; ``reserve``: bytes kept for support code."""
    known = {preset.name: preset for preset in presets(reserve)}
    low, high = known[PLANNER].ranges[0]
    if low >= high:
        raise PlacementUnknownError(f"the reserve of {reserve:,} B leaves no memory to place anything in")

    def placed(name: str) -> TilePlacements:
        return place_program(requests, known[name], enlarge=enlarge, ended=ended).bare()

    found = {name: placed(name) for name in (PLANNER, CAPTURED)}
    if found[CAPTURED].failing is None:
        found[TIGHTER] = placed(TIGHTER)
    return PlacementSteps(reserve, found)


def enlarged(placed: TilePlacements, requests: ProgramRequests, ended: Ended | None = None) -> TilePlacements:
    """The same with the smallest enlargement looked for."""
    if placed.enlarged:
        return placed
    return replace(placed, enlargement=smallest_enlargement(requests, placed.memory, ended), enlarged=True)


@dataclass(frozen=True, slots=True)
class Placeability:
    """The quick answer for a set of swaps: tiles that the two orders do not place, and the rest of the tiles."""

    not_placed: int
    over: int

    @property
    def placed(self) -> bool:
        return not self.not_placed and not self.over


def placeable(requests: ProgramRequests, preset: Preset, ended: Ended | None = None) -> Placeability:
    """How many tiles the compiler's two orders leave without a placement in one memory, without an enlargement."""
    totals = place_program(requests, preset, enlarge=False, ended=ended).totals
    return Placeability(totals.not_placed, totals.over)


def memory_needed(requests: ProgramRequests, preset: Preset, ended: Ended | None = None) -> int | None:
    """Open bytes a tile with which the two orders place every tile: those of a preset, with its smallest enlargement.

    None where no enlargement does, and where the answer is no longer wanted.
    """
    more = smallest_enlargement(requests, preset.memory, ended)
    return None if more is None else preset.bytes + more


def first_not_placed(requests: ProgramRequests, preset: Preset) -> FailingTile | None:
    """The first tile found that the two orders do not place, None where they place all: the quick yes or no."""
    memory = preset.memory
    index = first_failing(requests, memory)
    if index is None:
        return None
    outcome = solve(requests.asked(requests.classes[index], memory), memory)
    return _failing_tile(requests, requests.classes[index], outcome)


SUPPORT_TAKEN = (88_088, 169_584)
"""Bytes that linked support code took in real compiles."""
SUPPORT_CAUTION = 120 * 1024
"""Below so many bytes spare, what support code really takes may decide."""


class State(StrEnum):
    """Of a step, and of a verdict: PART is "not placed by the orders tried", which proves nothing; PENDING is of steps
    only, while they are worked out."""

    GOOD = "good"
    PART = "not placed"
    OVER = "over"
    UNKNOWN = "not known"
    PENDING = "placing"


@dataclass(frozen=True, slots=True)
class Step:
    """One of the three steps: what it looks at and what came of it, such as "Sum" and "36.6 KiB spare"."""

    label: str
    text: str
    state: State


@dataclass(frozen=True, slots=True)
class StepWords:
    """A verdict in three steps. ``title``: "Fits, not placed". ``sentences``: what to know beyond the steps.

    ``more``: what would do, as a sentence; empty where nothing has to be done or nothing is known to do."""

    title: str
    state: State
    steps: tuple[Step, Step, Step]
    sentences: tuple[str, ...]
    more: str

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it: title and steps in one line, then the sentences."""
        steps = " → ".join(f"{step.label}: {step.text}" for step in self.steps)
        return (f"{self.title}. {steps}", *self.sentences, *([self.more] if self.more else []))


CAPTURED_LABEL = "Captured 498,872 B"
NO_REQUESTS = "a timeline lists bytes, not requests: its recipe can be placed"
"""Why nothing is known of a timeline's placement."""


def recipe_steps(
    verdict: Verdict, recipe: Recipe, overrides: Overrides, ended: Ended | None = None
) -> tuple[StepWords, PlacementSteps | None]:
    """Place a recipe in the memories that its verdict speaks of; None with the reason where that is not known."""
    try:
        steps = place_steps(recipe, overrides, enlarge=bool(verdict.fits), ended=ended)
    except PlacementUnknownError as error:
        return verdict_step_words(verdict, None, str(error)), None
    return verdict_step_words(verdict, steps), steps


def verdict_step_words(
    verdict: Verdict, placed: PlacementSteps | None, unknown: str = "", *, placing: bool = False
) -> StepWords:
    """The three steps of a verdict.

    Parameters
    ----------
    verdict : Verdict
        By the sum.
    placed : PlacementSteps or None
        None where the placement is not known; ``unknown`` then says why.
    placing : bool
        It is being worked out: nothing is said of it yet.
    """
    first = Step("Sum", _sum_text(verdict), _sum_state(verdict))
    if placed is None:
        text, state = ("placing…", State.PENDING) if placing else ("not known", State.UNKNOWN)
        rest = [Step(label, text, state) for label in ("Planner's memory", CAPTURED_LABEL)]
        fits = "Fits by the sum" if placing else "Fits by the sum, placement not known"
        title = {State.GOOD: fits, State.OVER: "Does not fit"}.get(first.state, "Not known")
        said = [f"Whether it can be placed is not known: {unknown}."] if unknown else []
        return StepWords(title, first.state, (first, rest[0], rest[1]), (*said, *_caution(verdict, None)), "")
    second = Step("Planner's memory", totals_text(placed.planner.totals), _state(placed.planner.totals))
    third = Step(CAPTURED_LABEL, totals_text(placed.captured.totals), _state(placed.captured.totals))
    failed = placed.failed
    sentences: list[str] = []
    if failed is not None and failed.failing is not None:
        sentences.append(failing_sentence(failed))
    elif placed.tighter is not None and placed.tighter.failing is not None:
        sentences.append(_tighter_sentence(placed.tighter))
    sentences += _caution(verdict, placed.reserve)
    state = first.state if first.state is not State.GOOD else max((second.state, third.state), key=_GRAVITY.index)
    titles = {
        State.GOOD: "Fits, placed",
        State.PART: "Fits, not placed",
        State.OVER: "Fits by the sum, over when placed" if first.state is State.GOOD else "Does not fit",
        State.UNKNOWN: "Not known",
    }
    more = enlargement_sentence(failed) if failed is not None and first.state is State.GOOD else ""
    return StepWords(titles[state], state, (first, second, third), tuple(sentences), more)


def unplaced_words(placed: PlacementSteps | None) -> str | None:
    """``144 tiles not placed in captured 498,872 B``; empty where every tile is placed, None where it is not known."""
    if placed is None:
        return None
    failed = placed.failed
    return "" if failed is None else f"{totals_text(failed.totals)} in {failed.preset.title}"


_GRAVITY = (State.GOOD, State.PART, State.UNKNOWN, State.OVER)


def _sum_state(verdict: Verdict) -> State:
    if verdict.fits is None or (not verdict.fits and not isinstance(verdict.short_bytes, int)):
        return State.UNKNOWN
    return State.GOOD if verdict.fits else State.OVER


def _sum_text(verdict: Verdict) -> str:
    short = verdict.short_bytes
    if verdict.fits is None or not isinstance(short, int):
        return "not known"
    return f"{kib_text(-short)} spare" if verdict.fits else f"{kib_text(short)} over"


def _state(totals: Totals) -> State:
    return {Answer.PLACED: State.GOOD, Answer.NOT_PLACED: State.PART, Answer.OVER: State.OVER}[totals.answer]


def totals_text(totals: Totals) -> str:
    """``all 1,472 tiles placed``, ``1,066 tiles over, 127 not placed``."""
    if totals.answer is Answer.PLACED:
        return f"all {totals.placed:,} tiles placed" if totals.placed != 1 else "the tile placed"
    parts = []
    if totals.over:
        parts.append(f"{_tiles(totals.over)} over")
    if totals.not_placed:
        parts.append(f"{totals.not_placed:,} not placed" if parts else f"{_tiles(totals.not_placed)} not placed")
    return ", ".join(parts)


def _tiles(count: int) -> str:
    return "1 tile" if count == 1 else f"{count:,} tiles"


def failing_sentence(placement: TilePlacements) -> str:
    """Why tiles are not placed, by the example of one; says whether that is a proof."""
    failing, totals, preset = placement.failing, placement.totals, placement.preset
    assert failing is not None
    where = {
        "planner": f"In the memory that the planner assumes ({exact_text(preset.bytes)})",
        "captured-482496": f"In the tighter memory that one real compile left open ({exact_text(preset.bytes)})",
        "captured-498872": f"In the memory that one real compile left open ({exact_text(preset.bytes)})",
    }.get(preset.name, f"In {preset.title} ({exact_text(preset.bytes)})")
    if failing.answer is Answer.OVER:
        others = f"; {totals.not_placed:,} more are not placed by the orders tried" if totals.not_placed else ""
        one, of_all = totals.over == 1, f"{totals.over:,} of {_tiles(placement.tile_count)}"
        verb = "needs" if one else "need"
        return f"{where}, {of_all} {verb} more than is open whatever the order: {_over_words(failing)}{others}."
    tried = "orders and the search" if placement.searched else "two orders"
    return (
        f"{where}, {totals.not_placed:,} of {_tiles(placement.tile_count)} cannot be placed by the compiler's {tried}: "
        f"on tile {failing.tile}, {failing.request} ({exact_text(failing.bytes)} in one piece) finds no hole, the "
        f"largest is {exact_text(failing.hole)}. This is no proof that it cannot be placed: "
        f"{exact_text(failing.free_bytes)} are free in all."
    )


def _over_words(failing: FailingTile) -> str:
    if failing.impossible:
        return f"on tile {failing.tile}, no range can hold {failing.request} ({exact_text(failing.bytes)})"
    counted = "" if failing.counted == "all requests" else f" ({failing.counted} alone)"
    return f"tile {failing.tile} is over by {exact_text(failing.over)}{counted}"


def enlargement_sentence(placement: TilePlacements) -> str:
    """What more memory would do: ``53,248 B more would do, four elements of code or table less.``"""
    more = placement.enlargement
    if not placement.enlarged or placement.failing is None:
        return ""
    if more is None:
        return "No enlargement of its ranges places every tile by the two orders."
    return f"{exact_text(more)} more would do, {elements_words(more)} of code or table less."


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def elements_words(more: int) -> str:
    """``four elements``: what an enlargement is worth."""
    count = elements_of(more)
    word = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return f"{word} element{'' if count == 1 else 's'}"


def _tighter_sentence(placement: TilePlacements) -> str:
    missing = placement.totals.not_placed + placement.totals.over
    verb = "is" if missing == 1 else "are"
    text = f"In the tighter {placement.preset.title}, {_tiles(missing)} {verb} not placed"
    return f"{text}: {exact_text(placement.enlargement)} more would do." if placement.enlargement else f"{text}."


def _caution(verdict: Verdict, reserve: int | None) -> list[str]:
    """What support code really took, where little is spare."""
    short = verdict.short_bytes
    if not verdict.fits or not isinstance(short, int) or -short >= SUPPORT_CAUTION:
        return []
    low, high = (kib_text(size).removesuffix(" KiB") for size in SUPPORT_TAKEN)
    assumed = "" if reserve is None else f", {kib_text(reserve)} are assumed"
    return [f"Less than 120 KiB is spare: support code took {low} to {high} KiB in real compiles{assumed}."]


def not_placed_sentence(failing: FailingTile, title: str) -> str:
    """One tile that is not placed, for a check that stopped at it; says whether that is a proof."""
    alike = "" if failing.tiles == 1 else f" (and {_tiles(failing.tiles - 1)} like it)"
    if failing.answer is Answer.OVER:
        return f"in {title}, {_over_words(failing)}{alike} whatever the order"
    return (
        f"in {title} tile {failing.tile}{alike} cannot be placed by the compiler's two orders: {failing.request} "
        f"({exact_text(failing.bytes)}) finds no hole, the largest is {exact_text(failing.hole)}; this is no proof"
    )


def proof_text(proofs: Proofs) -> str | None:
    """What is proved, in words; None where nothing is."""
    if proofs.over:
        counted, worst = proofs.worst
        return f"{counted}: {worst.peak:,} B live at event {worst.event}, {worst.capacity:,} B open to them"
    return "a request that no range can hold" if proofs.no_place else None
