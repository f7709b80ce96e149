"""Damaged recipes are refused in words or lowered; nothing else gets out."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.golden_recipes import golden_rules
from tileview.core.lowering.replanner import Replanner
from tileview.errors import LoadError, PlanError
from tileview.formats.search_state import search_state_from_bytes
from tileview.model.program import Program

NUMBERS = (0, 1, 2, 3, 5, 16, 64, 1000, 65_536, 2**32 - 1, 2**32, 2**63, 2**64 - 1)
WORDS = (
    "RowMajor",
    "F16",
    "F32",
    "Fresh",
    "Spiral",
    "LayerNorm",
    "Gelu",
    "View",
    "Zero",
    "Linear",
    "DispatchSlices",
    "Swapped",
)

Path = tuple[str | int, ...]


def leaves(document: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from leaves(value, (*path, index))
    else:
        yield path


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    name = draw(st.sampled_from(sorted(golden_rules())))
    document = copy.deepcopy(golden_rules()[name]["recipe"])
    paths = list(leaves(document["recipe"]))
    for path in draw(st.lists(st.sampled_from(paths), min_size=1, max_size=3)) if paths else ():
        holder = document["recipe"]
        for key in path[:-1]:
            holder = holder[key]
        words = isinstance(holder[path[-1]], str)
        holder[path[-1]] = draw(st.sampled_from(WORDS if words else NUMBERS))
    return json.dumps(document).encode()


@settings(max_examples=150, deadline=None)
@given(damaged())
def test_damaged_recipes(raw: bytes) -> None:
    try:
        recipe = search_state_from_bytes(raw, "damaged").recipe
    except LoadError:
        return
    try:
        program = Replanner().replan(recipe)
    except PlanError:
        return
    assert isinstance(program, Program)
    assert all(value.layout.tiling.tile_count <= program.tile_count for value in program.values)
