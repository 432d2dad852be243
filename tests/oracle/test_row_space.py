"""bcw by the rows instead of by the features, and the variance of its scores."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.algorithms.batch import row_space
from cwtool.algorithms.batch.precision import by_rows
from cwtool.algorithms.bcw import BCW, BcwParams
from cwtool.data.rows import Rows, SlotRows
from cwtool.model import Model
from cwtool.run import Run
from cwtool_ext import dual, rows_and_columns

FEATURES = 40


def batches(seed, sizes, weighted=False):
    """Sparse rows over few features, as SlotRows whose slots are the columns."""
    random, found = np.random.default_rng(seed), []
    w = random.normal(size=FEATURES)
    for n in sizes:
        x = random.normal(size=(n, FEATURES)) * (random.random((n, FEATURES)) < 0.3)
        x[0] = 1.0  # so that all features are met in the first row
        rows = Rows.from_csr(csr_array(x), x @ w + random.normal(size=n) > 0)
        h = random.choice([0.5, 1.0, 3.0], n) if weighted else None
        found.append(SlotRows(rows.indptr, rows.indices, rows.values, rows.y, h, 0.7))
    return found


def dense(rows):
    shape = (rows.n_rows, FEATURES)
    return rows.scale * csr_array((rows.values, rows.indices, rows.indptr), shape).toarray()


def learned(parts, *, by_features, **given):
    algorithm = BCW(BcwParams(**{"precision_divisor": 10.0, "prior": 1.0, **given}))
    state = algorithm.new_state()
    for part in parts:
        state.index.observe(part.indices)
        state.reserve()
        if by_features and "gram" not in state.squares:
            state.squares["gram"] = np.zeros((FEATURES, FEATURES))
        algorithm.learn(state, part, part.order, Run())
    return algorithm, state


@pytest.mark.parametrize(
    ("before", "new", "features", "expected"),
    [
        (0, 39, 40, True),
        (0, 40, 40, False),
        (0, 4_999, 6_000, True),
        (3_000, 2_000, 6_000, False),
        (3_000, 6_603, 29_648, True),
        (0, 14_824, 29_648, False),
        (0, 19_999, 1_000_000, True),
        (0, 20_000, 1_000_000, False),
    ],
)
def test_rows_are_kept_while_they_are_few_beside_the_features(before, new, features, expected):
    state = BCW(BcwParams()).new_state()
    state.arrays["rows.indptr"] = np.zeros(before + 1, dtype=np.int64)
    assert by_rows(state, new, features) == expected
    state.squares["curvature"] = np.zeros((1, 1))
    assert not by_rows(state, new, features), "pairs of features stay"


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("carry", ["dual", "printed", "forget"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_give_what_features_give(loss, carry, weighted):
    """Also when a later batch makes the rows more than the features."""
    parts = batches(1, [12, 9, 60], weighted)
    for count in (1, 2, 3):
        states = []
        for by_features in (False, True):
            for passes in (1, 3):
                _, state = learned(
                    parts[:count], by_features=by_features, loss=loss, carry=carry,
                    batch_passes=passes,
                )  # fmt: skip
                states.append(state)
            assert ("gram" in state.squares) == (by_features or count == 3)
            rows = 0 if by_features or count == 3 else 3 + 9 * count
            assert row_space.count(state) == rows
        for one, other in zip(states[:2], states[2:], strict=True):
            np.testing.assert_allclose(one.table, other.table, rtol=0, atol=1e-10)


def test_the_divisor_is_chosen_alike():
    parts = batches(2, [36])
    found = [learned(parts, by_features=k, precision_divisor="auto")[1] for k in (False, True)]
    assert found[0].numbers == found[1].numbers
    np.testing.assert_allclose(found[0].table, found[1].table, rtol=0, atol=1e-10)


@pytest.mark.parametrize("sizes", [[12], [12, 9], [12, 60]])
@pytest.mark.parametrize("weighted", [False, True])
def test_variances_are_those_of_the_inverse_precision(sizes, weighted):
    parts = batches(3, sizes, weighted)
    algorithm, state = learned(parts, by_features=False, C=2.0)
    precision = np.eye(FEATURES)
    for part in parts:
        x = dense(part)
        h = np.ones(len(x)) if part.weight is None else part.weight
        precision += 2.0 / 10.0 * x.T @ (h[:, None] * x)
    (new,) = batches(4, [20])
    x = dense(new)
    unknown = np.arange(20.0)
    found = algorithm.scores(state, new, unknown, Run()).variance
    target = np.einsum("ij,jk,ik->i", x, np.linalg.inv(precision), x) + unknown
    np.testing.assert_allclose(found, target, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_whose_square_overflows_have_an_infinite_variance(weighted):
    parts = batches(3, (20,), weighted)
    algorithm, state = learned(parts, by_features=False)
    far = replace(parts[0], values=parts[0].values * 1e300)
    with np.errstate(over="ignore", invalid="ignore"):  # as in all computations of a model
        found = algorithm.scores(state, far, np.empty(0), Run()).variance
    entries = np.diff(far.indptr) > 0
    assert (found[entries] == np.inf).all()


def test_features_that_came_later_have_their_prior_variance():
    rows = Rows.from_lists([[(0, 1.0)], [(0, -1.0), (1, 1.0)]] * 4, [1, 0] * 4)
    model = Model.new("bcw", {"prior": 1.0})
    model.learn(rows, Run())
    strange = Rows.from_lists([[(0, 1.0)], [(0, 1.0), (7, 2.0)]], [0, 0])
    variance = model.scores(strange).variance
    assert variance[1] == pytest.approx(variance[0] + 4)
    again = model.copy().scores(strange).variance
    np.testing.assert_allclose(again, variance, rtol=1e-12)


def test_variances_by_feature_do_not_depend_on_the_order_of_entries():
    """In the order of the features they equal those of rows whose entries are ascending."""
    random = np.random.default_rng(5)
    (rows,) = batches(5, [50])
    S = random.normal(size=(FEATURES, FEATURES))
    S += S.T
    mixed = [
        random.permutation(np.arange(a, b))
        for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]
    at = np.concatenate(mixed)
    other = SlotRows(rows.indptr, rows.indices[at], rows.values[at], rows.y, None, rows.scale)
    found, same = np.empty(50), np.empty(50)
    dual.variances(rows.csr, S, found)
    dual.variances(other.csr, S, same, by_feature=True)
    assert (found == same).all()
    x = dense(rows)
    np.testing.assert_allclose(found, np.einsum("ij,jk,ik->i", x, S, x), rtol=1e-9, atol=1e-9)


def test_products_of_rows_are_those_of_dense_rows():
    one, other = batches(6, [7, 12])
    x, z = dense(one), dense(other)
    by_column = row_space.columns(row_space.scaled(one), FEATURES)
    np.testing.assert_allclose(row_space.cross(other, by_column, 7), z @ x.T, rtol=1e-12)
    np.testing.assert_allclose(row_space.products(one, FEATURES), x @ x.T, rtol=1e-12)
    mu, u = np.arange(float(FEATURES)), np.arange(7.0)
    np.testing.assert_allclose(row_space.scores(one, mu), x @ mu, rtol=1e-12)
    np.testing.assert_allclose(row_space.pull(one, u, FEATURES), x.T @ u, rtol=1e-12)


@pytest.mark.parametrize("rows, columns, shape", [(1, 1, (2, 2)), (2, 1, (1, 2)), (1, 2, (2, 1))])
def test_products_refuse_arrays_of_another_size(rows, columns, shape):
    """Two rows over two features, or one less of either."""
    full = SlotRows(np.arange(3), np.arange(2, dtype=np.int32), np.ones(2), np.zeros(2, np.int32))
    z = full.slice(0, rows)
    x = row_space.columns(full, 2)
    x = row_space.Matrix(x.start[: columns + 1], x.place[:columns], x.value[:columns])
    with pytest.raises(ValueError):
        rows_and_columns.cross(z.csr, x.csr, np.empty(shape))
