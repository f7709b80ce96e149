"""A file as the commands see it: opened, estimated, and told in the JSON of the command line's contract."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tileview.analysis.overflows import overflows, too_many_fragments
from tileview.analysis.problem_notes import notes_with_problems, unavailable_values
from tileview.commands.base import UsageError
from tileview.core.estimated import Estimate
from tileview.errors import LoadError, WorkError
from tileview.formats.files import STANDARD_INPUT, OpenFile, is_stream
from tileview.formats.opening import open_file
from tileview.formats.sniff import DumpKind, sniff_file
from tileview.model.config import INTERLEAVED_BYTES
from tileview.model.recipe import NO_OVERRIDES, Overrides, Recipe, configured
from tileview.model.sizes import size_to_json
from tileview.model.timeline import Problem, Timeline, Verdict
from tileview.model.timeline_file import TimelineFile

if TYPE_CHECKING:
    from tileview.core.cycles.prices import Price
    from tileview.core.lowering.replanner import Replanner
    from tileview.formats.search_state import SearchState


@dataclass(frozen=True, slots=True)
class Subject:
    """An opened file with its estimate. ``name`` is the path as the user gave it.

    ``choices`` are what was estimated where that is not what the file says. ``found`` are contradictions that showed
    when all numbers per tile were read.
    """

    name: str
    source: SearchState | TimelineFile
    overrides: Overrides
    estimate: Estimate
    choices: Recipe | None = None
    found: tuple[Problem, ...] = ()

    @property
    def kind(self) -> str:
        return "timeline" if isinstance(self.source, TimelineFile) else "recipe"

    @property
    def recipe(self) -> Recipe | None:
        if self.choices is not None:
            return self.choices
        return None if isinstance(self.source, TimelineFile) else self.source.recipe

    @property
    def timeline(self) -> Timeline | None:
        return self.estimate.timeline

    @property
    def verdict(self) -> Verdict:
        return self.estimate.verdict

    @property
    def scope(self) -> str:
        return self.source.scope if isinstance(self.source, TimelineFile) else scope_of_file(self.name)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the reader and the estimate found wrong, each thing once."""
        timeline = self.timeline
        found = (*self.source.problems, *(() if timeline is None else timeline.problems), *self.found)
        return tuple(dict.fromkeys(found))

    def close(self) -> None:
        """Let go of the file."""
        if isinstance(self.source, TimelineFile):
            self.source.tiles.close()


def scope_of_file(name: str) -> str:
    """What the estimate of a file is called: after the file."""
    if name == STANDARD_INPUT:
        return "stdin"
    base = os.path.basename(name)
    stem, _, ending = base.rpartition(".")
    return stem if stem and ending else base


def overrides_of(arguments: Any) -> Overrides:
    """The what-if values of a command line."""
    fusion = not getattr(arguments, "no_fusion", False)
    return Overrides(getattr(arguments, "budget", None), getattr(arguments, "reserve", None), fusion)


def address_kind(name: str) -> DumpKind | None:
    """The kind of a file that speaks of addresses; None for every other, and for a stream, which can be read once only.

    Raises
    ------
    LoadError
        Where it is no dump at all.
    """
    if is_stream(name):
        return None
    with OpenFile(name) as file:
        kind = sniff_file(file).kind
    return kind if kind in (DumpKind.TILE_DUMP, DumpKind.PLACEMENT) else None


def load_subject(name: str, overrides: Overrides = NO_OVERRIDES, replanner: Replanner | None = None) -> Subject:
    """Open and estimate a file of either kind.

    Raises
    ------
    LoadError
        Where it cannot be read as a dump.
    """
    source = open_file(name, streams=True)
    if not isinstance(source, TimelineFile):
        return Subject(name, source, overrides, _estimate(source, source.recipe, overrides, replanner))
    from tileview.core.memory.from_file import timeline_from_file  # no part of a recipe's way

    return Subject(name, source, overrides, _timeline_estimate(timeline_from_file(source), overrides))


