"""Keys that an object names twice.

The JSON parser keeps the last of them without a word, and so do most readers; which one the writer meant is not to be
guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from tileview.formats.check import FieldError, join


class _Repeated(dict[str, Any]):
    """An object one of whose keys occurs twice."""

    key: str = ""


def repeated_keys(raw: bytes, document: object) -> Iterator[tuple[str, str]]:
    """Where in a document an object names a key twice: (path of the object, key); of each object the first such key.

    A document that the parser's own dump gives back to the byte has none, which settles it for every file that the
    compiler wrote. Only other files are parsed a second time, slowly.

    Parameters
    ----------
    raw : bytes
        The JSON text.
    document : object
        What it parses to.

    Raises
    ------
    FieldError
        Nesting too deep for the second parse.
    """
    try:
        if orjson.dumps(document) == raw:
            return
    except orjson.JSONEncodeError:
        pass
    seen: list[_Repeated] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) == len(pairs):
            return result
        repeated = _Repeated(pairs)
        known: set[str] = set()
        for key, _ in pairs:
            if key in known:
                repeated.key = key
                break
            known.add(key)
        seen.append(repeated)
        return repeated

    try:
        again = json.loads(raw, object_pairs_hook=collect, parse_int=len, parse_float=len)
    except (RecursionError, ValueError):
        raise FieldError("", "JSON", "nesting that is too deep") from None
    if seen:
        yield from _find(again)


def _find(document: Any) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, _Repeated):
            yield place, value.key
        if isinstance(value, dict):
            waiting.extend((join(place, key), item) for key, item in value.items())
        elif isinstance(value, list):
            waiting.extend((f"{place}[{index}]", item) for index, item in enumerate(value))
