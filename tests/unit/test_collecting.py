"""Python looks for rings seldom while the command line works, and as before afterwards."""

from __future__ import annotations

import gc

import pytest

from tileview.cli import main
from tileview.collecting import collect_no_more, collected_seldom


def test_it_holds_meanwhile_and_ends_whatever_happens() -> None:
    before, seen = gc.get_threshold(), []

    @collected_seldom()
    def fail() -> None:
        seen.append(gc.get_threshold()[0])
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen[0] > 10 * before[0]
    assert gc.get_threshold() == before


def test_the_command_line_leaves_the_process_as_it_was(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    before, seen = gc.get_threshold(), []
    monkeypatch.setattr("tileview.cli.parse_arguments", lambda given: seen.append(gc.get_threshold()) or 1 / 0)
    monkeypatch.setattr("tileview.commands.output.write_crash_log", lambda error: "nowhere")
    assert main(["--version"]) == 2
    assert seen[0] != before
    assert gc.get_threshold() == before


def test_only_a_process_that_ends_stops_looking_for_rings() -> None:
    before = gc.get_freeze_count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tileview.cli.parse_arguments", lambda given: 1 / 0)
        patch.setattr("tileview.commands.output.write_crash_log", lambda error: "nowhere")
        main(["--version"])
    assert gc.get_freeze_count() == before
    try:
        collect_no_more()
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
