"""The worker process: reads requests from its standard input, answers on its standard output. No Qt in here.

A frame is a length (eight bytes, little-endian) and a pickle made by this program; files that a user opens are never
unpickled. Requests are ``(token, kind, payload)``; answers are ``(token, what, payload)`` with ``progress``, ``part``,
``done`` or ``error``. A thread reads the requests, so that a request to stop arrives while a job runs, and so that the
process ends at once when its parent is gone.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from tileview.analysis.alternatives import AlternativeResult
from tileview.analysis.alternatives import evaluate as evaluate_one
from tileview.analysis.diagnose import diagnose, verdict_place
from tileview.analysis.diagnosis import Diagnosis
from tileview.analysis.fix import FixResult, Mode, Progress, search, swaps_text
from tileview.analysis.relief import Relief, makers, reliefs
from tileview.analysis.trials import Evaluator
from tileview.core.estimate import estimate
from tileview.core.lowering.replanner import Replanner
from tileview.errors import TileViewError
from tileview.formats import open_file
from tileview.model.recipe import Overrides, Recipe
from tileview.model.sizes import size_text
from tileview.model.timeline import Cause
from tileview.session.document import Document
from tileview.session.estimate import EstimateJob
from tileview.session.state import EditState

HEADER = struct.Struct("<Q")
STOP = "stop"
"""Kind of a request that ends the job with the given token at its next step."""
PART_SECONDS = 0.15
"""How often results go out."""


class CancelledError(Exception):
    """Raised inside a job that was asked to stop."""


def write_frame(stream: BinaryIO, message: object) -> None:
    """Send one message. Raises OSError where the other side is gone."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(HEADER.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Receive one message. Raises EOFError where the other side is gone."""
    header = _read_exactly(stream, HEADER.size)
    return pickle.loads(_read_exactly(stream, HEADER.unpack(header)[0]))


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if data is None or len(data) != count:
        raise EOFError
    return data


class Reporter:
    """What a job talks through: progress, parts of the result, and whether it should stop."""

    def __init__(self, token: int, send: Callable[[object], None], stopped: Callable[[int], bool]) -> None:
        self._token = token
        self._send = send
        self._stopped = stopped

    def stopped(self) -> bool:
        return self._stopped(self._token)

    def check(self) -> None:
        """Raise :class:`CancelledError` where the job was asked to stop."""
        if self.stopped():
            raise CancelledError

    def progress(self, done: int, total: int, text: str = "") -> None:
        self.check()
        self._send((self._token, "progress", (done, total, text)))

    def part(self, payload: object) -> None:
        """Hand over a part of the result."""
        self.check()
        self._send((self._token, "part", payload))


Job = Callable[[Any, Reporter], object]


class Server:
    """Runs jobs one after another."""

    def __init__(self, source: BinaryIO, target: BinaryIO, jobs: dict[str, Job]) -> None:
        self._source = source
        self._target = target
        self._jobs = jobs
        self._requests: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
        self._stopped: set[int] = set()

    def run(self) -> None:
        """Serve until the parent closes the pipe; then the process ends from the reading thread."""
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            token, kind, payload = self._requests.get()
            answer = self._run(token, kind, payload)
            self._stopped.discard(token)
            try:
                write_frame(self._target, answer)
            except OSError:
                os._exit(0)

    def _read(self) -> None:
        try:
            while True:
                token, kind, payload = read_frame(self._source)
                if kind == STOP:
                    self._stopped.add(token)
                else:
                    self._requests.put((token, kind, payload))
        except (EOFError, OSError):
            os._exit(0)

    def _run(self, token: int, kind: str, payload: Any) -> tuple[int, str, object]:
        reporter = Reporter(token, lambda message: write_frame(self._target, message), self._stopped.__contains__)
        try:
            return token, "done", self._jobs[kind](payload, reporter)
        except CancelledError:
            return token, "error", ("cancelled", "", "")
        except TileViewError as error:
            return token, "error", ("refused", str(error), "")
        except BrokenPipeError:
            os._exit(0)
        except MemoryError:
            return token, "error", ("refused", "There is not enough memory for this file.", "")
        except Exception as error:
            return token, "error", ("failed", f"{type(error).__name__}: {error}", traceback.format_exc())


