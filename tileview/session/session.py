"""The session: an open document, its edits, the current estimate, the one selection. No Qt.

All views read this object and tell it what the user does; it tells its listeners which part changed. It never
computes an estimate itself: :meth:`Session.job` says what has to be computed, whoever runs it hands the result to
:meth:`Session.publish`, and a result for a state that is no longer current is dropped there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.loads import same_root, same_step
from tileview.analysis.overflows import Overflow, overflows
from tileview.analysis.placement import (
    NO_REQUESTS,
    Placeability,
    PlacementSteps,
    StepWords,
    TilePlacements,
    verdict_step_words,
)
from tileview.core.estimated import Estimate
from tileview.core.placement.ranges import Preset
from tileview.model.graph import Graph
from tileview.model.recipe import Overrides, Recipe, configured
from tileview.model.tensor import Format
from tileview.model.timeline import Problem, Timeline, Verdict
from tileview.model.timeline_file import TimelineFile
from tileview.session import edits
from tileview.session.document import Document, edited_recipe
from tileview.session.edits import Edit, EditState, History, Step
from tileview.session.estimate_jobs import EstimateCache, EstimateJob, EstimateResult
from tileview.session.placements import Choice, PlacementResult, Placements, default_ranges


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected; None (or an empty tuple) where nothing is.

    ``operation`` is a graph operation id, ``allocation`` a root (index into the timeline's values), ``step`` an index
    into its steps, ``tiles`` logical tile numbers in the order they were picked: the last one is the current tile.
    ``value`` is the graph value whose home or boundary is looked at. ``span`` is a half-open range of steps that
    tables are filtered to.
    """

    operation: int | None = None
    allocation: int | None = None
    step: int | None = None
    tiles: tuple[int, ...] = ()
    value: int | None = None
    span: tuple[int, int] | None = None

    @property
    def tile(self) -> int | None:
        return self.tiles[-1] if self.tiles else None

    def clipped(self, steps: int, tiles: int, roots: frozenset[int]) -> Selection:
        """The selection that still makes sense in a timeline with so many steps and tiles and these roots."""
        step = None if self.step is None or steps == 0 else min(self.step, steps - 1)
        kept = tuple(tile for tile in self.tiles if tile < tiles)
        allocation = self.allocation if self.allocation in roots else None
        span = self.span if self.span is not None and self.span[1] <= steps else None
        return replace(self, step=step, tiles=kept, allocation=allocation, span=span)


MOST_LOOKED_THROUGH = 2**21
"""Values times tiles of a program in which what is over is found at once."""


class Change(StrEnum):
    """What a listener is told."""

    DOCUMENT = "document"
    """Another file is open (or none): reset everything."""
    STATE = "state"
    """An edit was done, undone or redone; the estimate of the new state may still be missing."""
    ESTIMATE = "estimate"
    """There is a new estimate."""
    SELECTION = "selection"
    ALTERNATIVES = "alternatives"
    """Results of single alternatives came in, or were discarded."""
    PLACEMENT = "placement"
    """More, or less, is known of where allocations lie; or another memory is looked at."""
    OVERFLOWS = "overflows"
    """It is known what is over in a program too large to find that out at once."""
    PINS = "pins"
    """The baseline or a pinned state changed."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A state kept for comparison, with its estimate. ``document`` may be another file than the open one."""

    name: str
    document: Document
    state: EditState
    estimate: Estimate

    @property
    def timeline(self) -> Timeline | None:
        return self.estimate.timeline


Listener = Callable[[Change], None]


