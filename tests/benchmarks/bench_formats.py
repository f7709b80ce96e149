"""Time and memory of opening large dumps: ``python -m tests.benchmarks.bench_formats [--quick]``.

Writes a large timeline and a large recipe to a temporary folder, opens each in a fresh process, and prints time and
peak memory beside those of a plain ``orjson.loads`` of the same file. Linux only. Run from the repository's root with
the root on the path.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.helpers.make_recipe import write_recipe
from tests.helpers.make_timeline import write_timeline

MEASURE = """
import re, sys, time
kind, path = sys.argv[1:]
import orjson, numpy
from tileview.formats.opening import open_file
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) // 1024
before, start = peak(), time.perf_counter()
if kind == "orjson":
    document = orjson.loads(open(path, "rb").read())
else:
    document = open_file(path)
seconds = time.perf_counter() - start
extra = ""
if hasattr(document, "tiles"):
    count = min(500, len(document.steps))
    start = time.perf_counter()
    for step in range(count):
        document.tiles.tile_usage(step)
    extra = f"; a step's usage {(time.perf_counter() - start) / count * 1e3:.2f} ms"
    start = time.perf_counter()
    document.tiles.check()
    extra += f"; checking every array {time.perf_counter() - start:.1f} s"
print(f"{seconds:6.2f} s, {peak():5d} MiB at most ({before} MiB before){extra}")
"""


def measure(kind: str, path: Path) -> str:
    """Open the file in a fresh process; one line of figures."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, kind, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description="Benchmark the readers.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    quick = parser.parse_args().quick
    part = 10 if quick else 1
    with tempfile.TemporaryDirectory() as folder:
        timeline, recipe = Path(folder) / "timeline.json", Path(folder) / "recipe.json"
        sizes = (
            (timeline, write_timeline(timeline, 6000 // part, 3000 // part, 1472)),
            (recipe, write_recipe(recipe, 2000 // part, 30, 64, 10_000_000 // part)),
        )
        for path, size in sizes:
            print(f"{path.name}: {size / 2**20:.0f} MiB")
            print(f"  tileview     {measure('tileview', path)}")
            print(f"  orjson.loads {measure('orjson', path)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
