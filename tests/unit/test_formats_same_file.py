"""What is read from an open file is what was opened, or nothing: rewritten in place, by rename, with old times."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.command_line import SAMPLES
from tileview.formats import files
from tileview.formats.files import BLOCK_BYTES, block_sum
from tileview.formats.timeline import load_timeline
from tileview.model.timeline_file import FILE_CHANGED, TimelineFile
from tileview.session.document import Document

NAME = "pair-8tiles.v3.timeline.json"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "t.json"
    target.write_bytes((SAMPLES / NAME).read_bytes())
    return target


def aged(path: Path) -> None:
    """Make the file look as if it had been written long ago (its inode was changed just now, though)."""
    os.utime(path, ns=(10**18, 10**18))


def other(content: bytes) -> bytes:
    """The same length, other numbers per tile."""
    return content.translate(bytes.maketrans(b"123456789", b"912345678"))


@pytest.fixture
def unheld(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for large files: nothing is kept in memory."""
    monkeypatch.setattr(files, "HELD_BYTES", 0)


def usages(file: TimelineFile) -> list[np.ndarray | None]:
    return [file.tiles.tile_usage(step) for step in range(len(file.steps))]


@pytest.mark.parametrize("restore", [False, True], ids=["new times", "old times"])
@pytest.mark.usefixtures("unheld")
def test_a_file_rewritten_in_place_gives_nothing_instead_of_other_numbers(path: Path, restore: bool) -> None:
    aged(path)
    file = load_timeline(path)
    assert file.tiles.tile_usage(0) is not None
    content = path.read_bytes()
    with path.open("r+b") as stream:
        stream.write(other(content))
    if restore:
        aged(path)
    assert file.tiles.tile_usage(1) is None
    assert usages(file) == [None] * len(file.steps)  # the first too, though what is known of it is right
    assert file.tiles.has_changed()
    document = Document(path, file)
    assert document.mark_changed()
    assert not document.mark_changed()
    timeline = document.file_timeline()
    assert timeline.problems[0] == FILE_CHANGED
    assert timeline.unavailable_roots == frozenset(timeline.aliases)


@pytest.mark.usefixtures("unheld")
def test_a_write_within_one_tick_of_the_clock_is_found_by_content(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is made as coarse as can be: size and all times stay what they were."""
    file = load_timeline(path)
    real = os.fstat
    frozen = {"status": None}

    def same(handle: int) -> os.stat_result:
        status = real(handle)
        frozen["status"] = frozen["status"] or status
        return frozen["status"]

    monkeypatch.setattr(files.os, "fstat", same)
    assert file.tiles.tile_usage(0) is not None
    with path.open("r+b") as stream:
        stream.write(other(path.read_bytes()))
    assert file.tiles.tile_usage(1) is None


@pytest.mark.usefixtures("unheld")
@pytest.mark.parametrize("how", ["replaced", "moved", "removed", "touched"])
def test_content_that_is_still_there_is_read_on(path: Path, how: str) -> None:
    aged(path)
    expected = usages(load_timeline(path))
    file = load_timeline(path)
    if how == "replaced":
        new = path.with_suffix(".new")
        new.write_bytes(other(path.read_bytes()))
        new.replace(path)
    elif how == "moved":
        path.rename(path.with_suffix(".old"))
    elif how == "removed":
        path.unlink()
    else:
        path.chmod(0o600)
    assert all((one == two).all() for one, two in zip(usages(file), expected, strict=True))
    assert not file.tiles.has_changed()


def test_a_small_file_is_held_as_it_was(path: Path) -> None:
    expected = usages(load_timeline(path))
    file = load_timeline(path)
    path.write_bytes(b"{}")
    again = pickle.loads(pickle.dumps(file))
    path.unlink()
    for one in (file, again):
        assert all((here == there).all() for here, there in zip(usages(one), expected, strict=True))
        assert not one.tiles.has_changed()


@pytest.mark.usefixtures("unheld")
def test_another_process_does_not_read_another_file(path: Path) -> None:
    aged(path)
    file = load_timeline(path)
    sent = pickle.dumps(file)
    assert usages(pickle.loads(sent))[0] is not None
    new = path.with_suffix(".new")
    new.write_bytes(path.read_bytes())
    new.replace(path)
    if Path(f"/proc/{os.getpid()}/fd").exists():
        assert not pickle.loads(sent).tiles.has_changed(), "what this process holds can be reached"
        assert usages(pickle.loads(sent))[0] is not None
    file.tiles.close()
    there = pickle.loads(sent)
    assert there.tiles.has_changed()
    assert usages(there) == [None] * len(file.steps)


def test_the_fingerprint_is_that_of_the_content(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    assert load_timeline(copy).fingerprint == load_timeline(path).fingerprint != ""
    copy.write_bytes(path.read_bytes() + b"\n")
    assert load_timeline(copy).fingerprint != load_timeline(path).fingerprint


def test_a_blocks_sum_tells_every_change() -> None:
    rng = np.random.default_rng(1)
    content = bytearray(rng.bytes(BLOCK_BYTES - 3))
    sums = {block_sum(bytes(content))}
    for place in (0, 7, 8, 4096, len(content) - 1):
        content[place] ^= 1
        sums.add(block_sum(bytes(content)))
    content[0:16] = content[8:16] + content[0:8]
    sums.add(block_sum(bytes(content)))
    sums.add(block_sum(bytes(content[:-1])))
    assert len(sums) == 8


def test_two_digits_at_the_ends_of_words_tell_blocks_apart() -> None:
    """Each in the last of eight bytes: changes to the first word and to one of 600 others."""
    content = bytearray(b"5" * BLOCK_BYTES)
    sums = {block_sum(bytes(content))}
    for word in range(1, 601):
        for change in (-1, 1):
            other = bytearray(content)
            other[7] += 1
            other[8 * word + 7] += change
            sums.add(block_sum(bytes(other)))
    assert len(sums) == 1 + 2 * 600
