"""Checked access to parsed JSON: wrong fields become one sentence with their place; keys that are named twice.

Readers below a file's own reader do not know the file's name, so they raise :class:`FieldError` with the place relative
to what they were given; callers add the places above (:meth:`FieldError.under`), and the reader that knows the file
turns it into a :class:`~tileview.errors.LoadError` (:meth:`FieldError.at`).

Of keys that an object names twice, the JSON parser keeps the last without a word, and so do most readers; which one the
writer meant is not to be guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import orjson

from tileview.errors import LoadError
from tileview.model.sizes import U64_MAX, Size, size_from_u64

MAXIMUM_TILES: Final = 131_072
"""The largest ``tile_count`` that is believed: 700 chips; more is a damaged file, and would only ask for memory."""

_HINT: Final = "The file is damaged, or a compiler wrote it that has changed this part of it."

RANGE_HINT: Final = "Counts and bytes are whole numbers from 0 to 2^64 − 1."


class FieldError(LoadError):
    """A :class:`LoadError` that does not know its file yet; ``place`` is relative to the document or a part of it."""

    def __init__(self, place: str, expected: str, found: str, hint: str = "") -> None:
        super().__init__("", place, expected, found, hint)

    def text(self) -> str:
        """The sentence without a file."""
        sentence = f"expected {self.expected}, found {self.found}."
        sentence = f"{self.place}: {sentence}" if self.place else sentence[0].upper() + sentence[1:]
        return f"{sentence} {self.hint}" if self.hint else sentence

    def __reduce__(self) -> tuple[type[LoadError], tuple[str, str, str, str, str]]:
        return LoadError, ("", self.place, self.expected, self.found, self.hint)

    def under(self, prefix: str) -> FieldError:
        """The same, with the place seen from one level further up."""
        return FieldError(join(prefix, self.place), self.expected, self.found, self.hint)

    def at(self, path: str) -> LoadError:
        """The error for the user."""
        return LoadError(path, self.place, self.expected, self.found, self.hint or _HINT)


def join(prefix: str, place: str) -> str:
    """``recipe`` and ``plans`` → ``recipe.plans``; ``values`` and ``[3]`` → ``values[3]``; empty parts vanish."""
    if not prefix or not place:
        return prefix or place
    if place.startswith("line "):
        return f"{prefix}, {place}"
    return f"{prefix}{place}" if place.startswith("[") else f"{prefix}.{place}"


def shorten(text: str, limit: int = 60) -> str:
    """``text`` in at most ``limit`` characters, in one line, without control characters."""
    plain = "".join(char if char.isprintable() else " " for char in text[: limit + 1])
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def described(value: object) -> str:
    """What stands there, in words fit for "found …"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'the text "{shorten(value)}"'
    if isinstance(value, int):
        return f"the number {value}"
    if isinstance(value, float):
        return f"{value!r}, a number with a fraction, an exponent, or above 2^64 − 1"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    return shorten(str(type(value).__name__))


def u64(value: object, place: str, most: int = U64_MAX) -> int:
    """``value`` as an unsigned 64-bit integer, or as a whole number from 0 to ``most``."""
    if type(value) is int and 0 <= value <= most:
        return value
    if most < U64_MAX:
        raise FieldError(place, f"a whole number from 0 to {most:,}", described(value))
    raise FieldError(place, "a whole number from 0 to 2^64 − 1", described(value), RANGE_HINT)


def signed(value: object, place: str) -> int:
    """``value`` as a signed 64-bit integer."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    raise FieldError(place, "a whole number", described(value))


def text_of(value: object, place: str) -> str:
    if isinstance(value, str):
        return value
    raise FieldError(place, "a text", described(value))


def flag(value: object, place: str) -> bool:
    """``value`` as true or false."""
    if isinstance(value, bool):
        return value
    raise FieldError(place, "true or false", described(value))


def list_of(value: object, place: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise FieldError(place, "a list", described(value))


def object_of(value: object, place: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise FieldError(place, "an object", described(value))


def numbers(value: object, place: str) -> tuple[int, ...]:
    """``value`` as a list of unsigned 64-bit integers."""
    items = list_of(value, place)
    for index, item in enumerate(items):
        if type(item) is not int or not 0 <= item <= U64_MAX:
            u64(item, f"{place}[{index}]")
    return tuple(items)


def key_number(key: str, place: str) -> int:
    """An object key as the id it stands for: decimal digits, no sign, no leading zero, at most 2^64 − 1."""
    if key.isascii() and key.isdigit() and len(key) <= 20 and (key[0] != "0" or key == "0"):
        number = int(key)
        if number <= U64_MAX:
            return number
    raise FieldError(place, "keys that are ids (decimal numbers without leading zeros)", f'the key "{shorten(key)}"')


class Fields:
    """The fields of one object, each checked as it is taken.

    A field that is missing where it is needed is reported as such ("found nothing"); fields nobody asks for stay
    unknown and unharmed.
    """

    __slots__ = ("place", "values")

    def __init__(self, value: object, place: str = "") -> None:
        self.values = object_of(value, place)
        self.place = place

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.values.get(name) is not None

    def where(self, name: str) -> str:
        return join(self.place, name)

    def raw(self, name: str, expected: str) -> Any:
        """The field as parsed; a missing one is an error that names what was expected."""
        try:
            return self.values[name]
        except KeyError:
            raise FieldError(self.where(name), expected, "nothing: the field is missing") from None

    def u64(self, name: str, most: int = U64_MAX) -> int:
        return u64(self.raw(name, "a whole number"), self.where(name), most)

    def optional_u64(self, name: str) -> int | None:
        """A number, or None for null."""
        value = self.raw(name, "a whole number or null")
        return None if value is None else u64(value, self.where(name))

    def size(self, name: str) -> Size:
        """A byte count; 2^64 − 1 is the unavailable state."""
        return size_from_u64(self.u64(name))

    def text(self, name: str) -> str:
        return text_of(self.raw(name, "a text"), self.where(name))

    def flag(self, name: str) -> bool:
        return flag(self.raw(name, "true or false"), self.where(name))

    def list(self, name: str) -> list[Any]:
        return list_of(self.raw(name, "a list"), self.where(name))

    def object(self, name: str) -> dict[str, Any]:
        return object_of(self.raw(name, "an object"), self.where(name))

    def fields(self, name: str) -> Fields:
        return Fields(self.raw(name, "an object"), self.where(name))

    def numbers(self, name: str) -> tuple[int, ...]:
        return numbers(self.raw(name, "a list of whole numbers"), self.where(name))


def tile_count(fields: Fields) -> int:
    """The field ``tile_count``: at least one tile, at most :data:`MAXIMUM_TILES`."""
    count = fields.u64("tile_count")
    if not 1 <= count <= MAXIMUM_TILES:
        raise FieldError(fields.where("tile_count"), f"a number of tiles from 1 to {MAXIMUM_TILES:,}", f"{count:,}")
    return count


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
