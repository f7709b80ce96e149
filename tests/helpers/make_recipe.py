"""Write large search states, for benchmarks and tests of scale.

``python tests/helpers/make_recipe.py OUT.json --operations 2000 --alternatives 30 --context 10000000`` writes about
50 MB. The graph is a chain of additions of a bias and activations; every plan is one that can be lowered. The same
arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROWS, COLUMNS = 256, 64


def _layout(partitions: int, dimension: int, tiles: int) -> dict[str, Any]:
    axis = {
        "axis": {"FromEnd": dimension},
        "partitions": partitions,
        "padding_groups": 1,
        "block_size": 1,
        "padding_multiple": 1,
        "shard_padding_multiple": 1,
        "padding": "Reject",
        "tile_stride": None,
    }
    tiling = {"tile_count": partitions, "replicas": 1, "axes": [axis]}
    return {"order": "RowMajor", "tiling": tiling, "memory_class": "Ipu21Standard"}


def _requirement(layout: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": {"precision": "F16", "layout": layout},
        "local_staging": "Direct",
        "materialization": "Complete",
    }


def _plan(operator: str, operands: int, variant: int, tiles: int, spread: bool) -> dict[str, Any]:
    """A pointwise plan; the variant chooses rows or columns and into how many parts they are divided."""
    dimension = 2 if variant % 2 == 0 else 1
    layout = _layout(1 + variant // 2 % min(tiles, COLUMNS), dimension, tiles)
    if spread and variant == 0:
        layout = _layout(tiles, 2, tiles)
    output = _requirement(layout)
    bias = _requirement(_layout(1, 1, tiles))
    return {
        "operator": operator,
        "dispatch": {"Pointwise": {"kernel": operator}},
        "requirements": {
            "inputs": [output, bias][:operands],
            "output": output,
            "output_aliasing": {"MayAliasInputs": [0]},
        },
    }


def _graph(operations: int, rows: int) -> str:
    """A chain: value 0, then per operation a bias (odd ids) and a result (even ids)."""
    inputs = [f'GraphInput {{ name: "x", kind: Host, value: ValueId(0), shape: TensorShape([1, {rows}, {COLUMNS}]) }}']
    steps, shapes = [], [f"ValueId(0): TensorShape([1, {rows}, {COLUMNS}])"]
    for index in range(operations):
        source, bias, result = 2 * index, 2 * index + 1, 2 * index + 2
        operands = f"ValueId({source})"
        if index % 2 == 0:
            shape = f"TensorShape([1, 1, {COLUMNS}])"
            name = f"block{index // 40}.bias{index}"
            inputs.append(f'GraphInput {{ name: "{name}", kind: Parameter, value: ValueId({bias}), shape: {shape} }}')
            shapes.append(f"ValueId({bias}): {shape}")
            operands += f", ValueId({bias})"
        shapes.append(f"ValueId({result}): TensorShape([1, {rows}, {COLUMNS}])")
        kind = "Add" if index % 2 == 0 else "Gelu"
        steps.append(
            f"Operation {{ id: OperationId({index}), inputs: [{operands}], results: [ValueId({result})], "
            f"kind: {kind} }}"
        )
    return (
        f"ComputeGraph {{ inputs: [{', '.join(inputs)}], sequences: [], operations: [{', '.join(steps)}], "
        f"outputs: [ValueId({2 * operations})], shapes: {{{', '.join(shapes)}}}, "
        f"next_operation: {operations}, next_value: {2 * operations + 2} }}"
    )


def _config(operations: int, tiles: int, padding: int) -> str:
    """The configuration; ``padding`` is about how many bytes ``operator_candidates`` takes."""
    values = [0, *range(1, 2 * operations, 4)]
    precisions = ", ".join(f"ValueId({value}): F16" for value in values)
    candidate = (
        "ParallelGemm { tile_count: 64, multiply: F8F143 { scale_exponent: -4 }, options: GemmOptions { transpose_left: "  # noqa: E501
        "false, transpose_right: false }, accumulate: F16 }"
    )
    candidates = ", ".join([candidate] * (padding // len(candidate)))
    return (
        f"PipelineConfig {{ tile_count: {tiles}, optimization_steps: 0, capacity_baseline: false, inputs: {{}}, "
        f"automatic_inputs: {{{precisions}}}, operator_candidates: [{candidates}], "
        "standard_memory_reservation_bytes: 49152, tile_memory_budget_bytes: 586960 }"
    )


def recipe_pieces(operations: int, alternatives: int, tiles: int, context: int, spread: bool = False) -> Iterator[str]:
    """The file's text in pieces; ``spread`` has every plan in force divide its rows over all tiles."""
    rows = 4 * tiles if spread else ROWS
    lines = f"{_graph(operations, rows)}\n{_config(operations, tiles, context)}\nNone"
    yield '{"version":6,"context":' + json.dumps(lines) + ',"recipe":{"plans":{'
    for index in range(operations):
        plan = _plan("Add" if index % 2 == 0 else "Gelu", 2 - index % 2, 0, tiles, spread)
        yield ("," if index else "") + f'"{index}":' + json.dumps(plan, separators=(",", ":"))
    yield (
        '},"owners":{"inputs":{},"operators":{},"results":[]},"open_boundaries":[],"cast_before_copies":[],"packing":[],'
        '"reduction_groups":[],"cast_storage":{"default":"Separate","operators":{},"sites":[]}},"alternatives":{'
    )
    for index in range(operations):
        operator, operands = ("Add", 2) if index % 2 == 0 else ("Gelu", 1)
        plans = [_plan(operator, operands, variant, tiles, spread) for variant in range(alternatives)]
        yield ("," if index else "") + f'"{index}":' + json.dumps(plans, separators=(",", ":"))
    yield '},"inputs":{},"visited":[],"attempts":0}'


def write_recipe(path: Path, operations: int, alternatives: int = 30, tiles: int = 64, context: int = 0) -> int:
    """Write the file; returns its size in bytes."""
    with path.open("w", encoding="utf-8") as file:
        for piece in recipe_pieces(operations, alternatives, tiles, context):
            file.write(piece)
    return path.stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description="Write a large search state.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--operations", type=int, default=2000)
    parser.add_argument("--alternatives", type=int, default=30)
    parser.add_argument("--tiles", type=int, default=64)
    parser.add_argument("--context", type=int, default=10_000_000)
    given = parser.parse_args()
    size = write_recipe(given.path, given.operations, given.alternatives, given.tiles, given.context)
    print(f"{given.path}: {size:,} bytes ({size / 2**20:.1f} MiB)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
