"""Single alternatives and several at once of the large recipes, homes as in the file."""

from __future__ import annotations

import pytest

from tests.helpers.golden_program import load_golden
from tests.helpers.golden_recipes import assert_swap, composed_estimate, golden_recipe, swapped
from tileview.core.lowering.replanner import Replanner
from tileview.errors import PlanError

CASES = [
    ("vit3-64tiles", "swaps-vit3", ("singles", "several"), 579),
    ("so400m", "swaps-so400m", ("singles", "several"), 83),
    ("so400m-over", "so400m-over", ("after_one", "after_two"), 4),
]


@pytest.mark.parametrize(("name", "golden", "lists", "count"), CASES, ids=[case[0] for case in CASES])
def test_swaps(name: str, golden: str, lists: tuple[str, ...], count: int) -> None:
    recipe = golden_recipe(name)
    document = load_golden(f"{golden}.json.gz")
    replanner = Replanner()
    in_force = document.get("baseline") or document["in_force"]
    assert_swap(composed_estimate(recipe, replanner=replanner), in_force)
    cases = [case for each in lists for case in document[each]]
    assert len(cases) == count
    for case in cases:
        assert_swap(composed_estimate(swapped(recipe, case["swaps"]), replanner=replanner), case)


def test_layernorm_in_two_parts_cannot_be_lowered() -> None:
    """Moments of 2 parts cannot be padded to multiples of 4 where padding is rejected: operations 3, 17, 25, 39."""
    recipe = golden_recipe("vit3-64tiles")
    replanner = Replanner()
    refused = []
    for operation, alternatives in recipe.alternatives.items():
        for index in range(len(alternatives)):
            try:
                replanner.replan(swapped(recipe, [(operation, index)]))
            except PlanError as error:
                refused.append((operation, error.operation))
    assert refused == [(3, 3), (17, 17), (25, 25), (39, 39)]
