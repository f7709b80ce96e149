"""Estimates as jobs: everything a worker needs goes in, a frozen result with its revision comes out."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from tileview.analysis.placement_files import dump_verdict, profile_verdict
from tileview.core.estimate import estimate
from tileview.core.estimated import Estimate
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.accounts import damaged
from tileview.core.memory.whatif import with_layouts
from tileview.formats.dumps import AddressDump
from tileview.model.placement import PlacementProfile
from tileview.session.document import Document, edited_recipe
from tileview.session.edits import EditState


@dataclass(frozen=True, slots=True)
class EstimateJob:
    """A request for the estimate of one state of one document. Holds all it needs: it may run on any thread."""

    revision: int
    document: Document
    state: EditState

    def run(self, replanner: Replanner | None = None) -> EstimateResult:
        """Compute the estimate; ``replanner`` keeps what earlier jobs of the same document lowered (one thread at a
        time)."""
        recipe, addresses = self.document.recipe, self.document.addresses
        if addresses is not None:
            result = self._address_estimate(addresses)
        elif recipe is None:
            result = self._timeline_estimate()
        else:
            result = estimate(
                edited_recipe(recipe, self.state), self.state.overrides, replanner, scope=self.document.path.stem
            )
            result = replace(result, verdict=damaged(result.verdict, self.document.damage))
        return EstimateResult(self.revision, self.document, self.state, result)

    def _timeline_estimate(self) -> Estimate:
        timeline = with_layouts(
            self.document.file_timeline(),
            self.state.layouts,
            budget_bytes=self.state.overrides.budget_bytes,
            reserve_bytes=self.state.overrides.reserve_bytes,
        )
        return Estimate(None, timeline, None, timeline.verdict, timeline.notes, {})

    def _address_estimate(self, addresses: AddressDump) -> Estimate:
        """There is no program; the verdict is on what the file says of addresses."""
        if isinstance(addresses, PlacementProfile):
            return Estimate(None, None, None, profile_verdict(addresses), (), {})
        verdict, problems = dump_verdict(addresses)
        self.document.add_problems(problems)
        return Estimate(None, None, None, verdict, (), {})


@dataclass(frozen=True, slots=True)
class EstimateResult:
    """What a job gave; ``revision`` is the job's."""

    revision: int
    document: Document
    state: EditState
    estimate: Estimate


class EstimateCache:
    """The estimates of the last states of one document, so that undo and redo show theirs at once."""

    def __init__(self, size: int = 16) -> None:
        self._size = size
        self._entries: OrderedDict[tuple[object, ...], Estimate] = OrderedDict()

    def get(self, state: EditState) -> Estimate | None:
        key = state.key()
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, state: EditState, result: Estimate) -> None:
        self._entries[state.key()] = result
        self._entries.move_to_end(state.key())
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        self._entries.clear()
