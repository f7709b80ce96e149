"""Edits from before a crash: bad files harm nobody, none is lost, the right file gets them, nobody else reads them."""

from __future__ import annotations

import json
import os
import socket
import stat
import time

import pytest

from tests.helpers.crashed import left_by_a_crash, swapped_before_a_crash
from tests.helpers.hostile import make_odd_file
from tileview.qt.files import opening, recovery
from tileview.qt.files.recovery import ASIDE, left_behind, recovery_folder
from tileview.qt.widgets.dialogs import EditsAnswer, ErrorDialog


def broken(**changes: object) -> bytes:
    """A file of edits with something else in the place of what should be there."""
    edits = {"swaps": {}, "homes": {}, "boundaries": {}, "layouts": {}, "budget_bytes": None, "reserve_bytes": None}
    content = {
        "version": recovery.VERSION,
        "document": "/x.json",
        "fingerprint": "",
        "stamp": [],
        "steps": [{"label": "x", "edits": {**edits, **changes.pop("edits", {})}}],  # type: ignore[dict-item]
        "marks": {},
        "rest": False,
        **changes,
    }
    return json.dumps(content).encode()


BAD = {
    "empty": b"",
    "nothing": b"{}",
    "another version": broken(version=99),
    "list": b"[1]",
    "not UTF-8": b"\xff",
    "deep": b"[" * 100_000,
    "infinite": broken(edits={"budget_bytes": float("inf")}),
    "infinite number": broken(edits={"budget_bytes": 1}).replace(b'"budget_bytes": 1', b'"budget_bytes": 1e999'),
    "2^64": broken(edits={"reserve_bytes": 2**64}),
    "negative": broken(edits={"budget_bytes": -1}),
    "huge number": broken(edits={"swaps": {"0": 10**30}}),
    "fraction": broken(edits={"swaps": {"0": 1.5}}),
    "huge key": broken(edits={"swaps": {"9" * 400: 1}}),
    "layout": broken(edits={"layouts": {"0": {"Grid": float("nan")}}}),
    "no steps": broken(steps=[]),
    "stamp": broken(stamp=[float("inf")]),
    "marks": broken(marks=[1]),
    "zero byte": broken(document="a\0b"),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_malformed_file_is_set_aside_with_one_note(driver, pair, content):
    path = recovery_folder() / "x.json"
    path.write_bytes(content)
    said = []
    driver.window.bridge.message.connect(said.append)
    driver.open(pair)
    notes = [text for text in said if "recovery file" in text]
    assert len(notes) == 1
    assert notes[0].startswith("A recovery file could not be read and was moved to")
    assert not path.exists()
    (aside,) = (recovery_folder() / ASIDE).iterdir()
    assert aside.read_bytes() == content
    assert not driver.window.files.offer_recovery()
    assert len([text for text in said if "recovery file" in text]) == 1


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "large"])
def test_what_is_no_file_of_edits_is_set_aside(driver, pair, kind):
    path = recovery_folder() / "x.json"
    make_odd_file(path, kind, pair)
    driver.open(pair)
    assert not path.exists()
    assert len(list((recovery_folder() / ASIDE).iterdir())) == 1


def test_a_file_that_cannot_be_read_just_now_is_kept(driver, monkeypatch):
    path = recovery_folder() / "x.json"
    path.write_bytes(b"{}")

    def refuse(*_arguments):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(recovery.os, "open", refuse)
        assert left_behind().set_aside == []
    assert path.exists()


def test_edits_keep_their_names_and_steps(make_driver, pair, monkeypatch):
    first = make_driver()
    first.open(pair)
    first.session.swap(1, 1)
    left_by = first.session.history.steps()
    kept = swapped_before_a_crash(first)
    assert left_by
    monkeypatch.setattr(opening, "ask_to_recover", lambda *words: EditsAnswer.RECOVER)
    driver = make_driver()
    driver.open(pair)
    labels = [edit.label for edit in driver.session.history.done]
    assert labels[-1] == "Swap operation 0 to alternative 2"
    assert not kept.exists()
    for _ in labels:
        driver.session.undo()
    assert driver.session.history.is_clean


def test_edits_that_could_not_be_applied_wait_for_the_right_file(make_driver, pair, monkeypatch):
    kept, content = left_by_a_crash(make_driver(), pair), pair.read_bytes()
    other = json.loads(content)
    del other["alternatives"]["0"][2]
    pair.write_text(json.dumps(other))
    asked = []
    monkeypatch.setattr(opening, "ask_to_recover", lambda *words: asked.append(words[1]) or EditsAnswer.RECOVER)
    driver = make_driver()
    driver.open(pair)
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None)
    driver.window.findChild(ErrorDialog).close()
    assert "has changed since" in asked[0]
    assert dict(driver.session.state.swaps) == {}
    driver.window.close()
    assert kept.exists()
    again = make_driver()
    again.open(pair)  # another content still: not offered
    assert len(asked) == 1
    assert kept.exists()
    moved = pair.with_name("moved.json")
    moved.write_bytes(content)
    again.open(moved)
    assert len(asked) == 2
    assert "has the same content" in asked[1]
    assert dict(again.session.state.swaps) == {0: 2}
    assert not kept.exists()
    again.session.mark_clean()


def test_edits_are_offered_for_a_file_that_was_moved(make_driver, pair, monkeypatch):
    left_by_a_crash(make_driver(), pair)
    moved = pair.with_name("moved.json")
    pair.rename(moved)
    monkeypatch.setattr(opening, "ask_to_recover", lambda *words: EditsAnswer.RECOVER)
    driver = make_driver()
    assert not driver.window.files.offer_recovery()  # there is nothing to open
    driver.open(moved)
    assert dict(driver.session.state.swaps) == {0: 2}


@pytest.mark.parametrize(("silent", "offered"), [(10, False), (10_000, True)])
def test_a_crash_on_another_machine_is_told_by_its_silence(make_driver, pair, monkeypatch, silent, offered):
    kept = left_by_a_crash(make_driver(), pair)
    lock = kept.with_suffix(".lock")
    lock.write_text(f"{os.getpid()}\ntileview\nelsewhere-{socket.gethostname()}\n")
    os.utime(lock, (time.time() - silent,) * 2)
    monkeypatch.setattr(opening, "ask_to_recover", lambda *words: EditsAnswer.CANCEL)
    assert [one.file for one in left_behind().kept] == ([kept] if offered else [])


def test_nobody_else_reads_what_is_kept(driver, pair, state_folder):
    state_folder.chmod(0o755)
    driver.open(pair)
    driver.session.swap(0, 2)
    files = driver.window.files.recovery
    assert files.write()
    driver.window.settings.sync()
    for path in (files.file, files.file.with_suffix(".lock"), state_folder / "settings.ini"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(files.file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(state_folder.stat().st_mode) == 0o700
