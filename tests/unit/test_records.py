"""Records against the dataclasses of the standard library."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from cwtool.records import dataclass


@dataclass(frozen=True)
class Place:
    x: int
    y: int = 2
    names: list[str] = dataclasses.field(default_factory=list)
    note: str = dataclasses.field(default="", compare=False)


@dataclass(frozen=True)
class Named(Place):
    name: str = "a"


@dataclass
class Counter:
    """Counts."""

    n: int = 0

    def __post_init__(self) -> None:
        self.n += 1


@dataclass(kw_only=True)
class Base:
    last: int = 0


@dataclass
class Derived(Base):
    first: int


def test_fields_are_given_by_place_and_by_name() -> None:
    assert Place(1) == Place(x=1, y=2, names=[])
    assert Place(1, 3, ["b"]).names == ["b"]
    assert Place(1).names is not Place(1).names
    assert (Named(1, name="c").name, Named(1, 2, [], "", "d").name) == ("c", "d")
    assert (Derived(4, last=5).first, Derived(4).last) == (4, 0)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {}),
        ((1, 2, [], "", 5), {}),
        ((1,), {"x": 1}),
        ((1,), {"z": 1}),
    ],
)
def test_wrong_fields_are_refused(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="its fields are x, y, names, note"):
        Place(*given, **named)


def test_fields_by_name_alone_are_not_taken_by_place() -> None:
    wrong: Any = Derived
    with pytest.raises(TypeError, match="Derived was given 2 values"):
        wrong(4, 5)


def test_frozen_objects_cannot_be_changed() -> None:
    changed: Any = Place(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="x"):
        changed.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="x"):
        del changed.x
    assert changed == Place(1)


def test_equal_objects_are_of_one_class_and_have_one_hash() -> None:
    assert Place(1, note="a") == Place(1, note="b")
    assert Place(1) != Place(2)
    assert Place(1) != Named(1)
    names: Any = ()
    assert hash(Place(1, names=names, note="a")) == hash(Place(1, names=names, note="b"))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_methods_of_the_class_stay() -> None:
    assert Counter().n == 1
    assert repr(Counter(3)) == "Counter(n=4)"
    assert (Counter.__doc__, Place.__doc__) == ("Counts.", "Place")


def test_the_standard_library_knows_the_fields() -> None:
    assert dataclasses.replace(Place(1), y=5) == Place(1, 5)
    assert dataclasses.asdict(Place(1)) == {"x": 1, "y": 2, "names": [], "note": ""}
    assert [f.name for f in dataclasses.fields(Named)] == ["x", "y", "names", "note", "name"]


def test_objects_can_be_copied_and_pickled() -> None:
    """Tasks for worker processes are records, and joblib and Dask send them as pickles. Model files
    are never pickles."""
    place = Place(1, names=["a"])
    assert pickle.loads(pickle.dumps(place)) == place
    assert copy.deepcopy(place) == place
