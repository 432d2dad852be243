"""Parameters: declared, checked, and built by the names that they have or had."""

from dataclasses import dataclass

import pytest

from cwtool import registry
from cwtool.errors import UsageError
from cwtool.params import AUTO, Param, build, declared, param


@dataclass(frozen=True)
class Some:
    C: float = param(1.0, "price", above=0)
    rank: int = param(4, "rank", low=1, high=9)
    kind: str = param("a", "kind", choices=("a", "b"))
    prior: float | str = param(AUTO, "prior", kind=float, above=0, auto=True)
    average: bool = param(False, "average")
    cov_rank: float = param(0.5, "share", low=0, high=1, formerly=("rho", "k_share"))
    hidden: int = 3  # no parameter


def test_declared_in_order() -> None:
    found = declared(Some)
    assert [p.name for p in found] == ["C", "rank", "kind", "prior", "average", "cov_rank"]
    assert [p.default for p in found] == [1.0, 4, "a", AUTO, False, 0.5]


@pytest.mark.parametrize("name", ["cov_rank", "rho", "k_share"])
def test_former_names_are_understood(name: str) -> None:
    assert {p.name: p.formerly for p in declared(Some)}["cov_rank"] == ("rho", "k_share")
    assert build(Some, {name: "0.25"}) == Some(cov_rank=0.25)
    with pytest.raises(UsageError, match="`cov_rank` is 2; it must be at least 0 and at most 1"):
        build(Some, {name: 2})


def test_no_name_means_two_parameters() -> None:
    """In no algorithm is a former name the name, or a former name, of another parameter."""
    renamed = 0
    for algo in registry.names():
        found = declared(registry.algorithm(algo).Params)
        names = [name for p in found for name in (p.name, *p.formerly)]
        assert len(set(names)) == len(names), algo
        renamed += len(names) - len(found)
    assert renamed > 10


def test_ranges_in_words() -> None:
    words = {p.name: p.range for p in declared(Some)}
    assert words["C"] == "above 0"
    assert words["rank"] == "at least 1 and at most 9"
    assert words["kind"] == "one of a, b"
    assert words["prior"] == "auto, or above 0"
    assert words["cov_rank"] == "at least 0 and at most 1"


def test_build_converts() -> None:
    made = build(Some, {"C": "2.5", "rank": "9", "prior": "auto", "average": True})
    assert made == Some(C=2.5, rank=9, average=True)
    assert isinstance(made.rank, int)
    assert build(Some, {"prior": "3"}).prior == 3.0
    assert build(Some, {}) == Some()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"C": 0}, "`C` is 0; it must be above 0"),
        ({"C": "nan"}, "above 0"),
        ({"C": "inf"}, "above 0"),
        ({"C": "much"}, "`C` is 'much'"),
        ({"C": AUTO}, "`C` is 'auto'"),
        ({"C": None}, "`C` is None"),
        ({"rank": 0}, "`rank` is 0; it must be at least 1 and at most 9"),
        ({"rank": 10}, "at most 9"),
        ({"rank": "2.5"}, "`rank` is '2.5'; it must be a whole number"),
        ({"prior": "much"}, "`prior` is 'much'; it must be auto or a number"),
        ({"kind": "c"}, "one of a, b"),
        ({"prior": "-1"}, "auto, or above 0"),
        ({"nothing": 1}, "there is no parameter 'nothing' here; the parameters are C, rank"),
        ({"hidden": 1}, "there is no parameter 'hidden'"),
    ],
    ids=str,
)
def test_build_refuses(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        build(Some, given)


def test_days_are_named_where_they_are_allowed() -> None:
    with pytest.raises(UsageError, match="it must be a whole number, or days such as 30d"):
        build(registry.algorithm("arow").Params, {"half_life": "month"})


def test_a_whole_number_must_be_whole() -> None:
    """2.5 from a config file is not quietly 2."""
    with pytest.raises(UsageError):
        build(Some, {"rank": 2.5})


@pytest.mark.parametrize("value", [1e101, 1e-101, -1e101, "5e-324", 1e308])
def test_numbers_whose_squares_are_none(value: object) -> None:
    with pytest.raises(UsageError, match="must be between 1e-100 and 1e\\+100"):
        Param("a", float, 1.0, "Help.").check(value)
    assert Param("a", float, 1.0, "Help.").check(0) == 0
