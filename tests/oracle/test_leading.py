"""The leading eigenvectors of a small symmetric matrix against LAPACK, also of degenerate ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwtool_ext.factored import leading_directions

KINDS = ("full", "low rank", "diagonal", "blocks", "equal", "graded", "zero", "one entry")


def matrix(kind, n, rng):
    """A positive semidefinite matrix."""
    W = rng.standard_normal((n, n))
    if kind == "low rank":
        W = W[:, : max(1, n // 4)]
    if kind == "diagonal":
        W = np.diag(rng.integers(0, 4, n) * 1.0)
    if kind == "blocks":
        W[: n // 2, n // 2 :] = W[n // 2 :, : n // 2] = 0.0
    if kind == "equal":
        W = np.eye(n) * rng.choice([1e-3, 1.0, 1e6])
    if kind == "graded":
        W *= 10.0 ** rng.uniform(-6, 6, (n, 1))
    if kind == "zero":
        W[:] = 0.0
    if kind == "one entry":
        W = np.zeros((n, 1))
        W[rng.integers(n)] = rng.standard_normal()
    return W @ W.T


@pytest.mark.parametrize("kind", KINDS)
@given(n=st.integers(1, 40), m=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_leading_directions(kind, n, m, seed):
    """Columns are orthonormal, those beyond n are 0, and they explain what the best ones do."""
    gram = matrix(kind, n, np.random.default_rng(seed))
    E = np.full((n, m), np.nan)
    leading_directions(gram, m, E)
    found = min(n, m)
    np.testing.assert_array_equal(E[:, found:], 0.0)
    np.testing.assert_allclose(E.T[:found] @ E[:, :found], np.eye(found), rtol=0, atol=1e-12)
    values = np.linalg.eigvalsh(gram)[::-1]
    explained = np.einsum("ia,ij,ja->a", E, gram, E)[:found]
    np.testing.assert_allclose(explained, values[:found], rtol=0, atol=1e-12 * max(values[0], 1e-9))


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="2 directions"):
        leading_directions(np.zeros((3, 2)), 2, np.zeros((3, 2)))
