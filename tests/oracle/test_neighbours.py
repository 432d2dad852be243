"""Nearest neighbours against a sort of all distances, and against scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from taught import score_of, taught

from cwtool.algorithms.knn import KNN, KnnParams
from cwtool.algorithms.neighbours import search
from cwtool.algorithms.neighbours.column_scale import best_scale, deviations, divisors
from cwtool.algorithms.neighbours.search import nearest, shares, vote
from cwtool.run import Run


def distances(rows, points):
    """Summed in the order of the columns."""
    total = np.zeros((len(rows), len(points)))
    for j in range(points.shape[1]):
        total += (rows[:, j, None] - points[None, :, j]) ** 2
    return total


def by_sorting(rows, points, kind, k, loo, kinds=2):
    apart = distances(rows, points)
    if loo:
        np.fill_diagonal(apart, np.inf)
    index = np.full((len(rows), kinds, k), -1)
    distance = np.full((len(rows), kinds, k), np.inf)
    for i in range(len(rows)):
        for c in range(kinds):
            mine = [j for j in np.flatnonzero(kind == c) if not (loo and i == j)]
            mine = sorted(mine, key=lambda j: (apart[i, j], j))[:k]
            index[i, c, : len(mine)] = mine
            distance[i, c, : len(mine)] = apart[i, mine]
    return index, distance


@pytest.fixture(params=["normal", "whole", "far", "few"])
def cloud(request):
    rng = np.random.default_rng(7)
    n, p = (4, 3) if request.param == "few" else (120, 9)
    points, rows = rng.normal(size=(n, p)), rng.normal(size=(50, p))
    if request.param == "whole":  # many equal distances
        points, rows = rng.integers(0, 2, (n, p)).astype(float), rows.round()
    if request.param == "far":  # where |x|^2 - 2 x.z + |z|^2 has no digits left
        points, rows = points + 1e7, rows + 1e7
        points[3] *= 1e20
    return rows, points, rng.random(n) < 0.4


@pytest.mark.parametrize("loo", [False, True])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_nearest_is_what_sorting_gives(cloud, k, loo, monkeypatch):
    rows, points, positive = cloud
    rows = points if loo else rows
    index, distance = by_sorting(rows, points, positive, k, loo)
    for size in (1 << 25, 8 * 7 * len(points)):
        monkeypatch.setattr(search, "DISTANCE_BYTES", size)
        for jobs in (1, 2):
            for form in (np.asarray, csr_array):
                near = nearest(form(rows), form(points), positive, k, loo=loo, jobs=jobs)
                np.testing.assert_array_equal(near.who, index)
                np.testing.assert_array_equal(near.distance, distance)


@pytest.mark.parametrize("loo", [False, True])
def test_nearest_of_several_classes(cloud, loo):
    rows, points, _ = cloud
    rows = points if loo else rows
    kind = np.arange(len(points)) ** 2 % 5  # 0, 1 and 4
    index, distance = by_sorting(rows, points, kind, 4, loo, kinds=kind.max() + 1)
    for form in (np.asarray, csr_array):
        near = nearest(form(rows), form(points), kind, 4, loo=loo)
        np.testing.assert_array_equal(near.who, index)
        np.testing.assert_array_equal(near.distance, distance)


def test_all_other_classes_are_the_rest(cloud):
    _, points, _ = cloud
    kind = np.arange(len(points)) % 4
    found = nearest(points, points, kind, 3, loo=True).rest(kind)
    for c in range(4):
        mine = kind == c
        index, distance = by_sorting(points, points, kind != c, 3, True)
        np.testing.assert_array_equal(found.who[mine], index[mine])
        np.testing.assert_array_equal(found.distance[mine], distance[mine])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 3, 4, 7])
def test_shares_of_several_classes(cloud, k, weighted):
    """The class with the most votes wins, and of equal ones that with the nearest point."""
    rows, points, _ = cloud
    kind = np.arange(len(points)) % 3
    weight = 0.25 * (1 + np.arange(len(points)) % 7) if weighted else np.ones(len(points))
    near = nearest(rows, points, kind, k, weight=weight if weighted else None)
    for found, apart in zip(shares(near), distances(rows, points), strict=True):
        votes, left = np.zeros(3), float(k)
        for j in sorted(range(len(points)), key=lambda j: (apart[j], j))[:k]:
            votes[kind[j]] += min(left, weight[j])
            left = max(0.0, left - weight[j])
        closest = [apart[kind == c].min() for c in range(3)]
        best = max(range(3), key=lambda c: (round(votes[c], 6), -closest[c], -c))
        assert found.argmax() == best
        assert (np.abs(found - votes / k) <= 0.5 / k + 1e-12).all()


def test_a_class_without_points_has_no_share():
    found = shares(nearest(np.eye(3), np.eye(3), np.array([0, 2, 2]), 2))
    assert (found[:, 1] == -np.inf).all()
    assert found.argmax(axis=1).tolist() == [0, 2, 2]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_vote(cloud, k):
    """The majority; when there is none, the class of the nearest."""
    rows, points, positive = cloud
    score = vote(nearest(rows, points, positive, k))
    assert np.abs(score).max() < 1 + 0.51 / k
    for s, apart in zip(score, distances(rows, points), strict=True):
        first = sorted(range(len(points)), key=lambda j: (apart[j], j))[:k]
        votes = sum(1 if positive[j] else -1 for j in first)
        assert (s >= 0) == (votes > 0 if votes else positive[first[0]])
        assert abs(s - votes / k) <= 0.5 / k


def test_one_class_alone():
    points = np.eye(3)
    assert (vote(nearest(points, points, np.ones(3, bool), 2, loo=True)) > 0).all()
    assert (vote(nearest(points, points, np.zeros(3, bool), 5)) < 0).all()


@pytest.mark.slow
def test_same_predictions_as_scikit_learn():
    found = pytest.importorskip("sklearn.neighbors")  # slow to import

    rng = np.random.default_rng(3)
    points, y = rng.normal(size=(300, 12)) * np.arange(1, 13), rng.choice([-1, 1], 300)
    rows = rng.normal(size=(200, 12)) * np.arange(1, 13)
    for k in (1, 3, 5):
        for scale, by in (("global", 1.0), ("std", points.std(axis=0))):
            algorithm = KNN(KnnParams(k=k, scale=scale))
            score = score_of(algorithm, taught(algorithm, points, y), rows)
            peer = found.KNeighborsClassifier(k, algorithm="brute").fit(points / by, y)
            np.testing.assert_array_equal(np.where(score >= 0, 1, -1), peer.predict(rows / by))


def test_deviations():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.5) + [0, 0, 0, 0, 0, 1e6]
    x[:, 4] = 3
    mean, sd = deviations(csr_array(x))
    np.testing.assert_allclose(mean, x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(sd, x.std(axis=0), rtol=1e-12)
    assert sd[4] == 0


@pytest.mark.parametrize(("size", "best"), [(10.0, "global"), (0.1, "std")])
def test_auto_takes_the_scale_with_fewer_errors(size, best):
    """The column that decides is larger or smaller than the noise."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 12))
    y = np.where(x[:, 0] > 0, 1.0, -1.0)
    x[:, 0] *= size
    rows = csr_array(x)
    _, sd = deviations(rows)
    notes = []
    assert best_scale(rows, y > 0, sd, "auto", Run(note=notes.append)) == best
    wrong = {}
    for scale, by in (("std", x.std(axis=0)), ("global", 1.0)):
        apart = distances(x / by, x / by)
        np.fill_diagonal(apart, np.inf)
        votes = y[np.argsort(apart, axis=1, kind="stable")[:, :3]].sum(axis=1)
        wrong[scale] = np.count_nonzero((votes > 0) != (y > 0))
    assert notes == [f"leave-one-out errors: std {wrong['std']}, global {wrong['global']}"]
    by = divisors(sd, "global")
    assert len(set(by)) == 1
    assert by[0] == pytest.approx(np.sqrt(np.mean(x.var(axis=0))))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_without_columns_or_points(form):
    """Points without columns are all at distance 0; without points there are no neighbours."""
    near = nearest(form(np.empty((2, 0))), form(np.empty((3, 0))), np.array([1, 0, 1], bool), 2)
    assert near.who.tolist() == [[[1, -1], [0, 2]]] * 2
    assert near.distance.tolist() == [[[0, np.inf], [0, 0]]] * 2
    near = nearest(form(np.ones((2, 3))), form(np.empty((0, 3))), np.empty(0, bool), 1)
    assert near.who.tolist() == [[[-1], [-1]]] * 2
