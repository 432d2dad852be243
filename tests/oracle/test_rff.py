"""The sampler of random Fourier features: frozen vectors, a slow twin, and its prior."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from jumps import Feature, Sampler, log_chain, loglik, newton

from cwtool.algorithms.fourier_features import chains
from cwtool.algorithms.fourier_features.chains import Chain
from cwtool.algorithms.fourier_features.fourier import Prior, Samples
from cwtool_ext import rff_scores

FROZEN = json.loads((Path(__file__).parent / "vectors/sdist/frozen_rff.json").read_text())


def frozen(*names: str) -> list[np.ndarray]:
    return [np.array(FROZEN[name]) for name in names]


def test_frozen_feature_and_likelihood() -> None:
    """Of the plain version, and of the kernel with this feature and a constant."""
    x, y, phi, eta = frozen("X", "y", "phi", "eta")
    feature = Feature(FROZEN["z"], FROZEN["omega"], FROZEN["b"])
    np.testing.assert_allclose(feature.phi(x), phi, atol=1e-12)
    assert loglik(eta, y) == pytest.approx(FROZEN["loglik"], abs=1e-10)
    chain = Chain(np.ascontiguousarray(x.T), y, Prior(d_max=2))
    chain.d, chain.length[1], chain.z[1, :2] = 1, 2, FROZEN["z"]
    chain.omega[1, :2], chain.phase[1], chain.beta[:2] = FROZEN["omega"], FROZEN["b"], (0.2, 0.7)
    chain.step(np.empty((0, 8)), np.empty((0, 4)), np.empty(0))
    assert chain.loglik == pytest.approx(loglik(0.2 + 0.7 * phi, y), abs=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 4, 1000, 1001, 2503])
@pytest.mark.parametrize("beta", [0.0, 40.0, -3000.0])
@pytest.mark.parametrize("omega", [0.3, 900.0, 3e8])
def test_likelihoods_of_all_sizes(rows: int, beta: float, omega: float) -> None:
    """Of numbers of rows that fill up fours and products of 1,000 factors or not, of scores whose
    exponentials overflow, and of angles beyond those that the kernel reduces itself."""
    random = np.random.default_rng(rows)
    x, y = random.standard_normal((rows, 1)), random.choice([-1.0, 1.0], rows)
    chain = Chain(np.ascontiguousarray(x.T), y, Prior(d_max=2))
    chain.d, chain.length[1], chain.omega[1, 0], chain.phase[1] = 1, 1, omega, 0.4
    chain.beta[:2] = beta, 0.7
    chain.step(np.empty((0, 8)), np.empty((0, 4)), np.empty(0))
    phi = Feature([0], [omega], 0.4).phi(x)
    np.testing.assert_allclose(chain._phi[1, :rows], phi, atol=1e-12 if omega < 1e3 else 1e-6)
    expected = loglik(beta + 0.7 * chain._phi[1, :rows], y)
    assert chain.loglik == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_frozen_newton() -> None:
    phi, eta, y = frozen("phi", "eta", "y")
    assert newton(phi, eta, y, FROZEN["sb2"]) == pytest.approx(FROZEN["newton"], abs=1e-10)


def test_frozen_chains() -> None:
    urn = FROZEN["urn_chains"]
    rest = [FROZEN[k] for k in ("p", "gamma", "conc", "a0", "Tmax")]
    for chain, logp in FROZEN["logp_chain"]:
        assert log_chain(chain, urn, *rest) == pytest.approx(logp, abs=1e-10)


def test_chain_probabilities_sum_to_1() -> None:
    chains = [[i, *rest] for i in range(3) for rest in ([], *([j] for j in range(3)))]
    chains += [[i, j, k] for i in range(3) for j in range(3) for k in range(3)]
    total = sum(np.exp(log_chain(c, [[0, 1], [2], [1, 1, 1]], 3, 2, 0.7, 0.4, 3)) for c in chains)
    assert total == pytest.approx(1, abs=1e-12)


def filled(chains: list[list[int]]) -> np.ndarray:
    """Telling chains as the kernel takes them."""
    width = max((len(chain) for chain in chains), default=1)
    rows = [chain + [-1] * (width - len(chain)) for chain in chains]
    return np.array(rows, dtype=np.int32).reshape(-1, width)


PAIRS, TRIPLES = [[0, 1], [1, 0], [2]], [[2, 0, 1], [0, 1, 2], [1, 0], [0, 1, 2]]


@pytest.mark.parametrize(
    ("seed", "tried"), [(1, []), (2, []), (1, PAIRS), (2, PAIRS), (1, TRIPLES)]
)
def test_the_same_numbers_take_the_same_way(seed: int, tried: list[list[int]]) -> None:
    """Every move, accepted and not, against the slow version, over several calls."""
    random = np.random.default_rng(seed)
    n, p, t_max, d_max = 41 + seed, 3, 2 + seed % 2, 5
    x = random.standard_normal((n, p))
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * random.standard_normal(n) > 0, 1.0, -1.0)
    prior = Prior(d_max, t_max, 1.5, 0.8, 0.4)
    slow = Sampler(x, y, *prior, telling=tried)
    fast = Chain(np.ascontiguousarray(x.T), y, prior, 0, telling=filled(tried))
    happened: Counter[tuple[str, bool]] = Counter()
    for _ in range(60):
        uniforms = random.random((50, 5 + t_max))
        normals = random.standard_normal((50, 1 + t_max))
        heat = random.uniform(0.3, 1, 50)
        fast.step(uniforms, normals, heat)
        for row in zip(uniforms, normals, heat, strict=True):
            happened[slow.iterate(*row)] += 1
        assert fast.d == len(slow.features)
        assert fast.log_s == pytest.approx(slow.log_s, abs=1e-12)
        assert fast.beta[0] == pytest.approx(slow.b0, abs=1e-8)
        assert fast.loglik == pytest.approx(slow.loglik(slow.features), abs=1e-7)
        for k, feature in enumerate(slow.features, 1):
            length = fast.length[k]
            assert fast.z[k, :length].tolist() == feature.z
            np.testing.assert_allclose(fast.omega[k, :length], feature.omega, atol=1e-9)
            np.testing.assert_allclose(fast.phase[k], feature.b, atol=1e-9)
            np.testing.assert_allclose(fast.beta[k], feature.beta, atol=1e-8)
    kinds = ("birth", "death", "extend", "shrink", "replace", "walk", "weigh", "scale")
    assert {(kind, done) for kind in kinds for done in (True, False)} <= set(happened)


@pytest.mark.parametrize("tried", [[], PAIRS, TRIPLES])
def test_without_rows_it_samples_the_prior(tried: list[list[int]]) -> None:
    """D uniform; T of single features; omega, beta and s as they were declared, whatever chains
    births try."""
    prior = Prior(d_max=8)
    chain = Chain(np.zeros((4, 1)), np.empty(0), prior, 5, telling=filled(tried))
    d, t, omega, beta, b0, log_s = [], [], [], [], [], []
    for _ in range(40_000):
        chain.run(np.ones(25))
        d.append(chain.d)
        used = range(1, chain.d + 1)
        if chain.d == 1:
            t.append(int(chain.length[1]))
        omega += [chain.omega[k, 0] / np.exp(chain.log_s) for k in used]
        beta += chain.beta[1 : chain.d + 1].tolist()
        b0.append(chain.beta[0])
        log_s.append(chain.log_s)
    np.testing.assert_allclose(np.bincount(d, minlength=9) / len(d), 1 / 9, atol=0.008)
    # P(T = 1) = alpha0; a second transition may leave the same variable: 1/2 (3/4 1/2 + 1/4 1/4)
    exact = [0.5, 0.21875, 0.28125]
    np.testing.assert_allclose(np.bincount(t, minlength=4)[1:] / len(t), exact, atol=0.03)
    assert np.std(omega) == pytest.approx(1, abs=0.02)
    assert np.std(beta) == pytest.approx(1, abs=0.02)
    assert np.std(b0) == pytest.approx(10, abs=0.5)
    assert np.std(log_s) == pytest.approx(0.5, abs=0.06)


Drawn = list[tuple[float, list[Feature]]]


@pytest.fixture
def drawn() -> Drawn:
    """Samples as they could come, two of them without features."""
    random = np.random.default_rng(3)

    def feature() -> Feature:
        t = random.integers(1, 4)
        z, omega = random.integers(0, 5, t).tolist(), random.standard_normal(t).tolist()
        return Feature(z, omega, random.uniform(0, 6), random.standard_normal())

    counts = (2, 0, 5, 1, 3, 0, 4)
    return [(random.standard_normal(), [feature() for _ in range(d)]) for d in counts]


def flat(drawn: Drawn) -> Samples:
    features = [q for _, some in drawn for q in some]
    return Samples(
        np.cumsum([0, *(len(some) for _, some in drawn)], dtype=np.int32),
        np.cumsum([0, *(len(q.z) for q in features)], dtype=np.int32),
        np.array([j for q in features for j in q.z], dtype=np.int32),
        np.array([w for q in features for w in q.omega]),
        np.array([q.b for q in features]),
        np.array([q.beta for q in features]),
        np.array([b0 for b0, _ in drawn]),
        np.zeros(len(drawn)),
    )


def test_scores_are_those_of_the_mean_probability(drawn: Drawn) -> None:
    """And of rows that were learned: the probability as if they had not been."""
    random = np.random.default_rng(4)
    x = 2 * random.standard_normal((20, 5))
    y = np.where(random.random(20) < 0.5, random.choice([-1.0, 1.0], 20), 0)
    f = np.array([b0 + sum(q.beta * q.phi(x) for q in some) + 0 * x[:, 0] for b0, some in drawn])
    mean = np.mean(1 / (1 + np.exp(-f)), axis=0)
    without = 1 / np.mean(1 + np.exp(-y * f), axis=0)  # of the label y
    expected = np.where(y == 0, np.log(mean / (1 - mean)), y * np.log(without / (1 - without)))
    a, out = flat(drawn), np.empty(20)
    rff_scores.scores(x, y, a.samples, a.chains, a.z, a.omega, a.phase, a.beta, a.intercept, out)
    np.testing.assert_allclose(out, expected, atol=1e-10)


def test_products_of_waves_are_the_kernel(drawn: Drawn) -> None:
    x = 2 * np.random.default_rng(4).standard_normal((12, 5))
    kernels = []
    for _, some in drawn:
        K = sum(
            abs(q.beta) * np.cos(sum(w * (x[:, None, j] - x[None, :, j])
                                     for j, w in zip(q.z, q.omega, strict=True)))
            for q in some
        )  # fmt: skip
        if some:
            kernels.append(K / sum(abs(q.beta) for q in some))
    a = flat(drawn)
    out = np.empty((12, 2 * len(a.phase)))
    rff_scores.waves(x, a.chains, a.z, a.omega, a.phase, a.kernel_weights(), out)
    np.testing.assert_allclose(out @ out.T, np.mean(kernels, axis=0), atol=1e-12)


def test_samples_in_parts_and_what_they_use(drawn: Drawn) -> None:
    a = flat(drawn)
    for name, whole, again in zip(
        Samples._fields, a, Samples.joined([flat(drawn[:3]), flat(drawn[3:])]), strict=True
    ):
        np.testing.assert_array_equal(whole, again, err_msg=name)
    for whole, some in zip(flat([drawn[0], drawn[3], drawn[6]]), a.thinned(3), strict=True):
        np.testing.assert_array_equal(whole, some)
    for j in range(6):
        share = np.mean([any(j in q.z for q in some) for _, some in drawn])
        assert a.inclusion(6)[j] == pytest.approx(share)
    sets = [{tuple(sorted(set(q.z))) for q in some} for _, some in drawn]
    assert a.sets() == {
        columns: sum(columns in found for found in sets) / 7 for columns in set.union(*sets)
    }


@pytest.mark.parametrize("rows", [0, 500, 5000, 32561, 4_000_000])
def test_spans_are_short_enough_to_be_stopped(rows: int) -> None:
    for iterations in (1, 7, 300_000) if rows < 1e6 else (1, 300):
        found = list(chains.spans(iterations, 100, rows))
        lengths = [len(heat) for heat, _ in found]
        assert sum(lengths) == iterations
        assert sum(kept for _, kept in found) == min(100, iterations - iterations // 2)
        assert max(lengths) <= max(1, min(chains.SPAN, chains.MOST_WORK // max(1, rows)))


@pytest.mark.parametrize(
    "tried", [[[0, 1, 2, 0]], [[3]], [[-1, 0]], [[-2]], [[0, -1, 1]], [[0, 2**31 - 1]]]
)
def test_telling_chains_that_cannot_be_are_refused(tried: list[list[int]]) -> None:
    chain = Chain(np.zeros((3, 2)), np.ones(2), Prior(), telling=filled(tried))
    with pytest.raises(ValueError, match="telling chain"):
        chain.run(np.ones(1))