class Session:
    """What is open and selected, with its edits and estimates.

    Not thread-safe: all calls come from one thread, results of jobs included.
    """

    def __init__(self) -> None:
        self._document: Document | None = None
        self._linked: Document | None = None
        self._placed: Document | None = None
        self._history = History()
        self._revision = 0
        self._estimate: Estimate | None = None
        self._estimate_revision = -1
        self._cache = EstimateCache()
        self._selection = Selection()
        self._overflows: tuple[Timeline | None, tuple[Overflow, ...] | None] = (None, None)
        self._results: dict[tuple[int, int], AlternativeResult] = {}
        self._placements = Placements()
        self._baseline: Pin | None = None
        self._pins: tuple[Pin, ...] = ()
        self._earlier: Pin | None = None
        self._listeners: list[Listener] = []

    # -- listeners ------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change; returns what ends that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def _tell(self, *changes: Change) -> None:
        for change in changes:
            for listener in tuple(self._listeners):
                listener(change)

    # -- document -------------------------------------------------------------------------------------------------

    def open(self, document: Document | None, steps: Iterable[Step] = ()) -> None:
        """Make a document the open one (None closes it), with edits already on it, each a step of undo."""
        self._earlier = self._version_before(document)
        self._document = document
        self._linked = None
        self._placed = None
        self._history = History()
        for label, state in steps:
            self._history.do(edits.between(label, self._history.state, state))
        self._revision += 1
        self._estimate = None
        self._cache.clear()
        self._results = {}
        self._placements.clear()
        self._baseline = None
        self._pins = ()
        self._selection = Selection()
        self._tell(Change.DOCUMENT)

    def _version_before(self, document: Document | None) -> Pin | None:
        """What the open file held with the edits on it, where the same file is read again."""
        old, estimate = self._document, self._estimate
        if old is None or document is None or estimate is None or old.path != document.path:
            return None
        return Pin("before the reload", old, self.state, estimate)

    @property
    def earlier(self) -> Pin | None:
        """The version of the open file before it was last read again, with the edits that were on it."""
        return self._earlier

    def link(self, document: Document | None) -> None:
        """Open a timeline beside a recipe (or the other way round); None takes it away."""
        self._linked = document
        self._tell(Change.PINS)

    def stand_addresses(self, document: Document | None) -> None:
        """Put a tile dump or a placement profile beside a program; None takes it away."""
        self._placed = document
        self._tell(Change.PINS)

    @property
    def address_document(self) -> Document | None:
        """The file that speaks of addresses: the open one, else the one beside the open program."""
        document = self._document
        return document if document is not None and document.addresses is not None else self._placed

    @property
    def document(self) -> Document | None:
        return self._document

    @property
    def linked(self) -> Document | None:
        return self._linked

    @property
    def file_recipe(self) -> Recipe | None:
        """The recipe as the file has it."""
        return None if self._document is None else self._document.recipe

    @property
    def recipe(self) -> Recipe | None:
        """The recipe with all current edits."""
        recipe = self.file_recipe
        return None if recipe is None else edited_recipe(recipe, self.state)

    @property
    def graph(self) -> Graph | None:
        return None if self._document is None else self._document.graph

    # -- edits ----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> EditState:
        return self._history.state

    @property
    def history(self) -> History:
        """For reading labels and the clean mark; edit through the session only."""
        return self._history

    def do(self, edit: Edit) -> bool:
        """Apply an edit; False where it changes nothing."""
        changed = self._history.do(edit)
        if changed:
            self._state_changed()
        return changed

    def undo(self) -> bool:
        undone = self._history.undo() is not None
        if undone:
            self._state_changed()
        return undone

    def redo(self) -> bool:
        redone = self._history.redo() is not None
        if redone:
            self._state_changed()
        return redone

    def swap(self, operation: int, alternative: int | None) -> bool:
        """Swap an alternative in. The alternative that equals the file's plan means the file's plan (None)."""
        return self.do(edits.swap_plan(self.state, operation, self._as_swapped(operation, alternative)))

    def _as_swapped(self, operation: int, alternative: int | None) -> int | None:
        recipe = self.file_recipe
        is_own = recipe is not None and alternative is not None and recipe.in_force(operation) == alternative
        return None if is_own else alternative

    def state_with(self, swaps: Iterable[Choice], homes: Mapping[int, Format] = MappingProxyType({})) -> EditState:
        """The state that swaps, and repaired homes, would give."""
        state = self.state
        for operation, alternative in swaps:
            state = state.with_swap(operation, self._as_swapped(operation, alternative))
        for value, home in homes.items():
            state = state.with_entry("homes", value, home)
        return state

    def set_overrides(self, overrides: Overrides) -> bool:
        return self.do(edits.set_overrides(self.state, overrides))

    def set_fusion(self, fusion: bool) -> bool:
        """Show the program after the compiler's fusions, or the composed one."""
        return self.set_overrides(replace(self.state.overrides, fusion=fusion))

    def mark_clean(self) -> None:
        """After an export: nothing would be lost now."""
        self._history.mark_clean()
        self._tell(Change.STATE)

    def alternative_in_force(self, operation: int) -> int | None:
        """Index of the current alternative, None where the plan is not among the alternatives."""
        if operation in self.state.swaps:
            return self.state.swaps[operation]
        recipe = self.file_recipe
        return None if recipe is None else recipe.in_force(operation)

    def _state_changed(self) -> None:
        self._revision += 1
        self._results = {}  # who holds those of the state before may keep them
        self._placements.alternatives.clear()
        cached = self._cache.get(self.state)
        self._tell(Change.STATE, Change.ALTERNATIVES, Change.PLACEMENT)
        if cached is not None:
            self._take(cached)

    # -- estimates ------------------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Grows with every document and every edit."""
        return self._revision

    def job(self) -> EstimateJob | None:
        """What has to be computed now; None where the estimate is current or nothing is open."""
        if self._document is None or self.is_current:
            return None
        return EstimateJob(self._revision, self._document, self.state)

    def publish(self, result: EstimateResult) -> bool:
        """Publish a result; False where it is stale (then it is dropped)."""
        if result.revision != self._revision or result.document is not self._document:
            return False
        self._cache.put(result.state, result.estimate)
        self._take(result.estimate)
        return True

    def renew(self) -> None:
        """More is known of the open file than when its estimate was made: an estimate is wanted again.

        States kept for comparison that show the file as it is take the new timeline at once.
        """
        document = self._document
        if document is None or self._estimate is None:
            return
        self._cache.clear()
        self._estimate_revision = -1
        as_it_is = EstimateJob(0, document, EditState()).run().estimate if not document.is_recipe else None

        def renewed(pin: Pin) -> Pin:
            if as_it_is is None or pin.document is not document or pin.state != EditState():
                return pin
            return replace(pin, estimate=as_it_is)

        self._baseline = None if self._baseline is None else renewed(self._baseline)
        self._pins = tuple(renewed(pin) for pin in self._pins)
        if as_it_is is not None and self.state == EditState():
            self.publish(EstimateResult(self._revision, document, self.state, as_it_is))

    def _take(self, result: Estimate) -> None:
        before = self.timeline
        self._estimate = result
        self._estimate_revision = self._revision
        document = self._document
        if self._baseline is None and document is not None:
            self._baseline = Pin("as opened", document, self.state, result)
        timeline = result.timeline
        if timeline is not None:
            if before is not None:
                self._selection = _found_again(self._selection, before, timeline)
            roots = frozenset(timeline.aliases)
            self._selection = self._selection.clipped(len(timeline.steps), timeline.tile_count, roots)
            if self._selection.step is None and timeline.steps:
                worst = timeline.total_peak_step
                step = worst if worst is not None and worst < len(timeline.steps) else 0
                self._selection = replace(self._selection, step=step)
        self._tell(Change.ESTIMATE, Change.SELECTION)

    @property
    def estimate(self) -> Estimate | None:
        """The last estimate; of an earlier state while :attr:`is_current` is False."""
        return self._estimate

    @property
    def is_current(self) -> bool:
        return self._estimate is not None and self._estimate_revision == self._revision

    @property
    def timeline(self) -> Timeline | None:
        return None if self._estimate is None else self._estimate.timeline

    @property
    def verdict(self) -> Verdict | None:
        return None if self._estimate is None else self._estimate.verdict

    @property
    def overflows(self) -> tuple[Overflow, ...]:
        """What is over, the worst first; empty where the program fits or where that is not known, or not yet.

        Found at once in a program of ordinary size. In a larger one names and sizes of what lies there take a while to
        read: whoever diagnoses it beside the window tells them (:meth:`tell_overflows`).
        """
        timeline = self.timeline
        if timeline is None:
            return ()
        if self._overflows[0] is not timeline:
            at_once = len(timeline.values) * timeline.tile_count <= MOST_LOOKED_THROUGH
            self._overflows = timeline, overflows(timeline) if at_once else None
        return self._overflows[1] or ()

    def tell_overflows(self, timeline: Timeline, found: tuple[Overflow, ...] | None) -> None:
        """Take what is over in the timeline of the estimate in force; of any other it is dropped."""
        if timeline is self.timeline and found and not self.overflows:
            self._overflows = timeline, found
            self._tell(Change.OVERFLOWS)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Of the file, then of the estimate."""
        found = () if self._document is None else self._document.problems
        timeline = self.timeline
        return (*found, *(timeline.problems if timeline is not None else ()))

    # -- alternatives ---------------------------------------------------------------------------------------------

    @property
    def results(self) -> Mapping[tuple[int, int], AlternativeResult]:
        """(operation, alternative) → what swapping it in alone would give, for the current state; filled as results
        come in."""
        return self._results

    def add_results(self, revision: int, results: list[AlternativeResult]) -> bool:
        """Take results of single alternatives; False where they are for another revision."""
        if revision != self._revision:
            return False
        for result in results:
            self._results[result.operation, result.alternative] = result
        self._tell(Change.ALTERNATIVES)
        return True

    # -- placement ------------------------------------------------------------------------------------------------

    @property
    def ranges(self) -> Preset:
        """The memory that placement is looked at in; a captured one until another is chosen."""
        if self._placements.ranges is not None:
            return self._placements.ranges
        recipe = self.file_recipe
        return default_ranges(0 if recipe is None else configured(recipe.config, self.state.overrides).reserve_bytes)

    def set_ranges(self, ranges: Preset | None) -> None:
        """Look at the placement in another memory; None for the captured one."""
        if ranges != self._placements.ranges:
            self._placements.choose(ranges)
            self._tell(Change.PLACEMENT)

    @property
    def is_placing(self) -> bool:
        """Whether the placement of the current state is still to come."""
        if self.file_recipe is None or (self.is_current and self.timeline is None):
            return False
        return self._placements.get(self.state) is None

    @property
    def wants_placing(self) -> bool:
        """Whether something of the placement of the current state has still to be worked out."""
        result = self._placements.get(self.state)
        can_be = self.file_recipe is not None and self.is_current and self.timeline is not None
        return can_be and (result is None or not result.complete)

    def publish_placement(self, result: PlacementResult) -> bool:
        """Take what came of placing the current state; False where it is stale (then it is dropped)."""
        if result.revision != self._revision or (result.chosen and result.chosen.preset != self.ranges):
            return False
        self._placements.put(result)
        self._tell(Change.PLACEMENT)
        return True

    @property
    def placement(self) -> PlacementSteps | None:
        """The placement of the current state in the memories that a verdict speaks of; None while it is worked out,
        and where it cannot be (see :attr:`placement_unknown`)."""
        result = self._placements.get(self.state)
        return None if result is None else result.steps

    @property
    def unplaced(self) -> TilePlacements | None:
        """Of a recipe, the placement that leaves tiles without a place; None where there is none, or none is known."""
        return None if self.placement is None else self.placement.failed

    @property
    def placement_unknown(self) -> str:
        """Why nothing can be said of the placement; empty where something can, or will be."""
        if self._document is None or self.is_placing:
            return ""
        if self.file_recipe is None:
            return self._document.no_program or NO_REQUESTS
        result = self._placements.get(self.state)
        if result is not None:
            return result.unknown
        return "" if self._estimate is None else self._estimate.verdict.text

    @property
    def placed(self) -> TilePlacements | None:
        """What came of every tile in :attr:`ranges`; None while it is worked out, and where it cannot be."""
        result = self._placements.get(self.state)
        return None if result is None else result.chosen

    def placement_words(self) -> StepWords | None:
        """The verdict in three steps, in words; None where there is no verdict."""
        verdict = self.verdict
        if verdict is None:
            return None
        return verdict_step_words(verdict, self.placement, self.placement_unknown, placing=self.is_placing)

    def placement_words_of(self, pin: Pin) -> StepWords | None:
        """The same of a pinned state; None where it is not worked out, as of another file."""
        result = self._placements.get(pin.state) if pin.document is self._document else None
        if result is None:
            return None
        return verdict_step_words(pin.estimate.verdict, result.steps, result.unknown)

    def placed_of(self, operation: int, alternative: int) -> Placeability | None:
        """What an alternative swapped in alone leaves without a place in :attr:`ranges`; None where not known (yet)."""
        if self.alternative_in_force(operation) == alternative:
            return None if self.placed is None else Placeability(self.placed.totals.not_placed, self.placed.totals.over)
        return self._placements.alternatives.get((operation, alternative))

    def is_placed_known(self, operation: int, alternative: int) -> bool:
        """Whether an alternative has been placed, even if nothing can be told of it."""
        in_force = self.alternative_in_force(operation) == alternative
        return in_force or (operation, alternative) in self._placements.alternatives

    def add_placed(self, revision: int, ranges: Preset, found: Mapping[Choice, Placeability | None]) -> bool:
        """Take in what alternatives leave without a place; False where it is for another revision or memory."""
        if revision != self._revision or ranges != self.ranges:
            return False
        self._placements.add(found)
        self._tell(Change.ALTERNATIVES)
        return True

    def needs(self) -> Mapping[EditState, int | None]:
        """By state: the open bytes a tile, those of :attr:`ranges` and more, with which every tile is placed. None
        where no enlargement is enough; states that are missing are not worked out."""
        placed = self.placed
        if placed is not None and placed.enlarged and self.state not in self._placements.needs:
            more = placed.enlargement
            self._placements.add_needs({self.state: None if more is None else placed.preset.bytes + more})
        return self._placements.needs

    def add_needs(self, ranges: Preset, found: Mapping[EditState, int | None]) -> bool:
        """Take in the memory that states need; False where another memory is looked at by now."""
        if ranges != self.ranges:
            return False
        self._placements.add_needs(found)
        self._tell(Change.ALTERNATIVES)
        return True

    # -- comparison -----------------------------------------------------------------------------------------------

    @property
    def baseline(self) -> Pin | None:
        """What differences are shown against; at first the document as opened."""
        return self._baseline

    @property
    def pins(self) -> tuple[Pin, ...]:
        return self._pins

    def set_baseline(self, pin: Pin) -> None:
        self._baseline = pin
        self._tell(Change.PINS)

    def pin_current(self, name: str) -> Pin | None:
        """Keep the current state, with its estimate, under a name."""
        if self._document is None or self._estimate is None or not self.is_current:
            return None
        pin = Pin(name, self._document, self.state, self._estimate)
        self.add_pin(pin)
        return pin

    def add_pin(self, pin: Pin) -> None:
        self._pins = (*self._pins, pin)
        self._tell(Change.PINS)

    def remove_pin(self, index: int) -> None:
        self._pins = self._pins[:index] + self._pins[index + 1 :]
        self._tell(Change.PINS)

    def rename_pin(self, pin: Pin, name: str) -> None:
        """Give a pinned state, the baseline included, another name."""
        renamed = replace(pin, name=name)
        self._pins = tuple(renamed if one is pin else one for one in self._pins)
        if self._baseline is pin:
            self._baseline = renamed
        self._tell(Change.PINS)

    # -- selection ------------------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        return self._selection

    def select(self, selection: Selection) -> None:
        """Make this the selection; steps and tiles out of range are clipped."""
        timeline = self.timeline
        if timeline is not None:
            selection = selection.clipped(len(timeline.steps), timeline.tile_count, frozenset(timeline.aliases))
        if selection != self._selection:
            self._selection = selection
            self._tell(Change.SELECTION)

    def select_step(self, step: int) -> None:
        """Go to a step (clipped to the timeline); the other parts of the selection stay."""
        self.select(replace(self._selection, step=max(0, step)))

    def select_tiles(self, tiles: tuple[int, ...]) -> None:
        self.select(replace(self._selection, tiles=tiles))

    def select_operation(self, operation: int | None) -> None:
        self.select(replace(self._selection, operation=operation))

    def select_allocation(self, root: int | None) -> None:
        """Select an allocation, and with it the operation that makes it, where known."""
        operation = self._selection.operation
        timeline = self.timeline
        if root is not None and timeline is not None and self.graph is not None:
            operation = timeline.maker(root)
        self.select(replace(self._selection, allocation=root, operation=operation))


def _found_again(selection: Selection, before: Timeline, after: Timeline) -> Selection:
    """A selection's step and allocation by what they are, in the program after an edit."""
    step, root = selection.step, selection.allocation
    if step is not None:
        found = same_step(before, after, step)
        step = step if found is None else found
    if root is not None and root < len(before.values):
        root = same_root(before, after, root)
    return replace(selection, step=step, allocation=root)


def linked_timeline(session: Session) -> Timeline | None:
    """The timeline of the linked file: a timeline's own, a recipe's estimate as it stands among the pins.

    None where nothing is linked, or where a recipe's estimate is not there (yet, or its pin was taken away).
    """
    document = session.linked
    if document is None:
        return None
    for pin in (*session.pins, session.baseline):
        if pin is not None and pin.document is document:
            return pin.timeline
    return document.file_timeline() if isinstance(document.source, TimelineFile) else None


def recipe_of_graph(session: Session) -> Recipe | None:
    """The current recipe; that of the linked file where a timeline is open."""
    recipe = session.recipe
    return session.linked.recipe if recipe is None and session.linked is not None else recipe
