"""Nothing is lost: killed windows, killed exports, full disks, folders that take nothing, two windows on a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.helpers.crashed import left_by_a_crash
from tests.helpers.dumps import sample
from tileview.formats.opening import open_file
from tileview.qt.base import settings
from tileview.qt.files import opening as files
from tileview.qt.files import recovery, saving
from tileview.qt.files.recovery import recovery_folder
from tileview.qt.widgets.dialogs import EditsAnswer, ErrorDialog, ask_to_recover
from tileview.qt.window.faults import FaultHandler

ROOT = str(Path(__file__).resolve().parents[2])

WINDOW = """
import os, resource, signal, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from tileview.qt import program
from tileview.qt.files import saving
from tileview.qt.app import run

saving.confirm = lambda *words: True
opened = program.Windows.open

def open_and_edit(self, paths):
    window = opened(self, paths)

    def edit():
        session = window.session
        if not session.is_current:
            return
        if session.history.is_clean:
            session.swap(0, 2)
            session.swap(1, 1)
        elif window.files.recovery.file.exists():
            timer.stop()
            then(window)

    timer = QTimer(window)
    timer.timeout.connect(edit)
    timer.start(20)
    return window

def then(window):
    {then}

program.Windows.open = open_and_edit
sys.exit(run([Path(sys.argv[1])]))
"""


def window_process(then: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a real window that edits the file named first, and does something then."""
    return subprocess.run(
        [sys.executable, "-c", WINDOW.replace("{then}", then.replace("\n", "\n    ")), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


def swaps_of(path: Path) -> dict[int, int]:
    """Operations whose plan is not that of the sample, and the alternative that it is."""
    recipe, before = open_file(path).recipe, open_file(Path(ROOT) / "sample_data" / "pair-8tiles.recipe.json").recipe
    return {
        one: recipe.alternatives[one].index(plan) for one, plan in recipe.plans.items() if before.plans[one] != plan
    }


def click(text: str) -> None:
    """Press a button of the question that is open, as soon as one is."""

    def press() -> None:
        for box in QApplication.topLevelWidgets():
            if isinstance(box, QMessageBox) and box.isVisible():
                next(button for button in box.buttons() if text in button.text()).click()
                return
        QTimer.singleShot(20, press)

    QTimer.singleShot(20, press)


def test_edits_of_a_window_that_was_killed_come_back(pair, make_driver):
    done = window_process("os.kill(os.getpid(), signal.SIGKILL)", pair)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert pair.read_bytes() == sample("pair-8tiles.recipe.json")
    driver = make_driver()
    click("Open with edits")
    assert driver.window.files.offer_recovery()
    driver.qtbot.waitUntil(lambda: driver.session.document is not None, timeout=20_000)
    driver.settle()
    assert dict(driver.session.state.swaps) == {0: 2, 1: 1}
    assert driver.session.verdict.fits
    assert driver.window.isWindowModified()
    assert [edit.label for edit in driver.session.history.done] == [
        "Swap operation 0 to alternative 2",
        "Swap operation 1 to alternative 1",
    ]
    driver.session.undo()
    assert dict(driver.session.state.swaps) == {0: 2}
    driver.session.undo()
    assert driver.session.history.is_clean
    driver.qtbot.waitUntil(lambda: not list(recovery_folder().glob("*.json")))


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_an_export_killed_between_its_stages_leaves_target_and_edits(pair, tmp_path, call):
    target = tmp_path / "target.json"
    target.write_bytes(b"what stood there before")
    then = f"""
system = os.{call}
def die(*more, **named):
    os.kill(os.getpid(), signal.SIGKILL)
os.{call} = die
window.exporter.export_recipe(Path(sys.argv[2]))
"""
    done = window_process(then, pair, target)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert target.read_bytes() == b"what stood there before"
    (kept,) = recovery_folder().glob("*.json")
    assert json.loads(kept.read_text())["steps"][-1]["edits"]["swaps"] == {"0": 2, "1": 1}


def test_an_export_killed_after_its_rename_is_whole(pair, tmp_path):
    target = tmp_path / "target.json"
    then = """
system = os.replace
def replace_and_die(source, path):
    system(source, path)
    if str(path) == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace_and_die
window.exporter.export_recipe(Path(sys.argv[2]))
"""
    done = window_process(then, pair, target)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert swaps_of(target) == {0: 2, 1: 1}


REPORT = """
from tileview.qt.widgets.dialogs import ErrorDialog
ok = window.exporter.export_recipe(Path(sys.argv[2]))
dialog = window.findChild(ErrorDialog)
print(ok, window.session.history.is_clean, "" if dialog is None else dialog.text().strip())
window.session.mark_clean()
window.close()
"""


def test_a_full_disk_is_told_and_nothing_is_lost(pair, tmp_path):
    """A limit on the size of files stops the write half way, as a full disk does."""
    target = tmp_path / "folder" / "target.json"
    target.parent.mkdir()
    target.write_bytes(b"old")
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    done = window_process(limit + REPORT, pair, target)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("False False ")
    assert "The old content is untouched" in done.stdout
    assert target.read_bytes() == b"old"
    assert [path.name for path in target.parent.iterdir()] == ["target.json"]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 KiB that is almost full."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], check=False, stderr=-3)
    if done.returncode:
        pytest.skip("no disk can be made here")
    (place / "target.json").write_bytes(b"old")
    (place / "filler").write_bytes(b"x" * 50_000)
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(small_disk, pair, driver):
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.settle()
    monkey = saving.confirm
    saving.confirm = lambda *words: True
    try:
        assert not driver.window.exporter.export_recipe(small_disk / "target.json")
    finally:
        saving.confirm = monkey
    dialog = driver.window.findChild(ErrorDialog)
    assert "the disk is full" in dialog.text()
    dialog.close()
    assert not driver.session.history.is_clean
    assert (small_disk / "target.json").read_bytes() == b"old"
    assert sorted(path.name for path in small_disk.iterdir()) == ["filler", "target.json"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="another user is needed")
def test_a_folder_without_permission(tmp_path):
    """As a user whom the folder does not belong to; permissions do not bind the superuser."""
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    (folder / "target.json").write_bytes(b"old")
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    script = """
import os, sys
from tileview.errors import SaveError
from tileview.formats.save import write_atomic
os.setgid(65534)
os.setuid(65534)
for name in ("target.json", "new.json"):
    try:
        write_atomic(os.path.join(sys.argv[1], name), b"new")
    except SaveError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": ROOT}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    there, new = done.stdout.splitlines()
    assert "target.json could not be written: it is write-protected" in there
    assert "new.json could not be written: there is no permission to write in this folder" in new
    assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [("target.json", b"old")]


@pytest.mark.parametrize("target", ["/dev/full", "/dev/null", "/proc/version"])
def test_targets_that_are_no_files_are_refused(pair, driver, monkeypatch, target):
    if not Path(target).exists():
        pytest.skip("not here")
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.settle()
    monkeypatch.setattr(saving, "confirm", lambda *words: True)
    assert not driver.window.exporter.export_recipe(Path(target))
    driver.window.findChild(ErrorDialog).close()
    assert not driver.session.history.is_clean


def test_two_windows_that_export_over_one_file_lose_neither_edit(pair, make_driver, monkeypatch):
    monkeypatch.setattr(saving, "confirm", lambda *words: True)
    first, second = make_driver(), make_driver()
    first.open(pair)
    second.open(pair)
    first.session.swap(0, 2)
    second.session.swap(1, 1)
    first.settle()
    second.settle()
    before = second.session.document
    assert first.window.exporter.export_recipe(pair)
    second.qtbot.waitUntil(lambda: second.session.document is not before, timeout=20_000)
    second.settle()
    assert dict(second.session.state.swaps) == {1: 1}
    assert second.window.exporter.export_recipe(pair)
    assert swaps_of(pair) == {0: 2, 1: 1}
    assert open_file(pair).raw != sample("pair-8tiles.recipe.json")


def test_a_file_that_is_read_again_while_a_question_stands_is_what_is_exported(pair, driver, tmp_path, monkeypatch):
    """Its alternatives come in another order now: an index into the old list would name another plan."""
    driver.open(pair)
    before = driver.session.document
    wanted = before.recipe.alternatives[0][2]
    driver.session.swap(0, 2)
    driver.settle()
    content = json.loads(pair.read_bytes())
    content["alternatives"]["0"].reverse()
    content["attempts"] = 4711
    asked = []

    def replaced_meanwhile(*words) -> bool:
        asked.append(words)
        if len(asked) == 1:
            new = pair.with_suffix(".new")
            new.write_text(json.dumps(content, separators=(",", ":")))
            os.replace(new, pair)
            driver.qtbot.waitUntil(lambda: driver.session.document is not before, timeout=20_000)
        return True

    monkeypatch.setattr(saving, "confirm", replaced_meanwhile)
    target = tmp_path / "target.json"
    target.write_bytes(b"old")
    assert driver.window.exporter.export_recipe(target)
    written = open_file(target)
    assert written.recipe.plans[0] == wanted
    assert written.json()["attempts"] == 4711
    assert "target.json exists already" in asked[0][2]


def test_a_file_that_something_else_has_written_is_not_replaced_unsaid(pair, driver, monkeypatch):
    driver.open(pair)
    driver.session.swap(0, 2)
    driver.settle()
    asked = []
    monkeypatch.setattr(saving, "confirm", lambda *words: asked.append(words[4]) and False)
    driver.window.exporter.export_recipe(pair)
    content = json.loads(pair.read_bytes())
    driver.window.files.watch.close()  # as where a new content has been declined, or cannot be read
    pair.write_text(json.dumps(content))
    driver.window.exporter.export_recipe(pair)
    assert asked[0] == "The plans as opened would be lost."
    assert "has changed on disk since it was opened" in asked[1]
    assert pair.read_text() == json.dumps(content)


def test_a_home_that_takes_nothing_still_gets_a_window_a_log_and_a_recovery_file(pair, tmp_path, monkeypatch):
    """A state folder below a file can be neither made nor written; the folder for temporary files serves."""
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TILEVIEW_STATE_DIR", str(tmp_path / "file" / "state"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    done = window_process("os.kill(os.getpid(), signal.SIGKILL)", pair)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (folder,) = (tmp_path / "temporary").glob("tileview-*")
    assert folder.stat().st_mode & 0o077 == 0
    (kept,) = (folder / "recovery").glob("*.json")
    assert json.loads(kept.read_text())["steps"][-1]["edits"]["swaps"] == {"0": 2, "1": 1}


def test_no_place_for_a_recovery_file_is_said_once_and_the_window_works(pair, make_driver, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "tileview").mkdir(mode=0o755)
    monkeypatch.setenv("TILEVIEW_STATE_DIR", str(tmp_path / "file" / "state"))
    monkeypatch.setattr("tileview.qt.base.settings.temporary_folder", lambda: os.mkdir(tmp_path / "file" / "x"))
    driver = make_driver()
    said = []
    driver.window.bridge.message.connect(said.append)
    driver.open(pair)
    for alternative in (2, 1):
        driver.session.swap(0, alternative)
        driver.window.files.recovery.write()
    assert [text for text in said if "crash" in text] == [
        "Edits would be lost in a crash: no copy of them can be kept (Not a directory)."
    ]
    assert not driver.window.files.offer_recovery()
    handler = FaultHandler(driver.window)
    handler.show("Boom", "details")
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, ErrorDialog))
    assert "No log file can be written here." in dialog.text()
    dialog.close()
    handler.close()
    driver.session.mark_clean()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of files")
def test_a_temporary_folder_that_others_can_look_into_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / f"tileview-{os.getuid()}"
    assert settings.temporary_folder() == folder
    folder.chmod(0o755)
    with pytest.raises(PermissionError):
        settings.temporary_folder()
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"denied|exists"):
        settings.temporary_folder()


@pytest.mark.parametrize("gone", [False, True])
def test_edits_of_a_crash_find_their_plans_in_a_file_that_changed_since(pair, make_driver, monkeypatch, gone):
    """They name plans by number; in the new file another plan has that number, or the plan is gone."""
    kept, wanted = left_by_a_crash(make_driver(), pair), open_file(pair).recipe.alternatives[0][2]
    content = json.loads(pair.read_bytes())
    content["alternatives"]["0"].reverse()
    if gone:
        del content["alternatives"]["0"][-3]
    pair.write_text(json.dumps(content))
    monkeypatch.setattr(files, "ask_to_recover", lambda *words: EditsAnswer.RECOVER)
    driver = make_driver()
    driver.open(pair)
    driver.settle()
    dialog = driver.window.findChild(ErrorDialog)
    if gone:
        assert "Operation 0 has lost the alternative that was swapped in (2)." in dialog.text()
        assert "are kept" in dialog.text()
        dialog.close()
        assert dict(driver.session.state.swaps) == {}
    else:
        assert dialog is None
        assert driver.session.recipe.plans[0] == wanted
    assert kept.exists() is gone


def test_edits_of_a_crash_stay_in_their_file_until_they_are_in_another(pair, make_driver, monkeypatch):
    kept = left_by_a_crash(make_driver(), pair)
    monkeypatch.setattr(files, "ask_to_recover", lambda *words: EditsAnswer.RECOVER)
    monkeypatch.setattr(recovery.os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left")))
    driver = make_driver()
    driver.open(pair)
    assert dict(driver.session.state.swaps) == {0: 2}
    assert kept.exists()
    monkeypatch.undo()


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, None])
def test_the_question_about_edits_of_a_crash_can_be_put_off(driver, key):
    def press() -> None:
        (box,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible())
        if key is None:
            box.close()
        else:
            QTest.keyClick(box, key)

    QTimer.singleShot(50, press)
    assert ask_to_recover(driver.window, "text", ["label"]) is EditsAnswer.CANCEL
