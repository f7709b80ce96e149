"""Golden programs (JSON) as model programs, so that the measurement is tested without the lowering."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tileview.model.graph import InputKind
from tileview.model.owners import Owners
from tileview.model.plan import Staging, StagingKind
from tileview.model.program import (
    AxisView,
    Copy,
    Kernel,
    Mapping,
    Product,
    Program,
    ProgramInput,
    Repeat,
    Step,
    Sum,
    Value,
)
from tileview.model.tensor import (
    Axis,
    AxisBase,
    Layout,
    MemoryClass,
    Order,
    OrderKind,
    Padding,
    Precision,
    PrecisionKind,
    Tiling,
)

DATA = Path(__file__).resolve().parent.parent / "golden" / "data"

Json = dict[str, Any]


def load_golden(name: str) -> Any:
    """A JSON file of tests/golden/data, gzipped or not."""
    path = DATA / name
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return json.load(stream)
    return json.loads(path.read_text(encoding="utf-8"))


def read_precision(entry: Any) -> Precision:
    if isinstance(entry, str):
        return Precision(PrecisionKind(entry))
    ((kind, fields),) = entry.items()
    return Precision(PrecisionKind(kind), fields["scale_exponent"])


def read_order(entry: Any) -> Order:
    if isinstance(entry, str):
        return Order(OrderKind(entry))
    ((family, inner),) = entry.items()
    if family == "Amp":
        return Order(OrderKind(inner))
    ((kind, blocks),) = inner.items()
    return Order(OrderKind(kind), blocks["row_block"], blocks["column_block"])


def read_axis(entry: Json) -> Axis:
    base, index = AxisBase.LINEAR, 0
    if entry["axis"] != "Linear":
        ((name, index),) = entry["axis"].items()
        base = AxisBase(name)
    return Axis(
        base,
        index,
        entry["partitions"],
        entry["padding_groups"],
        entry["block_size"],
        entry["padding_multiple"],
        entry["shard_padding_multiple"],
        Padding(entry["padding"]),
        entry["tile_stride"],
    )


def read_layout(entry: Json) -> Layout:
    tiling = entry["tiling"]
    axes = tuple(map(read_axis, tiling["axes"]))
    return Layout(
        read_order(entry["order"]),
        Tiling(tiling["tile_count"], tiling["replicas"], axes),
        MemoryClass(entry["memory_class"]),
    )


def read_value(entry: Json) -> Value:
    embedding = entry["owners"]["embedding"]
    return Value(
        entry["id"],
        entry["origin"],
        entry["name"],
        entry["group"],
        tuple(entry["shape"]),
        read_precision(entry["precision"]),
        read_layout(entry["layout"]),
        entry["storage_group"],
        Owners(entry["owners"]["rotation"], None if embedding is None else tuple(embedding)),
    )


def read_staging(entry: Any) -> Staging:
    if isinstance(entry, str):
        return Staging(StagingKind(entry))
    kind, batch = entry if isinstance(entry, list) else next(iter(entry.items()))
    return Staging(StagingKind(kind), batch)


def _read_mapping(entry: Json) -> Mapping:
    view = entry["view"]
    axis_view = None
    if view is not None:
        axis_view = AxisView(view["split_axis"], view["merge_axis"], view["factor"], view["reversed"])
    return Mapping(tuple(entry["offsets"]), axis_view)


def _read_step(entry: Json, body: tuple[Step, ...]) -> Step:
    source, inputs, results = entry["source"], tuple(entry["inputs"]), tuple(entry["results"])
    kind = entry["kind"]
    if kind == "Copy":
        return Copy(source, inputs, results, _read_mapping(entry["mapping"]), entry["policy"])
    if kind == "Sum":
        return Sum(source, inputs, results, entry["axis"], read_staging(entry["staging"]))
    if kind == "Repeat":
        return Repeat(
            source,
            entry["count"],
            inputs,
            results,
            entry["carried_inputs"],
            tuple(map(tuple, entry["iterated_inputs"])),
            tuple(entry["arguments"]),
            body,
            tuple(entry["yields"]),
        )
    aliases = tuple((result, operand) for result, operand in entry["output_aliases"])
    if kind == "Product":
        multiply, accumulate = read_precision(entry["multiply"]), read_precision(entry["accumulate"])
        return Product(source, inputs, results, multiply, accumulate, aliases)
    assert kind == "Kernel"
    return Kernel(source, entry["kernel"], inputs, results, aliases)


def read_program(entry: Json) -> Program:
    """One of the two programs of a golden program.json."""
    operations = {step["index"]: step for step in entry["ops"]}

    def region(items: list[Any]) -> tuple[Step, ...]:
        steps = []
        for item in items:
            if isinstance(item, dict):
                steps.append(_read_step(operations[item["repeat"]], region(item["body"])))
            else:
                steps.append(_read_step(operations[item], ()))
        return tuple(steps)

    inputs = tuple(ProgramInput(i["name"], InputKind(i["kind"]), i["value"]) for i in entry["inputs"])
    values = tuple(map(read_value, entry["values"]))
    return Program(entry["tile_count"], inputs, tuple(entry["outputs"]), values, region(entry["region"]))