def compared(subject: Subject) -> Subject:
    """The subject with what contradicts itself among the numbers per tile of its file, all of which are read for it.

    Of a file of gigabytes that takes a minute and little memory: a verdict on part of it would be surer than the file.
    """
    file = subject.source
    if not isinstance(file, TimelineFile) or not file.has_tiles:
        return subject
    from tileview.commands.meter import Meter
    from tileview.core.memory.accounts import Findings
    from tileview.core.memory.from_file import timeline_from_file
    from tileview.core.memory.study import study_parts
    from tileview.core.memory.whatif import with_findings

    found: tuple[Problem, ...] = ()
    timeline = timeline_from_file(file)
    meter = Meter(len(file.values) + len(file.steps), "arrays checked")
    for part in study_parts(file, len(file.steps)):
        if isinstance(part, Findings):
            timeline = with_findings(timeline, part)
        elif isinstance(part, tuple):
            found = part
        else:
            meter.add(1)
    meter.close()
    return replace(subject, found=found, estimate=_timeline_estimate(timeline, subject.overrides))


def _timeline_estimate(file_timeline: Timeline, overrides: Overrides) -> Estimate:
    from tileview.core.memory.whatif import with_layouts

    timeline = with_layouts(
        file_timeline, {}, budget_bytes=overrides.budget_bytes, reserve_bytes=overrides.reserve_bytes
    )
    return Estimate(None, timeline, None, timeline.verdict, timeline.notes, {})


def load_recipe(
    name: str,
    overrides: Overrides = NO_OVERRIDES,
    replanner: Replanner | None = None,
) -> tuple[Subject, SearchState]:
    """:func:`load_subject` for commands that need a recipe.

    Raises
    ------
    LoadError
        Also where the file is a timeline.
    """
    source = open_file(name, streams=True)
    if isinstance(source, TimelineFile):
        source.tiles.close()
        raise LoadError(
            name, "", "a recipe", "a memory timeline", "A timeline holds no plans and no alternatives to choose from."
        )
    return Subject(name, source, overrides, _estimate(source, source.recipe, overrides, replanner)), source


def _estimate(source: SearchState, recipe: Recipe, overrides: Overrides, replanner: Replanner | None) -> Estimate:
    from tileview.core.estimate import estimate  # no part of a timeline's way

    made = estimate(recipe, overrides, replanner, scope=scope_of_file(source.path))
    if isinstance(made.error, WorkError):
        raise WorkError(f"{source.path}: {made.error}")
    return made


def with_recipe(subject: Subject, state: SearchState, recipe: Recipe, replanner: Replanner | None = None) -> Subject:
    """The same file with other choices."""
    made = _estimate(state, recipe, subject.overrides, replanner)
    return Subject(subject.name, state, subject.overrides, made, recipe)


