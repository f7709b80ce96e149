"""From a timeline file to the timeline that views read.
 The figures are the file's own, in the meaning of version 3: exchange rows are taken out of the peaks of older
versions. What a file does not have (per-tile numbers in version 1) is derived from shapes and layouts and said to be
so; where a file disagrees with itself, a problem names the field.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tileview.core.memory.accounts import stated_accounts, steps_account, sums_account, verdict_on
from tileview.core.memory.assemble import (
    Allocations,
    StepWork,
    coarse_sums,
    largest_standard,
    steps_unavailable_by_class,
)
from tileview.core.memory.check_file import check_figures, version3_peak
from tileview.core.memory.file_rows import KEPT_ROWS, FileRows
from tileview.core.memory.file_tiles import FileNumbers
from tileview.core.memory.footprint import layout_fault
from tileview.core.memory.infer import Inferred, born, infer_groups
from tileview.core.memory.usage import PlacedTiles, live_stretches
from tileview.core.memory.verdict import Budgets, Unsized, contiguous_bytes, cut_note, region_note
from tileview.model.config import INTERLEAVED_BYTES, PLANNED_BYTES
from tileview.model.sizes import LARGEST_COUNTED_BYTES, UNAVAILABLE, Size, Unavailable, size_to_u64
from tileview.model.tensor import MemoryClass
from tileview.model.timeline import (
    Account,
    ByteArray,
    ClassBytes,
    Evidence,
    Origin,
    Peak,
    Place,
    Problem,
    TileNumbers,
    Timeline,
    TimelineStep,
    TimelineValue,
)
from tileview.model.timeline_file import FileValue, TimelineFile

DERIVED_NOTE = (
    "the file has no per-tile numbers: they are derived from shapes and layouts, with owners starting at tile 0 and "
    "scratch on the tiles of the result where it can be told, else on all"
)
COARSE_NOTE = (
    "peaks and verdict of a version-1 file are sums of each allocation's largest bytes on any tile, an upper bound of "
    "what one tile holds"
)


def timeline_from_file(file: TimelineFile) -> Timeline:
    """The timeline of a file of version 1, 2 or 3; decodes no per-tile array but those of the peak step."""
    reader = _Reader(file)
    return reader.timeline()


class _Reader:
    """The intermediate results of one conversion, in the order in which they depend on each other."""

    def __init__(self, file: TimelineFile) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.live = self._live_roots()
        self.spans = live_stretches(self.live)
        self.inferred: Inferred = infer_groups(file, self.spans)
        self.rows = FileRows(file, self.inferred)
        self.unavailable = frozenset(
            value.root for index, value in enumerate(file.values) if not self._is_counted(index, value)
        )
        self.scratch: tuple[dict[int, ByteArray], dict[int, ByteArray]] = ({}, {})
        if not file.has_tiles:
            self._derive_scratch()
        self.placed = PlacedTiles(
            file.tile_count,
            self.live,
            self.inferred.aliases,
            self.inferred.interleaved.__getitem__,
            self.rows.shards,
            self.rows.bytes,
            self.unavailable,
            *self.scratch,
            spans=self.spans,
            kept=KEPT_ROWS,
        )
        self.numbers: TileNumbers = FileNumbers(file, self.placed) if file.has_tiles else self.placed
        self.largest = largest_sizes(file, self.inferred, self.unavailable)
        self.allocations = Allocations.listed(
            self.largest,
            self.inferred.interleaved.__getitem__,
            self.unavailable,
            self.spans,
            (),
        )
        scratch = {index: step.scratch for index, step in enumerate(file.steps)}
        self.work = StepWork([step.source for step in file.steps], scratch)
        self.coarse = coarse_sums(self.work, self.allocations)

    def _live_roots(self) -> list[tuple[int, ...]]:
        """The live sets, entries that are no root replaced by the root of the value they name."""
        values = self.file.values
        roots = {value.root for value in values}
        result = []
        for index, step in enumerate(self.file.steps):
            live = step.live
            if not roots.issuperset(live):
                wrong = [entry for entry in live if entry not in roots]
                live = tuple(sorted({entry if entry in roots else values[entry].root for entry in live}))
                text = f"{len(wrong)} entries are not roots, the first is {wrong[0]}: the values' roots are taken"
                self.problems.append(Problem("warning", f"timeline.steps[{index}].live", text, step=index))
            result.append(live)
        return result

    def _is_counted(self, index: int, value: FileValue) -> bool:
        """Whether a value has a size that per-tile sums can hold."""
        if isinstance(value.bytes, Unavailable) or isinstance(value.aligned_bytes, Unavailable):
            return False
        most = _largest_stated(value)
        if most <= LARGEST_COUNTED_BYTES:
            return True
        text = f"{value.name} has {most:,} B, more than any tile could hold: left out of sums"
        self.problems.append(Problem("warning", f"timeline.values[{index}].bytes", text, value=index))
        return False

    def _derive_scratch(self) -> None:
        """Scratch per tile where the file has only its largest: in proportion to the shard of the step's result.

        The result is known where one allocation is born at the step and scratch is a whole number of its shards;
        otherwise every tile is given all of it.
        """
        newborn = born(self.spans)
        for index, step in enumerate(self.file.steps):
            made = newborn.get(index, [])
            for column, size in enumerate((step.scratch.standard, step.scratch.interleaved)):
                if isinstance(size, Unavailable) or not 0 < size <= LARGEST_COUNTED_BYTES:
                    continue
                row = np.full(self.file.tile_count, size, dtype=np.int64)
                if len(made) == 1 and index > 0:
                    derived = self.rows.derive(made[0])
                    if isinstance(derived.shard, int) and derived.shard and size % derived.shard == 0:
                        row = derived.shards(self.file.tile_count) * (size // derived.shard)
                row.flags.writeable = False
                self.scratch[column][index] = row

    def timeline(self) -> Timeline:
        """Put everything together."""
        file = self.file
        values = tuple(self._value(index, value) for index, value in enumerate(file.values))
        steps = self._steps()
        unsized = self._unsized()
        peak, peak_problems = version3_peak(file)
        evidence = self._evidence(peak, tuple(problem.text for problem in peak_problems))
        budget = min(file.budget_bytes, PLANNED_BYTES)
        interleaved = min(file.interleaved_budget_bytes, INTERLEAVED_BYTES)
        budgets = Budgets(budget, interleaved, file.reserve_bytes)
        verdict = verdict_on(evidence, budgets, unsized)
        problems = [*file.problems, *self.problems, *self.inferred.problems, *peak_problems]
        told = {problem.place for problem in self.inferred.problems}
        for index in range(len(file.values)):
            problems += [problem for problem in self.rows.disagreements(index) if problem.place not in told]
        problems += check_figures(file, self.coarse, self._largest_standard())
        figures = verdict_on(Evidence(evidence.stated[:1], (), None), budgets, unsized)
        if figures.fits is (not file.fits_budget):
            text = f"the file says {str(file.fits_budget).lower()}, its peaks give: {figures.text}"
            problems.append(Problem("warning", "fits_budget", text))
        problems += [Problem("error", value.name, f"no size: {value.reason}", value=value.value) for value in unsized]
        return Timeline(
            origin=Origin.FILE,
            version=file.version,
            scope=file.scope,
            model=file.model,
            tile_count=file.tile_count,
            budget_bytes=budget,
            interleaved_budget_bytes=interleaved,
            reserve_bytes=file.reserve_bytes,
            peak=peak,
            total_peak_step=self._total_peak_step(),
            standard_peak_step=self._step(file.standard_peak_step),
            interleaved_peak_step=self._step(file.interleaved_peak_step),
            values=values,
            steps=steps,
            tiles=self.numbers,
            unavailable_roots=self.unavailable,
            aliases=self.inferred.aliases,
            tails=self.inferred.tails,
            aligned_roots=self.inferred.aligned,
            verdict=verdict,
            derived=not file.has_tiles,
            notes=self._notes(),
            problems=tuple(problems),
            made_at=self._made_at(),
            evidence=evidence,
        )

    def _made_at(self) -> dict[int, int]:
        """Root → the step that makes it; not for what is live at the first step, which may be an input."""
        found: dict[int, int] = {}
        for root, first, _ in self.spans:
            found[root] = min(first, found.get(root, first))
        return {root: step for root, step in found.items() if step}

    def _notes(self) -> tuple[str, ...]:
        notes = [] if self.file.has_tiles else [DERIVED_NOTE]
        if self.file.usage_is_coarse:
            notes.append(COARSE_NOTE)
        return (*notes, *cut_note(self.file.budget_bytes), *region_note(self.file.interleaved_budget_bytes))

    def _step(self, step: int | None) -> int | None:
        """A step number of the file, None where there is no such step (reported by the checks)."""
        return step if step is not None and 0 <= step < len(self.file.steps) else None

    def _value(self, index: int, value: FileValue) -> TimelineValue:
        error = value.layout_error
        if error is None and isinstance(value.shard_bytes, Unavailable):
            error = self.rows.derive(index).error
        return TimelineValue(
            id=value.id,
            origin=value.origin,
            root=value.root,
            name=value.name,
            group=value.group,
            shape=value.shape,
            precision=value.precision,
            layout=value.layout,
            layout_text=value.layout_text,
            layout_error=error,
            memory_class=value.memory_class or MemoryClass.STANDARD,
            storage_group=value.storage_group,
            shard_bytes=value.shard_bytes,
            aligned_bytes=value.aligned_bytes,
            copies=value.copies,
            bytes=value.bytes,
        )

    def _steps(self) -> tuple[TimelineStep, ...]:
        """The file's steps; usage of a version-1 file is derived, its own is the coarse one."""
        file = self.file
        derived = self.placed.worst_of_all().columns.tolist() if file.usage_is_coarse else []
        missing = steps_unavailable_by_class(self.work, self.allocations)
        steps = []
        for index, step in enumerate(file.steps):
            usage, coarse = step.usage, step.coarse
            if file.usage_is_coarse:
                coarse = step.usage
                usage = ClassBytes(
                    UNAVAILABLE if missing[0][index] else derived[index][4],
                    UNAVAILABLE if missing[1][index] else derived[index][5],
                )
            elif coarse is None:
                coarse = ClassBytes(
                    UNAVAILABLE if missing[0][index] else self.coarse[0][index],
                    UNAVAILABLE if missing[1][index] else self.coarse[1][index],
                )
            steps.append(
                TimelineStep(
                    index,
                    step.source,
                    step.operation,
                    step.kind,
                    step.execution_count,
                    self.live[index],
                    step.scratch,
                    usage,
                    coarse,
                )
            )
        return tuple(steps)

    def _unsized(self) -> tuple[Unsized, ...]:
        """Values without a size that are live at some step; without steps, all of them where a peak is unavailable."""
        live = {root for root, _, _ in self.spans}
        if not self.file.steps and isinstance(self.file.peak.total, Unavailable):
            live = set(self.inferred.aliases)
        found = []
        for index, value in enumerate(self.file.values):
            if not isinstance(value.bytes, Unavailable) or value.root not in live:
                continue
            fault = layout_fault(value.shape, value.layout, self.file.tile_count)
            reason = fault or value.layout_error or self.rows.derive(index).error or "the file gives no size"
            found.append(Unsized(index, value.name, reason, fault is not None or value.layout_error is not None))
        return tuple(found)

    def _evidence(self, peak: Peak, damage: tuple[str, ...]) -> Evidence:
        """What the verdict rests on, as far as it can be told without the arrays of all steps."""
        file = self.file
        largest = self._largest_standard()
        place = self._standard_place(peak)
        own = [*steps_account(file, peak, largest, self._place), *self._from_values(largest)]
        arrays = [f"{problem.place}: {problem.text}" for problem in file.problems if ".tile_" in problem.place]
        cut = file.budget_bytes > PLANNED_BYTES or file.interleaved_budget_bytes > INTERLEAVED_BYTES
        return Evidence(
            tuple(replace(account, standard_place=place) for account in stated_accounts(file, peak, self._place)),
            tuple(replace(account, standard_place=self._standard_place(account.peak)) for account in own),
            None if cut else file.fits_budget,
            (*damage, *arrays, *self._missing_steps(peak), *self._lost_sizes()),
        )

    def _lost_sizes(self) -> tuple[str, ...]:
        """A sentence on each size that is unavailable where others, which cannot be known without it, are known."""
        live = {root for root, _, _ in self.spans}
        found = [
            f"timeline.values[{index}].shard_bytes: it is unavailable (2^64 − 1), the bytes of {value.name} are not"
            for index, value in enumerate(self.file.values)
            if isinstance(value.shard_bytes, Unavailable) and isinstance(value.bytes, int) and value.root in live
        ]
        for index, step in enumerate(self.file.steps):
            if isinstance(step.scratch.standard, Unavailable) or isinstance(step.scratch.interleaved, Unavailable):
                found.append(f"timeline.steps[{index}].scratch: it is unavailable (2^64 − 1)")
        return tuple(found)

    def _missing_steps(self, peak: Peak) -> tuple[str, ...]:
        """A sentence where a file without steps states a peak at a step, or a larger one than all its values make.

        A program without steps holds its inputs: they are all values that it has.
        """
        if self.file.steps:
            return ()
        named = (self.file.total_peak_step, self.file.standard_peak_step, self.file.interleaved_peak_step)
        told = any(problem.place.endswith("_peak_step") for problem in self.file.problems)
        most = sum(self.largest.values())
        if told or any(step is not None for step in named) or size_to_u64(peak.total) > most:
            return ("timeline.steps: there are none, and the peaks are those of steps",)
        return ()

    def _from_values(self, largest: Size) -> tuple[Account, ...]:
        """What the sizes of live values say: in version 1 the usage of every step, later that one tile holds the
        largest of them, or of their scratch, at least."""
        if not self.file.steps:
            return ()
        if self.file.usage_is_coarse:
            sums = [
                (a, b, a + b) for a, b in zip(*(column[: len(self.file.steps)] for column in self.coarse), strict=True)
            ]
            damaged = bool(self.unavailable) or any(problem.severity == "error" for problem in self.file.problems)
            return sums_account("its values", sums, largest, self._place, damaged)
        standard = max((size for size in (largest,) if isinstance(size, int)), default=0)
        live = {root for root, _, _ in self.spans if self.inferred.interleaved[root] and root not in self.unavailable}
        sizes = [self.largest[root] for root in live]
        sizes += [s.scratch.interleaved for s in self.file.steps if not isinstance(s.scratch.interleaved, Unavailable)]
        interleaved = max(sizes, default=0)
        peak = Peak(standard, interleaved, max(standard, interleaved), largest, UNAVAILABLE)
        return (Account("its values", peak, at_least=True),)

    def _total_peak_step(self) -> int | None:
        """The earliest step with the largest total; what the file says where its steps do not tell."""
        totals = [step.usage.total for step in self.file.steps]
        if not totals:
            return None
        return totals.index(max(totals, key=size_to_u64))

    def _largest_standard(self) -> Size:
        """The largest standard allocation that is live at some step, or scratch, by the file's own sizes."""
        found: list[Size] = [step.scratch.standard for step in self.file.steps]
        for root in {root for root, _, _ in self.spans}:
            if not self.inferred.interleaved[root]:
                found.append(UNAVAILABLE if root in self.unavailable else self.largest[root])
        return max(found, key=size_to_u64, default=0)

    def _standard_place(self, peak: Peak) -> Place:
        """Where the largest standard allocation is; looked up only where it is too large for any piece of memory."""
        largest = peak.maximum_standard_allocation
        if isinstance(largest, Unavailable) or largest <= contiguous_bytes(self.file.reserve_bytes):
            return Place()
        return largest_standard(self.work, self.allocations, self.placed)[1]

    def _place(self, step: int | None, interleaved: bool) -> Place:
        """A peak's step and its operation; the tile only where the file says what single tiles hold."""
        step = self._step(step)
        if step is None:
            return Place()
        tile = None
        if self.file.has_tiles and self.file.tile_count:
            usage = self.numbers.usage(step)
            figure = usage[:, 1] if interleaved else usage.sum(axis=1)
            tile = int(np.flatnonzero(figure == figure.max())[-1])
        return Place(step, tile, self.file.steps[step].source)


def largest_sizes(file: TimelineFile, inferred: Inferred, unavailable: frozenset[int]) -> dict[int, int]:
    """Root → largest bytes of its values by the file's own figures; roots of known size only."""
    result = {}
    for root, members in inferred.aliases.items():
        if root not in unavailable:
            result[root] = max(_largest_stated(file.values[member]) for member in members)
    return result


def _largest_stated(value: FileValue) -> int:
    """The most that a file says of the bytes of a value on a tile: of its figures, which should agree, the largest."""
    known = [size for size in (value.shard_bytes, value.aligned_bytes) if not isinstance(size, Unavailable)]
    total = 0 if isinstance(value.bytes, Unavailable) else value.bytes
    return max(total, max(known, default=0) * value.copies)
