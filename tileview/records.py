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
    """Stands in for ``__init__`` until the first call."""

    def first(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = _init_of(cls)
        self.__init__(*values, **named)

    return first


def _init_of(cls: type[Any]) -> Callable[..., None]:
    """``__init__`` with the fields as parameters, each put into its slot."""
    names: dict[str, Any] = {"absent": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for field in dataclasses.fields(cls):
        name, value, default = field.name, field.name, ""
        if field.default_factory is not dataclasses.MISSING:
            names[f"made_{name}"] = field.default_factory
            made = f"made_{name}()"
            value, default = (f"{made} if {name} is absent else {name}", "=absent") if field.init else (made, "")
        elif field.default is not dataclasses.MISSING:
            names[f"default_{name}"] = field.default
            value, default = (name, f"=default_{name}") if field.init else (f"default_{name}", "")
        elif not field.init:
            continue
        parameters += [f"{name}{default}"] if field.init else []
        names[f"set_{name}"] = getattr(cls, name).__set__
        lines.append(f"    set_{name}(self, {value})")
    lines += ["    self.__post_init__()"] if hasattr(cls, "__post_init__") else ["    pass"]
    exec("\n".join((f"def __init__({', '.join(parameters)}):", *lines)), names)
    init = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return cast(Callable[..., None], init)


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
