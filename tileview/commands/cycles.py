"""``tileview cycles``: the planner's own price of a program, its operations and its steps."""

from __future__ import annotations

from typing import Any

from tileview.analysis.fusions import fusion_facts
from tileview.analysis.trials import with_swaps
from tileview.commands.base import EXIT_NO, EXIT_OK, EXIT_UNKNOWN, Arguments, clean, complain, emit, emit_json, table
from tileview.commands.subject import (
    Subject,
    load_recipe,
    operation_names,
    overrides_of,
    price_json,
    with_recipe,
)
from tileview.commands.swap import checked_swaps, cycles_lines
from tileview.core.cycles.prices import Price, ProgramCycles
from tileview.core.cycles.words import exact_cycles
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory.measurement import step_words
from tileview.model.program import Program
from tileview.model.sizes import Size, size_to_json

_ABOUT = (
    "Planner's cycles are the price that the compiler's planner compares plans by, before scheduling and placement: "
    "differences count, not the figures, and none below 2 %."
)


def run_cycles(arguments: Arguments) -> int:
    """Price a recipe with the swaps given; 1 where it cannot be lowered, 3 where a price is unavailable."""
    replanner = Replanner()
    before, state = load_recipe(arguments.file, overrides_of(arguments), replanner)
    swaps = checked_swaps(state.recipe, arguments.swaps)
    after = with_recipe(before, state, with_swaps(state.recipe, swaps), replanner) if swaps else before
    program, cycles = after.estimate.program, after.estimate.cycles
    if program is None or cycles is None:
        if arguments.json:
            emit_json({**price_json(None), "operations": {}, "steps": []})
        complain(f"{arguments.file}: {after.verdict.text}")
        return EXIT_NO
    if arguments.json:
        emit_json(_json(program, cycles))
    else:
        emit(_text(before, after, cycles))
    return EXIT_OK if isinstance(cycles.total, int) else EXIT_UNKNOWN


def _json(program: Program, cycles: ProgramCycles) -> dict[str, Any]:
    return {
        **price_json(cycles.price),
        "operations": {str(number): size_to_json(price.cycles) for number, price in cycles.operations().items()},
        "steps": [
            {
                "index": entry.index,
                "source": entry.step.source,
                "kind": step_words(entry.step)[1],
                "count": entry.execution_count,
                **price_json(price),
            }
            for entry, price in zip(program.flatten(), cycles.steps, strict=True)
        ],
    }


def _text(before: Subject, after: Subject, cycles: ProgramCycles) -> str:
    """The total, the change by the swaps, and the operations, dearest first."""
    lines = [f"{clean(after.name)}: planner's cycles {exact_cycles(cycles.total)}"]
    if isinstance(cycles.total, int):
        lines.append(f"  in exchange {exact_cycles(cycles.exchange)}")
    else:
        lines.append(f"  known of it: {exact_cycles(cycles.known)}; steps without a price are missing")
    if after is not before:
        lines += ["", *cycles_lines(before.estimate.price, after.estimate.price)[:1]]
    names = operation_names(after.recipe)
    facts = fusion_facts(after.estimate)
    went_into = {} if facts is None else facts.went_into
    if facts is not None:
        lines.append(f"  {facts.text}")
    rows = [
        (
            f"{operation} {clean(names.get(operation, ''), 30)}",
            exact_cycles(price.cycles),
            exact_cycles(price.exchange),
            _share(price.cycles, cycles.total),
            f"its sum is in the step of operation {went_into[operation]}" if operation in went_into else "",
        )
        for operation, price in sorted(cycles.operations().items(), key=_dearest)
    ]
    header = ("operation", "planner's cycles", "in exchange", "share", "")
    return "\n".join([*lines, "", table(header, rows, numbers=(1, 2, 3), indent=2), "", _ABOUT])


def _dearest(entry: tuple[int, Price]) -> tuple[bool, int, int]:
    cycles = entry[1].cycles
    return (isinstance(cycles, int), -cycles if isinstance(cycles, int) else 0, entry[0])


def _share(cycles: Size, total: Size) -> str:
    if not isinstance(cycles, int) or not isinstance(total, int) or total == 0:
        return ""
    return f"{(200 * cycles + total) // (2 * total)} %"
