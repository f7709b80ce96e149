"""A worker process as its parent sees it: pipes and messages, without Qt, so that it can be started before Qt is."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tileview.qt.jobs.worker import STOP, read_message, write_message


class ChildProcess:
    """One child process and its pipes; used by one thread, but for :meth:`kill` and :meth:`stop`.

    It is started without a shell, and imports nothing from the current folder: that may be one of dumps from elsewhere,
    with a ``pickle.py`` among them.
    """

    def __init__(self) -> None:
        package = str(Path(__file__).resolve().parents[3])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", "tileview.qt.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"},
        )
        self._writing = threading.Lock()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: object) -> None:
        assert self._process.stdin is not None
        with self._writing:
            write_message(self._process.stdin, message)  # type: ignore[arg-type]

    def receive(self) -> Any:
        assert self._process.stdout is not None
        return read_message(self._process.stdout)  # type: ignore[arg-type]

    def stop(self, token: int) -> None:
        """Ask the running job to stop; ends the process where the request cannot be sent at once."""
        if not self._writing.acquire(blocking=False):
            self.kill()
            return
        try:
            assert self._process.stdin is not None
            write_message(self._process.stdin, (token, STOP, None))  # type: ignore[arg-type]
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
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was still to be sent has no receiver any more
                    stream.close()
