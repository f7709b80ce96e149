"""Records do what dataclasses that are frozen and have slots do."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace

import pytest

from tileview.records import record


@record
class Point:
    """A point."""

    x: int
    y: int = 0
    names: Mapping[int, str] = field(default_factory=dict)
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Plain:
    """The same, made by dataclasses alone."""

    x: int
    y: int = 0
    names: Mapping[int, str] = field(default_factory=dict)
    note: str = field(default="", compare=False, repr=False)


@record
class Named(Point):
    name: str = "no"


@record
class Doubled:
    value: int
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.value)

    def __hash__(self) -> int:
        return 7


@record(eq=False)
class Alone:
    value: int


@record
class Nothing:
    pass


def test_it_is_made_shown_and_compared_as_a_dataclass_is():
    for values, named in (((1,), {}), ((1, 2), {"note": "n"}), ((), {"x": 3, "names": {1: "a"}})):
        made, plain = Point(*values, **named), Plain(*values, **named)
        assert repr(made) == repr(plain).replace("Plain", "Point")
        assert [getattr(made, one.name) for one in fields(made)] == [getattr(plain, one.name) for one in fields(plain)]
    assert Point(1, 2, note="a") == Point(1, 2, note="b")
    assert Point(1, 2) != Point(1, 3)
    assert Point(1) != Plain(1)
    assert Point(1) != Named(1)
    assert Named(1, name="b").name == "b"
    assert [one.name for one in fields(Named)] == ["x", "y", "names", "note", "name"]
    assert hash(Point(1, 2, ())) == hash(Point(1, 2, (), "other"))
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()


def test_it_is_frozen_and_has_slots():
    made = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        made.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del made.x
    assert not hasattr(made, "__dict__")
    assert is_dataclass(made)


def test_it_is_replaced_matched_and_pickled():
    assert replace(Point(1, 2), y=5) == Point(1, 5)
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
    for made in (Point(1, 2, {3: "c"}, "n"), Named(1, name="b"), Doubled(4), Nothing()):
        assert pickle.loads(pickle.dumps(made)) == made
    assert pickle.loads(pickle.dumps(Point(1, note="n"))).note == "n"


def test_what_a_class_says_itself_stays():
    assert Doubled(4).twice == 8
    assert Doubled(4) == Doubled(4)
    assert hash(Doubled(4)) == 7
    assert Alone(1) != Alone(1)
    one = Alone(1)
    assert {one: 1}[one] == 1
    assert repr(one) == "Alone(value=1)"
