"""When the chains of rff-markov end, and which of their samples are the model."""

from itertools import permutations

import numpy as np
import pytest

from cwtool.algorithms.fourier_features.chains import Chain, agree, drawn, run_all, run_apart
from cwtool.algorithms.fourier_features.fourier import Prior, telling
from cwtool.algorithms.fourier_features.rff_params import RffParams
from cwtool.parallel import EngineOptions


@pytest.mark.parametrize(
    ("rows", "rare", "lengths"),
    [
        (500, 250, [15_625, 31_250, 62_500, 125_000]),
        (500, 239, [29_875, 59_750, 119_500]),
        (700, 350, [18_750, 37_500, 75_000, 150_000]),
        (700, 40, [20_000, 40_000]),
        (3_000, 1_000, [18_750, 37_500, 75_000]),
        (20, 10, [20_000]),
        (500, 0, [20_000]),
        (40_000, 20_000, [20_000]),
    ],
)
def test_numbers_of_iterations(rows: int, rare: int, lengths: list[int]) -> None:
    assert RffParams().lengths_for(rows, rare) == lengths
    assert RffParams(iterations=700).lengths_for(rows, rare) == [700]


def chains(signal: bool, number: int = 4) -> list[Chain]:
    """For 80 rows whose sign is that of the first column, or says nothing."""
    random = np.random.default_rng(1)
    x, noise = random.standard_normal((3, 80)), random.choice([-1.0, 1.0], 80)
    y = np.where(x[0] > 0, 1.0, -1.0) if signal else noise
    return [Chain(x, y, Prior(), 0, k) for k in range(number)]


def test_they_end_when_they_agree() -> None:
    some, one = chains(signal=True), chains(signal=True, number=1)
    run_all(some, [4000, 8000, 16_000], 100, 1)
    assert some[0].done == 4000
    assert agree(some)
    run_all(one, [4000, 8000], 100, 1)  # has no other to agree with
    assert one[0].done == 8000


def test_they_go_on_when_they_found_nothing() -> None:
    some = chains(signal=False)
    run_all(some, [200, 400, 800], 50, 1)
    assert some[0].done == 800
    assert [len(chain.kept) for chain in some] == [50] * 4


def test_they_end_when_they_have_found_nothing_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that do not agree but have found something go on."""
    monkeypatch.setattr("cwtool.algorithms.fourier_features.chains.ENOUGH", 300)
    here, there = chains(signal=False), chains(signal=False)
    run_all(here, [200, 400, 800], 50, 1)
    run_apart(there, [200, 400, 800], 50, EngineOptions("inline"))
    assert [here[0].done, there[0].done] == [400, 400]
    monkeypatch.setattr("cwtool.algorithms.fourier_features.chains.CLOSE", 0)
    some = chains(signal=True)
    run_all(some, [200, 400, 800], 50, 1)
    assert some[0].done == 800


def test_triples_are_tried_if_no_pair_tells() -> None:
    """In all orders; pairs and single columns are filled up."""
    x = np.random.default_rng(4).standard_normal((6, 400))
    found = telling(x, np.sign(x[1] * x[3] * x[4]), 3)
    assert sorted(found.tolist()) == sorted(map(list, permutations((1, 3, 4))))
    assert telling(x, np.sign(x[1] * x[3] * x[4]), 2).tolist() == []
    assert telling(x, np.sign(x[2] * x[5]), 3).tolist()[:2] == [[2, 5], [5, 2]]
    assert telling(x, np.sign(x[2] ** 2 - 1), 3).tolist() == [[2, -1]]
    assert telling(x, np.sign(x[2] ** 2 - 1), 1).tolist() == [[2]]


def test_agreement_is_of_halves_of_chains() -> None:
    """Against the formula, from probabilities that were computed row by row."""
    some = chains(signal=True, number=3)
    run_all(some, [401], 7, 1)
    halves = []
    for chain in some:
        f = np.zeros((7, 80))
        for k, kept in enumerate(chain.kept):
            f[k] = kept.intercept[0]
            for q in range(len(kept.phase)):
                atoms = slice(kept.chains[q], kept.chains[q + 1])
                angle = kept.omega[atoms] @ chain.x[kept.z[atoms]] + kept.phase[q]
                f[k] += kept.beta[q] * np.sqrt(2) * np.cos(angle)
        p = 1 / (1 + np.exp(-f))
        halves += [p[:4].mean(axis=0), p[4:].mean(axis=0)]
        np.testing.assert_allclose(chain.halves / chain.counts, halves[-2:], atol=1e-9)
    share = np.var(halves, axis=0, ddof=1).mean() / np.mean(halves, axis=0).var()
    assert agree(some) == (share <= 0.05)


@pytest.mark.parametrize("same", [True, False])
def test_samples_of_all_chains_or_of_the_better_half(same: bool) -> None:
    some = chains(signal=True)
    run_all(some, [4000], 20, 1)
    if not same:
        some[1].halves[:] = some[2].halves[:] = 0
    assert agree(some) == same
    samples, loglik = drawn(some)
    assert len(samples.intercept) == 40
    each = [{kept.loglik[0] for kept in chain.kept} for chain in some]
    taken = [len(own & set(samples.loglik)) for own in each]
    best = np.argsort(-loglik)[:2].tolist()
    assert taken == ([10] * 4 if same else [20 if k in best else 0 for k in range(4)])


def test_on_an_engine_they_are_the_same() -> None:
    here, there = chains(signal=False), chains(signal=False)
    run_all(here, [300, 600], 20, 2)
    run_apart(there, [300, 600], 20, EngineOptions("loky", jobs=2))
    for a, b in zip(drawn(here)[0], drawn(there)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    assert [chain.done for chain in there] == [600] * 4
