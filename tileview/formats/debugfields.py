"""Fields and values of known type, read from Debug text.

What ends in ``_in`` reads a field of a struct, what ends in ``_from`` a value. A field that is needed and missing, or
of the wrong type, is a :class:`~tileview.formats.check.FieldError` whose place is the field's path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tileview.formats.check import FieldError, join, shorten
from tileview.formats.debugvalues import Call, DebugValue, Map, Struct, Unit, to_text
from tileview.model.sizes import U64_MAX
from tileview.model.tensor import Shape

T = TypeVar("T")


def wrong_value(place: str, expected: str, value: DebugValue | None) -> FieldError:
    found = "nothing: the field is missing" if value is None else shorten(to_text(value))
    return FieldError(place, expected, found)


def needed_in(struct: Struct, field: str, place: str) -> tuple[DebugValue, str]:
    where = join(place, field)
    value = struct.get(field)
    if value is None:
        raise wrong_value(where, "a value", None)
    return value, where


def struct_from(value: DebugValue, name: str, place: str) -> Struct:
    if isinstance(value, Struct) and (value.name == name or not name):
        return value
    raise wrong_value(place, f"{name or 'a struct'} {{ … }}", value)


def u64_from(value: DebugValue, place: str) -> int:
    if type(value) is int and 0 <= value <= U64_MAX:
        return value
    raise wrong_value(place, "a whole number from 0 to 2^64 − 1", value)


def count_in(struct: Struct, field: str, place: str) -> int:
    return u64_from(*needed_in(struct, field, place))


def flag_in(struct: Struct, field: str, place: str) -> bool:
    value, where = needed_in(struct, field, place)
    if isinstance(value, bool):
        return value
    raise wrong_value(where, "true or false", value)


def text_in(struct: Struct, field: str, place: str) -> str:
    value, where = needed_in(struct, field, place)
    if isinstance(value, str):
        return value
    raise wrong_value(where, "a text in quotes", value)


def unit_from(value: DebugValue, names: Mapping[str, T], place: str) -> T:
    if isinstance(value, Unit) and value.name in names:
        return names[value.name]
    raise wrong_value(place, " or ".join(names), value)


def items_from(value: DebugValue, place: str) -> tuple[DebugValue, ...]:
    if isinstance(value, tuple):
        return value
    raise wrong_value(place, "a list", value)


def each_in(struct: Struct, field: str, place: str, read: Callable[[DebugValue, str], T]) -> tuple[T, ...]:
    value, where = needed_in(struct, field, place)
    return tuple(read(item, f"{where}[{index}]") for index, item in enumerate(items_from(value, where)))


def id_from(value: DebugValue, place: str) -> int:
    """``ValueId(7)``, ``OperationId(7)``, ``ValueSequenceId(7)``, or a bare number."""
    if type(value) is Call and len(value.items) == 1:
        return u64_from(value.items[0], place)
    return u64_from(value, place)


def shape_from(value: DebugValue, place: str) -> Shape:
    """``TensorShape([1, 4, 588])``, or the bare list."""
    if type(value) is Call and len(value.items) == 1:
        value = value.items[0]
    return tuple(u64_from(item, place) for item in items_from(value, place))


def map_in(struct: Struct, field: str, place: str, read: Callable[[DebugValue, str], T]) -> dict[int, T]:
    """A map whose keys are ids; an id that occurs twice is an error."""
    value, where = needed_in(struct, field, place)
    if not isinstance(value, Map):
        raise wrong_value(where, "a map", value)
    result: dict[int, T] = {}
    for key, item in value.entries:
        number = id_from(key, where)
        if number in result:
            raise FieldError(where, "each id once", f"{number} twice")
        result[number] = read(item, f"{where}[{number}]")
    return result
