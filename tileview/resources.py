"""Where the project's resources lie: in the checkout beside the package, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _folder(checkout: str, installed: str) -> Path:
    beside = _PACKAGE.parent / checkout
    inside = _PACKAGE / installed
    return inside if inside.is_dir() else beside


def resource(*parts: str) -> Path:
    """A file or folder under ``resources/``; raises FileNotFoundError where it is missing."""
    path = _folder("resources", "_resources").joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"resource {'/'.join(parts)} is missing from this installation of TileView")
    return path


def sample_folder() -> Path:
    """The folder of sample files that come with TileView."""
    return _folder("sample_data", "_sample_data")