def load(path: str, reporter: Reporter) -> object:
    """Read a file into a document's source."""

    def told(fraction: float, text: str) -> None:
        reporter.progress(int(fraction * 1000), 1000, text)

    return open_file(Path(path), told)


_PLANNED: dict[str, Any] = {}
"""What the last evaluation lowered, kept for the next one of the same state."""


def evaluate(payload: tuple[object, Recipe, Overrides, tuple[int, ...]], reporter: Reporter) -> None:
    """Evaluate every alternative of some operations; results go out in parts, a few times a second."""
    key, recipe, overrides, operations = payload
    if _PLANNED.get("key") != key:
        replanner = Replanner()
        baseline = Evaluator(recipe, overrides, replanner).trial(())
        _PLANNED.update(key=key, recipe=recipe, replanner=replanner, baseline=baseline)
    recipe, replanner, baseline = _PLANNED["recipe"], _PLANNED["replanner"], _PLANNED["baseline"]
    found: list[AlternativeResult] = []
    sent = time.monotonic()
    for operation in operations:
        for index in range(len(recipe.alternatives.get(operation, ()))):
            reporter.check()
            found.append(evaluate_one(recipe, operation, index, replanner, overrides, baseline))
            if time.monotonic() - sent > PART_SECONDS:
                reporter.part(found)
                found, sent = [], time.monotonic()
    reporter.part(found)


def verdict(path: str, reporter: Reporter) -> tuple[str, bool, str, str]:
    """Kind, whether it fits, verdict and peak of a file, in words; for the list of a folder."""
    document = Document(Path(path), open_file(Path(path)))
    reporter.check()
    result = EstimateJob(0, document, EditState()).run(Replanner()).estimate
    peak = "unavailable" if result.timeline is None else size_text(result.timeline.peak.total)
    return ("recipe" if document.is_recipe else "timeline"), result.verdict.fits, result.verdict.text, peak


def fix(payload: tuple[Recipe, int, str, Overrides, int], reporter: Reporter) -> FixResult:
    """Search swaps that make a recipe fit; a request to stop ends the search with the best that is known."""
    recipe, most, mode, overrides, limit = payload

    def told(state: Progress) -> None:
        best = "" if state.best is None else f"; {swaps_text(state.best.swaps)} fits"
        sets = "single swaps" if state.swaps == 1 else f"sets of {state.swaps} swaps"
        text = f"{state.tried:,} re-plans, {sets}{best}"
        if not reporter.stopped():
            reporter.progress(state.tried, state.planned, text)

    workers = min(max(1, os.cpu_count() or 1), 4)
    return search(recipe, most, Mode(mode), overrides, workers, limit, told, reporter.stopped)


_LIMITS = (Cause.TOTAL, Cause.INTERLEAVED, Cause.CONTIGUOUS)


def make_diagnosis(
    payload: tuple[Recipe, Overrides, Recipe | None, dict[tuple[int, int], AlternativeResult]], reporter: Reporter
) -> Diagnosis:
    """Take the verdict on a recipe apart: with growth against a baseline, and with what other plans would do."""
    recipe, overrides, before, results = payload
    replanner = Replanner()
    result = estimate(recipe, overrides, replanner)
    timeline, cause = result.timeline, result.verdict.cause
    reporter.check()
    baseline = None if before is None else estimate(before, overrides).timeline
    found: tuple[Relief, ...] = ()
    place = None if timeline is None else verdict_place(result.verdict, timeline)
    if timeline is not None and place is not None and cause in _LIMITS:
        reporter.check()
        found = reliefs(recipe, timeline, cause, makers(timeline, place), overrides, replanner)
    reporter.check()
    return diagnose(result.verdict, timeline, recipe, baseline, results, found)


JOBS: dict[str, Job] = {"load": load, "evaluate": evaluate, "verdict": verdict, "fix": fix, "diagnose": make_diagnosis}


def main() -> None:
    """Serve on the standard streams; what jobs print goes to the standard error.

    The process yields to the window it works for, and leaves Ctrl+C to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)
    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Server(source, target, JOBS).run()


if __name__ == "__main__":
    main()
