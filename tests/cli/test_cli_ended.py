"""A request to terminate ends every command with code 2: before, during and after its work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.helpers.command_line import SAMPLES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
AT = """
import os, signal, sys
{before}
from tileview.__main__ import main
sys.argv[1:] = ["summary", {path!r}]
sys.exit(main())
"""
"""The command, with a signal sent to itself where a function is called."""
DURING_IMPORT = """
class Ending:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Ending())
"""


def ended(before: str) -> tuple[int, str, str]:
    path = str(SAMPLES / "vit3-64tiles.recipe.json")
    done = subprocess.run(
        [sys.executable, "-c", AT.format(before=before, path=path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=SAMPLES.parent,
        env=dict(os.environ),
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("module", ["tileview.cli", "numpy", "tileview.commands.summary", "tileview.core.estimate"])
def test_before_and_while_modules_are_imported(number: int, module: str) -> None:
    code, out, err = ended(DURING_IMPORT.format(module=module, number=int(number)))
    word = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    assert (code, out, err) == (2, "", f"tileview: {word}\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_in_mid_work(number: int) -> None:
    before = f"""
import tileview.core.lowering.replanner as replanner
real = replanner.Replanner.replan
def replan(self, *arguments):
    os.kill(os.getpid(), {int(number)})
    return real(self, *arguments)
replanner.Replanner.replan = replan
"""
    code, out, err = ended(before)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_what_is_ignored_stays_ignored() -> None:
    before = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + DURING_IMPORT.format(
        module="tileview.commands.summary", number=int(signal.SIGHUP)
    )
    code, out, _ = ended(before)
    assert code in (0, 1)
    assert out
