"""Twenty small models: the program in force in every figure, every alternative swapped in alone, some pairs."""

from __future__ import annotations

import pytest

from tests.helpers.golden_recipes import (
    assert_in_force,
    assert_swap,
    composed_estimate,
    golden_model,
    model_names,
    swapped,
)
from tileview.core.lowering.replanner import Replanner


def test_there_are_twenty() -> None:
    assert len(model_names()) == 20


@pytest.mark.parametrize("name", model_names())
def test_model(name: str) -> None:
    recipe, expected = golden_model(name)
    replanner = Replanner()
    result = composed_estimate(recipe, replanner=replanner)
    assert result.program is None or result.program.tile_count == expected["tile_count"]
    assert_in_force(result, expected["in_force"])
    for swap in expected["swaps"]:
        assert_swap(composed_estimate(swapped(recipe, [(swap["op"], swap["alt"])]), replanner=replanner), swap)
    for pair in expected["pairs"]:
        assert_swap(composed_estimate(swapped(recipe, pair["ops"]), replanner=replanner), pair)
    assert_in_force(composed_estimate(recipe, replanner=replanner), expected["in_force"])
