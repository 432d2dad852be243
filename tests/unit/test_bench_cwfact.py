"""The experiments of CW-fact: their data, their runs, and the words made from the numbers."""

import numpy as np
import pytest

from cwtool.bench.cwfact import METHODS, compared, copies, orders, play, synthetic


def test_copies_of_ten_bits() -> None:
    block = copies(np.random.default_rng(0), 400, 30)
    X = block.values.reshape(400, 30, 10)
    bits = np.sign(X.sum(axis=1))
    flipped = (bits[:, None] != X).mean()
    assert 0.04 < flipped < 0.06
    w = np.linalg.lstsq(bits, block.y, rcond=None)[0]
    assert (np.sign(bits @ w) == block.y).mean() > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns(method: str) -> None:
    block = copies(np.random.default_rng(1), 300, 5)
    played = play(method, block, block.order)
    assert len(played.wrong) == 300
    assert played.wrong[150:].mean() < 0.3
    again = play(method, block, block.order)
    assert np.array_equal(again.wrong, played.wrong)


def test_only_the_rows_of_the_order_count() -> None:
    block = copies(np.random.default_rng(1), 100, 2)
    (half,) = orders(block, 1, timed=True)
    assert 30 < len(half) < 70
    assert (np.diff(half) > 0).all()
    assert len(play("PA", block, half).wrong) == len(half)
    (shuffled,) = orders(block, 1, timed=False)
    assert sorted(shuffled.tolist()) == list(range(100))


@pytest.mark.parametrize(
    ("a", "words"),
    [
        ([1.0, 1.1, 0.9], "A is **better** than B: -1.00"),
        ([3.0, 3.1, 2.9], "A is **worse** than B: +1.00"),
        ([0.0, 4.0, 2.3], "A is not told from B: +0.10"),
    ],
)
def test_words(a: list[float], words: str) -> None:
    assert words in compared("A", np.array(a), "B", np.full(3, 2.0), "points")


def test_report() -> None:
    said: list[str] = []
    synthetic(2, said.append)
    assert [len(line.split("|")) for line in said[1].splitlines()] == [6] * (2 + len(METHODS))
    assert sum(" than " in line or "not told from" in line for line in said) == 11
