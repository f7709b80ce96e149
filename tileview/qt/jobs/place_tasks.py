"""What a worker process does with addresses: place the program of a state, and that of single other plans."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from tileview.analysis.messages import Explanation, explain
from tileview.analysis.placement import (
    Placeability,
    PlacementSteps,
    PlacementUnknownError,
    TilePlacements,
    enlarged,
    memory_needed,
    place_program,
    placeable,
    program_requests,
    steps_of,
)
from tileview.analysis.trials import with_swaps
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.ranges import Preset
from tileview.core.placement.requests import ProgramRequests
from tileview.model.recipe import Recipe, configured
from tileview.qt.jobs.process import Reporter
from tileview.session.document import edited_recipe
from tileview.session.edits import EditState
from tileview.session.placements import Choice, PlacementResult

PART_SECONDS = 0.3
"""How often results of alternatives go out."""


@dataclass(slots=True)
class _Placed:
    """The recipe of the file whose states are placed, what was lowered of it, and the requests of the last state."""

    recipe: Recipe
    replanner: Replanner = field(default_factory=Replanner)
    last: tuple[EditState, ProgramRequests] | None = None

    def requests(self, state: EditState) -> ProgramRequests:
        """The requests of the program that stands in a state."""
        if self.last is None or self.last[0] != state:
            recipe = edited_recipe(self.recipe, state)
            self.last = state, program_requests(recipe, state.overrides, self.replanner)
        return self.last[1]


_PLACED: list[_Placed] = []


def _kept(base: Recipe | None) -> _Placed:
    if base is not None:
        _PLACED[:] = [_Placed(base)]
    return _PLACED[0]


@dataclass(frozen=True, slots=True)
class PlaceOrder:
    """A state to place, and the memory that is looked at; ``steps`` are known already where only that is asked for.
    ``fits``: by the sum; where it does not, no enlargement is looked for."""

    revision: int
    state: EditState
    ranges: Preset
    fits: bool
    steps: PlacementSteps | None = None


def place_state(payload: tuple[Recipe | None, PlaceOrder], reporter: Reporter) -> PlacementResult:
    """Place the program of a state; the recipe of its file comes with the first question only.

    What is placed goes out first, as a part, the smallest enlargements follow.
    """
    base, order = payload
    kept = _kept(base)
    steps, ended = order.steps, reporter.stopped
    try:
        requests = kept.requests(order.state)
        if steps is None:
            reserve = configured(kept.recipe.config, order.state.overrides).reserve_bytes
            steps = steps_of(requests, reserve, enlarge=False, ended=ended)
        chosen = _chosen(steps, requests, order.ranges, reporter)
        reporter.part(PlacementResult(order.revision, order.state, steps, chosen, complete=False))
        if order.fits:
            by_preset = {name: enlarged(placed, requests, ended) for name, placed in steps.by_preset.items()}
            steps = replace(steps, by_preset=by_preset)
            known = steps.by_preset.get(order.ranges.name)
            chosen = known if known is not None and known.preset == order.ranges else enlarged(chosen, requests, ended)
    except PlacementUnknownError as error:
        reporter.check()
        return PlacementResult(order.revision, order.state, None, None, str(error))
    reporter.check()
    return PlacementResult(order.revision, order.state, steps, chosen)


def _chosen(steps: PlacementSteps, requests: ProgramRequests, ranges: Preset, reporter: Reporter) -> TilePlacements:
    known = steps.by_preset.get(ranges.name)
    if known is not None and known.preset == ranges:
        return known
    return place_program(requests, ranges, enlarge=False, ended=reporter.stopped).bare()


Asked = tuple[EditState, Preset, tuple[Choice, ...]]


def place_alternatives(payload: tuple[Recipe | None, Asked], reporter: Reporter) -> None:
    """Place what other plans give, each swapped in alone; results go out in parts, None where nothing can be told."""
    base, (state, ranges, choices) = payload
    kept = _kept(base)
    recipe = edited_recipe(kept.recipe, state)
    found: dict[Choice, Placeability | None] = {}
    sent = time.monotonic()
    for choice in choices:
        reporter.check()
        try:
            requests = program_requests(with_swaps(recipe, [choice]), state.overrides, kept.replanner)
            found[choice] = placeable(requests, ranges, reporter.stopped)
        except PlacementUnknownError:
            reporter.check()
            found[choice] = None
        if time.monotonic() - sent > PART_SECONDS:
            reporter.part(found)
            found, sent = {}, time.monotonic()
    reporter.part(found)


def place_needs(payload: tuple[Recipe | None, tuple[Preset, tuple[EditState, ...]]], reporter: Reporter) -> None:
    """The open memory with which every tile of each state is placed, in parts, None where none is enough or known."""
    base, (ranges, states) = payload
    kept = _kept(base)
    for state in states:
        reporter.check()
        try:
            requests = program_requests(edited_recipe(kept.recipe, state), state.overrides, kept.replanner)
            need = memory_needed(requests, ranges, reporter.stopped)
        except PlacementUnknownError:
            need = None
        reporter.check()
        reporter.part({state: need})


def explain_message(payload: tuple[Recipe | None, tuple[EditState, str, str]], reporter: Reporter) -> Explanation:
    """What a compiler's sentence means for a state of a recipe: (state, the file's name, the text)."""
    base, (state, name, text) = payload
    kept = _kept(base)
    return explain(text, [(name, edited_recipe(kept.recipe, state))], ended=reporter.stopped, overrides=state.overrides)
