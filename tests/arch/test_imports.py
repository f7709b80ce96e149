"""The directions between layers and between the rooms of the window, a core without Qt, and names of one meaning."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "tileview"

BELOW = {
    "errors": set(),
    "model": {"errors"},
    "formats": {"errors", "model"},
    "core": {"errors", "model"},
    "graphlayout": {"errors", "model"},
    "analysis": {"errors", "collecting", "model", "formats", "core", "graphlayout"},
    "session": {"errors", "model", "formats", "core", "graphlayout", "analysis"},
    "present": {"errors", "model", "formats", "core", "graphlayout", "analysis", "session"},
    "qt": {"errors", "collecting", "resources", "model", "formats", "core", "graphlayout", "analysis"}
    | {"session", "present"},
}
"""Layer → the layers that it may import."""

ROOMS = ("base", "jobs", "widgets", "plot", "views", "files", "window")
"""The rooms of the window from the lowest up; the modules that start it are above all."""

LIBRARIES = {
    "PySide6": {"qt"},
    "pyqtgraph": {"qt"},
    "orjson": {"formats", "cli", "commands"},
    "networkx": {"core", "analysis", "graphlayout"},
}
"""Library → the layers that may import it."""


def name_of(path: Path) -> str:
    return ".".join(("tileview", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def layer_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def imports_of(name: str) -> Iterator[tuple[str, str]]:
    """Module or library imported anywhere in a module, functions and ``TYPE_CHECKING`` included, with the place."""
    path = MODULES[name]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [one if one in MODULES else str(node.module) for one in names]
        else:
            continue
        yield from ((one, f"{path}:{node.lineno}: {name} imports {one}") for one in names)


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """Every module with an edge to each that it imports; ``place`` says where."""
    graph = nx.DiGraph()
    graph.add_nodes_from(MODULES)
    for name in MODULES:
        for target, place in imports_of(name):
            graph.add_edge(name, target, place=place)
    return graph


def test_a_layer_imports_only_what_is_below_it(imports):
    wrong = []
    for name, target, place in imports.edges(data="place"):
        layer, top = layer_of(name), target.split(".")[0]
        if top in LIBRARIES and layer not in LIBRARIES[top]:
            wrong.append(place)
        if top == "tileview" and layer in BELOW and layer_of(target) not in {"", layer, *BELOW[layer]}:
            wrong.append(place)
    assert wrong == []


def test_a_room_of_the_window_imports_only_what_is_below_it(imports):
    def height(name: str) -> int:
        room = (*name.split("."), "")[2]
        return ROOMS.index(room) if room in ROOMS else len(ROOMS)

    rooms = {path.parent.name for path in (PACKAGE / "qt").glob("*/__init__.py")}
    assert rooms == set(ROOMS)
    window = imports.subgraph(name for name in MODULES if layer_of(name) == "qt")
    assert [place for name, target, place in window.edges(data="place") if height(name) < height(target)] == []


def test_no_modules_import_each_other_in_a_circle(imports):
    circles = [sorted(part) for part in nx.strongly_connected_components(imports) if len(part) > 1]
    assert circles == []
    assert list(nx.selfloop_edges(imports)) == []


def test_all_but_the_window_imports_with_qt_blocked():
    names = [name for name in MODULES if layer_of(name) != "qt" and MODULES[name].name != "__main__.py"]
    script = (
        "import importlib, sys\n"
        "for blocked in ('PySide6', 'shiboken6', 'pyqtgraph'):\n"
        "    sys.modules[blocked] = None\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_tests_reach_nothing_private_of_the_product():
    """Attributes with an underscore are the product's own; what a test needs has a public name."""
    tests, found = PACKAGE.parent / "tests", []
    private = re.compile(r"_[a-z]")
    for path in sorted(tests.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and private.match(node.attr):
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "os", "sys")
                found += [] if own else [f"{path.name}:{node.lineno}: .{node.attr}"]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tileview"):
                found += [f"{path.name}:{node.lineno}: {one.name}" for one in node.names if private.match(one.name)]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
                names = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                found += [f"{path.name}:{node.lineno}: {one}" for one in names if private.match(one.rpartition(".")[2])]
    assert found == []


SAME_MEANING = {"clear_cache", "main"}
"""Names that say the same wherever they stand: forget what was kept, run the program."""


def test_a_public_name_means_one_thing():
    """Whoever reads a name outside its module knows which function or class it is."""
    places: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for one in sorted(defined - SAME_MEANING):
            places.setdefault(one, []).append(name)
    assert {one: names for one, names in places.items() if len(names) > 1 and not one.startswith("_")} == {}
