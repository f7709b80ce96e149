"""Dumps whose names try to be something else: markup, formulas, control characters, endless lines."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from tests.helpers.dumps import Json, compact, small_recipe, small_timeline

MARKUP = "<b>x</b><img src=file:///etc/passwd>"
NAMES = {
    "markup": MARKUP,
    "nul": "a\0b",
    "right to left": "\u202eRLO\u202d \u2067abc\u2069",
    "entities": "<&\"'>",
    "formula": "=cmd|' /C calc'!A0",
    "long": "x" * 20_000,
    "long words": "word " * 4_000,
    "lines": "a\nb\r\nc\td",
    "empty": "",
    "emoji": "\U0001f642",
    "template": "{0}{name}%s%n${HOME}`id`$(id)",
    "path": "../../../../etc/passwd",
}


def hostile_timeline(name: str, version: int = 3) -> Json:
    """A small timeline in which every text that is free is ``name``: scope, sentence, values, groups, operations."""
    document = small_timeline(version)
    document["scope"] = document["model"] = name
    for option in ("gemm_output_packing", "attention_products"):
        document[option] = name
    for value in document["timeline"]["values"]:
        value["name"] = value["group"] = name
    for step in document["timeline"]["steps"][::2]:
        step["operation"] = name
    return document


def unavailable_timeline(name: str) -> Json:
    """The same with values that have no size for a reason that is ``name``, and a class and layouts that are."""
    document = hostile_timeline(name)
    first, second, *_ = document["timeline"]["values"]
    first["layout_error"] = name
    for field in ("shard_bytes", "aligned_bytes", "bytes"):
        first[field] = 2**64 - 1
    second["layout"] = second["precision"] = second["class"] = name
    return document


def debug_string(text: str) -> str:
    """A text as Rust's Debug prints it."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\u200e\u200f\u202a-\u202e\u2066-\u2069]", _escaped, plain) + '"'


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):x}}}"


def hostile_recipe(name: str) -> Json:
    """A small recipe in which every input is called ``name``, and an operator is unknown under that name."""
    document = small_recipe()
    written = debug_string(name)
    document["context"] = re.sub(r'name: "[^"]*"', lambda _: f"name: {written}", document["context"])
    plan: Any = document["recipe"]["plans"]["1"]
    plan["operator"] = name
    document["extra"] = {name: name}
    return document


def write_hostile(folder: Path) -> dict[str, Path]:
    """All of them as files; the key says which name and which kind."""
    made = {}
    for title, name in NAMES.items():
        for kind, document in (
            ("timeline", hostile_timeline(name)),
            ("old timeline", hostile_timeline(name, 1)),
            ("unavailable", unavailable_timeline(name)),
            ("recipe", hostile_recipe(name)),
        ):
            path = folder / f"{title} {kind}.json".replace(" ", "-")
            path.write_bytes(compact(document))
            made[f"{title}, {kind}"] = path
    return made


def odd_counts(folder: Path) -> dict[str, Path]:
    """Timelines with other numbers of tiles than their arrays have, and empty ones."""
    made = {}
    for count in (0, 1, 65_535):
        for version in (1, 3):
            path = folder / f"tiles-{count}-v{version}.json"
            path.write_bytes(compact({**small_timeline(version), "tile_count": count}))
            made[f"{count} tiles, version {version}"] = path
    for version in (1, 3):
        document = small_timeline(version)
        document["timeline"] = {"values": [], "steps": []}
        for which in ("total", "standard", "interleaved"):
            document[f"{which}_peak_step"] = None
        path = folder / f"nothing-v{version}.json"
        path.write_bytes(compact(document))
        made[f"nothing, version {version}"] = path
        document = small_timeline(version)
        document["timeline"]["steps"] = []
        path = folder / f"no-steps-v{version}.json"
        path.write_bytes(compact(document))
        made[f"no steps, version {version}"] = path
    one = json.loads(json.dumps(small_timeline(1)).replace('"copies": 1', '"copies": 18446744073709551614'))
    path = folder / "copies.json"
    path.write_bytes(compact(one))
    made["2^64 - 2 copies"] = path
    return made


def wide_recipe() -> Json:
    """A small recipe whose ids count down from 2^64 - 1: they fit no number with a sign."""
    document = small_recipe()

    def wide(number: str) -> str:
        return str(2**64 - 1 - int(number))

    for kind in ("OperationId", "ValueId"):
        document["context"] = re.sub(rf"(?<={kind}\()\d+", lambda match: wide(match[0]), document["context"])
    for holder, key in ((document, "alternatives"), (document, "inputs"), (document["recipe"], "plans")):
        holder[key] = {wide(number): entry for number, entry in holder[key].items()}
    return document


def wide_timeline(version: int = 3) -> Json:
    """A small timeline whose ids and counts are as large as they can be, and whose limits are."""
    document = small_timeline(version)
    document["budget_bytes"] = document["support_reserve_bytes"] = 2**62
    for value in document["timeline"]["values"]:
        value["id"] = 2**64 - 1 - value["id"]
        value["origin"] = value["storage_group"] = 2**64 - 1
    for step in document["timeline"]["steps"]:
        step["source"] = step["execution_count"] = 2**64 - 1
    document["timeline"]["steps"][0]["usage"] = {"standard": 2**63, "interleaved": 2**63}
    return document


def make_odd_file(path: Path, kind: str, other: Path) -> None:
    """Put something that is no file of text under a path: a ``fifo``, a ``folder``, a ``link`` to ``other``, or a
    ``large`` file of 1 GiB without content."""
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(other)
    else:
        assert kind == "large"
        with path.open("wb") as file:
            file.truncate(1 << 30)
