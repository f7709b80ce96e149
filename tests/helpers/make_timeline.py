"""Write large version-3 timelines that agree with themselves, for benchmarks and tests of scale.

``python tests/helpers/make_timeline.py OUT.json`` writes a little more than 300 MiB: 4,000 steps, 3,000 values, 1472
tiles, and sizes so large that each number takes up to ten digits. With ``--scale 1`` sizes are those of a program
that about fits a chip, five or six digits long; then 7,500 steps make 300 MiB. Every number is consistent: shards
follow from the layouts, usage from live sets and scratch, peaks from usage; the same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

BUDGET = 586_960
INTERLEAVED_BUDGET = 424_880
RESERVE = 49_152


def _linear_text(owners: int, memory_class: str) -> str:
    return (
        f"Layout {{ order: RowMajor, tiling: TensorTiling {{ tile_count: {owners}, replicas: 1, axes: [AxisTiling {{ "
        f"axis: Linear, partitions: {owners}, padding_groups: 1, block_size: 4, padding_multiple: 4, "
        f"shard_padding_multiple: 1, padding: Reject, tile_stride: None }}] }}, memory_class: {memory_class} }}"
    )


def _value(
    rng: np.random.Generator, index: int, tiles: int, live_at_once: int, scale: int
) -> tuple[dict[str, Any], np.ndarray]:
    """One F16 value in a linear layout of grain 4, and its bytes on each tile."""
    owners = int(rng.integers(max(1, tiles // 2), tiles + 1))
    grains = owners * max(1, int(rng.integers(1, 2 * 60_000 // max(1, live_at_once)))) + int(rng.integers(0, owners))
    grains *= scale
    shards = np.zeros(tiles, np.int64)
    shards[:owners] = grains // owners * 8
    shards[: grains % owners] += 8
    memory_class = "Ipu21Interleaved" if index % 5 == 4 else "Ipu21Standard"
    largest = int(shards.max())
    entry = {
        "id": index,
        "origin": index,
        "root": index,
        "name": f"block{index // 40}.value{index}",
        "group": f"block.value{index % 40}",
        "shape": [1, grains, 4],
        "precision": "F16",
        "layout": _linear_text(owners, memory_class),
        "layout_error": None,
        "class": memory_class,
        "storage_group": index,
        "shard_bytes": largest,
        "aligned_bytes": largest,
        "copies": 1,
        "bytes": largest,
    }
    return entry, shards


def _numbers(array: np.ndarray) -> bytes:
    return b"[" + ",".join(map(str, array.tolist())).encode() + b"]"


def _pairs(array: np.ndarray) -> bytes:
    return b"[" + ",".join(f"[{a},{b}]" for a, b in array.tolist()).encode() + b"]"


def _entry(fields: dict[str, Any], arrays: list[tuple[str, bytes]]) -> bytes:
    head = json.dumps(fields, separators=(",", ":")).encode()[:-1]
    return head + b"".join(b',"%s":%s' % (name.encode(), text) for name, text in arrays) + b"}"


def write_timeline(
    path: Path, steps: int, values: int, tiles: int, live_at_once: int = 40, seed: int = 1, scale: int = 1
) -> int:
    """Write the file; returns its size in bytes.

    ``live_at_once`` is about how many allocations each step has live; ``scale`` multiplies all sizes; where it is
    more than 1, steps have interleaved scratch as well.
    """
    rng = np.random.default_rng(seed)
    entries, rows = [], np.zeros((values, tiles), np.int64)
    for index in range(values):
        entry, rows[index] = _value(rng, index, tiles, live_at_once, scale)
        entries.append(entry)
    is_interleaved = np.array([entry["class"] == "Ipu21Interleaved" for entry in entries])
    span = max(1, steps * live_at_once // max(1, values))
    births = np.sort(rng.integers(-span, max(1, steps - 1), values))
    deaths = births + rng.integers(max(1, span // 2), span * 3 // 2 + 2, values)
    scratch = rng.integers(8, 20_000, steps) * scale
    second = scratch // 2 if scale > 1 else np.zeros(steps, np.int64)
    uneven = rng.integers(0, 8, tiles)

    body, usages = [], []
    for step in range(steps):
        live = np.flatnonzero((births <= step) & (step <= deaths))
        usage = np.zeros((tiles, 2), np.int64)
        usage[:, 0] = rows[live[~is_interleaved[live]]].sum(axis=0)
        usage[:, 1] = rows[live[is_interleaved[live]]].sum(axis=0)
        tile_scratch = np.zeros((tiles, 2), np.int64)
        tile_scratch[:, 0] = scratch[step] - uneven
        tile_scratch[step % tiles, 0] = scratch[step]
        tile_scratch[:, 1] = second[step]
        usage += tile_scratch
        totals = usage.sum(axis=1)
        worst = tiles - 1 - int(np.argmax(totals[::-1]))
        coarse = [int(scratch[step]), int(second[step])]
        for root in live.tolist():
            coarse[int(is_interleaved[root])] += entries[root]["bytes"]
        usages.append((int(usage[:, 0].max()), int(usage[:, 1].max()), int(totals.max())))
        fields = {
            "index": step,
            "source": step // 4,
            "operation": "Add" if step % 3 else "Copy { mapping: CoordinateMapping { offsets: [], view: None } }",
            "execution_count": 1,
            "live": live.tolist(),
            "scratch": {"standard": int(scratch[step]), "interleaved": int(second[step])},
            "usage": {"standard": int(usage[worst, 0]), "interleaved": int(usage[worst, 1])},
        }
        tail = b',"coarse_usage":{"standard":%d,"interleaved":%d}}' % (coarse[0], coarse[1])
        text = _entry(fields, [("tile_usage", _pairs(usage)), ("tile_scratch", _pairs(tile_scratch))])
        body.append(text[:-1] + tail)

    standard, interleaved, total = (max((row[i] for row in usages), default=0) for i in range(3))
    largest = max((e["bytes"] for e, i in zip(entries, is_interleaved, strict=True) if not i), default=0)
    largest = max(largest, int(scratch.max()) if steps else 0)
    overflow = max(0, largest - max(INTERLEAVED_BUDGET, 162_080 - RESERVE))
    head = {
        "version": 3,
        "scope": "made",
        "model": "Per-tile live storage, made for tests of scale.",
        "tile_count": tiles,
        "budget_bytes": BUDGET,
        "interleaved_budget_bytes": INTERLEAVED_BUDGET,
        "standard_contiguous_overflow_bytes": overflow,
        "fits_budget": interleaved <= INTERLEAVED_BUDGET and total + RESERVE <= BUDGET and overflow == 0,
        "support_reserve_bytes": RESERVE,
        "effective_peak_bytes": total + RESERVE,
        "peak": {
            "standard": standard,
            "interleaved": interleaved,
            "total": total,
            "exchange_rows": 0,
            "maximum_standard_allocation": largest,
        },
        "total_peak_step": next((i for i, row in enumerate(usages) if row[2] == total), None),
        "standard_peak_step": next((i for i, row in enumerate(usages) if row[0] == standard), None),
        "interleaved_peak_step": next((i for i, row in enumerate(usages) if row[1] == interleaved), None),
        "gemm_output_packing": "Automatic",
        "attention_products": "Automatic",
    }
    with path.open("wb") as file:
        file.write(json.dumps(head, separators=(",", ":")).encode()[:-1])
        file.write(b',"timeline":{"values":[')
        for index, entry in enumerate(entries):
            numbers = _numbers(rows[index])
            file.write((b"," if index else b"") + _entry(entry, [("tile_shards", numbers), ("tile_bytes", numbers)]))
        file.write(b'],"steps":[')
        for index, text in enumerate(body):
            file.write((b"," if index else b"") + text)
        file.write(b"]}}")
        return file.tell()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--values", type=int, default=3000)
    parser.add_argument("--tiles", type=int, default=1472)
    parser.add_argument("--live", type=int, default=40, help="allocations live at once, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=int, default=10_000, help="what all sizes are multiplied by")
    given = parser.parse_args()
    size = write_timeline(given.out, given.steps, given.values, given.tiles, given.live, given.seed, given.scale)
    print(f"{given.out}: {size:,} bytes ({size / 2**20:.1f} MiB)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
