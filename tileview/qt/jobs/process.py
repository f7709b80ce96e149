"""Worker processes: the messages, the process that serves them, and its parent's end of the pipes. No Qt in here.

A message is a pickle made by this program; files that a user opens are never unpickled. Requests are
``(token, kind, payload)``; answers are ``(token, what, payload)`` with ``progress``, ``part``, ``done`` or ``error``. A
thread reads the requests, so that a request to stop arrives while a task runs, and so that the process ends at once
when its parent is gone.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import signal
import stat
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from tileview.collecting import collect_seldom
from tileview.errors import TileViewError

LOAD: Final = "load"
"""The kind of task that someone waits for."""
STOP: Final = "stop"
"""Kind of a request that ends the task with the given token at its next step."""

TASKS: Final = {
    LOAD: "tileview.qt.jobs.file_tasks:read_source",
    "study": "tileview.qt.jobs.file_tasks:study_rest",
    "check": "tileview.qt.jobs.file_tasks:check_late",
    "evaluate": "tileview.qt.jobs.plan_tasks:evaluate_share",
    "verdict": "tileview.qt.jobs.plan_tasks:verdict",
    "fix": "tileview.qt.jobs.plan_tasks:fix",
    "report": "tileview.qt.jobs.plan_tasks:report",
    "diagnose": "tileview.qt.jobs.plan_tasks:make_diagnosis",
    "explain": "tileview.qt.jobs.place_tasks:explain_message",
    "place": "tileview.qt.jobs.place_tasks:place_state",
    "place alternatives": "tileview.qt.jobs.place_tasks:place_alternatives",
    "place needs": "tileview.qt.jobs.place_tasks:place_needs",
}
"""Kind of task → where it is: imported when it is first asked for, so that a file is begun without the planner."""

LARGE_BYTES = 5 * 1024 * 1024
"""Files from this size on are read in a worker process: a parser holds the interpreter's lock for its whole run."""
EARLY_TOKEN: Final = 0
"""Of the request that a process begun before the window has been sent."""

_begun: dict[str, ChildProcess] = {}


class CancelledError(Exception):
    """Raised inside work that was asked to stop."""


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
    """What work talks through: progress, parts of the result, and whether it should stop."""

    def __init__(self, token: int, send: Callable[[object], None], stopped: Callable[[int], bool]) -> None:
        self._token = token
        self._send = send
        self._stopped = stopped

    def stopped(self) -> bool:
        return self._stopped(self._token)

    def check(self) -> None:
        """Raise :class:`CancelledError` where the work was asked to stop."""
        if self.stopped():
            raise CancelledError

    def progress(self, done: int, total: int, text: str = "") -> None:
        self.check()
        self._send((self._token, "progress", (done, total, text)))

    def part(self, payload: object) -> None:
        """Hand over a part of the result."""
        self.check()
        self._send((self._token, "part", payload))


Task = Callable[[Any, Reporter], object]


def find_task(kind: str) -> Task:
    """The task of a kind. Raises KeyError where there is none."""
    module, _, name = TASKS[kind].partition(":")
    return cast(Task, getattr(importlib.import_module(module), name))


class Server:
    """Runs tasks one after another."""

    def __init__(self, source: BinaryIO, target: BinaryIO, find: Callable[[str], Task] = find_task) -> None:
        self._source = source
        self._target = target
        self._find = find
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
        if kind != LOAD:
            self._yield()
        reporter = Reporter(token, lambda message: write_message(self._target, message), self._stopped.__contains__)
        try:
            return token, "done", self._find(kind)(payload, reporter)
        except BrokenPipeError:
            os._exit(0)
        except Exception as error:
            return token, "error", outcome_of(error)


def outcome_of(error: Exception) -> tuple[str, object]:
    """How work that raised has ended: ``cancelled``, ``refused`` with a sentence, ``failed`` with one and details."""
    if isinstance(error, CancelledError):
        return "cancelled", None
    if isinstance(error, TileViewError):
        return "refused", str(error)
    if isinstance(error, MemoryError):
        return "refused", "There is not enough memory for this."
    return "failed", (f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def serve() -> None:
    """Serve on the standard streams; what tasks print goes to the standard error.

    The process leaves Ctrl+C to the window it works for.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()
    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Server(source, target).run()


@dataclass(frozen=True)
class OnBase:
    """A payload of two parts: ``base`` is large, and goes to a process once; the process keeps the last it was handed.

    A job gets the pair (base or None, rest): None where it has the base already.
    """

    base: object
    rest: object

    def handed_to(self, process: ChildProcess) -> tuple[object, object]:
        if process.base is self.base:
            return None, self.rest
        process.base = self.base
        return self.base, self.rest


class ChildProcess:
    """One child process and its pipes; used by one thread, but for :meth:`kill` and :meth:`stop`.

    It is started without a shell, and imports nothing from the current folder: that may be one of dumps from elsewhere,
    with a ``pickle.py`` among them.
    """

    def __init__(self) -> None:
        package = str(Path(__file__).resolve().parents[3])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self.base: object = None
        """What the process was handed last to be kept (:class:`OnBase`)."""
        self._process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-c", "from tileview.qt.jobs.process import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to = cast(BinaryIO, self._process.stdin)
        self._from = cast(BinaryIO, self._process.stdout)
        self._writing = threading.Lock()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: object) -> None:
        with self._writing:
            write_message(self._to, message)

    def receive(self) -> Any:
        return read_message(self._from)

    def stop(self, token: int) -> None:
        """Ask the running task to stop; ends the process where the request cannot be sent at once."""
        if not self._writing.acquire(blocking=False):
            self.kill()
            return
        try:
            write_message(self._to, (token, STOP, None))
        except (OSError, ValueError):
            self.kill()
        finally:
            self._writing.release()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """End the process and let go of its pipes."""
        self._process.kill()
        self._process.wait()
        for stream in (self._to, self._from):
            with contextlib.suppress(OSError):  # what was still to be sent has no receiver any more
                stream.close()


# -- files begun before the window: on a second core a large one is half read when the window stands ------------------


def is_large_file(path: Path) -> bool:
    """Whether a path names a file that is read in a process of its own."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size >= LARGE_BYTES


def begin(path: Path) -> None:
    """Start reading a file, if it is a large one."""
    path = path.absolute()
    if is_large_file(path) and str(path) not in _begun:
        process = ChildProcess()
        try:
            process.send((EARLY_TOKEN, LOAD, str(path)))
        except OSError:
            process.close()
            return
        _begun[str(path)] = process


def begun() -> dict[str, int]:
    """What was begun and is not taken yet: path → id of the process."""
    return {path: process.pid for path, process in _begun.items()}


def take_begun(path: Path) -> ChildProcess | None:
    """The process that reads a file already, for whoever wants the file; None where there is none."""
    return _begun.pop(str(path), None)


def drop() -> None:
    """End what nobody has asked for."""
    while _begun:
        _begun.popitem()[1].close()
