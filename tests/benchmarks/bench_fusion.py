"""Processor time of fusions: the passes alone, and a swap judged or estimated with them and without.

``python -m tests.benchmarks.bench_fusion``
"""

from __future__ import annotations

import statistics
import time

from tests.benchmarks.bench_memory import milliseconds
from tests.benchmarks.bench_replan import singles
from tests.helpers.golden_recipes import golden_recipe
from tileview.core.estimate import estimate, judge_recipe
from tileview.core.fusion.stand import fuse
from tileview.core.lowering.replanner import Replanner
from tileview.model.recipe import Overrides


def nothing() -> None:
    """Before a run with everything known."""


def swap_times(name: str, fusion: bool, whole: bool) -> float:
    """Median of swaps never seen, by a re-planner that knows the recipe in force (milliseconds)."""
    recipe, overrides, times = golden_recipe(name), Overrides(fusion=fusion), []
    replanner = Replanner()
    estimate(recipe, overrides, replanner)
    recipes = list(singles(recipe))
    for swapped in recipes[:: max(1, len(recipes) // 80)]:
        start = time.process_time()
        (estimate if whole else judge_recipe)(swapped, overrides, replanner)
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def main() -> None:
    for name in ("vit3-64tiles", "so400m"):
        program = Replanner().replan(golden_recipe(name))
        passes = milliseconds(lambda program=program: fuse(program), nothing)  # type: ignore[misc]
        print(f"{name}: passes {passes:.2f} ms")
        for what, whole in (("judged", False), ("estimated", True)):
            without, fused = (swap_times(name, fusion, whole) for fusion in (False, True))
            print(f"  a swap {what}: {fused:.1f} ms, without fusions {without:.1f} ms")


if __name__ == "__main__":
    main()
