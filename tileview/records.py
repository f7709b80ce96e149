"""Frozen records: dataclasses that cost next to nothing until they are used.

``dataclass(frozen=True, slots=True)`` compiles six methods for every class, which takes half a millisecond; for the few
hundred classes here that is a tenth of a second at the start of each process. Records share the methods that can be the
same for all, and ``__init__`` is compiled when the first one is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform, overload

_T = TypeVar("_T")


@overload
def record(cls: type[_T], /) -> type[_T]: ...
@overload
def record(*, eq: bool) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[Any] | None = None, /, *, eq: bool = True) -> Any:
    """Make a class a frozen dataclass with slots; ``fields``, ``replace``, ``match`` and pickle know it as one.

    Parameters
    ----------
    eq : bool
        Whether two with equal fields are equal; if not, each is equal to itself alone.
    """
    return (lambda one: _made(one, eq)) if cls is None else _made(cls, eq)


def _made(cls: type[Any], eq: bool) -> type[Any]:
    own = cls.__dict__
    is_hashed = own.get("__hash__") is not None  # None: Python's own, where a class has an __eq__ and nothing else
    cls.__doc__ = cls.__doc__ or cls.__name__  # dataclasses would look long for the signature, to have something to say
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    fields = dataclasses.fields(made)
    names = tuple(field.name for field in fields)
    key = _getter(tuple(field.name for field in fields if field.compare))
    shared = {
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__repr__": _text,
        "__getstate__": _state_of(names),
        "__setstate__": _taker_of(names),
        **({"__eq__": _equality_of(key)} if eq else {}),
    }
    for name, method in shared.items():
        if name not in own:
            setattr(made, name, method)
    if eq and not is_hashed:
        made.__hash__ = lambda self: hash(key(self))
    made.__init__ = _first_init(made)
    return cast(type[Any], made)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What makes a tuple of some attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _first_init(cls: type[Any]) -> Callable[..., None]:
    """Stands in for ``__init__`` until the first call: dataclasses make it of a class with the same fields."""

    def first(self: Any, *values: Any, **named: Any) -> None:
        fields = dataclasses.fields(cls)
        like: dict[str, Any] = {field.name: field for field in fields}
        like["__annotations__"] = {field.name: field.type for field in fields}
        like |= {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        if hasattr(cls, "__post_init__"):
            like["__post_init__"] = cls.__post_init__
        model: Any = dataclasses.dataclass(frozen=True, repr=False, eq=False)(type(cls.__name__, (), like))
        cls.__init__ = model.__init__
        self.__init__(*values, **named)

    return first


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _text(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _equality_of(key: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def is_equal(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    return is_equal


def _state_of(names: tuple[str, ...]) -> Callable[[Any], list[Any]]:
    return lambda self: [getattr(self, name) for name in names]


def _taker_of(names: tuple[str, ...]) -> Callable[[Any, list[Any]], None]:
    def take_state(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return take_state
