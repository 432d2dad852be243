"""What SBCW takes over from one batch to the next."""

from itertools import chain

import numpy as np
from few_weights import learn, learned_batches
from group_cases import groups_of, mean_of, random_data, sbcw

from cwtool.algorithms.selection.stored_batch import PLACE


def test_kept_groups_go_on() -> None:
    """The second batch adds to G and s of the groups of the first, and takes none of the rest."""
    x, y = random_data(110, n=100)
    algorithm = sbcw(
        C=2.0, precision_divisor=5.0, features=6, group_size=3, group_passes=2000, tol=1e-10
    )
    state = learned_batches(algorithm, (x[:60], y[:60]))
    members, before = groups_of(algorithm, state), state.table[:12].copy()
    learn(algorithm, state, (x[60:], y[60:]))
    assert groups_of(algorithm, state) == members
    groups = algorithm.groups(state)
    for (_, at), B in zip(groups.parts(), members, strict=True):
        np.testing.assert_allclose(groups.gram[at, : len(B)], x[:, B].T @ x[:, B], rtol=1e-10)
    added = state.table[:12, 1] - before[:, 1]
    beta = np.linalg.lstsq((x[60:] * y[60:, None]).T, added, rcond=None)[0]
    np.testing.assert_allclose((x[60:] * y[60:, None]).T @ beta, added, atol=1e-9)
    # at the optimum of the second batch's problem, mu solves it: no step along mu lowers it
    P = np.eye(12)
    for (_, at), B in zip(groups.parts(), members, strict=True):
        P[np.ix_(B, B)] += 0.4 * groups.gram[at, : len(B)]

    def objective(mu: np.ndarray) -> float:
        norms = sum(np.sqrt(mu[B] @ P[np.ix_(B, B)] @ mu[B]) for B in members)
        xi = np.maximum(0, 1 - y[60:] * (x[60:] @ mu))
        return norms**2 / 2 - mu @ before[:, 1] + 2.0 / 2 * (xi**2).sum()

    mu, rng = mean_of(state, 12), np.random.default_rng(0)
    chosen = np.concatenate(members)
    for _ in range(50):
        other = mu.copy()
        other[chosen] += 1e-2 * rng.normal(size=len(chosen))
        assert objective(other) > objective(mu) - 1e-6


def test_new_groups_of_a_later_batch_count_the_rows_before() -> None:
    x, y = random_data(120, n=100)
    first = x[:60].copy()
    first[:, 6:] = 0
    algorithm = sbcw(C=2.0, precision_divisor=5.0, features=9, group_size=3)
    state = learned_batches(algorithm, (first, y[:60]), (x[60:], y[60:]))
    members = groups_of(algorithm, state)
    assert sorted(chain(*members[:2])) == list(range(6))
    groups, B = algorithm.groups(state), members[2]
    fresh = (1 + 60 / 40) * x[60:][:, B].T @ x[60:][:, B]
    np.testing.assert_allclose(groups.gram[6:9, :3], fresh, rtol=1e-10)


def test_restart_remembers_the_precision_of_old_groups_alone() -> None:
    x, y = random_data(130, n=100)
    algorithm = sbcw(C=2.0, precision_divisor=5.0, features=6, group_size=3, carry="restart")
    one = learned_batches(algorithm, (x[:60], y[:60]))
    old, former = groups_of(algorithm, one), algorithm.groups(one).gram.copy()
    two = learned_batches(algorithm, (x[:60], y[:60]), (x[60:], y[60:]))
    assert not two.table[:12, 1].any()
    whole = np.zeros((12, 12))
    for k, B in enumerate(old):
        whole[np.ix_(B, B)] = former[3 * k : 3 * k + 3, :3]
    for k, B in enumerate(groups_of(algorithm, two)):
        expected = whole[np.ix_(B, B)] + x[60:][:, B].T @ x[60:][:, B]
        found = algorithm.groups(two).gram[3 * k : 3 * k + 3, :3]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert np.count_nonzero(two.table[:12, PLACE]) == 6
