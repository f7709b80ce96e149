"""A file is followed whatever is done to it and to its folders."""

from __future__ import annotations

import os
import shutil

import pytest

from tileview.qt.files.watch import FileWatch

PATIENCE_MS = 20_000


class Watched:
    """A watch on a path, and what it told."""

    def __init__(self, path, qtbot) -> None:
        self.told: list[str] = []
        self.path, self.qtbot = path, qtbot
        self.watch = FileWatch()
        self.watch.changed.connect(lambda _path: self.told.append("changed"))
        self.watch.missing.connect(lambda _path: self.told.append("missing"))
        self.watch.watch(path)

    def hears(self, *expected: str) -> None:
        """Wait for what is to be told, and that it is all."""
        self.qtbot.waitUntil(lambda: len(self.told) >= len(expected), timeout=PATIENCE_MS)
        assert self.told == list(expected)
        self.told.clear()


@pytest.fixture
def watched(tmp_path, qtbot):
    made = []

    def make(path):
        made.append(Watched(path, qtbot))
        return made[-1]

    yield make
    for one in made:
        one.watch.close()


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "build" / "run" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text("one")
    return path


def test_a_folder_removed_and_made_again(watched, dump):
    one = watched(dump)
    shutil.rmtree(dump.parents[1])
    one.hears("missing")
    dump.parent.mkdir(parents=True)
    dump.write_text("two")
    one.hears("changed")
    dump.write_text("three")
    one.hears("changed")


def test_a_folder_renamed_away_and_another_in_its_place(watched, dump):
    one = watched(dump)
    dump.parent.rename(dump.parents[1] / "old")
    one.hears("missing")
    dump.parent.mkdir()
    dump.write_text("two")
    one.hears("changed")


def test_a_link_to_a_folder_that_is_flipped(watched, dump, tmp_path):
    other = dump.parents[1] / "next"
    other.mkdir()
    (other / "x.json").write_text("two")
    latest = tmp_path / "latest"
    latest.symlink_to(dump.parent)
    one = watched(latest / "x.json")
    flipped = tmp_path / "latest.new"
    flipped.symlink_to(other)
    os.replace(flipped, latest)
    one.hears("changed")
    (other / "x.json").write_text("three")
    one.hears("changed")


def test_a_link_whose_new_target_is_written_later(watched, dump, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(dump)
    one = watched(link)
    link.unlink()
    link.symlink_to(tmp_path / "later.json")
    one.hears("missing")
    (tmp_path / "later.json").write_text("two")
    one.hears("changed")


@pytest.mark.parametrize("how", ["rename", "in place"])
def test_the_same_size_and_time(watched, dump, how):
    one = watched(dump)
    status = dump.stat()
    target = dump.with_suffix(".new") if how == "rename" else dump
    target.write_text("two")
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    if how == "rename":
        os.replace(target, dump)
    assert dump.stat().st_mtime_ns == status.st_mtime_ns
    one.hears("changed")


def test_what_has_been_taken_in_is_no_news(watched, dump, qtbot):
    one = watched(dump)
    dump.write_text("two")
    one.watch.seen()
    qtbot.wait(1000)
    assert one.told == []
    one.watch.watch(None)
    dump.write_text("three")
    qtbot.wait(1000)
    assert one.told == []


def test_a_file_rewritten_in_place_is_read_again_and_its_numbers_are_never_others(driver, samples, tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes((samples / "pair-8tiles.v3.timeline.json").read_bytes())
    driver.open(path)
    first = driver.session.document
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content.replace(b'"scope":"', b'"scope":"2', 1)[: len(content)])
        file.truncate()
    driver.qtbot.waitUntil(lambda: "cannot be read now" in driver.window.status.notice_text(), timeout=PATIENCE_MS)
    assert driver.session.document is first
    path.write_bytes(content.replace(b'"scope":"', b'"scope":"2', 1))
    driver.qtbot.waitUntil(lambda: driver.session.document is not first, timeout=PATIENCE_MS)
    driver.settle()
    assert driver.window.status.notice_text() == ""
