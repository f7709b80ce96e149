"""Fits is not yet placed: what becomes of a program once its allocations need addresses, in facts.

Three steps, each with its own certainty: it fits by the sum; every tile is placed in the memory that the planner
assumes; every tile is placed in memory as a real compile left it open. :mod:`tileview.analysis.placement_words` says
it in sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tileview.analysis.allocation_names import allocation_name
from tileview.core.estimate import configured
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.measurement import measure
from tileview.core.placement.outcome import (
    Answer,
    Ended,
    Outcome,
    Totals,
    count_tiles,
    first_failing,
    smallest_enlargement,
    solve,
    solve_classes,
)
from tileview.core.placement.ranges import CAPTURED, PLANNER, TIGHTER, Preset, presets
from tileview.core.placement.requests import ProgramRequests, Template, TileClass, build_requests
from tileview.errors import PlanError, TileViewError
from tileview.model.config import PLANNED_BYTES
from tileview.model.placement import Memory
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import Timeline


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


@dataclass(frozen=True, slots=True)
class ProgramPlacement:
    """What came of every tile of a program in one memory. ``outcomes`` belong to the classes of ``requests``.

    ``failing`` is None where every tile is placed. ``enlargement``: bytes more with which the two orders place every
    tile; None where none do, or where ``enlarged`` is false: it was not asked for.
    """

    preset: Preset
    memory: Memory
    requests: ProgramRequests
    outcomes: tuple[Outcome, ...]
    totals: Totals
    failing: FailingTile | None
    enlargement: int | None
    enlarged: bool

    @property
    def tile_count(self) -> int:
        return self.requests.program.tile_count


@dataclass(frozen=True, slots=True)
class PlacementSteps:
    """The placement of a program in the memories that a verdict speaks of, by the presets' names.

    The planner's and the captured memory always, the tighter capture where the captured memory places every tile.
    ``reserve``: bytes that the planner keeps for support code.
    """

    reserve: int
    by_preset: Mapping[str, ProgramPlacement]

    @property
    def planner(self) -> ProgramPlacement:
        return self.by_preset[PLANNER]

    @property
    def captured(self) -> ProgramPlacement:
        return self.by_preset[CAPTURED]

    @property
    def tighter(self) -> ProgramPlacement | None:
        return self.by_preset.get(TIGHTER)


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
    """The requests of a recipe's program, copies composed and nothing fused.

    Raises
    ------
    PlacementUnknownError
        The recipe cannot be lowered, an operation of it is not known, or a value in memory has no size.
    """
    try:
        program = (replanner or Replanner()).replan(recipe, configured(recipe.config, overrides))
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
    memory: Memory | None = None,
    searching: bool = False,
    enlarge: bool = True,
    ended: Ended | None = None,
) -> ProgramPlacement:
    """Place every class of tiles in one memory.

    Parameters
    ----------
    memory : Memory, optional
        Where the memory is more than the preset's ranges: with an interleaved offset, as a dump states it.
    searching : bool
        Run the bounded search where both orders fail and nothing is proved; about a second for each such class.
    enlarge : bool
        Look for the smallest enlargement where a tile is not placed.
    ended : callable, optional
        Asked now and then whether the answer is no longer wanted; then PlacementUnknownError is raised.
    """
    memory = Memory(preset.ranges) if memory is None else memory
    outcomes = []
    for outcome in solve_classes(requests, memory, searching=searching, ended=ended):
        if ended is not None and ended():
            raise PlacementUnknownError("placing was ended")
        outcomes.append(outcome)
    totals = count_tiles(requests.classes, tuple(outcomes))
    enlargement: int | None = 0
    if totals.answer is not Answer.PLACED:
        enlargement = smallest_enlargement(requests, memory, ended) if enlarge else None
    return ProgramPlacement(
        preset,
        memory,
        requests,
        tuple(outcomes),
        totals,
        _failing(requests, outcomes),
        enlargement,
        enlarge or enlargement == 0,
    )


def _failing(requests: ProgramRequests, outcomes: list[Outcome]) -> FailingTile | None:
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


def _failing_tile(requests: ProgramRequests, each: TileClass, outcome: Outcome) -> FailingTile:
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

    def __call__(self, template: Template) -> str:
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
    reserve = configured(recipe.config, overrides).reserve_bytes
    known = {preset.name: preset for preset in presets(reserve)}
    low, high = known[PLANNER].ranges[0]
    if low >= high:
        raise PlacementUnknownError(f"the reserve of {reserve:,} B leaves no memory to place anything in")
    found = {name: place_program(requests, known[name], enlarge=enlarge, ended=ended) for name in (PLANNER, CAPTURED)}
    if found[CAPTURED].failing is None:
        found[TIGHTER] = place_program(requests, known[TIGHTER], enlarge=enlarge, ended=ended)
    return PlacementSteps(reserve, found)


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


def first_not_placed(requests: ProgramRequests, preset: Preset, memory: Memory | None = None) -> FailingTile | None:
    """The first tile found that the two orders do not place, None where they place all: the quick yes or no."""
    memory = Memory(preset.ranges) if memory is None else memory
    index = first_failing(requests, memory)
    if index is None:
        return None
    outcome = solve(requests.asked(requests.classes[index], memory), memory)
    return _failing_tile(requests, requests.classes[index], outcome)
