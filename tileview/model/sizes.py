"""Byte counts, and the state "unavailable" that is not one.

The compiler writes 2^64 − 1 where a size could not be computed. TileView never does arithmetic with that
number: a :data:`Size` is a plain ``int`` or the singleton :data:`UNAVAILABLE`, and a sum that contains an unavailable
term is unavailable itself (:func:`total`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, final

U64_MAX: Final = 2**64 - 1
"""How the compiler writes "unavailable" (its saturated sums)."""

LARGEST_COUNTED_BYTES: Final = 2**48
"""An allocation above 256 TiB is not counted but unavailable: below it, sums of 2^14 of them are exact in 64 bits."""

LARGEST_LIMIT_BYTES: Final = 2**62
"""No budget and no reserve is larger: what is needed, less what there is, is exact in 64 bits with a sign."""


@final
class Unavailable:
    """The state of a size that could not be computed; compare with ``is UNAVAILABLE``."""

    _instance: Unavailable | None = None
    __slots__ = ()

    def __new__(cls) -> Unavailable:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "UNAVAILABLE"

    def __reduce__(self) -> str:
        return "UNAVAILABLE"


UNAVAILABLE: Final = Unavailable()

Size = int | Unavailable
"""A number of bytes (0 … 2^64 − 2), or unavailable."""


def size_from_u64(number: int) -> Size:
    """A size as the compiler wrote it: 2^64 − 1 becomes :data:`UNAVAILABLE`."""
    return UNAVAILABLE if number == U64_MAX else number


def size_to_u64(size: Size) -> int:
    """A size as the compiler writes it: :data:`UNAVAILABLE` becomes 2^64 − 1, larger sums saturate there."""
    return U64_MAX if isinstance(size, Unavailable) else min(size, U64_MAX)


def size_to_json(size: Size) -> int | None:
    """A size for ``--json`` output: :data:`UNAVAILABLE` becomes None."""
    return None if isinstance(size, Unavailable) else size


def total(sizes: Iterable[Size]) -> Size:
    """The sum; unavailable as soon as one term is."""
    result = 0
    for size in sizes:
        if isinstance(size, Unavailable):
            return UNAVAILABLE
        result += size
    return result


def exact_text(size: Size) -> str:
    """``23,040 B``, or ``unavailable``."""
    return "unavailable" if isinstance(size, Unavailable) else f"{size:,} B"


def kib_text(size: Size) -> str:
    """``22.5 KiB``: binary units, one decimal, from integers only (half up); ``unavailable`` otherwise."""
    if isinstance(size, Unavailable):
        return "unavailable"
    sign, magnitude = ("−", -size) if size < 0 else ("", size)
    tenths = (magnitude * 10 + 512) // 1024
    return f"{sign}{tenths // 10:,}.{tenths % 10} KiB"


_UNITS: Final = {"": 1, "b": 1, "kib": 1024, "mib": 1024**2}
_TYPED: Final = re.compile(r"([0-9][0-9,_. \u00a0\u202f]*?)\s*([a-z]*)", re.ASCII | re.IGNORECASE)
_GROUPED: Final = re.compile(r"[0-9]+|[0-9]{1,3}(?:([,_ \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*", re.ASCII)


def bytes_from_text(text: str) -> int:
    """A number of bytes as typed, or as TileView itself prints it: ``586,960 B``, ``573.2 KiB``, both together.

    Thousands may be separated by commas, underscores or spaces, in groups of three; a fraction needs a point and a
    unit (KiB, MiB), and is rounded to whole bytes, half up.

    Raises
    ------
    ValueError
        With a sentence that says what is wrong and what to type.
    """
    shown = text.strip()
    both = re.fullmatch(r"[^()]*KiB \(([^()]*B)\)", shown)
    match = _TYPED.fullmatch(both.group(1) if both else shown) if len(shown) <= 60 else None
    unit = _UNITS.get(match.group(2).lower()) if match else None
    if match is None or unit is None:
        raise ValueError(f"{shown[:40]!r} is not a number of bytes such as 586960, 48KiB or 573.2 KiB")
    whole, point, fraction = match.group(1).partition(".")
    if _GROUPED.fullmatch(whole) is None or (point and re.fullmatch(r"[0-9]+", fraction, re.ASCII) is None):
        if re.fullmatch(r"[0-9]+,[0-9]+", match.group(1), re.ASCII):
            meant = match.group(1).replace(",", ".") + match.group(2)
            raise ValueError(f"{shown[:40]!r}: use a point for a fraction ({meant}); a comma separates thousands")
        raise ValueError(f"{shown[:40]!r}: separate thousands in groups of three, as in 586,960")
    if point and unit == 1:
        raise ValueError(f"{shown[:40]!r}: bytes are whole; give a fraction of KiB or MiB")
    from fractions import Fraction

    number = Fraction(re.sub(r"[^0-9]", "", whole) + point + fraction) * unit
    found = int(number + Fraction(1, 2))
    if found > LARGEST_LIMIT_BYTES:
        raise ValueError(f"{shown[:40]} is more than 2^62 bytes")
    return found


def size_text(size: Size) -> str:
    """``22.5 KiB (23,040 B)``, or ``unavailable``."""
    return "unavailable" if isinstance(size, Unavailable) else f"{kib_text(size)} ({exact_text(size)})"


def percent_text(part: int, whole: int, signed: bool = False) -> str:
    """part / whole as per cent with one decimal (half up, from integers); empty where ``whole`` is 0."""
    if whole == 0:
        return ""
    sign = "−" if (part < 0) != (whole < 0) and part else "+" if signed and part else ""
    tenths = (abs(part) * 2000 + abs(whole)) // (2 * abs(whole))
    return f"{sign}{tenths // 10:,}.{tenths % 10} %"
