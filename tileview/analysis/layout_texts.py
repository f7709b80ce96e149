"""Layouts to hand to the compiler: those that would take the place of a timeline's broken ones, in three notations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tileview.analysis.words import shape_text
from tileview.formats.tensorjson import layout_to_json
from tileview.model.tensor import Layout
from tileview.model.timeline import Timeline


class Notation(StrEnum):
    """How layouts are written: the compiler's Debug text, JSON as in a recipe, or a Markdown table."""

    TEXT = "text"
    JSON = "JSON"
    MARKDOWN = "Markdown"


def layouts_text(timeline: Timeline, layouts: Mapping[int, Layout], notation: Notation) -> str:
    """Layouts of a timeline's values, in the order of the values.

    Parameters
    ----------
    layouts : mapping
        Index into ``timeline.values`` → the layout that it should have.

    Returns
    -------
    str
        Text: a line for each value, ``name shape: layout``. JSON: a list of objects with ``value`` (the graph's value,
        null where the file names none), ``id``, ``name``, ``shape`` and ``layout``. Markdown: a table of the same.
    """
    chosen = [(timeline.values[index], layouts[index]) for index in sorted(layouts)]
    if notation is Notation.JSON:
        rows: list[dict[str, Any]] = [
            {"value": value.origin, "id": value.id, "name": value.name, "shape": list(value.shape),
             "layout": layout_to_json(layout)}
            for value, layout in chosen
        ]  # fmt: skip
        return json.dumps(rows, indent=1)
    if notation is Notation.TEXT:
        return "\n".join(f"{value.name} {shape_text(value.shape)}: {layout}" for value, layout in chosen)
    lines = ["| value | shape | layout |", "| --- | --- | --- |"]
    for value, layout in chosen:
        name = value.name.replace("|", "\\|").replace("`", "'")
        lines.append(f"| {name} | {shape_text(value.shape)} | `{layout}` |")
    return "\n".join(lines)
