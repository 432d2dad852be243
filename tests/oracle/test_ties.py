"""Rounding does not decide ties: between a weight and its gravity, and between equal distances."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.algorithms.neighbours.search import nearest
from cwtool.data.rows import Rows
from cwtool.model import Model
from cwtool.order import added
from cwtool.run import Run


@pytest.mark.parametrize("name", ["tg", "fobos"])
def test_gravity_leaves_no_residue_of_rounding(name):
    """Steps of 0.3 and a pull of 0.3 every tenth round: all weights are multiples of 0.3."""
    random = np.random.default_rng(0)
    pull = {"gravity": 0.1, "every": 10} if name == "tg" else {"lam": 0.1}
    model = Model.new(name, {"rate": 0.3, "power": 0.0, "prior": 1.0, **pull})
    chosen = (np.sort(random.choice(120, 6, replace=False)) for _ in range(2000))
    lines = [[(int(j), 1.0) for j in some] for some in chosen]
    model.learn(Rows.from_lists(lines, random.integers(0, 2, 2000).tolist()), Run())
    w = np.abs(model.weights().weight)
    assert ((w == 0) | (w > 1e-9)).all()
    assert (w > 0).any()


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_of_equally_near_points_the_first_is_nearest(form):
    """All orders of three values are equally far from 0, but sums of their squares in different
    orders differ in the last bit."""
    points = np.array(list(itertools.permutations([0.1, 0.2, 0.6])) * 2)
    distances = {added(v * v for v in point.tolist()) for point in points}
    assert len(distances) > 1
    kind = np.zeros(len(points), dtype=np.int32)
    near = nearest(form(np.zeros((1, 3))), form(points), kind, 5)
    assert near.who[0, 0].tolist() == [0, 1, 2, 3, 4]
    both = nearest(form(np.zeros((1, 3))), form(points), np.arange(12) % 2, 3)
    assert (both.nearest_of_all()[0] // 3).tolist() == [0, 1, 0]


def test_a_search_that_was_cut_short_says_so():
    random = np.random.default_rng(1)
    x = random.normal(size=(60, 20))
    rows = Rows.from_csr(csr_array(x), (x[:, 0] > 0).astype(int))
    for name in ("spar-dca", "l1svm", "dcd"):
        for passes, expected in ((1, True), (100_000, False)):
            said = []
            given = {"max_batch_passes": passes, "tol": 1e-3, "C": 1.0}
            given |= {} if name == "dcd" else {"features": 0}
            Model.new(name, given).learn(rows, Run(calibrate=False, warn=said.append))
            assert any("max_batch_passes" in line for line in said) == expected, name
