"""``tileview summary``: does it fit, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileview.analysis.diagnose import diagnose_fully, once_placed
from tileview.analysis.diagnosis import ContributionGroup, Diagnosis, Figure, grouped
from tileview.analysis.overflows import overflow_sentence
from tileview.analysis.relief import Relief
from tileview.commands.base import (
    EXIT_BAD,
    Arguments,
    clean,
    complain,
    emit,
    emit_json,
    table,
    verdict_code,
)
from tileview.commands.subject import (
    Subject,
    address_kind,
    compared,
    expand,
    load_subject,
    notes_of,
    operation_names,
    overrides_of,
    summary_json,
)
from tileview.core.cycles.words import exact_cycles
from tileview.core.fusion.verdict_words import fits_only_fused
from tileview.errors import LoadError
from tileview.model.sizes import Size, exact_text, kib_text, size_to_json
from tileview.model.tensor import MemoryClass

_MOST_ROWS = 8


def run_summary(arguments: Arguments) -> int:
    """Summaries of files; of a folder, a table of verdicts.

    Returns 2 where a file cannot be read (the others are summed up all the same), else 1 where one does not fit, else
    3 where it is not known of one, else 0.
    """
    overrides = overrides_of(arguments)
    entries: list[dict[str, Any]] = []
    errors: list[dict[str, str]] = []
    rows: list[tuple[str, ...]] = []
    texts: list[str] = []
    fits: list[bool | None] = []
    for name, in_folder in expand(arguments.files):
        try:
            kind = address_kind(name)
            if kind is not None:
                from tileview.commands.placing import address_json, address_summary, address_text
                from tileview.core.placement.outcome import Answer

                found = address_summary(name, kind)
                fits.append(found.answer is Answer.PLACED)
                entries.append(address_json(found))
                rows.append((clean(name), found.answer.value, "", "", "", found.text))
                texts += [] if in_folder else [address_text(found)]
                continue
            subject = load_subject(name, overrides)
            subject = compared(subject)
        except LoadError as error:
            complain(str(error))
            errors.append({"file": name, "error": str(error)})
            rows.append((clean(name), "unreadable", "", "", "", str(error)))
            continue
        fits.append(subject.verdict.fits)
        placed = _place(subject) if arguments.place else None
        if arguments.json:
            entry = summary_json(subject)
            if placed is not None:
                entry["placement"] = placed.facts
            if arguments.explain:
                entry["diagnosis"] = diagnosis_json(diagnosis_of(subject, placed))
            entries.append(entry)
        elif in_folder:
            rows.append(_row(subject))
        else:
            texts.append(summary_text(subject, placed))
        subject.close()
    if arguments.json:
        emit_json({"files": entries, **({"errors": errors} if errors else {})})
    else:
        _print(texts, rows, any(in_folder for _, in_folder in expand(arguments.files)))
    if errors:
        return EXIT_BAD
    return verdict_code(*fits)


@dataclass(frozen=True, slots=True)
class _Placed:
    """The further steps of a verdict, as text and as JSON; ``unplaced`` as :func:`next_step` takes it."""

    text: str
    facts: dict[str, Any]
    unplaced: str | None


def _place(subject: Subject) -> _Placed:
    """Place the subject. What places is large: loaded where it is asked for."""
    from tileview.analysis.placement import unplaced_words
    from tileview.commands.placing import place_subject, placement_json, placement_text

    found = place_subject(subject)
    return _Placed(placement_text(found), placement_json(found), unplaced_words(found.steps))


def _print(texts: list[str], rows: list[tuple[str, ...]], folder: bool) -> None:
    if texts:
        emit("\n\n".join(texts))
    if folder and rows:
        header = ("file", "verdict", "total + reserve", "budget", "over by", "cause")
        emit(table(header, [(*row[:5], clean(row[5], 160)) for row in rows], numbers=(2, 3, 4)))


def _row(subject: Subject) -> tuple[str, ...]:
    """A line of the table of a folder."""
    verdict, timeline = subject.verdict, subject.timeline
    if timeline is None:
        return (clean(subject.name), _word(subject), "", "", "", verdict.text)
    total = timeline.peak.total
    needed: Size = total + timeline.reserve_bytes if isinstance(total, int) else total
    short = verdict.short_bytes
    over = exact_text(short) if isinstance(short, int) and short > 0 else ""
    cause = "" if verdict.fits else verdict.text
    return (
        clean(subject.name),
        _word(subject),
        exact_text(needed),
        exact_text(timeline.budget_bytes),
        over,
        cause,
    )


def _word(subject: Subject) -> str:
    if fits_only_fused(subject.verdict):
        return "fits with fusions"
    return subject.verdict.words if subject.verdict.fits else subject.verdict.words.upper()


def diagnosis_of(subject: Subject, placed: _Placed | None = None) -> Diagnosis:
    """The diagnosis; where a recipe does not fit, with what other plans of the operations at fault would do."""
    diagnosis = diagnose_fully(subject.verdict, subject.timeline, subject.recipe, subject.overrides)
    if placed is None:
        return diagnosis
    return once_placed(diagnosis, subject.verdict, subject.timeline, subject.recipe, placed.unplaced)


# -- text -----------------------------------------------------------------------------------------------------------


def summary_text(subject: Subject, placed: _Placed | None = None) -> str:
    """A page on one file; ``placed``: the further steps of its verdict, where they were looked at."""
    timeline = subject.timeline
    parts = [f"{clean(subject.name)}: {_word(subject).upper()}"]
    facts = [f"{subject.kind}, version {subject.source.version}"]
    if timeline is not None:
        facts += [
            f"{timeline.tile_count:,} tiles",
            f"{len(timeline.steps):,} steps",
            f"{len(timeline.values):,} values",
        ]
    parts.append("  " + " · ".join(facts))
    parts.append("  " + clean(subject.verdict.text, 600))
    diagnosis = diagnosis_of(subject, placed)
    if diagnosis.overflows:
        sentence = overflow_sentence(diagnosis.overflows, operation_names(subject.recipe), _MOST_ROWS)
        parts.append("  " + clean(sentence, 2000))
    if timeline is not None:
        parts += ["", _peak_table(subject)]
    price = subject.estimate.price
    if price is not None:
        parts.append(f"  planner's cycles: {exact_cycles(price.cycles)}, in exchange {exact_cycles(price.exchange)}")
    if diagnosis.figures:
        parts += ["", figures_text(diagnosis.figures)]
    groups = grouped(diagnosis.contributions)
    shown = groups[:_MOST_ROWS]
    if shown and diagnosis.load is not None:
        title = (
            f"  On tile {diagnosis.load.tile} at step {diagnosis.load.step}, first what another plan would shrink most:"
        )
        parts += ["", title, contributions_text(shown, operation_names(subject.recipe))]
        left = groups[_MOST_ROWS:]
        if left:
            parts.append(f"    and {len(left):,} more with {exact_text(sum(group.bytes for group in left))}")
    if diagnosis.reliefs:
        parts += ["", reliefs_text(diagnosis.reliefs, operation_names(subject.recipe))]
    if diagnosis.details:
        parts += ["", *(f"  {clean(sentence, 600)}" for sentence in diagnosis.details)]
    if placed is not None:
        parts += ["", placed.text]
    parts += ["", f"  Next: {clean(diagnosis.next_step, 600)}"]
    notes = notes_of(subject)
    if notes:
        parts += ["", "  Notes:", *(f"  - {clean(note, 400)}" for note in notes)]
    return "\n".join(parts)


def _peak_table(subject: Subject) -> str:
    timeline = subject.timeline
    assert timeline is not None
    peak = timeline.peak

    def row(name: str, size: Size, step: int | None) -> tuple[str, str, str, str]:
        return (
            name,
            exact_text(size),
            kib_text(size) if isinstance(size, int) else "",
            "" if step is None else str(step),
        )

    rows = [
        row("total", peak.total, timeline.total_peak_step),
        row("standard", peak.standard, timeline.standard_peak_step),
        row("interleaved", peak.interleaved, timeline.interleaved_peak_step),
        row("largest standard allocation", peak.maximum_standard_allocation, None),
        row("exchange rows (not counted)", peak.exchange_rows, None),
    ]
    least = "at least, " if subject.verdict.at_least else ""
    return table(("peak", f"{least}bytes", "KiB", "step"), rows, numbers=(1, 2, 3), indent=2)


def figures_text(figures: tuple[Figure, ...]) -> str:
    """The sum behind a verdict, one term a line."""
    return table((), [(figure.label, exact_text(figure.bytes)) for figure in figures], numbers=(1,), indent=2)


def contributions_text(items: Sequence[ContributionGroup], names: dict[int, str]) -> str:
    """What lies on the tile, one allocation a line."""
    rows = []
    for item in items:
        maker = "resident" if item.resident else "" if item.operation is None else f"op {item.operation}"
        if item.operation is not None and item.operation in names and not item.resident:
            maker += f" {clean(names[item.operation], 30)}"
        smaller = ""
        if item.choice is not None:
            smaller = f"−{exact_text(item.smaller_by)} with alternative {item.choice[1]}"
        kind = "interleaved" if item.memory_class is MemoryClass.INTERLEAVED else "standard"
        times = f" × {item.count}" if item.count > 1 else ""
        rows.append((clean(item.name, 60) + times, kind, exact_text(item.bytes), maker, smaller))
    return table(("allocation", "class", "bytes", "made by", "could be smaller"), rows, numbers=(2,), indent=4)


def reliefs_text(found: Sequence[Relief], names: dict[int, str]) -> str:
    """What the operations at fault could do for their own steps, one a line."""
    rows = [
        (
            f"{relief.operation} {clean(names.get(relief.operation, ''), 30)}",
            exact_text(relief.now),
            exact_text(relief.then),
            f"−{exact_text(relief.saved)}",
            str(relief.alternative),
            {True: "fits", None: "not known"}.get(relief.fits, "still does not fit"),
        )
        for relief in found
    ]
    header = ("operation", "its fullest step now", "with best alternative", "change", "alternative", "alone")
    return table(header, rows, numbers=(1, 2, 3, 4), indent=2)


# -- JSON -----------------------------------------------------------------------------------------------------------


def diagnosis_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as ``--explain`` adds it."""
    return {
        "cause": diagnosis.cause.value,
        "text": diagnosis.headline,
        "figures": [{"label": figure.label, "bytes": size_to_json(figure.bytes)} for figure in diagnosis.figures],
        "details": list(diagnosis.details),
        "next_step": diagnosis.next_step,
        "step": None if diagnosis.place is None else diagnosis.place.step,
        "tile": None if diagnosis.place is None else diagnosis.place.tile,
        "contributions": [
            {
                "root": item.root,
                "name": item.name,
                "class": item.memory_class.value,
                "bytes": size_to_json(item.bytes),
                "operation": item.operation,
                "resident": item.resident,
                "smaller_by": item.smaller_by,
                "choice": None if item.choice is None else list(item.choice),
            }
            for item in diagnosis.contributions
        ],
        "reliefs": [
            {
                "op": relief.operation,
                "alt": relief.alternative,
                "now": relief.now,
                "then": relief.then,
                "fits": relief.fits,
            }
            for relief in diagnosis.reliefs
        ],
        "bad_layouts": [
            {
                "value": item.value,
                "name": item.name,
                "rule": None if item.kind is None else item.kind.value,
                "text": item.text,
                "remedy": item.remedy,
            }
            for item in diagnosis.bad_layouts
        ],
    }
