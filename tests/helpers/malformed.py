"""Every kind of damage that a dump can have, for a recipe and for a timeline of each version: name → bytes.

What the readers make of one field is asserted beside the readers; this table is for what holds of all of it at once:
refused in words, or opened and used, by every command.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.helpers.dumps import Json, at, compact, small_recipe, small_timeline, with_number, with_value, without

NUMBERS = {
    "negative": "-1",
    "float": "1.5",
    "round float": "8.0",
    "exponent": "1e3",
    "zero": "0",
    "one": "1",
    "65535": "65535",
    "2^53+1": str(2**53 + 1),
    "2^63": str(2**63),
    "2^64-1": str(2**64 - 1),
    "2^64": str(2**64),
    "5000 digits": "7" * 5000,
    "NaN": "NaN",
    "Infinity": "Infinity",
}
"""What a number may be replaced by, as it stands in the file."""

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "text": "8",
    "empty text": "",
    "empty list": [],
    "empty object": {},
    "list of one": [1],
}
"""What anything may be replaced by."""

TEXTS = {
    "NUL": "a\0b",
    "surrogate": "\ud800",
    "right to left": "\u202eabc",
    "markup": "<&\"'>",
    "formula": "=cmd|' /C calc'!A0",
    "long": "x" * 20_000,
}
"""What a name may be."""


@cache
def documents() -> dict[str, Json]:
    """A small dump of each kind and version."""
    return {"recipe": small_recipe(), **{f"timeline v{version}": small_timeline(version) for version in (1, 2, 3)}}


def places(document: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every place of a document with what stands there; of alike entries of a list only the first and the last."""
    if isinstance(document, dict):
        inner = [(f"{path}.{key}" if path else key, value) for key, value in document.items()]
    elif isinstance(document, list):
        chosen = sorted({0, len(document) - 1} & set(range(len(document))))
        inner = [(f"{path}[{index}]", document[index]) for index in chosen]
    else:
        return
    for place, value in inner:
        yield place, value
        yield from places(value, place)


def one_of_each(document: Json) -> list[tuple[str, Any]]:
    """Places that tell one field from another: one plan, one axis, one value, one step stand for all of their kind."""
    found: dict[str, tuple[str, Any]] = {}
    for place, value in places(document):
        kind = re.sub("[0-9]+", "#", place).replace("alternatives.#[#]", "recipe.plans.#")
        kind = re.sub(r".*\.(?=layout\.)", "", kind.replace(".output.", ".inputs[#]."))
        found.setdefault(kind, (place, value))
    return list(found.values())


def truncated(raw: bytes) -> Iterator[bytes]:
    """Cut off before each byte that is structure."""
    for index, byte in enumerate(raw):
        if byte in b'{}[],:"':
            yield raw[:index]


def changed_fields(document: Json) -> Iterator[tuple[str, bytes]]:
    """Each field missing, and each as what it must not be."""
    for place, value in one_of_each(document):
        if place[-1] != "]":
            yield f"without {place}", compact(without(document, place))
        for name, wrong in VALUES.items():
            yield f"{place} {name}", compact(with_value(document, place, wrong))
        if type(value) is int:
            for name, digits in NUMBERS.items():
                yield f"{place} {name}", with_number(document, place, digits)
        elif isinstance(value, str) and place != "context":
            for name, text in TEXTS.items():
                yield f"{place} {name}", compact(with_value(document, place, text))
        elif isinstance(value, list) and value:
            yield f"{place} longer", compact(with_value(document, place, [*value, value[-1]]))
            yield f"{place} shorter", compact(with_value(document, place, value[:-1]))


def whole_files(document: Json) -> Iterator[tuple[str, bytes]]:
    """What is wrong with all of a file."""
    raw = compact(document)
    text = raw.decode()
    yield "whole", raw
    yield "empty", b""
    yield "byte order mark", b"\xef\xbb\xbf" + raw
    yield "UTF-16", text.encode("utf-16")
    yield "Latin-1", raw.replace(b'"version"', b'"caf\xe9":1,"version"', 1)
    yield "gzip", gzip.compress(raw, mtime=0)
    yield "NUL within", raw[:40] + b"\0" + raw[40:]
    yield "zeros behind", raw + b"\0" * 5_000_000
    yield "twice", raw + raw
    yield "lone surrogate", raw.replace(b'"version"', b'"\\ud800":1,"version"', 1)
    for version in (0, 4, 5, 7, 2**64 - 1):
        yield f"version {version}", compact({**document, "version": version})
    yield "no version", compact(without(document, "version"))
    for deep in ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000):
        yield f"nested {deep[:5]} {len(deep)}", raw[:-1] + b',"deep":' + deep.encode() + b"}"
    for key in document:
        yield f"{key} twice", raw[:-1] + b',"%s":%s}' % (key.encode(), compact(document[key]))


