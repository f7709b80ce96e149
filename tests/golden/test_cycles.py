"""The planner's cycles of single steps, of the large recipes, of swaps, and of ten small models."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.helpers.golden_program import DATA, load_golden, read_layout, read_precision, read_staging
from tests.helpers.golden_recipes import golden_recipe, swapped
from tileview.core.cycles.prices import ProgramCycles, program_cycles, step_price
from tileview.core.lowering.replanner import Replanner
from tileview.errors import PlanError
from tileview.model.owners import Owners
from tileview.model.program import (
    AxisView,
    Copy,
    Kernel,
    Mapping,
    MergePart,
    Product,
    ProductBlocks,
    SoftmaxKeys,
    Step,
    Sum,
    Value,
)
from tileview.model.recipe import Recipe
from tileview.model.sizes import size_to_json
from tileview.model.tensor import F32

Json = dict[str, Any]


def cases() -> list[Json]:
    text = gzip.decompress((DATA / "cycles" / "cycles-cases.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def read_values(case: Json) -> tuple[list[Value], tuple[int, ...], tuple[int, ...]]:
    values: list[Value] = []
    for number, entry in enumerate((*case["inputs"], *case["results"])):
        embedding = entry["owners"]["embedding"]
        owners = Owners(entry["owners"]["rotation"], None if embedding is None else tuple(embedding))
        shape, precision = tuple(entry["shape"]), read_precision(entry["precision"])
        values.append(Value(number, number, "", "", shape, precision, read_layout(entry["layout"]), number, owners))
    inputs = tuple(range(len(case["inputs"])))
    return values, inputs, tuple(range(len(inputs), len(values)))


def read_step(case: Json, inputs: tuple[int, ...], results: tuple[int, ...]) -> Step:
    step = case["step"]
    kind = step["kind"]
    if kind == "Copy":
        view = None if step["view"] is None else AxisView(**step["view"])
        return Copy(None, inputs, results, Mapping(tuple(step["offsets"]), view), step["policy"])
    if kind == "Sum":
        return Sum(None, inputs, results, step["axis"], read_staging(step["staging"]))
    if kind == "Product":
        window = step["window"]
        most = None if window is None else window[2] - window[1]
        figures = (step["inner_block"], step["output_columns"], step["left_inner"], step["output_column"])
        return Product(None, inputs, results, read_precision(step["multiply"]), F32, (), ProductBlocks(*figures, most))
    said = step["parameters"]
    part: SoftmaxKeys | MergePart | None = None
    if "key_columns" in said:
        part = SoftmaxKeys(said["key_columns"], said["padded_key_columns"])
    elif "value_dimension" in said:
        part = MergePart(said["value_dimension"], said["initial"], said["final_block"])
    return Kernel(None, step["kernel"], inputs, results, (), part)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_single_steps(case: Json) -> None:
    values, inputs, results = read_values(case)
    price = step_price(read_step(case, inputs, results), tuple(values))
    found = {"cycles": size_to_json(price.cycles), "exchange_cycles": size_to_json(price.exchange)}
    assert found == case["expected"], case["pins"]


def test_there_are_114() -> None:
    assert len(cases()) == 114


def assert_cycles(found: ProgramCycles, expected: Json) -> None:
    assert (found.total, found.exchange) == (expected["cycles"], expected["exchange_cycles"])
    operations = {str(operation): price.cycles for operation, price in found.operations().items()}
    assert operations == expected["operations"]


def cycles_of(recipe: Recipe, replanner: Replanner) -> ProgramCycles:
    return program_cycles(replanner.replan(recipe))


def assert_steps(found: ProgramCycles, expected: Json) -> None:
    rows = zip(found.sources, found.counts, found.steps, strict=True)
    assert [[i, source, count, *price] for i, (source, count, price) in enumerate(rows)] == [
        [index, source, count, cycles, sent] for index, source, _, count, cycles, sent in expected["steps"]
    ]


def test_large_recipes() -> None:
    for name, golden in (("vit3-64tiles", "vit3"), ("so400m-over", "so400m-over")):
        expected = load_golden(f"cycles/cycles-{golden}.json.gz")
        found = cycles_of(golden_recipe(name), Replanner())
        assert_cycles(found, expected)
        assert_steps(found, expected)
    assert_cycles(cycles_of(golden_recipe("so400m"), Replanner()), load_golden("cycles/cycles-so400m-total.json"))


@pytest.mark.parametrize(("name", "golden"), [("vit3-64tiles", "vit3"), ("so400m", "so400m")])
def test_swaps(name: str, golden: str) -> None:
    document = load_golden(f"cycles/cycles-swaps-{golden}.json.gz")
    recipe, replanner = golden_recipe(name), Replanner()
    before = cycles_of(recipe, replanner)
    assert (before.total, before.exchange) == tuple(document["baseline"].values())
    for case in document["swaps"]:
        if not case["ok"]:
            with pytest.raises(PlanError):
                replanner.replan(swapped(recipe, case["swaps"]))
            continue
        found = cycles_of(swapped(recipe, case["swaps"]), replanner)
        assert_cycles(found, case)
        assert [price.cycles for price in found.steps] == case["step_cycles"]


@pytest.mark.parametrize("name", sorted(load_golden("cycles/cycles-models.json.gz")))
def test_models(name: str) -> None:
    expected = load_golden("cycles/cycles-models.json.gz")[name]
    found = cycles_of(golden_recipe(f"models/{name}"), Replanner())
    assert_cycles(found, expected)
    assert_steps(found, expected)
