"""The worker process: reads requests from its standard input, answers on its standard output. No Qt in here.

A message is a pickle made by this program; files that a user opens are never unpickled. Requests are
``(token, kind, payload)``; answers are ``(token, what, payload)`` with ``progress``, ``part``, ``done`` or ``error``. A
thread reads the requests, so that a request to stop arrives while a job runs, and so that the process ends at once when
its parent is gone.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from tileview.collecting import collect_seldom
from tileview.errors import TileViewError

WAITED_FOR = "load"
"""The kind of job that someone waits for."""
STOP = "stop"
"""Kind of a request that ends the job with the given token at its next step."""


class CancelledError(Exception):
    """Raised inside a job that was asked to stop."""


def write_message(stream: BinaryIO, message: object) -> None:
    """Send one message. Raises OSError where the other side is gone."""
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def read_message(stream: BinaryIO) -> Any:
    """Receive one message. Raises EOFError where the other side is gone.

    A large message is taken in as it comes. Were it read first, it would take its room twice, and the interpreter's
    lock all the while that objects are made of it: the window would stand still.
    """
    try:
        return pickle.load(stream)
    except pickle.UnpicklingError as error:
        raise EOFError from error


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

    def __init__(self, source: BinaryIO, target: BinaryIO, find: Callable[[str], Job] | None = None) -> None:
        self._source = source
        self._target = target
        self._find = find or find_job
        self._requests: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
        self._stopped: set[int] = set()
        self._is_yielding = False

    def run(self) -> None:
        """Serve until the parent closes the pipe; then the process ends from the reading thread."""
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            token, kind, payload = self._requests.get()
            answer = self._run(token, kind, payload)
            self._stopped.discard(token)
            try:
                write_message(self._target, answer)
            except OSError:
                os._exit(0)

    def _read(self) -> None:
        try:
            while True:
                token, kind, payload = read_message(self._source)
                if kind == STOP:
                    self._stopped.add(token)
                else:
                    self._requests.put((token, kind, payload))
        except (EOFError, OSError):
            os._exit(0)

    def _yield(self) -> None:
        """From now on let the window go first: what it does not wait for must not make it slow."""
        if not self._is_yielding and hasattr(os, "nice"):
            self._is_yielding = True
            os.nice(5)

    def _run(self, token: int, kind: str, payload: Any) -> tuple[int, str, object]:
        if kind != WAITED_FOR:
            self._yield()
        reporter = Reporter(token, lambda message: write_message(self._target, message), self._stopped.__contains__)
        try:
            return token, "done", self._find(kind)(payload, reporter)
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


JOBS = {
    "load": ("tileview.qt.jobs.worker_files", "load"),
    "study": ("tileview.qt.jobs.worker_study", "study"),
    "evaluate": ("tileview.qt.jobs.worker_evaluate", "evaluate"),
    "verdict": ("tileview.qt.jobs.worker_plans", "verdict"),
    "fix": ("tileview.qt.jobs.worker_plans", "fix"),
    "report": ("tileview.qt.jobs.worker_report", "report"),
    "diagnose": ("tileview.qt.jobs.worker_plans", "make_diagnosis"),
}
"""Kind of job → where it is: imported when it is first asked for, so that a file is begun without the planner."""


def find_job(kind: str) -> Job:
    """The job of a kind. Raises KeyError where there is none."""
    module, name = JOBS[kind]
    job: Job = getattr(importlib.import_module(module), name)
    return job


def main() -> None:
    """Serve on the standard streams; what jobs print goes to the standard error.

    The process leaves Ctrl+C to the window it works for.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()
    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Server(source, target).run()


if __name__ == "__main__":
    main()
