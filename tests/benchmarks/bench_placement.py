"""Processor time of placement: requests and classes, every class in a preset, one tile, the quick answer, a profile.

``python -m tests.benchmarks.bench_placement [RECIPE.json …]``; without a file the two large golden recipes. The figures
of a placement profile are of one made here: 1,472 tiles with 431 entries each, 76 MB.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.helpers.golden_recipes import golden_recipe
from tests.helpers.placements import golden_json
from tileview.core.lowering.replanner import Replanner
from tileview.core.placement.outcome import count_tiles, first_failing, smallest_enlargement, solve, solve_classes
from tileview.core.placement.ranges import presets
from tileview.core.placement.requests import build_requests
from tileview.formats.placement import load_placement
from tileview.formats.search_state import load_search_state
from tileview.model.placement import Memory
from tileview.model.recipe import Recipe


def milliseconds(run: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def report(name: str, recipe: Recipe) -> None:
    program = Replanner().replan(recipe)
    requests = build_requests(program)
    print(f"{name}: {len(requests.classes)} classes, {requests.count:,} requests")
    print(f"  requests and classes            {milliseconds(lambda: build_requests(program)):8.0f} ms")
    for preset in presets(recipe.config.reserve_bytes):
        memory = Memory(preset.ranges)
        totals = count_tiles(requests.classes, tuple(solve_classes(requests, memory)))
        every = milliseconds(lambda memory=memory: list(solve_classes(requests, memory)), 3)  # type: ignore[misc]
        quick = milliseconds(lambda memory=memory: first_failing(requests, memory), 3)  # type: ignore[misc]
        more = milliseconds(lambda memory=memory: smallest_enlargement(requests, memory), 1)  # type: ignore[misc]
        print(
            f"  {preset.name:18} every class {every:6.0f} ms, yes or no {quick:6.0f} ms, enlargement {more:6.0f} ms "
            f"({totals.placed} placed, {totals.not_placed} not, {totals.over} over)"
        )
    memory = Memory(presets(recipe.config.reserve_bytes)[2].ranges)
    fullest = max(requests.classes, key=lambda each: len(each.present))
    one = milliseconds(lambda: solve(requests.asked(fullest, memory), memory))
    print(f"  one tile                        {one:8.1f} ms")


def report_profile() -> None:
    document = golden_json("dumps/valid/placement-90210.json.gz")
    entries = [entry for tile in document["tiles"] for entry in tile["allocations"]]
    entries = sorted(entries[:431], key=lambda entry: (entry["first"], entry["start"], entry["last"]))
    document["tiles"] = [{"logical": tile, "physical": tile, "allocations": entries} for tile in range(1472)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "placement-1.json"
        path.write_text(json.dumps(document, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")
        del document, entries
        opened = milliseconds(lambda: load_placement(path).tiles.close(), 3)
        profile = load_placement(path)
        first = milliseconds(lambda: profile.tiles.tile(700), 1)
        every = milliseconds(lambda: [profile.tiles.tile(tile) for tile in profile.tiles.logical()], 1)
        profile.tiles.close()
        size = path.stat().st_size / 1e6
    print(
        f"placement profile, {size:.0f} MB: opened {opened:.0f} ms, one tile {first:.1f} ms, all tiles {every:.0f} ms"
    )
    print(f"  largest memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main(paths: list[str]) -> int:
    if paths:
        for path in paths:
            report(path, load_search_state(path).recipe)
        return 0
    for name in ("vit3-64tiles", "so400m"):
        report(name, golden_recipe(name))
    report_profile()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
