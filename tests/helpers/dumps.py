"""Small dumps for tests of the readers, and edits of them by path."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"

Json = dict[str, Any]


def sample(name: str) -> bytes:
    """The bytes of a file in ``sample_data/``."""
    return (SAMPLES / name).read_bytes()


def small_recipe() -> Json:
    """A recipe of two operations on 8 tiles, parsed anew at each call."""
    document: Json = json.loads(sample("pair-8tiles.recipe.json"))
    return document


def small_timeline(version: int = 3) -> Json:
    """A timeline of 7 values and 5 steps on 8 tiles; version 1 has no numbers per tile."""
    document: Json = json.loads(sample(f"pair-8tiles.v{max(version, 2)}.timeline.json"))
    if version == 1:
        document["version"] = 1
        for value in document["timeline"]["values"]:
            for name in ("layout_error", "tile_shards", "tile_bytes"):
                del value[name]
        for step in document["timeline"]["steps"]:
            step["usage"] = step.pop("coarse_usage")
            for name in ("tile_usage", "tile_scratch"):
                del step[name]
    return document


def compact(document: object) -> bytes:
    """As the compiler writes JSON: one line, no spaces."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")


def steps_of(path: str) -> list[str | int]:
    """``timeline.values[3].root`` → ["timeline", "values", 3, "root"]."""
    parts: list[str | int] = []
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        parts.append(name or int(index))
    return parts


def at(document: Any, path: str) -> Any:
    """The value at a path."""
    for part in steps_of(path):
        document = document[part]
    return document


def with_value(document: Json, path: str, value: object) -> Json:
    """A copy of a document with the value at a path replaced (or added)."""
    result = copy.deepcopy(document)
    *above, last = steps_of(path)
    place: Any = result
    for part in above:
        place = place[part]
    place[last] = value
    return result


def without(document: Json, path: str) -> Json:
    """A copy of a document with the value at a path removed."""
    result = copy.deepcopy(document)
    *above, last = steps_of(path)
    place: Any = result
    for part in above:
        place = place[part]
    del place[last]
    return result


def with_number(document: Json, path: str, digits: str) -> bytes:
    """The document's text with the value at a path written as these very characters."""
    mark = "@number@"
    return compact(with_value(document, path, mark)).replace(f'"{mark}"'.encode(), digits.encode())
