"""Every resolved layout of the golden vectors, valid or not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.golden_program import load_golden, read_layout
from tileview.core.geometry.resolve import LayoutError, layout_failure, resolve

VECTORS = load_golden("layout-vectors.json.gz")["vectors"]
ORDER = load_golden("layout-vectors-order.json")["vectors"]


def error_of(vector: dict[str, Any]) -> str | None:
    try:
        resolve(tuple(vector["shape"]), read_layout(vector["layout"]))
    except LayoutError as error:
        return error.kind.value
    return None


def expected_error(vector: dict[str, Any]) -> str | None:
    return None if vector["error"] is None else vector["error"]["variant"]


def test_errors() -> None:
    wrong = [vector for vector in VECTORS if error_of(vector) != expected_error(vector)]
    assert wrong == []


@pytest.mark.parametrize("vector", ORDER, ids=lambda vector: vector["pins"])
def test_order_of_errors(vector: dict[str, Any]) -> None:
    assert error_of(vector) == expected_error(vector)


def test_shards_and_partitions() -> None:
    resolved_ones = [vector for vector in VECTORS + ORDER if vector["error"] is None]
    assert len(resolved_ones) > 600
    for vector in resolved_ones:
        resolved = resolve(tuple(vector["shape"]), read_layout(vector["layout"]))
        assert list(resolved.padded_shape) == vector["padded_shape"], vector
        assert resolved.maximum_elements == vector.get("maximum_elements", vector.get("max_tile_elements")), vector
        runs = vector.get("tile_elements_runs", vector.get("tile_elements_rle"))
        elements = [count for count, owners in runs for _ in range(owners)]
        assert resolved.owner_elements().tolist() == elements, vector
        assert resolved.is_uniform == (len(set(elements)) == 1), vector


def test_bounds_of_partitions() -> None:
    for vector in VECTORS:
        if vector["error"] is not None:
            continue
        dimensions = resolve(tuple(vector["shape"]), read_layout(vector["layout"])).dimensions
        expected = vector["axis_partitions"]
        assert (dimensions is None) == (expected is None)
        for bounds, partitions in zip(dimensions or (), expected or (), strict=True):
            if partitions is None:
                assert bounds.partitions > 64
                continue
            found = zip(bounds.starts, bounds.logical_ends, bounds.physical_ends, strict=True)
            assert [list(part) for part in found] == partitions, vector


def test_asking_again_gives_the_same_object_or_an_equal_error() -> None:
    for vector in VECTORS[:50]:
        shape, layout = tuple(vector["shape"]), read_layout(vector["layout"])
        again = read_layout(vector["layout"])
        failure = layout_failure(shape, layout)
        if failure is None:
            assert resolve(shape, layout) is resolve(shape, again)
        else:
            with pytest.raises(LayoutError) as caught:
                resolve(shape, again)
            assert (caught.value.kind, str(caught.value)) == (failure.kind, str(failure))
