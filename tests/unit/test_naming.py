"""Ids of names: dictionaries and hashes."""

from collections import Counter
from pathlib import Path

import pytest

from cwtool.convert.naming import Dictionary, Hashing, hashed
from cwtool.data.names import read_names
from cwtool.errors import UsageError


def test_hashes_never_change() -> None:
    assert [hashed(name, 18) for name in ("", "age", "city=Paris", "host=пример")] == [
        1,
        160119,
        15482,
        10231,
    ]
    assert {hashed(name, 1) for name in map(str, range(50))} == {1, 2}
    assert max(hashed(str(k), 30) for k in range(1000)) <= 2**30


def test_hashes_are_spread() -> None:
    """n names in m places leave about m exp(-n/m) places empty."""
    names = [f"column{k % 40}={k}" for k in range(1 << 14)]
    used = Counter(hashed(name, 14) for name in names)
    assert abs((1 << 14) - len(used) - 6027) < 400
    assert max(used.values()) < 12


def test_whole_numbers_are_their_own_ids() -> None:
    ids = Dictionary(None)
    names = ["7", "a", "1", "b", "007", "0", "2147483647", "2147483648", "7", "a"]
    assert [ids.id_of(name) for name in names] == [7, 1, 2, 3, 4, 5, 2147483647, 6, 7, 1]


def test_names_with_odd_characters_share_the_id_of_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "n.tsv"
    ids = Dictionary(path)
    odd = ["a\tb", "a\\tb", "c\x85d", " e ", "e"]
    assert [ids.id_of(name) for name in odd] == [1, 1, 2, 3, 3]
    ids.save()
    again = Dictionary(path)
    assert [again.id_of(name) for name in odd] == [1, 1, 2, 3, 3]
    assert again.fresh == []


def test_a_file_without_a_last_line_end_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "n.tsv"
    path.write_text("1\ta\n3\tb")
    ids = Dictionary(path)
    assert [ids.id_of(name) for name in "bca"] == [3, 2, 1]
    ids.save()
    assert path.read_text() == "1\ta\n3\tb\n2\tc\n"


def test_names_that_share_a_hash_are_shown_together(tmp_path: Path) -> None:
    path = tmp_path / "n.tsv"
    ids = Hashing(path, 1)
    for name in map(str, range(3)):
        ids.id_of(name)
    ids.save()
    shown = read_names(path).by_id
    assert sorted(" or ".join(shown.values()).split(" or ")) == ["0", "1", "2"]
    with pytest.raises(UsageError, match="hashed with 1 bits"):
        Dictionary(path)
