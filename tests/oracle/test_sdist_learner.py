"""sdist as a learner: its space, its importance, and its notes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sdist_cases import PARAMS
from taught import score_of, slot_rows, taught

from cwtool.algorithms.knn import KNN, KnnParams
from cwtool.algorithms.neighbours.sdist_fit import boosted, prepared
from cwtool.algorithms.neighbours.sdist_params import SdistParams
from cwtool.algorithms.neighbours.sdist_space import fitted_space, mean_space
from cwtool.algorithms.sdist import SDist, space_of
from cwtool.bench.synthetic import hidden
from cwtool.run import Run


@pytest.mark.parametrize("scale", ["auto", "std", "global"])
def test_without_steps_it_is_plain_nearest_neighbours(scale):
    x, y = hidden("xor", 150, 5, 1)
    x *= np.array([1, 10, 0.1, 3, 1])
    test, _ = hidden("xor", 80, 5, 2)
    said = []
    for algorithm in (
        KNN(KnnParams(scale=scale)),
        SDist(replace(PARAMS, steps=0, scale=scale)),
    ):
        said.append(score_of(algorithm, taught(algorithm, x, y), test))
    np.testing.assert_array_equal(said[0] >= 0, said[1] >= 0)
    np.testing.assert_allclose(said[0], said[1], atol=1e-9)


def test_identity_part():
    """Distances in (w0/p) I + W are those of both parts."""
    x, y = hidden("xor", 120, 5, 1)
    algorithm = SDist(replace(PARAMS, w0=2.0, scale="std"))
    state = taught(algorithm, x, y)
    space = space_of(state)
    found = space.metric
    assert space.share > 0
    assert 5 * space.share + found.importance.sum() == pytest.approx(1)
    rows = csr_array(x)
    points, z = space.points(rows), found.embed(space.base(rows)[:, found.used], found.used)
    base = (x - x.mean(axis=0)) / x.std(axis=0)
    want = space.share * ((base[3] - base[50]) ** 2).sum() + ((z[3] - z[50]) ** 2).sum()
    assert ((points[3] - points[50]) ** 2).sum() == pytest.approx(want)


def test_mean_of_several_runs():
    """W is the mean of metrics of trace 1, of which the first is that of a single run."""
    x, y = hidden("xor", 120, 5, 1)
    rows, kind = csr_array(x), (y > 0).astype(np.int32)
    params = replace(PARAMS, runs=3)
    space, boost = prepared(rows, kind, params, Run(4))
    (first, *others), accepted = boosted(boost, Run(4))
    alone, _ = boosted(prepared(rows, kind, PARAMS, Run(4))[1], Run(4))
    assert [term.weight for term in first] == [term.weight for term in alone[0]]
    assert all([t.weight for t in terms] != [t.weight for t in first] for terms in others)
    assert accepted >= len(first) + sum(map(len, others))
    points = mean_space(space, boost, [first, [], *others]).points(rows)
    apart = [
        ((found[3] - found[50]) ** 2).sum()
        for found in (fitted_space(space, boost, terms).points(rows) for terms in (first, *others))
    ]
    assert ((points[3] - points[50]) ** 2).sum() == pytest.approx(np.mean(apart))
    assert mean_space(space, boost, [[], []]) is space


def test_few_rows_have_several_runs_and_sparse_ones_a_part_of_all_columns():
    """What auto stands for."""
    params = SdistParams(steps=10, direction_columns=2, z_accept=0.0)
    assert [params.resolved(True, n).runs for n in (500, 501)] == [4, 1]
    assert [params.resolved(False, n).runs for n in (2000, 2001)] == [4, 1]
    x, y = hidden("xor", 120, 5, 1)
    x = np.hstack([x, np.eye(120)[:, :80]])  # less than a tenth is nonzero
    algorithm = SDist(replace(params, runs=1))
    space = space_of(taught(algorithm, x, y))
    rows = csr_array(x)
    far = space.base(rows).toarray().var(axis=0).sum()
    z = space._replace(share=0.0).points(rows)
    assert space.share * far == pytest.approx(0.5 * z.var(axis=0).sum())
    plain = SDist(replace(params, runs=1, w0=0.0))
    assert space_of(taught(plain, x, y)).share == 0


def test_importance_is_the_trace_by_column():
    x, y = hidden("xor", 300, 6, 1)
    algorithm = SDist(replace(PARAMS, steps=80))
    state = taught(algorithm, x, y)
    importance = algorithm.importance(state, np.arange(6, dtype=np.int32))
    assert importance.sum() == pytest.approx(1)
    assert set(np.argsort(-importance)[:2]) == {0, 1}
    top = max(algorithm.interactions(state), key=lambda found: found[1])
    assert top[0].tolist() == [0, 1]


def test_cross_validation_tells_its_choice_and_not_what_its_folds_say():
    x, y = hidden("xor", 80, 4, 1)
    algorithm, notes, shares = SDist(replace(PARAMS, steps=8, cv=2)), [], []
    state = algorithm.new_state()
    rows = slot_rows(x, y, state)
    run = Run(jobs=2, note=notes.append, progress=lambda what, done: shares.append(done))
    algorithm.learn(state, rows, rows.order, run)
    assert [note.split(":")[0] for note in notes[:2]] == ["leave-one-out errors", "2 folds"]
    assert len(notes) == 3
    steps = state.numbers["steps"]
    assert state.numbers["direction_columns"] in (2, 5)
    assert shares == [0.25, 0.5, 0.75, 1, *(k / steps for k in range(1, steps + 1))]
