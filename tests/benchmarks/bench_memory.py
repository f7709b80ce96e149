"""Processor time of a measurement, cold and with warm caches: ``python -m tests.benchmarks.bench_memory``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tests.helpers.golden_program import load_golden, read_program
from tileview.core.geometry import resolve as geometry
from tileview.core.memory import exchange, measurement
from tileview.core.memory.measurement import measure
from tileview.model.timeline import Timeline


def clear() -> None:
    geometry.clear_cache()
    measurement.clear_cache()
    exchange.clear_cache()


def milliseconds(run: Callable[[], object], prepare: Callable[[], None], repeats: int = 15) -> float:
    times = []
    for _ in range(repeats):
        prepare()
        start = time.process_time()
        run()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def main() -> None:
    for name, level in (("vit3", "composed"), ("so400m", "composed")):
        program = read_program(load_golden(f"{name}-program.json.gz")[level])

        def run(program: object = program) -> Timeline:
            return measure(program, 586_960, 49_152)  # type: ignore[arg-type]

        cold, warm = milliseconds(run, clear), milliseconds(run, lambda: None)
        timeline = run()
        steps = len(timeline.steps)
        print(f"{name}: {len(timeline.values)} values, {steps} steps, {timeline.tile_count} tiles")
        print(f"  measure: {cold:.1f} ms cold, {warm:.1f} ms warm")
        print(f"  usage of a step: {milliseconds(lambda t=timeline: t.tiles.usage(60), lambda: None, 3):.3f} ms cached")
        fresh = run()
        start = time.process_time()
        for step in range(steps):
            fresh.tiles.usage(step)
        print(f"  usage of a step: {(time.process_time() - start) * 1000 / steps:.3f} ms computed")
        start = time.process_time()
        fresh.tiles.tile_curve(5)
        print(f"  curve of a tile: {(time.process_time() - start) * 1000:.3f} ms")


if __name__ == "__main__":
    main()
