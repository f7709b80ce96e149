"""The folder of results kept for the next opening: bounded, private, and never more than a help."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tileview.analysis.alternatives import AlternativeResult
from tileview.errors import LoadError
from tileview.formats.search_state import SearchState
from tileview.qt.base.settings import private_folder, read_private, state_folder, write_private
from tileview.session.document import Document
from tileview.session.edits import EditState
from tileview.session.kept_results import (
    MOST_FILE_BYTES,
    count_of,
    results_from_bytes,
    results_key,
    results_to_bytes,
)

MOST_FOLDER_BYTES = 256 << 20
MOST_FILES = 500
STALE_PART_SECONDS = 3600
"""A file that was begun so long ago will not be finished."""


def results_folder() -> Path:
    """The folder of the kept results, which nobody else may look into. Raises OSError where there can be none."""
    return private_folder(state_folder() / "results")


@dataclass(frozen=True, slots=True)
class ResultStore:
    """What is kept of one state of one document; for any thread."""

    document: Document
    state: EditState

    def _place(self) -> tuple[dict[str, object], Path]:
        """What the results are of, and where they are kept. Raises OSError or ValueError where that cannot be said."""
        assert isinstance(self.document.source, SearchState)
        try:
            key = results_key(self.document.source.pieces(), self.state)
        except LoadError as error:
            raise ValueError(str(error)) from None
        name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]
        return key, results_folder() / f"{name}.results"

    def load(self) -> list[AlternativeResult]:
        """The results that are kept; none where there are none, or none that can be trusted."""
        recipe = self.document.recipe
        assert recipe is not None
        with suppress(OSError, ValueError):
            key, file = self._place()
            try:
                found = results_from_bytes(key, recipe, read_private(file, MOST_FILE_BYTES))
            except ValueError:
                file.unlink()
                return []
            with suppress(OSError):
                os.utime(file)
            return found
        return []

    def save(self, results: Sequence[AlternativeResult]) -> None:
        """Keep results, unless another window has kept as many. Raises OSError where they cannot be kept."""
        try:
            key, file = self._place()
        except ValueError:
            return
        with suppress(OSError, ValueError):
            if count_of(read_private(file, MOST_FILE_BYTES)) >= len(results):
                return
        write_private(file, results_to_bytes(key, results))
        trim(file)


def trim(newest: Path) -> None:
    """Drop what was used longest ago where the folder holds too much, and what was never finished.

    Another process may do so at the same time, and drop ``newest`` too.
    """
    dated = []
    for file in newest.parent.iterdir():
        with suppress(OSError):
            status = file.lstat()
            if file.suffix == ".part" and time.time() - status.st_mtime > STALE_PART_SECONDS:
                file.unlink()
            elif file.suffix == ".results" and file != newest:
                dated.append((status.st_mtime_ns, status.st_size, file))
    room, places = MOST_FOLDER_BYTES, MOST_FILES - 1
    with suppress(FileNotFoundError):
        room -= newest.stat().st_size
    for _, size, file in sorted(dated, reverse=True):
        room, places = room - size, places - 1
        if room < 0 or places < 0:
            with suppress(OSError):
                file.unlink()
