"""The pages that show commands: each line that they show is what the command prints."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.helpers.command_line import SAMPLES, run

ROOT = SAMPLES.parent
LEFT_OUT = "…"


def shown(page: str) -> list[tuple[str, list[str]]]:
    """Each command of a page's consoles, with the lines that stand under it."""
    commands: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif line.strip(f" {LEFT_OUT}"):
                commands[-1][1].append(line)
    return [one for one in commands if one[0].startswith("tileview ") and " open " not in one[0]]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(f" {LEFT_OUT}")


@pytest.mark.parametrize(("page", "folder"), [("README.md", "sample_data"), ("resources/reference/tour.md", "")])
def test_a_page_shows_what_the_commands_print(
    page: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spaces aside: a page may show fewer rows, and then narrower columns."""
    shutil.copytree(SAMPLES, tmp_path / folder, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    commands = shown(page)
    assert commands
    missing = []
    for command, lines in commands:
        answer = run(*shlex.split(command, comments=True)[1:])
        printed = [squeezed(line) for line in (answer.out + answer.err).splitlines()]
        missing += [(command, line) for line in lines if not any(squeezed(line) in one for one in printed)]
    assert not missing
