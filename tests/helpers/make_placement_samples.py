"""Dumps of addresses as the compiler writes them, from programs that TileView has placed itself."""

from __future__ import annotations

import json
from typing import Any

from tileview.analysis.placement import RequestNames, place_program, program_requests
from tileview.analysis.placement_files import spans_of
from tileview.core.geometry.owners import physical_id
from tileview.core.placement.ranges import CAPTURED, presets
from tileview.core.placement.requests import ProgramRequests, TileClass
from tileview.core.placement.search import by_first_use, by_size
from tileview.model.placement import DATA_END, DATA_START, END, WINDOW, Memory, Request
from tileview.model.recipe import Overrides, Recipe

SRAM = (311_296, 950_272)


def tile_dump(recipe: Recipe, tile: int) -> bytes:
    """The problem of a tile in memory as a real compile left it open, with what the orders come to."""
    requests = program_requests(recipe, Overrides(fusion=False))
    preset = next(each for each in presets(recipe.config.reserve_bytes) if each.name == CAPTURED)
    placement = place_program(requests, preset, enlarge=False)
    each = requests.class_of(tile)
    outcome = placement.outcomes[requests.classes.index(each)]
    asked = requests.requests(each)
    order = _sorted(requests, each, outcome.by)
    document = {
        "assigned_root_spans": {
            str(root): list(span) for root, span in sorted(spans_of(asked, outcome.starts, placement.memory).items())
        },
        "host_scratch_range": list(WINDOW),
        "interleaved_offset": 0,
        "placed": outcome.by is not None,
        "ranges": [list(span) for span in preset.ranges],
        "region0_element_bytes": 16_384,
        "region1_element_bytes": 32_768,
        "region_boundary": 524_288,
        "requests": [_request(asked[index], index) for index in order],
        "tile": tile,
        "version": 1,
    }
    return json.dumps(document, indent=1).encode()


def _sorted(requests: ProgramRequests, each: TileClass, by: str | None) -> list[int]:
    """The order last tried: order 1 where that placed all, else order 2."""
    asked = requests.asked(each, Memory(()))
    return by_first_use(asked) if by == "order 1" else by_size(asked)


def _request(request: Request, index: int) -> dict[str, Any]:
    return {
        "auxiliary": None if request.roots else index,
        "class": request.memory_class.value,
        "region1_stride": None,
        "lifetime": {"first": request.first, "last": request.last, "seen": True},
        "bytes": request.bytes,
        "alignment": request.alignment,
        "assignments": [list(entry) for entry in request.assignments],
        "conflicts": list(request.conflicts),
    }


def placement_profile(recipe: Recipe) -> bytes:
    """The finished placement of every tile in memory as a real compile left it open."""
    requests = program_requests(recipe, Overrides(fusion=False))
    preset = next(each for each in presets(recipe.config.reserve_bytes) if each.name == CAPTURED)
    placement = place_program(requests, preset, enlarge=False)
    labels: dict[str, int] = {}
    tiles = []
    for tile in range(requests.program.tile_count):
        each = requests.class_of(tile)
        starts = placement.outcomes[requests.classes.index(each)].starts
        entries = [*_support(labels), *_tensors(requests, each, starts, labels)]
        entries.sort(key=lambda entry: (entry["first"], entry["start"], entry["last"]))
        tiles.append({"logical": tile, "physical": physical_id(tile), "allocations": entries})
    return json.dumps(
        {"schema_version": 1, "start": SRAM[0], "end": SRAM[1], "labels": list(labels), "tiles": tiles},
        separators=(",", ":"),
        ensure_ascii=False,
    ).encode()


def _entry(span: tuple[int, int], label: int, kind: str, first: int, last: int, **more: Any) -> dict[str, Any]:
    start, end = span
    return {
        "start": start,
        "end": end,
        "payload_end": more.get("payload_end", end),
        "label": label,
        "kind": kind,
        "first": first,
        "last": last,
        "shards": more.get("shards", []),
    }


def _support(labels: dict[str, int]) -> list[dict[str, Any]]:
    """What is no tensor: 6,168 bytes of descriptors, 7 elements of code and table, the host's window."""

    def label(text: str) -> int:
        return labels.setdefault(text, len(labels))

    window = label("host exchange aperture")
    return [
        _entry(WINDOW, window, "support", 0, 0),
        _entry(WINDOW, window, "support", END, END),
        _entry((SRAM[0], WINDOW[0]), label("linked runtime and kernels"), "support", 0, END),
        _entry((WINDOW[1], DATA_START), label("runtime state"), "support", 0, END),
        _entry((DATA_START, DATA_START + 6_168), label("host descriptors"), "support", 0, END),
        _entry((376_832, 376_832 + 7 * 16_384), label("generated tile programs"), "support", 0, END),
        _entry((DATA_END, SRAM[1]), label("Outside application load range"), "padding", 0, END, payload_end=DATA_END),
    ]


def _tensors(
    requests: ProgramRequests, each: TileClass, starts: tuple[int | None, ...], labels: dict[str, int]
) -> list[dict[str, Any]]:
    parameters = {given.value for given in requests.program.inputs if given.kind.value == "Parameter"}
    found = []
    for index, size, start in zip(each.present, each.bytes, starts, strict=True):
        template = requests.templates[index]
        assert start is not None
        members = max(len(template.roots), 1)
        for member in range(members):
            root = template.roots[member] if template.roots else None
            name = RequestNames(requests)(template) if root is None else requests.program.values[root].name
            text = f"{name}\n{template.memory_class.value}"
            kind = "scratch" if root is None else "parameter" if root in parameters else "activation"
            step = size // members
            span = (start + member * step, start + (member + 1) * step)
            label = labels.setdefault(text, len(labels))
            shards = [] if root is None else [root]
            found.append(_entry(span, label, kind, template.first, template.last, shards=shards))
    return found
