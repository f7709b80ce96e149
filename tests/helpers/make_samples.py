"""Make the files in ``sample_data/`` that are derived from others: ``python -m tests.helpers.make_samples``.

The recipes and the version-1 timeline are originals. Timelines of version 2 and 3 are estimates of the recipes; the
broken files are small edits of the small ones. Running this again gives the same bytes (a test compares).
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.make_placement_samples import placement_profile, tile_dump
from tileview.analysis.trials import with_swaps
from tileview.core.estimate import estimate
from tileview.formats.search_state import search_state_from_bytes
from tileview.formats.timeline_writer import dump_timeline
from tileview.model.recipe import Overrides

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
OPTIONS = (("gemm_output_packing", "Automatic"), ("attention_products", "Automatic"))

Json = dict[str, Any]


def compact(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def version_3(recipe: bytes, scope: str) -> bytes:
    """The estimate of a recipe's composed program, without fusions, as a timeline of version 3."""
    result = estimate(search_state_from_bytes(recipe).recipe, Overrides(fusion=False), scope=scope).timeline
    assert result is not None
    return dump_timeline(result, OPTIONS)


def version_2(third: bytes) -> bytes:
    """The same timeline as version 2 words it: exchange rows are part of the standard and the total peak."""
    document = json.loads(third)
    peak = document["peak"]
    for name in ("standard", "total"):
        peak[name] += peak["exchange_rows"]
    document["version"] = 2
    document["effective_peak_bytes"] = peak["total"] + document["support_reserve_bytes"]
    return compact(document)


def edited(raw: bytes, edit: Callable[[Json], object]) -> bytes:
    document = json.loads(raw)
    edit(document)
    return compact(document)


def _first_plan(document: Json) -> Json:
    plans: Json = document["recipe"]["plans"]
    return plans[next(iter(plans))]


def _unknown_kinds(document: Json) -> None:
    """An operator, an element order and a precision that no version of TileView has heard of."""
    document["context"] = document["context"].replace("kind: Gelu", "kind: Softsign(SignOptions { axis: 2 })", 1)
    plans = document["recipe"]["plans"]
    gelu = next(plan for plan in plans.values() if plan["operator"] == "Gelu")
    gelu["operator"] = {"Softsign": {"axis": 2}}
    gelu["dispatch"] = {"Pointwise": {"kernel": {"Softsign": {"axis": 2}}}}
    gelu["requirements"]["output"]["format"]["layout"]["order"] = {"Spiral": {"turns": 3}}
    first = next(iter(document["inputs"].values()))
    first["precision"] = {"F4": {"block": 32}}


def _dangling_recipe(document: Json) -> None:
    plans, alternatives = document["recipe"]["plans"], document["alternatives"]
    last = list(plans)[-1]
    alternatives["900"] = alternatives[last]
    plans["901"] = plans.pop(last)
    document["recipe"]["open_boundaries"] = [902]
    document["inputs"]["903"] = next(iter(document["inputs"].values()))
    document["recipe"]["fusion"] = [{"operations": [0, 1]}]


def _dangling_timeline(document: Json) -> None:
    values, steps = document["timeline"]["values"], document["timeline"]["steps"]
    values[2]["root"] = 70_000
    values[3]["id"] = values[1]["id"]
    values[4]["tile_bytes"] = values[4]["tile_bytes"][:-1]
    values[1]["layout"] = "Layout { order: RowMajor, tiling: "
    steps[1]["index"] = 7
    steps[2]["live"].append(70_000)
    steps[2]["tile_usage"].append([1, 2])
    steps[3]["tile_scratch"] = None
    document["total_peak_step"] = 4_000_000


def broken(recipe: bytes, timeline: bytes) -> dict[str, bytes]:
    """Name → content of the files in ``sample_data/broken/``."""
    text = recipe.decode()

    def sized(number: str) -> bytes:
        at = timeline.index(b'"aligned_bytes":') + len(b'"aligned_bytes":')
        end = timeline.index(b",", at)
        return timeline[:at] + number.encode() + timeline[end:]

    def without_dispatch(document: Json) -> None:
        del _first_plan(document)["dispatch"]

    def twice(document: Json) -> None:
        document["recipe"]["plans"]["@"] = copy.deepcopy(_first_plan(document))

    repeated = edited(recipe, twice).replace(b'"@":', b'"0":')
    named = edited(recipe, lambda d: d.update(context=d["context"].replace('name: "', 'name: "caf\u00e9 ', 1)))
    return {
        "truncated.recipe.json": recipe[: len(recipe) // 2],
        "version-7.recipe.json": edited(recipe, lambda d: d.update(version=7)),
        "version-4.timeline.json": edited(timeline, lambda d: d.update(version=4)),
        "not-json.json": b"peak total 617464 B, does not fit\n",
        "another-json.json": b'{"name":"tileview","version":1}',
        "empty.json": b"",
        "compressed.json": gzip.compress(recipe, mtime=0),
        "utf-16.json": text.encode("utf-16"),
        "byte-order-mark.json": b"\xef\xbb\xbf" + recipe,
        "latin-1.recipe.json": named.decode().encode("latin-1"),
        "deep.json": b'{"version":6,"context":' + b"[" * 2000 + b"]" * 2000 + b"}",
        "negative-size.timeline.json": sized("-32768"),
        "fraction.timeline.json": sized("32768.5"),
        "two-to-the-64.timeline.json": sized("18446744073709551616"),
        "repeated-key.recipe.json": repeated,
        "missing-field.recipe.json": edited(recipe, without_dispatch),
        "bad-context.recipe.json": edited(recipe, lambda d: d.update(context=d["context"].replace("[", "(", 1))),
        "unknown-kinds.recipe.json": edited(recipe, _unknown_kinds),
        "dangling.recipe.json": edited(recipe, _dangling_recipe),
        "dangling.timeline.json": edited(timeline, _dangling_timeline),
    }


def derived() -> dict[str, bytes]:
    """Path below ``sample_data/`` → content of every derived file."""
    pair = (FOLDER / "pair-8tiles.recipe.json").read_bytes()
    vit = (FOLDER / "vit3-64tiles.recipe.json").read_bytes()
    small = version_3(pair, "pair-8tiles")
    return {
        "pair-8tiles.v3.timeline.json": small,
        "vit3-64tiles.v3.timeline.json": version_3(vit, "vit3-64tiles"),
        **addresses(pair, (FOLDER / "so400m.recipe.json").read_bytes()),
        **edits(pair, small),
    }


def addresses(pair: bytes, large: bytes) -> dict[str, bytes]:
    """A tile that cannot be placed, and a finished placement, of programs with swaps in force."""
    recipe = search_state_from_bytes(large).recipe
    dump = tile_dump(with_swaps(recipe, [(21, 3)]), 0)
    fixed = with_swaps(search_state_from_bytes(pair).recipe, [(0, 1), (1, 1)])
    return {
        f"tile-0-{hashlib.sha256(dump).hexdigest()[:16]}.json": dump,
        "placement-8.json": placement_profile(fixed),
    }


def edits(recipe: bytes, timeline: bytes) -> dict[str, bytes]:
    """The part of :func:`derived` that is made by editing the two small files."""
    files = {f"broken/{name}": content for name, content in broken(recipe, timeline).items()}
    return {"pair-8tiles.v2.timeline.json": version_2(timeline), **files}


def main() -> int:
    for name, content in derived().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{name}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
