"""Every painter is one that ends whatever happens."""

from __future__ import annotations

import ast
from pathlib import Path

QT = Path(__file__).resolve().parents[2] / "tileview" / "qt"


def test_painters_on_devices_are_made_in_one_place() -> None:
    found = []
    for path in sorted(QT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_painter = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "QPainter"
            # Without a device a painter does not paint yet: begin() says whether it can.
            if is_painter and node.args and path.name != "painting.py":
                found.append(f"{path.relative_to(QT)}:{node.lineno}")
    assert found == []