def expand(names: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Files named, and the ``.json`` files of folders named, in the order of their names.

    Yields
    ------
    (name, whether it comes from a folder)

    Raises
    ------
    UsageError
        Where a folder holds no dumps or cannot be listed.
    """
    for name in names:
        if not os.path.isdir(name):
            yield name, False
            continue
        try:
            entries = sorted(os.listdir(name))
        except OSError as error:
            raise UsageError(f"{name}: the folder cannot be listed: {error.strerror or error}") from None
        found = [
            os.path.join(name, entry) for entry in entries if entry.endswith(".json") and not entry.startswith(".")
        ]
        if not found:
            raise UsageError(f"{name}: the folder holds no .json files")
        for path in found:
            yield path, True


# -- JSON -----------------------------------------------------------------------------------------------------------


def peak_json(timeline: Timeline | None) -> dict[str, int | None]:
    """The peaks by the names of the contract; null where unavailable."""
    names = ("standard", "interleaved", "total", "maximum_standard_allocation", "exchange_rows")
    if timeline is None:
        return dict.fromkeys(names)
    return {name: size_to_json(getattr(timeline.peak, name)) for name in names}


def price_json(price: Price | None) -> dict[str, int | None]:
    """The planner's cycles; null for timelines and where they are unavailable."""
    if price is None:
        return {"cycles": None, "exchange_cycles": None}
    return {"cycles": size_to_json(price.cycles), "exchange_cycles": size_to_json(price.exchange)}


def fusion_json(made: Estimate) -> dict[str, Any]:
    """Which program stands, and whether the composed one fits; null for timelines and what cannot be lowered."""
    return {
        "fusion": None if made.fusion is None else made.fusion.reason.value,
        "fits_without_fusion": made.fits_without_fusion,
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "cause": verdict.cause.value,
        "text": verdict.text,
        "limit": verdict.limit,
        "needed_bytes": size_to_json(verdict.needed_bytes),
        "available_bytes": size_to_json(verdict.available_bytes),
        "short_bytes": size_to_json(verdict.short_bytes),
        "step": verdict.step,
        "tile": verdict.tile,
        "operation": verdict.operation,
        "stated_bytes": None if verdict.stated_bytes is None else size_to_json(verdict.stated_bytes),
        "found_bytes": None if verdict.found_bytes is None else size_to_json(verdict.found_bytes),
    }


def summary_json(subject: Subject) -> dict[str, Any]:
    """One entry of ``summary --json``; see the contract."""
    timeline = subject.timeline
    budget, reserve, interleaved, tiles = _frame(subject)
    return {
        "file": subject.name,
        "kind": subject.kind,
        "version": subject.source.version,
        "scope": subject.scope,
        "tile_count": tiles,
        "fits": subject.verdict.fits,
        "verdict": verdict_json(subject.verdict),
        "overflows": overflows_json(timeline),
        "budget_bytes": budget,
        "reserve_bytes": reserve,
        "interleaved_budget_bytes": interleaved,
        "peak": peak_json(timeline),
        "total_peak_step": None if timeline is None else timeline.total_peak_step,
        "standard_peak_step": None if timeline is None else timeline.standard_peak_step,
        "interleaved_peak_step": None if timeline is None else timeline.interleaved_peak_step,
        "steps": None if timeline is None else len(timeline.steps),
        "values": None if timeline is None else len(timeline.values),
        **price_json(subject.estimate.price),
        **fusion_json(subject.estimate),
        "unavailable": unavailable_json(timeline),
        "notes": notes_of(subject),
    }


def _frame(subject: Subject) -> tuple[int, int, int, int]:
    """Budget, reserve, interleaved budget and tile count, also where there is no timeline."""
    timeline = subject.timeline
    if timeline is not None:
        return timeline.budget_bytes, timeline.reserve_bytes, timeline.interleaved_budget_bytes, timeline.tile_count
    assert subject.recipe is not None
    config = configured(subject.recipe.config, subject.overrides)
    return config.budget_bytes, config.reserve_bytes, INTERLEAVED_BYTES, config.tile_count


def overflows_json(timeline: Timeline | None) -> list[dict[str, Any]] | None:
    """Every run of steps that is over a limit, the worst first; null where that is not known."""
    found = None if timeline is None else overflows(timeline)
    if timeline is None or found is None:
        return None
    return [
        {
            "step": one.step,
            "first_step": one.first_step,
            "last_step": one.last_step,
            "tile": one.tile,
            "tiles_over": one.tiles_over,
            "operation": one.operation,
            "limit": one.limit,
            "over_bytes": one.over_bytes,
            "allocations": [
                {
                    "id": None if item.root is None else timeline.values[item.root].id,
                    "name": item.name,
                    "class": item.memory_class.value,
                    "bytes": item.bytes,
                    "operation": one.operation,
                }
                for item in one.made
            ],
        }
        for one in found
    ]


def unavailable_json(timeline: Timeline | None) -> list[dict[str, Any]]:
    """Every value without a known size, by its own id, and why."""
    return [{"value": value.id, "name": value.name, "reason": reason} for value, reason in unavailable_values(timeline)]


def notes_of(subject: Subject) -> list[str]:
    """What the estimate leaves out, and what is wrong with the file though it can be shown."""
    timeline = subject.timeline
    notes = subject.estimate.notes if timeline is None else timeline.notes
    pieces = "" if subject.estimate.program is None else too_many_fragments(subject.estimate.program)
    if pieces:
        notes = (*notes, pieces)
    return notes_with_problems(notes, timeline, subject.problems)


def operation_names(recipe: Recipe | None) -> dict[int, str]:
    """Operation → its kind, for texts; empty for a timeline."""
    return {} if recipe is None else recipe.graph.kind_names()