def inconsistent(document: Json) -> Iterator[tuple[str, bytes]]:
    """What is well formed and makes no sense."""
    if "timeline" not in document:
        yield from _inconsistent_recipes(document)
        return
    for count in (0, 1, 65_535):
        yield f"{count} tiles", compact({**document, "tile_count": count})
    yield "peaks null", compact({**document, **{f"{which}_peak_step": None for which in ("total", "standard")}})
    values, steps = document["timeline"]["values"], document["timeline"]["steps"]
    yield "no values", compact(with_value(document, "timeline.values", []))
    yield "no steps", compact(with_value(document, "timeline.steps", []))
    yield "nothing", compact({**document, "timeline": {"values": [], "steps": []}})
    yield "ids twice", compact(with_value(document, "timeline.values[1].id", values[0]["id"]))
    for root in (len(values), 2**63, 2**64 - 1):
        yield f"dangling root {root}", compact(with_value(document, "timeline.values[0].root", root))
        yield f"dangling live {root}", compact(with_value(document, "timeline.steps[0].live", [0, root]))
    ring = copy.deepcopy(document)
    for index, value in enumerate(ring["timeline"]["values"]):
        value["root"] = (index + 1) % len(values)
    yield "roots in a ring", compact(ring)
    backwards = copy.deepcopy(document)
    backwards["timeline"]["steps"].reverse()
    yield "steps out of order", compact(backwards)
    twice = copy.deepcopy(document)
    twice["timeline"]["steps"] += steps
    yield "steps twice", compact(twice)


def _inconsistent_recipes(document: Json) -> Iterator[tuple[str, bytes]]:
    for path in ("recipe.plans", "alternatives", "inputs"):
        yield f"{path} empty", compact(with_value(document, path, {}))
        one = next(iter(at(document, path).values()))
        yield f"{path} of no operation", compact(with_value(document, f"{path}.999", one))
    yield "boundary of no value", compact(with_value(document, "recipe.open_boundaries", [0, 2**63]))
    context: str = document["context"]
    for name, old, new in (
        ("no tiles", "tile_count: 8", "tile_count: 0"),
        ("65535 tiles", "tile_count: 8", "tile_count: 65535"),
        ("2^64-1 tiles", "tile_count: 8", f"tile_count: {2**64 - 1}"),
        ("a value twice", "ValueId(1)", "ValueId(0)"),
        ("a value of nowhere", "ValueId(0)", "ValueId(18446744073709551615)"),
        ("operations twice", "OperationId(1)", "OperationId(0)"),
        ("a cycle", "inputs: [ValueId(0)]", "inputs: [ValueId(2)]"),
        ("a negative dimension", "TensorShape([8", "TensorShape([-8"),
        ("no dimensions", "TensorShape([8, 26900])", "TensorShape([])"),
        ("a huge dimension", "TensorShape([8", f"TensorShape([{2**63}"),
        ("a float", "ValueId(0)", "ValueId(0.5)"),
        ("5000 digits", "ValueId(0)", f"ValueId({'7' * 5000})"),
        ("a lone surrogate", 'name: "', 'name: "\\u{d800}'),
        ("a name that breaks out", 'name: "', 'name: "\\"}], operations: ['),
        ("nested", "outputs: [", "outputs: [" + "[" * 100_000),
        ("one line", "\n", " "),
    ):
        assert old in context, old
        yield f"context with {name}", compact({**document, "context": context.replace(old, new)})
    for name, text in TEXTS.items():
        if name != "surrogate":
            named = context.replace('name: "', f'name: "{json.dumps(text)[1:-1]}', 1)
            yield f"context with the name {name}", compact({**document, "context": named})


def table(kind: str) -> dict[str, bytes]:
    """All of it for one kind of dump; the truncations are :func:`truncated`'s."""
    document = documents()[kind]
    return dict([*whole_files(document), *inconsistent(document), *changed_fields(document)])
