"""Damage dumps at three levels: bytes, tokens, JSON values. Deterministic by the random generator that is handed in."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

NASTY_NUMBERS = (
    "-1",
    "0",
    "1",
    "1.5",
    "1e3",
    "-0",
    "65535",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "NaN",
    "Infinity",
    "7" * 5000,
)
NASTY_TEXTS = (
    "",
    "\0",
    "\u202e\u202d",
    "<&\"'",
    "=cmd|' /C calc'!A0",
    "x" * 20_000,
    "\U0001f600",
    "RowMajor",
    "{",
    "ValueId(0)",
)
NASTY_BYTES = (b"\0", b"\xff", b'"', b"\\", b"{", b"]", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"[" * 3000)
NASTY_DEBUG = ("", "{", "}", "(", "]", '"', "'", ",", "-1", "1.5", "\n", "..", "\\u{d800}", "[" * 500)
NASTY_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    {"": None},
    "F16",
    {"Amp": "Left"},
    [1, 2, 3],
    1.5,
    -1,
)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?[0-9.eE+]+|[{}\[\],:]|true|false|null', re.DOTALL)


def damage(rng: random.Random, base: bytes) -> bytes:
    """One damaged version of ``base``."""
    level: Callable[[random.Random, bytes], bytes] = rng.choice(
        (damage_bytes, damage_tokens, damage_json, damage_debug)
    )
    result = level(rng, base)
    return level(rng, result) if rng.random() < 0.3 else result


def damage_bytes(rng: random.Random, base: bytes) -> bytes:
    """Cut, flip, insert, repeat or delete bytes."""
    data = bytearray(base)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        length = min(rng.choice((1, 1, 2, 8, 100, 5000)), len(data) - at)
        kind = rng.randrange(6)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at : at + length] = bytes(rng.randrange(256) for _ in range(length))
        elif kind == 3:
            data[at:at] = rng.choice(
                (b"\0", b"\xff", b'"', b"\\", b"{", b"]", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"[" * 3000)
            )
        elif kind == 4:
            data[at:at] = data[at : at + length]
        elif data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
    return bytes(data)


def damage_tokens(rng: random.Random, base: bytes) -> bytes:
    """Replace, drop, double or swap JSON tokens."""
    matches = list(_TOKEN.finditer(base))
    if not matches:
        return base
    first, second = sorted(rng.choices(matches, k=2), key=lambda match: match.start())
    token = first.group()
    kind = rng.randrange(5)
    if kind == 0:
        new = rng.choice(NASTY_NUMBERS).encode()
    elif kind == 1:
        new = json.dumps(rng.choice(NASTY_TEXTS)).encode()
    elif kind == 2:
        new = b""
    elif kind == 3:
        new = token + token
    else:
        middle = base[first.end() : second.start()]
        return base[: first.start()] + second.group() + middle + token + base[second.end() :]
    return base[: first.start()] + new + base[first.end() :]


def damage_json(rng: random.Random, base: bytes) -> bytes:
    """Replace, delete, double, rename or move values of the parsed document; valid JSON comes out."""
    try:
        document = json.loads(base)
    except (ValueError, RecursionError):
        return damage_bytes(rng, base)
    for _ in range(rng.randint(1, 3)):
        _damage_value(rng, document)
    indent = rng.choice((None, None, None, 1))
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(document, indent=indent, separators=separators, ensure_ascii=rng.random() < 0.5).encode(
        errors="surrogatepass"
    )


def _damage_value(rng: random.Random, document: Any) -> None:
    """Walk down at random and do something where the walk ends."""
    place = document
    for _ in range(rng.randint(0, 9)):
        inner = [
            item for item in (place.values() if isinstance(place, dict) else place) if isinstance(item, dict | list)
        ]
        if not inner:
            break
        place = rng.choice(inner)
    if not place:
        return
    keys = list(place) if isinstance(place, dict) else list(range(len(place)))
    key, other = rng.choice(keys), rng.choice(keys)
    kind = rng.randrange(6)
    if kind == 0:
        del place[key]
    elif kind == 1:
        place[key] = copy.deepcopy(rng.choice(NASTY_VALUES))
    elif kind == 2:
        number = rng.choice(NASTY_NUMBERS[:12])
        place[key] = float(number) if "." in number or "e" in number else int(number)
    elif kind == 3:
        place[key] = rng.choice(NASTY_TEXTS)
    elif kind == 4:
        place[key] = copy.deepcopy(place[other])
    elif isinstance(place, dict):
        place[rng.choice(("7", "007", "-1", "x", "", "@", "live", "tile_usage"))] = copy.deepcopy(place[key])
    else:
        place.append(copy.deepcopy(place[key]))


def damage_debug(rng: random.Random, base: bytes) -> bytes:
    """Damage the Debug text of a document that has some, byte-wise; leave the JSON around it valid."""
    try:
        document = json.loads(base)
    except (ValueError, RecursionError):
        return damage_bytes(rng, base)
    if not isinstance(document, dict):
        return base
    if isinstance(document.get("context"), str):
        document["context"] = _damaged_text(rng, document["context"])
    else:
        try:
            entry = rng.choice(document["timeline"]["values"])
            field = rng.choice(("layout", "precision"))
            entry[field] = _damaged_text(rng, entry[field])
        except (LookupError, TypeError):
            return base
    return json.dumps(document, separators=(",", ":")).encode()


def _damaged_text(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    end = at + rng.choice((0, 1, 3, 40))
    new = rng.choice(
        ("", "{", "}", "(", "]", '"', "'", ",", "-1", "1.5", "\n", "..", "\\u{d800}", "[" * 500, text[at:end] * 2)
    )
    return text[:at] + new + text[end:]
