"""Open many damaged dumps: ``python -m tests.benchmarks.fuzz_formats --cases 100000``.

Every case has to open or end in a LoadError within five seconds of processor time; anything else is printed with its
seed and ends the run with code 1. Run from the repository's root with the root on the path.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from types import FrameType

from tests.property.test_formats_fuzz import BASES, LARGER, SAMPLES, run

LIMIT_SECONDS = 5


class Hang(Exception):  # noqa: N818 - it is no error of the code under test's own
    """A case that took too long."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise Hang


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the readers.")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=1_000_000, help="seed of the first case")
    given = parser.parse_args()
    names = [*BASES, *BASES, *LARGER]
    bases = {name: (Path(SAMPLES) / name).read_bytes() for name in names}
    signal.signal(signal.SIGPROF, _alarm)
    outcome: Counter[str] = Counter()
    start, slowest = time.perf_counter(), (0.0, 0)
    for seed in range(given.first, given.first + given.cases):
        name = names[seed % len(names)]
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
        try:
            outcome["opened" if run(bases[name], seed) else "refused"] += 1
        except BaseException as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome[type(error).__name__] += 1
            print(f"{name} seed {seed}:", file=sys.stderr)
            traceback.print_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, (time.perf_counter() - began, seed))
    seconds = time.perf_counter() - start
    print(f"{given.cases:,} cases in {seconds:.0f} s: {dict(outcome)}")
    print(f"slowest: {slowest[0] * 1e3:.0f} ms, seed {slowest[1]}")
    return 0 if set(outcome) <= {"opened", "refused"} else 1


if __name__ == "__main__":
    raise SystemExit(main())
