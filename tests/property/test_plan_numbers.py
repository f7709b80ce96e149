"""Every number of every kind of plan, at zero and beyond its range: lowered or refused by name, never anything else."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import SAMPLES
from tests.helpers.golden_program import DATA
from tileview.core.estimate import estimate
from tileview.errors import LoadError
from tileview.formats.opening import open_file
from tileview.model.timeline import Cause

NUMBERS = (0, 1, 2**31, 2**32, 2**63, 2**64 - 1)
Place = tuple[str | int, ...]


def leaves(item: Any, place: Place = ()) -> Iterator[Place]:
    """Where the whole numbers of a piece of JSON stand."""
    if isinstance(item, dict | list):
        entries = item.items() if isinstance(item, dict) else enumerate(item)
        for key, value in entries:
            yield from leaves(value, (*place, key))
    elif isinstance(item, int) and not isinstance(item, bool):
        yield place


@cache
def documents() -> dict[str, dict[str, Any]]:
    attention = json.loads(gzip.decompress((DATA / "faults" / "zero-fix.recipe.json.gz").read_bytes()))
    small = json.loads((SAMPLES / "pair-8tiles.recipe.json").read_bytes())
    return {"attention": attention, "pair": small}


def table() -> list[tuple[str, Place]]:
    """Each number once for its name and place among the alternatives and plans."""
    found: dict[tuple[str, Place], Place] = {}
    for name, document in documents().items():
        plans = {("recipe", "plans", key): plan for key, plan in document["recipe"]["plans"].items()}
        for number, alternatives in document["alternatives"].items():
            plans |= {("alternatives", number, index): plan for index, plan in enumerate(alternatives)}
        for start, plan in plans.items():
            for place in leaves(plan):
                key = tuple("#" if isinstance(part, int) else part for part in place)
                found.setdefault((name, key), (*start, *place))
    return [(name, place) for (name, _), place in found.items()]


@pytest.mark.parametrize(("name", "place"), table(), ids=lambda item: item if isinstance(item, str) else item[-1])
def test_numbers_out_of_range(name: str, place: Place, tmp_path: Path) -> None:
    for number in NUMBERS:
        document = copy.deepcopy(documents()[name])
        holder: Any = document
        for part in place[:-1]:
            holder = holder[part]
        holder[place[-1]] = number
        if place[0] == "alternatives":
            document["recipe"]["plans"][place[1]] = document["alternatives"][place[1]][place[2]]
        path = tmp_path / "changed.recipe.json"
        path.write_text(json.dumps(document))
        try:
            recipe = open_file(path).recipe
        except LoadError:
            continue
        result = estimate(recipe)
        assert result.verdict.text
        if "dispatch" in place and number in (0, 2**31, 2**32, 2**63, 2**64 - 1) and place[-1] not in (0, 1):
            assert result.verdict.cause is Cause.CANNOT_LOWER, number
            assert "cannot be lowered: operation " in result.verdict.text
