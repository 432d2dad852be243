"""Pairs and triples of columns that tell classes apart, against a slow search, and what pairs do
for sdist."""

from itertools import combinations

import numpy as np
import pytest

from cwtool.algorithms.neighbours import screening
from cwtool.algorithms.neighbours.screening import telling_pairs, telling_triples
from cwtool.bench.synthetic import hidden


def slow_pairs(x: np.ndarray, kind: np.ndarray, classes: list[int]) -> list[tuple[int, int]]:
    """The same by loops over all pairs and classes."""
    p = x.shape[1]
    bound = np.sqrt(2 * np.log(p * (p + 1) / 2 * len(classes))) + screening.EXCESS
    found = {}
    for a in range(p):
        for b in range(a, p):
            z = []
            for class_ in classes:
                y = (kind == class_) - np.mean(kind == class_)
                q = y * x[:, a] * x[:, b]
                z.append(abs(q.sum()) / np.sqrt((q**2).sum()))
            if max(z) > bound:
                found[a, b] = max(z)
    return sorted(found, key=lambda pair: -found[pair])[: screening.MOST]


@pytest.mark.parametrize("block", [256, 7])
def test_pairs_are_those_of_a_slow_search(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "BLOCK", block)
    x, y = hidden("xor", 200, 20, 1, informative=6)
    kind = (y > 0).astype(np.int32)
    found = telling_pairs(x - x.mean(axis=0), kind)
    assert found == slow_pairs(x - x.mean(axis=0), kind, [1])
    assert {(0, 1), (2, 3)} <= set(found)
    kind[x[:, 7] ** 2 > 1] = 2  # a third class, which a square tells
    found = telling_pairs(x - x.mean(axis=0), kind)
    assert found == slow_pairs(x - x.mean(axis=0), kind, [0, 1, 2])
    assert (7, 7) in found


def test_triples_are_those_of_a_slow_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "EXCESS", 0.0)
    x = np.random.default_rng(2).standard_normal((250, 14))
    x[:, 8] = x[:, 2]
    kind = (x[:, 2] * x[:, 5] * x[:, 13] + 0.2 * x[:, 1] * x[:, 3] * x[:, 4] > 0).astype(np.int32)
    y, size = kind - kind.mean(), {}
    for one in combinations(range(14), 3):
        q = y * x[:, list(one)].prod(axis=1)
        size[one] = abs(q.sum()) / np.sqrt((q**2).sum())
    some = [one for one in size if size[one] > np.sqrt(2 * np.log(len(size)))]
    found = telling_triples(x, kind)
    assert sorted(found) == sorted(some)
    assert set(found[:2]) == {(2, 5, 13), (5, 8, 13)}
    monkeypatch.setattr(screening, "LARGEST_TRIPLES", 1e5)
    assert telling_triples(x, kind) == []


def test_noise_has_no_telling_pairs() -> None:
    x, _ = hidden("ring", 300, 60, 1)
    kind = np.random.default_rng(3).integers(2, size=300).astype(np.int32)
    assert telling_pairs(x, kind) == []
    assert telling_pairs(x, np.zeros(300, dtype=np.int32)) == []  # one class
    assert telling_pairs(x[:, :0], kind) == []
    assert telling_triples(x, kind) == []
    assert telling_triples(x, np.zeros(300, dtype=np.int32)) == []
    assert telling_triples(x[:, :2], kind) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_two_columns_of_an_exclusive_or_are_found_among_300(seed: int) -> None:
    """No column alone says anything; the least possible error is 15 %."""
    pytest.importorskip("sklearn")
    from cwtool.estimators import SDistClassifier

    x, y = hidden("xor", 400, 300, seed)
    model = SDistClassifier(steps=150).fit(x, y)
    assert model.score(*hidden("xor", 1000, 300, seed + 100)) > 0.75
