"""The values that Rust Debug text stands for, and how they are printed.

:mod:`tileview.formats.debugtext` describes the notation and parses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Unit:
    """A bare name: ``None``, ``RowMajor``."""

    name: str


@dataclass(frozen=True, slots=True)
class Struct:
    """``Name { field: value, … }``; ``partial`` where it ends in ``..`` (the printing side left fields out)."""

    name: str
    fields: tuple[tuple[str, DebugValue], ...]
    partial: bool = False

    def get(self, field: str) -> DebugValue | None:
        """The value of a field, None where the struct has no such field."""
        for name, value in self.fields:
            if name == field:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Call:
    """``Name(value, …)``; a plain tuple ``(value, …)`` has the name ``""``."""

    name: str
    items: tuple[DebugValue, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """``{key: value, …}`` in the order of the text. ``{}`` is an empty map."""

    entries: tuple[tuple[DebugValue, DebugValue], ...]


@dataclass(frozen=True, slots=True)
class Set:
    """``{value, …}``, not empty."""

    items: tuple[DebugValue, ...]


@dataclass(frozen=True, slots=True)
class Char:
    """A character in single quotes."""

    char: str


# A list is a Python tuple; the other plain values are themselves.
DebugValue = Unit | Struct | Call | Map | Set | Char | str | int | float | bool | tuple[Any, ...]


def to_text(value: DebugValue) -> str:
    """The text that Rust's ``{:?}`` gives for a value.

    Characters are escaped as Rust does for the common cases; which of the rarer characters count as printable may
    differ from the compiler's edition, so the text is equal in meaning and usually, not always, to the byte.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, str):
        return f'"{_escape(value, chr(34))}"'
    if isinstance(value, tuple):
        return f"[{_joined(value)}]"
    if isinstance(value, Unit):
        return value.name
    if isinstance(value, Call):
        trailing = "," if not value.name and len(value.items) == 1 else ""
        return f"{value.name}({_joined(value.items)}{trailing})"
    if isinstance(value, Struct):
        parts = [f"{name}: {to_text(item)}" for name, item in value.fields] + ([".."] if value.partial else [])
        return f"{value.name} {{ {', '.join(parts)} }}" if parts else f"{value.name} {{  }}"
    if isinstance(value, Map):
        return "{" + ", ".join(f"{to_text(key)}: {to_text(item)}" for key, item in value.entries) + "}"
    if isinstance(value, Set):
        return "{" + _joined(value.items) + "}"
    return f"'{_escape(value.char, chr(39))}'"


def _joined(items: tuple[DebugValue, ...]) -> str:
    return ", ".join(map(to_text, items))


def _float_text(value: float) -> str:
    if value != value:
        return "NaN"
    text = repr(value)
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    mantissa = mantissa.removesuffix(".0")
    return f"{mantissa}e{int(exponent)}"


def _escape(text: str, quote: str) -> str:
    return "".join(_escaped(char, quote) for char in text)


def _escaped(char: str, quote: str) -> str:
    if char == quote or char == "\\":
        return "\\" + char
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}.get(char)
    if named is not None:
        return named
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"
