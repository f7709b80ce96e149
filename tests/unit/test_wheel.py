"""An installed wheel holds everything the program reads: resources, samples, type marker."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    script = (
        "import sys; from hatchling.builders.wheel import WheelBuilder\n"
        "print(next(WheelBuilder(sys.argv[1]).build(directory=sys.argv[2], versions=['standard'])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT), str(out)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip().splitlines()[-1])


def test_the_wheel_holds_every_resource_and_sample(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, inside in (("resources", "tileview/_resources"), ("sample_data", "tileview/_sample_data")):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"{inside}/{path.relative_to(ROOT / folder)}" in names
    assert not [name for name in names if name.startswith(("tests/", "resources/", "sample_data/"))]


def test_an_installed_wheel_runs_away_from_the_checkout(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    script = (
        "import tileview, sys\n"
        "from tileview.cli import main\n"
        "from tileview.resources import resource, sample_folder\n"
        f"assert tileview.__file__.startswith({str(site)!r}), tileview.__file__\n"
        "assert resource('themes', 'dark.json').is_file()\n"
        "assert resource('reference', 'glossary.md').is_file()\n"
        "sys.exit(main(['summary', str(sample_folder() / 'so400m-over.recipe.json'), '--json']))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 1, done.stderr
    assert '"short_bytes":30504' in done.stdout.replace(" ", "")
