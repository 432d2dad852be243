"""What sdist chooses by rows out of the bag."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sdist_cases import PARAMS
from taught import taught

from cwtool.algorithms.neighbours import sdist_choice
from cwtool.algorithms.neighbours.sdist_choice import chosen, clearly_best, dealt, errors, several
from cwtool.algorithms.neighbours.sdist_params import SdistParams
from cwtool.algorithms.sdist import SDist
from cwtool.bench.synthetic import hidden
from cwtool.run import Run

AUTO = SdistParams(steps=20, runs=1, scale="std")


def simulated(shape, n, columns=4):
    x, y = hidden(shape, n, columns, 3)
    return csr_array(x), (np.asarray(y) > 0).astype(np.int32)


def choice(asked, rows, kind, **run):
    notes = []
    return *chosen(rows, kind, asked, Run(note=notes.append, **run)), notes


def test_bags_leave_out_parts_with_all_classes(monkeypatch):
    monkeypatch.setattr(sdist_choice, "LEARNED", 50)
    monkeypatch.setattr(sdist_choice, "JUDGED", 35)
    kind = np.repeat([0, 1], [30, 90]).astype(np.int32)
    bags = dealt(kind, 3, 0)
    for bag in bags:
        assert len(bag.inside) == 80
        assert np.bincount(kind[bag.inside]).tolist() == [20, 60]
        assert len(bag.boosted) == 50
        assert len(bag.outside) == 35
        assert np.isin(bag.boosted, bag.inside).all()
        assert not np.isin(bag.outside, bag.inside).any()
        for part in bag:
            assert (np.diff(part) > 0).all()
    out = [np.setdiff1d(np.arange(120), bag.inside) for bag in bags]
    assert np.sort(np.concatenate(out)).tolist() == list(range(120))
    assert len(dealt(kind, 1, 0)) == 1


@pytest.mark.parametrize("predict", ["knn", "fw"])
def test_rows_out_of_the_bag_are_predicted_by_those_in_it(predict):
    rows, kind = simulated("ring", 60)
    params = replace(PARAMS, steps=0, scale="std", predict=predict)
    bag = dealt(kind, 1, 0)[0]
    (found,) = errors(rows, kind, bag, [params], 0.0, (3, 5), Run())
    x = rows.toarray() / rows.toarray()[bag.boosted].std(axis=0)
    for k, wrong in zip((3, 5), found, strict=True):
        for i, said in zip(bag.outside.tolist(), wrong.tolist(), strict=True):
            away = ((x[bag.inside] - x[i]) ** 2).sum(axis=1)
            if predict == "knn":
                positive = 2 * kind[bag.inside][np.argsort(away)[:k]].sum() > k
            else:
                of = [np.sort(away[kind[bag.inside] == c])[:k].mean() for c in (0, 1)]
                positive = of[0] >= of[1]
            assert said == (positive != kind[i])


def test_candidates_do_not_influence_each_other():
    rows, kind = simulated("xor", 90)
    bag = dealt(kind, 1, 0)[0]
    orders = [replace(PARAMS, order=order, scale="std") for order in (2, 1)]
    both = errors(rows, kind, bag, orders, 0.0, (3,), Run())
    alone = [errors(rows, kind, bag, [p], 0.0, (3,), Run())[0] for p in orders]
    assert not np.array_equal(*both)
    for together, single in zip(both, alone, strict=True):
        np.testing.assert_array_equal(together, single)


def test_a_choice_needs_a_difference_beyond_its_standard_error():
    base = np.zeros(100, dtype=bool)
    base[:30] = True
    better, best = base.copy(), base.copy()
    better[[0, 1, 2, 40, 41]] = ~better[[0, 1, 2, 40, 41]]  # one error fewer, of five that differ
    best[:4] = False  # four fewer: its standard error is about 2
    assert clearly_best(np.stack([base, better]), 1.0) == 0
    assert clearly_best(np.stack([base, better, best]), 1.0) == 2
    assert clearly_best(np.stack([base, better, best]), 2.1) == 0
    assert clearly_best(np.stack([base, base]), 0.0) == 0
    assert clearly_best(base[None], 1.0) == 0


def test_what_the_user_gives_is_obeyed():
    rows, kind = simulated("ring", 510)
    params, votes, notes = choice(replace(AUTO, k=7, order=1), rows, kind)
    assert (params.order, params.k, votes, notes) == (1, 7, 7, [])
    _, votes, notes = choice(replace(AUTO, k=7), rows, kind)
    assert votes == 7
    assert "order 1, 7 votes" in notes[0]
    params, _, notes = choice(replace(AUTO, order=1), rows, kind)
    assert params.order == 1
    assert params.k == 3
    assert "order 2" not in notes[0]


def test_rings_need_squares():
    rows, kind = simulated("ring", 600, 20)
    params, _, notes = choice(replace(AUTO, steps=60), rows, kind)
    assert params.order == 2
    assert notes[0].startswith("errors of 200 rows out of the bag: ")


@pytest.mark.parametrize(("errors_of_1", "order"), [(20, 1), (28, 2), (30, 2), (40, 2)])
def test_no_products_must_have_clearly_fewer_errors(errors_of_1, order, monkeypatch):
    def planned(rows, kind, bag, candidates, w0, votes, run):
        wrong = [np.arange(100) < (30 if p.order == 2 else errors_of_1) for p in candidates]
        return [np.stack([w for _ in votes]) for w in wrong]

    monkeypatch.setattr(sdist_choice, "errors", planned)
    rows, kind = simulated("ring", 510)
    params, votes, _ = choice(AUTO, rows, kind)
    assert (params.order, votes) == (order, 3)


def test_few_rows_have_products_and_each_row_is_out_of_the_bag_once():
    rows, kind = simulated("ring", 90)
    params, _, notes = choice(replace(AUTO, runs="auto"), rows, kind)
    assert params.order == 2
    assert notes[0].startswith("errors of 90 rows out of the bag: ")
    assert choice(AUTO, rows[:5], kind[:5])[1:] == (3, [])


def test_sparse_rows_decide_the_engine(monkeypatch):
    seen = []

    def planned(rows, kind, bag, candidates, w0, votes, run):
        seen.extend((p.engine, p.order, p.steps, p.direction_columns) for p in candidates)
        assert votes == (3,)
        return [np.arange(20)[None] < (8 if p.engine == "power" else 2) for p in candidates]

    monkeypatch.setattr(sdist_choice, "errors", planned)
    rows = csr_array(np.repeat(np.eye(30), 2, axis=0))
    kind = np.tile([0, 1], 30).astype(np.int32)
    params, votes, _ = choice(SdistParams(runs=1), rows, kind)
    assert seen == [("power", 1, 100, 2), ("stsgd", 1, 30, 20)]
    assert (params.engine, params.steps, votes) == ("stsgd", 150, 3)
    seen.clear()
    for given, engine in (({"engine": "stsgd"}, "stsgd"), ({"direction_share": 0.1}, "power")):
        params, votes, notes = choice(SdistParams(runs=1, **given), rows, kind)
        assert (params.engine, votes, notes, seen) == (engine, 3, [], [])


def test_many_classes_have_three_votes(monkeypatch):
    rows, kind = simulated("ring", 60)
    monkeypatch.setattr(sdist_choice, "CLASSES", 1)
    assert choice(AUTO, rows, kind)[1:] == (3, [])


def test_classes_of_one_row_do_not_count():
    rows, kind = csr_array(np.arange(6.0)[:, None]), np.array([0, 2, 3, 0, 3, 4], dtype=np.int32)
    some, of = several(rows, kind)
    assert some.toarray().ravel().tolist() == [0, 2, 3, 4]
    assert of.tolist() == [0, 1, 0, 1]


def test_the_model_keeps_its_votes():
    x, y = hidden("ring", 510, 4, 3)
    algorithm = SDist(AUTO)
    state = taught(algorithm, x, y)
    assert algorithm.voters(state) == state.numbers["votes"] > 3
    assert algorithm.details(state)["votes"] == state.numbers["votes"]
    earlier = SDist(replace(AUTO, k=5))  # files of earlier versions are without the number
    assert earlier.voters(earlier.new_state()) == 5


def test_jobs_do_not_matter():
    rows, kind = simulated("ring", 200)
    assert choice(AUTO, rows, kind, jobs=1) == choice(AUTO, rows, kind, jobs=3)
    assert choice(AUTO, rows, kind, seed=1)[2] != choice(AUTO, rows, kind)[2]
