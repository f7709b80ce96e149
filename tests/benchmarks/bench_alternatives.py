"""Time of evaluating every alternative and of searching for a fix.

``python -m tests.benchmarks.bench_alternatives [--workers N] [FILE …]``; without files the samples. Prints wall time,
processor time of one evaluation, and the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from pathlib import Path

from tileview.analysis.alternatives import evaluate_all
from tileview.analysis.fix import Mode, search_fixes
from tileview.analysis.trials import Evaluator, single_swaps
from tileview.collecting import collect_seldom
from tileview.core.estimate import estimate
from tileview.formats.search_state import load_search_state
from tileview.model.recipe import Recipe

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
FILES = ["vit3-64tiles.recipe.json", "so400m.recipe.json", "so400m-over.recipe.json"]


def cpu_of_one(recipe: Recipe, most: int = 200) -> float:
    """Processor milliseconds of one evaluation in a warm re-planner."""
    evaluator = Evaluator(recipe)
    evaluator.trial(())
    swaps = single_swaps(recipe)[:most]
    start = time.process_time()
    for swap in swaps:
        evaluator.trial((swap,))
    return (time.process_time() - start) / max(1, len(swaps)) * 1000


def report(path: Path, workers: int) -> None:
    start = time.perf_counter()
    recipe = load_search_state(path).recipe
    loaded = time.perf_counter()
    verdict = estimate(recipe).verdict
    estimated = time.perf_counter()
    print(f"{path.name}: load {1000 * (loaded - start):.0f} ms, first estimate {1000 * (estimated - loaded):.0f} ms")
    print(f"  one alternative, processor time: {cpu_of_one(recipe):.1f} ms")
    for count in sorted({1, workers}):
        first: list[float] = []
        start = time.perf_counter()

        def note(_: object, first: list[float] = first) -> None:
            first.append(time.perf_counter())

        results = evaluate_all(recipe, workers=count, on_results=note)
        wall = time.perf_counter() - start
        print(f"  {len(results)} alternatives, {count} worker(s): {wall:.2f} s")
    if not verdict.fits:
        for mode in Mode:
            start = time.perf_counter()
            result = search_fixes(recipe, 2, mode, workers=workers)
            wall = time.perf_counter() - start
            proof = "exhaustive" if result.exhaustive else "cut short"
            print(f"  {mode.value}, up to 2 swaps: {wall:.2f} s, {result.tried} re-plans, {proof}, {result.swaps}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    collect_seldom()  # as the command line and the worker processes do
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}")
    for path in arguments.files or [SAMPLES / name for name in FILES]:
        report(path, arguments.workers)


if __name__ == "__main__":
    main()
