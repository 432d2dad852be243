"""Parts are disjoint, complete, of the asked size, and the same every time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cwtool.errors import DataError
from data_scripts.rows import Parts, Row
from data_scripts.splits import given, mixed, random, streamed, subsample


def read(*paths: Path) -> Iterator[Row]:
    """As many rows as the names of the paths say."""
    return iter([("1", f"{path}/{i}") for path in paths for i in range(int(path.name))])


def split(parts: Parts, *names: str) -> dict[str, list[str]]:
    paths = [Path(name) for name in names]
    return {stem: [row for _, row in rows] for stem, rows in parts(paths)}


def test_given() -> None:
    assert split(given(read), "2", "1") == {"train": ["2/0", "2/1"], "test": ["1/0"]}
    both = split(given(read), "a/1", "b/1", "c/1", "d/1")
    assert both == {"train": ["a/1/0", "b/1/0"], "test": ["c/1/0", "d/1/0"]}


@pytest.mark.parametrize(("train", "n"), [(0.7, 246), (300, 300), (0.5, 176)])
def test_random(train: float, n: int) -> None:
    both = split(random(read, train), "351")
    assert [len(both["train"]), len(both["test"])] == [n, 351 - n]
    rows = [row for _, row in read(Path("351"))]
    assert sorted(both["train"] + both["test"]) == sorted(rows)
    assert both["train"] != sorted(both["train"], key=rows.index)
    assert both == split(random(read, train), "351")


def test_streamed_keeps_the_order() -> None:
    both = split(streamed(read, 70, 100), "100")
    rows = [row for _, row in read(Path("100"))]
    assert [len(both["train"]), len(both["test"])] == [70, 30]
    assert both["train"] == [row for row in rows if row not in both["test"]]
    assert both["train"] != rows[:70]


def test_subsample_leaves_the_test_part_alone() -> None:
    both = split(subsample(read, 5, 40), "40", "9")
    assert len(both["train"]) == 5
    assert both["test"] == [f"9/{i}" for i in range(9)]


@pytest.mark.parametrize("n", ["99", "101"])
def test_another_number_of_rows_is_an_error(n: str) -> None:
    with pytest.raises(DataError, match=f"has {n} rows and not 100"):
        split(streamed(read, 70, 100), n)


def test_mixed_has_every_row() -> None:
    rows = [("1", str(i)) for i in range(50)]
    assert list(mixed(rows)) != rows
    assert sorted(mixed(rows)) == sorted(rows)
