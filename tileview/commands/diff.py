"""``tileview diff``: what differs between two files, or between a recipe and one that its search had tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileview.analysis.diff import Difference, DiffSide, Number, PeakLoads, diff, visited_recipe
from tileview.analysis.loads import describe_bytes
from tileview.analysis.words import layout_words, precision_words
from tileview.commands.base import EXIT_NO, EXIT_OK, Arguments, UsageError, clean, emit, emit_json, figure_name, table
from tileview.commands.subject import (
    Subject,
    compared,
    fusion_json,
    load_recipe,
    load_subject,
    overrides_of,
    price_json,
    with_recipe,
)
from tileview.model.sizes import Size, Unavailable, exact_text, size_to_json
from tileview.model.tensor import Format
from tileview.present.plan_words import plan_differences, plan_words, short_differences

_MOST_ROWS = 12


def run_diff(arguments: Arguments) -> int:
    """Compare; 0 where nothing differs, else 1."""
    first, second, names = _sides(arguments)
    result = diff(_side(first, names[0]), _side(second, names[1]))
    if arguments.json:
        emit_json(difference_json(result, first, second))
    else:
        words = (first.verdict, second.verdict)
        emit(difference_report(result, tuple(f"{verdict.words}: {verdict.text}" for verdict in words)))
    first.close()
    second.close()
    return EXIT_OK if result.same else EXIT_NO


def _sides(arguments: Arguments) -> tuple[Subject, Subject, tuple[str, str]]:
    overrides = overrides_of(arguments)
    if arguments.visited is not None:
        if arguments.b is not None:
            raise UsageError("give either a second file or --visited, not both")
        first, state = load_recipe(arguments.a, overrides)
        second = with_recipe(first, state, visited_recipe(state, arguments.visited))
        return first, second, (arguments.a, f"{arguments.a} visited[{arguments.visited}]")
    if arguments.b is None:
        raise UsageError("diff needs two files, or a recipe and --visited N")
    return (
        compared(load_subject(arguments.a, overrides)),
        compared(load_subject(arguments.b, overrides)),
        (arguments.a, arguments.b),
    )


def _side(subject: Subject, name: str) -> DiffSide:
    refusal = "" if subject.timeline is not None else subject.verdict.text
    made = subject.estimate
    return DiffSide(name, subject.recipe, subject.timeline, refusal, made.price, made.fusion)


# -- JSON -----------------------------------------------------------------------------------------------------------


def difference_json(result: Difference, first: Subject, second: Subject) -> dict[str, Any]:
    return {
        "same": result.same,
        "a": _side_json(first, result.a),
        "b": _side_json(second, result.b),
        "plans": [
            {
                "op": change.operation,
                "kind": change.kind,
                "a": plan_words(change.a),
                "b": plan_words(change.b),
                "alt_a": change.alternative_a,
                "alt_b": change.alternative_b,
                "differs": list(plan_differences(change.a, change.b)),
            }
            for change in result.plans
        ],
        "homes": [
            {"value": change.value, "name": change.name, "a": _home(change.a), "b": _home(change.b)}
            for change in result.homes
        ],
        "boundaries": [
            {"value": change.value, "a": _open(change.open_a), "b": _open(change.open_b)}
            for change in result.boundaries
        ],
        "budgets": _numbers_json(result.budgets),
        "peaks": _numbers_json(result.peaks),
        "counts": _numbers_json(result.counts),
        "allocations": [_loads_json(loads) for loads in result.loads],
        "steps": [
            {
                "op": change.operation,
                "kind": change.kind,
                "step_a": change.index_a,
                "step_b": change.index_b,
                "a": size_to_json(change.a),
                "b": size_to_json(change.b),
            }
            for change in result.steps
        ],
        "unmatched": [{"side": item.side, "what": item.what, "name": item.name} for item in result.unmatched],
        "notes": list(result.notes),
    }


def _side_json(subject: Subject, side: DiffSide) -> dict[str, Any]:
    return {
        "file": side.name,
        "kind": subject.kind,
        "version": subject.source.version,
        "fits": subject.verdict.fits,
        "verdict": subject.verdict.text,
        **price_json(subject.estimate.price),
        **fusion_json(subject.estimate),
    }


def _numbers_json(numbers: tuple[Number, ...]) -> dict[str, Any]:
    return {
        number.name: {"a": _size_json(number.a), "b": _size_json(number.b), "delta": number.delta} for number in numbers
    }


def _size_json(size: Size | None) -> int | None:
    return None if size is None else size_to_json(size)


def _loads_json(loads: PeakLoads) -> dict[str, Any]:
    return {
        "peak": loads.peak,
        "a": {"step": loads.place_a.step, "tile": loads.place_a.tile, "total": loads.total_a},
        "b": {"step": loads.place_b.step, "tile": loads.place_b.tile, "total": loads.total_b},
        "items": [
            {
                "name": change.name,
                "class": change.memory_class.value,
                "a": _size_json(change.a),
                "b": _size_json(change.b),
                "delta": change.delta,
            }
            for change in loads.changes
        ],
    }


def _open(is_open: bool) -> str:
    return "open" if is_open else "closed"


def _home(home: Format | None) -> str:
    return "left to the planner" if home is None else f"{precision_words(home.precision)}; {layout_words(home.layout)}"


# -- text -----------------------------------------------------------------------------------------------------------


def difference_report(result: Difference, verdicts: Sequence[str]) -> str:
    """What differs, in sections; a section without differences is left out. ``verdicts``: of A and of B."""
    sides = zip("AB", (result.a, result.b), verdicts, strict=True)
    lines = [f"{letter}: {clean(side.name)}: {clean(text, 600)}" for letter, side, text in sides]
    if result.same:
        lines.append("Nothing differs.")
    lines += _plans_text(result)
    if result.homes:
        rows = [(str(h.value), clean(h.name, 60), clean(_home(h.a), 100), clean(_home(h.b), 100)) for h in result.homes]
        lines += ["", table(("home of", "input", "A", "B"), rows, numbers=(0,))]
    if result.boundaries:
        states = [(str(b.value), _open(b.open_a), _open(b.open_b)) for b in result.boundaries]
        lines += ["", table(("boundary", "A", "B"), states, numbers=(0,))]
    lines += _numbers_text(result)
    for loads in result.loads:
        lines += _loads_text(loads)
    lines += _steps_text(result)
    if result.unmatched:
        shown = [(f"only in {u.side.upper()}", u.what, clean(u.name, 100)) for u in result.unmatched]
        lines += ["", *_capped(("unmatched", "", "name"), shown, ())]
    if result.notes:
        lines += ["", *(f"Note: {clean(note, 400)}" for note in result.notes)]
    return "\n".join(lines)


def _plans_text(result: Difference) -> list[str]:
    lines = []
    for change in result.plans:
        numbers = f"alternative {_index(change.alternative_a)} → {_index(change.alternative_b)}"
        lines.append(f"  operation {change.operation} {clean(change.kind, 40)}: {numbers}")
        a, b = clean(plan_words(change.a)), clean(plan_words(change.b))
        if a == b:
            lines.append(f"    {a}; {clean(short_differences(change.a, change.b))}")
        else:
            lines += [f"    A {a}", f"    B {b}"]
    return ["", "Plans", *lines] if lines else []


def _index(index: int | None) -> str:
    return "(not kept)" if index is None else str(index)


def _delta(number: Number, is_bytes: bool) -> str:
    if number.delta is None:
        return ""
    return describe_bytes(number.delta) if is_bytes else f"{number.delta:+,}".replace("-", "−")


def _numbers_text(result: Difference) -> list[str]:
    rows = []
    for number in (*result.budgets, *result.peaks, *result.counts):
        if number.a == number.b:
            continue
        is_bytes = number in result.peaks or number.name.endswith("_bytes")
        rows.append(
            (
                figure_name(number.name),
                _number(number.a, is_bytes),
                _number(number.b, is_bytes),
                _delta(number, is_bytes),
            )
        )
    return ["", table(("figure", "A", "B", "B − A"), rows, numbers=(1, 2, 3))] if rows else []


def _number(size: Size | None, is_bytes: bool) -> str:
    if size is None:
        return "none"
    return exact_text(size) if is_bytes or isinstance(size, Unavailable) else f"{size:,}"


def _loads_text(loads: PeakLoads) -> list[str]:
    if not loads.changes:
        return []
    title = (
        f"At the {loads.peak} peak (A: step {loads.place_a.step}, tile {loads.place_a.tile}; "
        f"B: step {loads.place_b.step}, tile {loads.place_b.tile})"
    )
    rows = [
        (
            clean(change.name, 60),
            "" if change.a is None else exact_text(change.a),
            "" if change.b is None else exact_text(change.b),
            "" if change.delta is None else describe_bytes(change.delta),
        )
        for change in loads.changes
    ]
    grown = describe_bytes(loads.total_b - loads.total_a)
    total = ("together", exact_text(loads.total_a), exact_text(loads.total_b), grown)
    return ["", title, *_capped(("allocation", "A", "B", "B − A"), rows, (1, 2, 3), total)]


def _steps_text(result: Difference) -> list[str]:
    rows = [
        (
            str(change.index_a),
            str(change.index_b),
            clean(change.kind, 30),
            "" if change.operation is None else str(change.operation),
            exact_text(change.a),
            exact_text(change.b),
        )
        for change in result.steps
    ]
    if not rows:
        return []
    title = f"{len(rows):,} steps whose fullest tile differs"
    return ["", title, *_capped(("step A", "step B", "kind", "op", "A", "B"), rows, (0, 1, 3, 4, 5))]


def _capped(
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    numbers: tuple[int, ...],
    last: tuple[str, ...] | None = None,
) -> list[str]:
    shown = [*rows[:_MOST_ROWS], *([] if last is None else [last])]
    lines = [table(header, shown, numbers=numbers, indent=2)]
    if len(rows) > _MOST_ROWS:
        lines.append(f"  and {len(rows) - _MOST_ROWS:,} more (all of them with --json)")
    return lines
