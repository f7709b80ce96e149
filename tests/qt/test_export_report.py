"""The report from the window: the page that the command line writes, for the state in force with its edits."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from tests.helpers.command_line import run
from tileview.model.recipe import Overrides
from tileview.qt.widgets.dialogs import ErrorDialog

PAIR = ((0, 2), (1, 1))
"""The two swaps that make the 8-tile sample fit."""


def made(driver, target: Path) -> str:
    """The page that the window writes."""
    exporter = driver.window.report_exporter
    exporter.export_report(target)
    driver.qtbot.waitUntil(lambda: not exporter.is_running and target.exists(), timeout=60_000)
    return target.read_text(encoding="utf-8")


def commanded(path: Path, target: Path) -> str:
    """The page that the command line writes, the file called by its name alone."""
    assert run("report", path, "-o", target).code in (0, 1)
    return target.read_text(encoding="utf-8").replace(str(path), path.name)


def edits_of(page: str) -> list[str]:
    found = re.search(r"<h2>Edits that are not in the file</h2>\n<ul>(.*?)</ul>", page)
    return [] if found is None else re.findall(r"<li>(.*?)</li>", found[1])


def test_without_edits_it_is_the_page_of_the_command_line(driver, pair, tmp_path):
    driver.open(pair)
    page = made(driver, tmp_path / "window.html")
    assert page == commanded(pair, tmp_path / "command.html")
    assert edits_of(page) == []


def test_of_a_timeline_too(driver, rejected, tmp_path):
    driver.open(rejected)
    assert made(driver, tmp_path / "window.html") == commanded(rejected, tmp_path / "command.html")


def test_the_edits_in_force_count_and_are_listed(driver, pair, tmp_path):
    driver.open(pair)
    for operation, alternative in PAIR:
        driver.session.swap(operation, alternative)
    driver.settle()
    driver.window.tools.evaluation.evaluate()
    driver.qtbot.waitUntil(lambda: not driver.window.tools.evaluation.is_running, timeout=20_000)
    page = made(driver, tmp_path / "window.html")
    assert edits_of(page) == [f"Swap operation {operation} to alternative {index}" for operation, index in PAIR]
    fixed = tmp_path / "fixed" / pair.name
    fixed.parent.mkdir()
    assert driver.window.exporter.export_recipe(fixed)
    bare = re.sub(r"<h2>Edits that are not in the file</h2>\n<ul>.*?</ul>\n", "", page)
    assert bare == commanded(fixed, tmp_path / "command.html")
    assert "<h2>Fits</h2>" in page


def test_what_if_values_are_said(driver, pair, tmp_path):
    driver.open(pair)
    driver.session.set_overrides(Overrides(600_000, None))
    driver.settle()
    page = made(driver, tmp_path / "window.html")
    assert "what-if budget <b>600,000 B</b>" in page


def test_it_can_be_stopped_and_then_nothing_is_written(driver, over, tmp_path):
    driver.open(over)
    said = []
    driver.window.bridge.message.connect(said.append)
    exporter = driver.window.report_exporter
    exporter.export_report(tmp_path / "page.html")
    assert driver.window.bridge.work.running() == ("report",)
    exporter.export_report(tmp_path / "other.html")
    assert said[-1] == "Another report is still being made."
    driver.window.status.work.stop.click()
    driver.qtbot.waitUntil(lambda: not exporter.is_running, timeout=30_000)
    assert said[-1] == "Stopped: no report was written."
    assert driver.window.bridge.work.running() == ()
    assert list(tmp_path.glob("*.html")) == []


def test_where_it_goes_is_asked_and_told(driver, pair, tmp_path, monkeypatch):
    driver.open(pair)
    asked = []

    def choose(_parent, title, name, kinds, **_options):
        asked.append((title, Path(name).name, kinds))
        return str(tmp_path / "page"), kinds

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    said = []
    driver.window.bridge.message.connect(said.append)
    driver.trigger("export_report")
    driver.qtbot.waitUntil(lambda: bool(said), timeout=60_000)
    assert asked == [("Export report", "pair-8tiles.report.html", "HTML page (*.html);;All files (*)")]
    assert said[-1] == f"Exported to {tmp_path / 'page.html'}."


def test_what_goes_wrong_is_said_in_words(driver, pair, tmp_path):
    assert not driver.window.commands.action("export_report").isEnabled()
    driver.open(pair)
    driver.window.report_exporter.export_report(pair)
    dialog = driver.window.findChild(ErrorDialog)
    assert "is the file that is open" in dialog.text()
    dialog.close()
    dialog.deleteLater()
    driver.window.report_exporter.export_report(tmp_path / "missing" / "page.html")
    driver.qtbot.waitUntil(lambda: not driver.window.report_exporter.is_running, timeout=60_000)
    driver.qtbot.waitUntil(lambda: driver.window.findChild(ErrorDialog) is not None)
    dialog = driver.window.findChild(ErrorDialog)
    assert "the folder does not exist" in dialog.text()
    dialog.close()
