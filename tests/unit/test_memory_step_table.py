"""What every tile holds at every step, kept in memory or on the disk: the same curves either way."""

from __future__ import annotations

import errno
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_timeline import write_timeline
from tileview.core.memory import step_table
from tileview.core.memory.from_file import timeline_from_file
from tileview.core.memory.step_table import StepTable
from tileview.core.memory.study import study_parts
from tileview.formats.timeline import load_timeline

STEPS, TILES = 200, 13


@pytest.fixture(params=["memory", "disk"])
def where(request, monkeypatch) -> str:
    monkeypatch.setattr(step_table, "IN_MEMORY_NUMBERS", STEPS * TILES * 2 if request.param == "memory" else 0)
    return request.param


def usages(seed: int = 1, largest: int = 2**31 - 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, largest, (STEPS, TILES, 2))


def test_curves_are_what_was_put(where: str) -> None:
    wanted = usages()
    table = StepTable(STEPS, TILES)
    for first in range(0, STEPS, 64):
        table.put(first, wanted[first : first + 64].astype(np.int32))
    for tile in range(TILES):
        np.testing.assert_array_equal(table.curve(tile), wanted[:, tile])
    table.close()
    assert table.curve(0) is None


def test_large_numbers_and_steps_that_are_not_there_yet(where: str) -> None:
    wanted = usages(2, 2**47)
    table = StepTable(STEPS, TILES)
    table.put(0, np.full((10, TILES, 2), 7, dtype=np.int32))
    table.put(10, wanted[10:50])
    curve = table.curve(3)
    assert curve is not None
    assert (curve[:10] == 7).all()
    np.testing.assert_array_equal(curve[10:50], wanted[10:50, 3])
    assert not curve[50:].any()


def test_a_disk_that_is_full_keeps_nothing_and_says_so(monkeypatch) -> None:
    class Full:
        def write(self, _data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(step_table, "IN_MEMORY_NUMBERS", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    table = StepTable(STEPS, TILES)
    table.put(0, usages()[:64].astype(np.int32))
    assert not table.is_kept
    assert table.curve(0) is None
    table.put(64, usages()[64:128].astype(np.int32))


def test_a_copy_in_another_process_keeps_what_is_in_memory(where: str) -> None:
    table = StepTable(STEPS, TILES)
    table.put(0, usages().astype(np.int32))
    copied = pickle.loads(pickle.dumps(table))
    assert copied.is_kept == (where == "memory")
    if copied.is_kept:
        np.testing.assert_array_equal(copied.curve(5), usages()[:, 5])


def test_a_file_of_very_many_steps_is_read_once(monkeypatch, tmp_path: Path) -> None:
    """Above what is kept in memory a tile's curve reads no step of the file again."""
    monkeypatch.setattr(step_table, "IN_MEMORY_NUMBERS", 0)
    path = tmp_path / "made.json"
    write_timeline(path, 150, 60, 23)
    wanted = timeline_from_file(load_timeline(path)).tiles
    file = load_timeline(path)
    numbers = timeline_from_file(file).tiles
    numbers.defer()
    for part in study_parts(load_timeline(path)):
        if hasattr(part, "usage"):
            numbers.take(part)
    assert numbers.is_complete
    file.tiles.close()
    for tile in (0, 11, 22):
        np.testing.assert_array_equal(numbers.tile_curve(tile), [wanted.usage(step)[tile] for step in range(150)])
