"""Draw the pictures of the README and of the guided tour, offscreen, into ``resources/pictures``.

``python -m tests.helpers.make_pictures`` from the top of a checkout. Every picture is the real window on a sample file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tileview.cli import main as tileview

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_data"
PICTURES = ROOT / "resources" / "pictures"
OVER = SAMPLES / "so400m-over.recipe.json"


def picture(name: str, path: Path, *options: str, beside: Path | None = None) -> None:
    """One screenshot; ends the program where it fails."""
    out = PICTURES / f"{name}.png"
    files = [str(path)] if beside is None else [str(path), str(beside)]
    code = tileview(["screenshot", *files, "-o", str(out), *options])
    if code != 0:
        sys.exit(code)


def swapped(folder: Path, *swaps: str) -> Path:
    """The sample that does not fit, with alternatives swapped in, under its own name."""
    place = folder / "-".join(swaps).replace("=", "_")
    place.mkdir()
    tileview(["swap", str(OVER), *swaps, "-o", str(place / OVER.name)])
    return place / OVER.name


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    size = ("--size", "1600x1000")
    picture("so400m-over-light", OVER, *size)
    picture("vit3-dark", SAMPLES / "vit3-64tiles.recipe.json", *size, "--theme", "dark")
    picture("rejected-light", SAMPLES / "rejected-op0.timeline.json", *size)
    picture("tour-alternatives", OVER, *size, "--operation", "4", "--view", "alternatives")
    with tempfile.TemporaryDirectory() as folder:
        fixed = swapped(Path(folder), "4=1")
        picture("tour-fits", fixed, *size)
        picture("tour-compare", OVER, *size, "--view", "compare", beside=fixed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
