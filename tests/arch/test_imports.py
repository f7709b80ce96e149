"""The directions between layers, and a core that lives without Qt."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "tileview"

ABOVE = {
    "errors": set(),
    "model": {"errors"},
    "formats": {"errors", "model"},
    "core": {"errors", "model"},
    "graphlayout": {"errors", "model"},
    "analysis": {"errors", "collecting", "model", "formats", "core", "graphlayout"},
    "session": {"errors", "model", "formats", "core", "graphlayout", "analysis"},
    "present": {"errors", "model", "formats", "core", "graphlayout", "analysis", "session"},
    "qt": {"errors", "collecting", "model", "formats", "core", "graphlayout", "analysis", "session", "present"}
    | {"resources"},
}
"""Layer → the layers that it may import."""

LIBRARIES = {
    "PySide6": {"qt"},
    "orjson": {"formats", "cli", "commands"},
    "networkx": {"core", "analysis", "graphlayout"},
}
"""Library → the layers that may import it."""


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[tuple[str, int]]:
    """Dotted names imported anywhere in a module, functions included, with their lines."""
    found: set[tuple[str, int]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, node.lineno) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {(f"{node.module}.{alias.name}", node.lineno) for alias in node.names}
            found.add((node.module, node.lineno))
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            pytest.fail(f"{path}:{node.lineno}: relative import")
    return found


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_layer_imports_only_what_stands_above_it(path):
    layer = layer_of(path)
    for name, line in imports_of(path):
        parts = name.split(".")
        if parts[0] in LIBRARIES:
            allowed = LIBRARIES[parts[0]]
            assert layer in allowed, f"{path}:{line} imports {name}"
        if parts[0] == "tileview" and len(parts) > 1 and layer in ABOVE:
            target = parts[1]
            assert target == layer or target in ABOVE[layer] or target == "__version__", (
                f"{path}:{line}: {layer} imports {name}"
            )


def test_all_but_the_window_imports_with_qt_blocked():
    names = [
        ".".join(("tileview", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for path in MODULES
        if layer_of(path) != "qt" and path.name != "__main__.py"
    ]
    script = (
        "import importlib, sys\n"
        "for blocked in ('PySide6', 'shiboken6'):\n"
        "    sys.modules[blocked] = None\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        "print(len(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
