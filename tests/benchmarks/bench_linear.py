"""How the cost of planning grows: with the number of tiles, and with the number of operations.

``python -m tests.benchmarks.bench_linear`` re-plans made recipes from cold (lowering and measurement, one thread) and
prints processor time. Every operation spreads its rows over all tiles. The last column is what the cost per tile or per
operation is, compared with the smallest program: where it does not grow, planning grows at most linearly.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.helpers.make_recipe import recipe_pieces
from tileview.core.estimate import estimate
from tileview.core.geometry import resolve as geometry
from tileview.core.memory import exchange, measurement
from tileview.formats.search_state import search_state_from_bytes

TILES = (64, 128, 256, 512, 1024, 1472)
OPERATIONS = (50, 100, 200, 500, 1000, 2000)


def milliseconds(operations: int, tiles: int, repeats: int) -> float:
    """Processor time of one cold estimate, the best of some."""
    text = "".join(recipe_pieces(operations, 2, tiles, 0, spread=True))
    recipe = search_state_from_bytes(text.encode(), "made").recipe
    best = float("inf")
    for _ in range(repeats):
        for module in (geometry, measurement, exchange):
            module.clear_cache()
        gc.collect()
        gc.disable()  # as in the window, where the collector runs between events
        begun = time.process_time()
        result = estimate(recipe)
        best = min(best, time.process_time() - begun)
        gc.enable()
        assert result.timeline is not None
        assert not result.verdict.at_least
    return best * 1000


def table(title: str, what: str, programs: list[tuple[int, int, int]]) -> None:
    print(f"{title}\n{what:>12}{'ms':>10}{'ms each':>12}{'relative':>10}")
    first = 0.0
    for size, operations, tiles in programs:
        cost = milliseconds(operations, tiles, 3)
        first = first or cost / size
        print(f"{size:>12,}{cost:>10.1f}{cost / size:>12.4f}{cost / size / first:>10.2f}", flush=True)
    print()


def main() -> int:
    table("200 operations on more and more tiles", "tiles", [(tiles, 200, tiles) for tiles in TILES])
    for tiles in (64, 1472):
        table(f"more and more operations on {tiles:,} tiles", "operations", [(n, n, tiles) for n in OPERATIONS])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
