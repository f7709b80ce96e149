"""Tiny files that ask for a lot of work: refused with a sentence, by an estimate of the work and not by a clock."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.helpers.command_line import run
from tests.helpers.golden_program import DATA
from tests.helpers.golden_recipes import golden_recipe
from tileview.analysis.alternatives import evaluate_all
from tileview.analysis.trials import most_trials
from tileview.core.estimate import estimate
from tileview.core.lowering.replanner import Replanner
from tileview.errors import LoadError, WorkError
from tileview.formats.save import write_atomic
from tileview.formats.search_state import search_state_from_bytes
from tileview.formats.timeline import timeline_from_bytes

ATTENTION = DATA / "v8" / "g02_attn_online_t128-mapping-identity.v8.recipe.json.gz"


def attention(keys: int) -> bytes:
    """The golden recipe of an attention on 150 keys with as many more as wanted, in blocks as small as before."""
    document = json.loads(gzip.decompress(ATTENTION.read_bytes()))
    graph, rest = document["context"].split("\n", 1)
    document["context"] = f"{graph.replace('4, 150, 40', f'4, {keys}, 40')}\n{rest}"
    return json.dumps(document).encode()


def timeline(tiles: int, steps: int, version: int = 1) -> bytes:
    """A timeline without numbers per tile: each step is some hundred bytes, and asks for a number a tile."""
    value = {
        "id": 0, "origin": 0, "root": 0, "name": "v", "group": "v", "shape": [4], "precision": "F16", "layout": "x",
        "class": "Ipu21Standard", "storage_group": 0, "shard_bytes": 8, "aligned_bytes": 8, "copies": 1, "bytes": 8,
    }  # fmt: skip
    pair = {"standard": 8, "interleaved": 0}
    step = {"source": 0, "operation": "Add", "execution_count": 1, "live": [0], "scratch": {**pair, "standard": 0}}
    return json.dumps(
        {
            "version": version, "scope": "tiny", "model": "m", "tile_count": tiles, "budget_bytes": 586_960,
            "interleaved_budget_bytes": 424_880, "standard_contiguous_overflow_bytes": 0, "fits_budget": True,
            "support_reserve_bytes": 0, "effective_peak_bytes": 8,
            "peak": {**pair, "total": 8, "exchange_rows": 0, "maximum_standard_allocation": 8},
            "total_peak_step": 0, "standard_peak_step": 0, "interleaved_peak_step": 0,
            "timeline": {
                "values": [value],
                "steps": [{"index": n, **step, "usage": pair, "coarse_usage": pair} for n in range(steps)],
            },
        }
    ).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("tiles", "steps"), [(131_073, 1), (1_048_576, 1), (2**64 - 1, 1), (131_072, 45), (94_208, 60)]
)
def test_tiny_timelines_of_many_tiles_are_refused(tiles: int, steps: int) -> None:
    raw = timeline(tiles, steps)
    assert len(raw) < 25_000
    with pytest.raises(LoadError) as caught:
        timeline_from_bytes(raw)
    assert caught.value.place == "tile_count"


@pytest.mark.parametrize(("tiles", "steps"), [(1472, 100), (94_208, 5), (131_072, 4)])
def test_timelines_of_a_whole_machine_open(tiles: int, steps: int) -> None:
    assert timeline_from_bytes(timeline(tiles, steps)).tile_count == tiles


@pytest.mark.parametrize("keys", [1 << 17, 1 << 18])
def test_attention_in_very_many_blocks_is_refused_by_its_number_of_steps(keys: int) -> None:
    result = estimate(search_state_from_bytes(attention(keys)).recipe)
    assert result.timeline is None
    assert isinstance(result.error, WorkError)
    assert result.error.operation == 0


def test_the_command_line_says_so_and_ends_with_2(tmp_path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(attention(1 << 17))
    for command in (["summary"], ["check"], ["fix"], ["report", "-o", tmp_path / "r.html"]):
        done = run(command[0], path, *command[1:])
        assert (done.code, "steps that TileView works out for one operation" in done.out + done.err) == (2, True)


def test_few_trials_where_each_is_a_lot_of_work(monkeypatch) -> None:
    recipe = golden_recipe("vit3-64tiles")
    replanner = Replanner()
    replanner.replan(recipe)
    assert most_trials(recipe, replanner.size) is None
    plans = len(recipe.plans)
    heavy = 128 * plans + 1
    kept = sum(map(len, recipe.alternatives.values()))
    assert most_trials(recipe, heavy) == (32_768 + 2_048 * kept) // heavy
    monkeypatch.setattr("tileview.analysis.alternatives.Evaluator.most_trials", 10)
    with pytest.raises(WorkError, match="more than TileView tries at once"):
        evaluate_all(recipe, workers=1)


def test_pieces_are_written_as_they_come(tmp_path) -> None:
    target = tmp_path / "out.json"
    seen: list[int] = []

    def pieces():
        for number in range(5):
            seen.append(number)
            yield b"%d," % number

    write_atomic(target, pieces())
    assert target.read_bytes() == b"0,1,2,3,4,"
    assert seen == [0, 1, 2, 3, 4]
