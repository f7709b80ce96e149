"""Processor time of the planner's cycles: cold, with everything known, and after a swap never seen.

``python -m tests.benchmarks.bench_cycles``; re-planning is not included.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tests.benchmarks.bench_memory import milliseconds
from tests.helpers.golden_recipes import golden_recipe
from tileview.core.cycles import kernels, prices
from tileview.core.geometry import resolve as geometry
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory import exchange
from tileview.errors import PlanError


def clear() -> None:
    geometry.clear_cache()
    exchange.clear_cache()
    kernels.clear_cache()
    prices.clear_cache()


def swap_times(name: str, most: int = 60) -> list[float]:
    """Each swap priced after the recipe in force, all else forgotten."""
    recipe, times = golden_recipe(name), []
    singles = [(op, plan) for op, plans in recipe.alternatives.items() for plan in plans]
    for operation, plan in singles[:: max(1, len(singles) // most)]:
        replanner = Replanner()
        clear()
        prices.program_cycles(replanner.replan(recipe))
        try:
            program = replanner.replan(recipe.with_plan(operation, plan))
        except PlanError:
            continue
        start = time.process_time()
        prices.program_cycles(program)
        times.append((time.process_time() - start) * 1000)
    return times


def nothing() -> None:
    """Before a run with everything known."""


def main() -> None:
    for name in ("vit3-64tiles", "so400m"):
        program = Replanner().replan(golden_recipe(name))
        run: Callable[[], object] = lambda program=program: prices.program_cycles(program)  # noqa: E731
        cold, warm = milliseconds(run, clear), milliseconds(run, nothing)
        swap = statistics.median(swap_times(name))
        print(f"{name}: cold {cold:.2f} ms, with everything known {warm:.2f} ms, a swap never seen {swap:.2f} ms")


if __name__ == "__main__":
    main()
