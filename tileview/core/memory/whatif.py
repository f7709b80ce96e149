"""What if: a timeline re-summed after changing the layouts of some of its values, or the budget.
 A timeline alone does not say what its steps do, so lifetimes, scratch and exchange rows stay as they are; sizes,
usage, peaks and verdict follow from the changed layouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tileview.core.memory.accounts import Findings, doubted, verdict_on
from tileview.core.memory.assemble import Allocations, StepFacts, StepWork, judge_allocations, listed_steps
from tileview.core.memory.footprint import Footprint, footprint, layout_fault
from tileview.core.memory.usage import PlacedTiles, live_stretches
from tileview.core.memory.verdict import Budgets, Unsized, cut_note, decide
from tileview.model.config import PLANNED_BYTES
from tileview.model.sizes import LARGEST_COUNTED_BYTES, UNAVAILABLE, Size, Unavailable
from tileview.model.tensor import Layout, MemoryClass
from tileview.model.timeline import (
    ByteArray,
    Place,
    Problem,
    Timeline,
    TimelineStep,
    TimelineValue,
    Verdict,
    last_largest,
)

CHANGED_NOTE = (
    "layouts changed in this timeline alone: owners start at tile 0; lifetimes, scratch and exchange rows stay as "
    "they were"
)


def with_layouts(
    timeline: Timeline,
    layouts: Mapping[int, Layout],
    *,
    budget_bytes: int | None = None,
    reserve_bytes: int | None = None,
) -> Timeline:
    """A timeline with other layouts for some values, and another budget or reserve.

    Parameters
    ----------
    timeline : Timeline
        From a file or an estimate; not changed.
    layouts : mapping
        Index into ``timeline.values`` → layout. One that is invalid makes its value unavailable.
    budget_bytes, reserve_bytes : int, optional
        What-if values; None keeps the timeline's.
    """
    budgets = Budgets(
        timeline.budget_bytes if budget_bytes is None else min(budget_bytes, PLANNED_BYTES),
        timeline.interleaved_budget_bytes,
        timeline.reserve_bytes if reserve_bytes is None else reserve_bytes,
    )
    if budget_bytes is not None and budget_bytes > PLANNED_BYTES:
        timeline = replace(timeline, notes=tuple(dict.fromkeys((*timeline.notes, *cut_note(budget_bytes)))))
    changed = {index: layout for index, layout in layouts.items() if timeline.values[index].layout != layout}
    if changed:
        return _Changed(timeline, changed).timeline(budgets)
    if (budgets.total, budgets.reserve) == (timeline.budget_bytes, timeline.reserve_bytes):
        return timeline
    return replace(
        timeline,
        budget_bytes=budgets.total,
        reserve_bytes=budgets.reserve,
        verdict=_decide_again(timeline, budgets),
    )


def unsized_values(timeline: Timeline) -> tuple[Unsized, ...]:
    """The values of a timeline without a known size that are live at some step (all, where there are no steps)."""
    live = {root for step in timeline.steps for root in step.live} if timeline.steps else set(timeline.aliases)
    return _unsized(timeline.values, live, timeline.tile_count)


def _unsized(values: tuple[TimelineValue, ...], live: set[int], tile_count: int) -> tuple[Unsized, ...]:
    found = []
    for index, value in enumerate(values):
        if isinstance(value.bytes, Unavailable) and value.root in live:
            fault = layout_fault(value.shape, value.layout, tile_count)
            reason = fault or value.layout_error or "no size is given"
            found.append(Unsized(index, value.name, reason, fault is not None))
    return tuple(found)


def with_findings(timeline: Timeline, findings: Findings) -> Timeline:
    """A file's timeline after all its arrays have been read: verdict and peak steps follow from them too."""
    evidence = timeline.evidence
    if evidence is None:
        return timeline
    evidence = replace(evidence, own=(*evidence.own, *findings.own), damage=(*evidence.damage, *findings.damage))
    budgets = Budgets(*timeline.limits)
    steps = findings.peak_steps or (
        timeline.standard_peak_step,
        timeline.interleaved_peak_step,
        timeline.total_peak_step,
    )
    verdict = verdict_on(evidence, budgets, unsized_values(timeline))
    return replace(
        timeline,
        evidence=evidence,
        verdict=verdict,
        standard_peak_step=steps[0],
        interleaved_peak_step=steps[1],
        total_peak_step=steps[2],
    )


def _decide_again(timeline: Timeline, budgets: Budgets) -> Verdict:
    """The verdict for other budgets: peaks and where they are do not depend on them."""
    if timeline.evidence is not None:
        return verdict_on(timeline.evidence, budgets, unsized_values(timeline), own_budgets=False)

    def place(step: int | None, column: int) -> Place:
        if step is None:
            return Place()
        usage = timeline.tiles.usage(step)
        figure = usage[:, 1] if column == 1 else usage.sum(axis=1)
        tile = None
        if len(figure) and not (timeline.derived and timeline.version == 1):
            tile = last_largest(figure)
        return Place(step, tile, timeline.steps[step].source)

    return doubted(
        decide(
            timeline.peak,
            budgets,
            total_place=place(timeline.total_peak_step, 0),
            interleaved_place=place(timeline.interleaved_peak_step, 1),
            standard_place=Place(),
            unsized=unsized_values(timeline),
            at_least=timeline.verdict.at_least,
        ),
        timeline.verdict,
    )


