"""Processor time of re-planning: from cold, after a swap, and of every alternative.

``python -m tests.benchmarks.bench_replan [RECIPE.json …]``; without a file the two large golden recipes. *Cold* means
that no cache holds anything; analysis (the measurement) is included where it says so.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from tests.helpers.golden_recipes import golden_recipe
from tests.helpers.unrolled import unrolled
from tileview.analysis.diagnose import diagnose_fully
from tileview.core.estimate import estimate, judge_recipe
from tileview.core.geometry import resolve as geometry
from tileview.core.lowering.replanner import Replanner
from tileview.core.memory import exchange, measurement, usage
from tileview.errors import PlanError
from tileview.formats.search_state import load_search_state
from tileview.model.recipe import Overrides, Recipe


def clear() -> None:
    geometry.clear_cache()
    measurement.clear_cache()
    exchange.clear_cache()
    usage.clear_cache()


def milliseconds(run: Callable[[], object], prepare: Callable[[], None], repeats: int = 11) -> float:
    times = []
    for _ in range(repeats):
        prepare()
        gc.collect()
        start = time.process_time()
        run()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def singles(recipe: Recipe) -> Iterator[Recipe]:
    """The recipe with every alternative swapped in alone, operation by operation."""
    for operation, alternatives in recipe.alternatives.items():
        for plan in alternatives:
            yield recipe.with_plan(operation, plan)


def replan_all(recipes: list[Recipe], replanner: Replanner) -> None:
    for swapped in recipes:
        try:
            replanner.replan(swapped)
        except PlanError:
            continue


def report(name: str, recipe: Recipe) -> None:
    replanner = Replanner()
    result = estimate(recipe, replanner=replanner)
    if result.program is not None:
        steps = len(result.program.flatten())
        print(f"{name}: {len(result.program.values)} values, {steps} steps, {result.program.tile_count} tiles")
    cold = milliseconds(lambda: estimate(recipe), clear)
    alone = milliseconds(lambda: Replanner().replan(recipe), clear)
    print(f"  cold, with analysis: {cold:.1f} ms (re-planning {alone:.1f} ms)")
    recipes = list(singles(recipe))
    if not recipes:
        return
    start = time.process_time()
    for swapped in recipes:
        estimate(swapped, replanner=replanner)
    seconds = time.process_time() - start
    print(
        f"  all {len(recipes)} alternatives, one process: {seconds:.2f} s, {seconds / len(recipes) * 1000:.1f} ms each"
    )
    start = time.process_time()
    replan_all(recipes, replanner)
    each = (time.process_time() - start) / len(recipes) * 1000
    print(f"  a swap seen before: re-planning {each:.2f} ms")
    several = list(islice(recipes, 0, None, max(1, len(recipes) // 40)))
    swap = statistics.median(swap_times(recipe, several))
    print(f"  a swap never seen, with analysis: {swap:.1f} ms, {swap / cold:.0%} of cold")


def swap_times(recipe: Recipe, swaps: list[Recipe]) -> Iterator[float]:
    """Each swap by a re-planner, and with caches, that have seen the recipe in force only."""
    for swapped in swaps:
        clear()
        replanner = Replanner()
        estimate(recipe, replanner=replanner)
        gc.collect()
        start = time.process_time()
        estimate(swapped, replanner=replanner)
        yield (time.process_time() - start) * 1000


def report_long(recipe: Recipe) -> None:
    """Swaps in a long program: estimated, judged, and taken apart, with the compiler's fusions and without."""
    swaps = [(operation, len(plans) - 1) for operation, plans in recipe.alternatives.items() if len(plans) > 2]
    several = swaps[:: max(1, len(swaps) // 12)]
    print(f"{len(recipe.graph.operations)} operations written out")
    for overrides in (Overrides(), Overrides(fusion=False)):
        replanner = Replanner()
        before = estimate(recipe, overrides, replanner).timeline
        took: dict[str, list[float]] = {"estimated": [], "judged": [], "why": []}

        def timed(what: str, run: Callable[[], Any], took: dict[str, list[float]] = took) -> Any:
            gc.collect()
            start = time.process_time()
            made = run()
            took[what].append((time.process_time() - start) * 1000)
            return made

        for operation, index in several:
            swapped = recipe.with_plan(operation, recipe.alternatives[operation][index])
            result = timed("estimated", partial(estimate, swapped, overrides, replanner))
            timed("judged", partial(judge_recipe, swapped, overrides, replanner))
            asked = (result.verdict, result.timeline, swapped, overrides, before, {}, replanner)
            timed("why", partial(diagnose_fully, *asked))
        figures = ", ".join(f"{what} {statistics.median(times):.0f} ms" for what, times in took.items())
        print(f"  a swap {'with' if overrides.fusion else 'without'} fusions: {figures}")


def main() -> None:
    files = sys.argv[1:]
    for path in files:
        report(path, load_search_state(path).recipe)
    if not files:
        for name in ("vit3-64tiles", "so400m"):
            report(name, golden_recipe(name))
        report_long(unrolled(golden_recipe("so400m"), 100))


if __name__ == "__main__":
    main()
