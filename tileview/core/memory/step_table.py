"""What every tile holds at every step, kept for reading one tile's curve: in memory, or on the disk where it is large.

On the disk the numbers of some consecutive steps stand together, tile after tile, so that a tile's curve over tens of
thousands of steps is some hundreds of short reads: a few milliseconds. The file has no name and goes with the process.
"""

from __future__ import annotations

import os
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from tileview.model.timeline import ByteArray

Usages = npt.NDArray[np.int32] | npt.NDArray[np.int64]

IN_MEMORY_NUMBERS = 3 << 24
"""Numbers that are kept in memory (192 MiB in four bytes each) by default; a larger table goes to the disk."""


class StepTable:
    """Usage of consecutive steps from the first on: (steps, tiles, ``kinds``).

    ``is_kept`` is False once something could not be kept (a full disk): then :meth:`curve` has nothing to say.
    """

    def __init__(self, steps: int, tiles: int, kinds: int = 2, in_memory: int | None = None) -> None:
        self._steps, self._tiles, self._kinds = steps, tiles, kinds
        self._file: IO[bytes] | None = None
        self._runs: list[tuple[int, int, int, np.dtype[Any]]] = []
        self._array: Usages | None = None
        self._length = 0
        self.is_kept = True
        if steps * tiles * kinds <= (IN_MEMORY_NUMBERS if in_memory is None else in_memory):
            self._array = np.zeros((steps if tiles else 0, tiles, kinds), dtype=np.int32)

    def put(self, first: int, usage: Usages) -> None:
        """Keep the usage of the steps from ``first`` on, (steps, tiles, kinds)."""
        if not self.is_kept:
            return
        if self._array is not None:
            if usage.dtype.itemsize > self._array.dtype.itemsize:
                self._array = self._array.astype(np.int64)
            self._array[first : first + len(usage)] = usage
            return
        try:
            if self._file is None:
                import tempfile  # with all that can pack files; few tables are so large

                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()
            run = np.ascontiguousarray(usage.transpose(1, 0, 2))
            if self._file.write(run.tobytes()) != run.nbytes:
                raise OSError
        except OSError:
            self.close()
            return
        self._runs.append((first, len(usage), self._length, run.dtype))
        self._length += run.nbytes

    def curve(self, tile: int) -> ByteArray | None:
        """(steps, kinds): one tile at every step, 0 at steps that were not put; None where nothing is kept."""
        if not self.is_kept:
            return None
        if self._array is not None:
            return self._array[:, tile].astype(np.int64)
        curve = np.zeros((self._steps, self._kinds), dtype=np.int64)
        for first, count, offset, dtype in self._runs:
            size = count * self._kinds * dtype.itemsize
            text = self._read(offset + tile * size, size)
            if len(text) != size:
                return None
            curve[first : first + count] = np.frombuffer(text, dtype).reshape(count, self._kinds)
        return curve

    def _read(self, offset: int, size: int) -> bytes:
        assert self._file is not None
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, offset)
        end = self._file.tell()
        self._file.seek(offset)
        text = self._file.read(size)
        self._file.seek(end)
        return text

    def close(self) -> None:
        """Forget everything; nothing is kept from now on."""
        self.is_kept, self._array = False, None
        self._runs.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process keeps what is in memory, and nothing of what is on the disk."""
        kept = self._array is not None
        return {**self.__dict__, "_file": None, "_runs": [], "_length": 0, "is_kept": self.is_kept and kept}