class _ChangedRows:
    """Rows of values, those of changed ones made from their new layouts."""

    def __init__(self, base: Timeline, footprints: Mapping[int, Footprint], values: tuple[TimelineValue, ...]) -> None:
        self._base = base
        self._footprints = footprints
        self._values = values

    def shards(self, index: int) -> ByteArray:
        """(tiles,): payload of a value on each tile."""
        if index in self._footprints:
            return self._footprints[index].shards(self._base.tile_count)
        return self._base.tiles.shards(index)

    def bytes(self, index: int) -> ByteArray:
        """(tiles,): bytes of a value on each tile, copies included."""
        if index not in self._footprints:
            return self._base.tiles.value_bytes(index)
        row = self._footprints[index].bytes(self._base.tile_count)
        copies = self._values[index].copies
        return row if copies == 1 else row * copies


class _Changed:
    """A timeline's allocations with some layouts replaced."""

    def __init__(self, base: Timeline, layouts: Mapping[int, Layout]) -> None:
        self.base = base
        self.footprints = {index: self._footprint(index, layout) for index, layout in layouts.items()}
        self.values = tuple(
            self._value(index, value, layouts[index]) if index in layouts else value
            for index, value in enumerate(base.values)
        )
        self.interleaved = {
            root: self.values[members[-1]].memory_class is MemoryClass.INTERLEAVED
            for root, members in base.aliases.items()
        }
        self.unavailable = frozenset(
            value.root
            for value in self.values
            if isinstance(value.bytes, Unavailable) or value.bytes > LARGEST_COUNTED_BYTES
        )
        live = [step.live for step in base.steps]
        spans = live_stretches(live)
        scratch = self._scratch()
        rows = _ChangedRows(base, self.footprints, self.values)
        self.placed = PlacedTiles(
            base.tile_count,
            live,
            base.aliases,
            self.interleaved.__getitem__,
            rows.shards,
            rows.bytes,
            self.unavailable,
            *scratch,
            spans=spans,
        )
        self.allocations = Allocations.listed(
            self._largest(), self.interleaved.__getitem__, self.unavailable, spans, tuple(base.aliases)
        )

    def _footprint(self, index: int, layout: Layout) -> Footprint:
        base, value = self.base, self.base.values[index]
        return footprint(
            value.shape,
            value.precision,
            layout,
            base.tile_count,
            tail=base.tails.get(value.root, 0),
            element_aligned=value.root in base.aligned_roots,
            memory_class=layout.memory_class,
        )

    def _value(self, index: int, value: TimelineValue, layout: Layout) -> TimelineValue:
        size = self.footprints[index]
        total: Size = UNAVAILABLE
        error = size.error
        if not isinstance(size.aligned, Unavailable):
            total = size.aligned * value.copies
            if total > LARGEST_COUNTED_BYTES:
                total, error = UNAVAILABLE, f"{value.copies:,} copies are beyond what any tile could hold"
        return replace(
            value,
            layout=layout,
            layout_text=str(layout),
            layout_error=error,
            memory_class=layout.memory_class,
            shard_bytes=size.shard,
            aligned_bytes=size.aligned,
            bytes=total,
        )

    def _scratch(self) -> tuple[dict[int, ByteArray], dict[int, ByteArray]]:
        result: tuple[dict[int, ByteArray], dict[int, ByteArray]] = ({}, {})
        for step in self.base.steps:
            sizes = (step.scratch.standard, step.scratch.interleaved)
            if any(isinstance(size, Unavailable) or size for size in sizes):
                rows = self.base.tiles.scratch(step.index)
                for column, size in enumerate(sizes):
                    if isinstance(size, Unavailable) or size:
                        result[column][step.index] = rows[:, column]
        return result

    def _largest(self) -> dict[int, int]:
        result = {}
        for root, members in self.base.aliases.items():
            if root not in self.unavailable:
                sizes = (self.values[member].bytes for member in members)
                result[root] = max(size for size in sizes if not isinstance(size, Unavailable))
        return result

    def timeline(self, budgets: Budgets) -> Timeline:
        """Sum and decide again."""
        base = self.base
        live = set(self.allocations.spans.roots.tolist()) if base.steps else set(base.aliases)
        unsized = _unsized(self.values, live, base.tile_count)
        facts = [_facts(step) for step in base.steps]
        work = StepWork.of(facts)
        judged = judge_allocations(
            work,
            self.allocations,
            self.placed,
            budgets,
            base.peak.exchange_rows,
            unsized,
            at_least=base.verdict.at_least,
            coarse_peaks=base.version == 1,
        )
        steps = listed_steps([*zip(*facts, strict=True)], work, self.allocations, self.placed)
        changed = set(self.footprints)
        kept = [problem for problem in base.problems if problem.value not in changed]
        kept += [
            Problem("error", value.name, f"no size: {value.reason}", value=value.value)
            for value in unsized
            if value.value in changed
        ]
        return replace(
            base,
            budget_bytes=budgets.total,
            reserve_bytes=budgets.reserve,
            peak=judged.peak,
            total_peak_step=judged.total_peak_step,
            standard_peak_step=judged.standard_peak_step,
            interleaved_peak_step=judged.interleaved_peak_step,
            values=self.values,
            steps=steps,
            tiles=self.placed,
            unavailable_roots=self.unavailable,
            verdict=doubted(judged.verdict, base.verdict),
            evidence=None,
            derived=True,
            notes=base.notes if CHANGED_NOTE in base.notes else (*base.notes, CHANGED_NOTE),
            problems=tuple(kept),
        )


def _facts(step: TimelineStep) -> StepFacts:
    return StepFacts(step.source, step.operation, step.kind, step.execution_count, step.live, step.scratch)
