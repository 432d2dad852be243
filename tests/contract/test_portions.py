"""Blocks, threads and features still to come never change what is learned; seeds only passes."""

import numpy as np
import pytest
from contract import Variant, essence, every, few, learned, online, planted, revisited, scores

from cwtool.data.rows import joined
from cwtool.run import Run

pytestmark = pytest.mark.usefixtures("spare_time")


@pytest.fixture(autouse=True)
def threads_for_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cwtool.algorithms.stabilized_descent.prepared_rows.ALONE", 0)


@every
@pytest.mark.parametrize(
    ("jobs", "block"),
    [(2, 97), *(pytest.param(*way, marks=pytest.mark.slow) for way in ((3, 640), (1, 1)))],
)
def test_jobs_and_blocks_do_not_matter(variant: Variant, jobs: int, block: int) -> None:
    n = few(variant, 60 if block == 1 else 700)
    files = planted(1, n), planted(2, n // 2, first=15)
    want = learned(variant.new(), *files, run=Run(seed=3))
    got = learned(variant.new(), *files, run=Run(seed=3, jobs=jobs), block=block)
    assert essence(got) == essence(want)
    found = [m.scores(files[1], Run(jobs=jobs)) for m in (got, want)]
    assert found[0].score.tobytes() == found[1].score.tobytes()


@every
def test_features_still_to_come_do_not_matter(variant: Variant) -> None:
    """A block may hold rows with new features far below the row at hand."""
    n_rows = few(variant, 300)
    file = joined([planted(k, n_rows, first=25 * k) for k in range(4)])
    want = essence(learned(variant.new(), file))
    assert essence(learned(variant.new(), file, block=n_rows)) == want
    assert essence(learned(variant.new(), file, block=n_rows // 3 + 1)) == want


@online
def test_jobs_and_blocks_do_not_matter_over_passes(variant: Variant) -> None:
    a = planted(1, 1200)
    want = revisited(learned(variant.new(), a), a, Run(seed=5))
    got = learned(variant.new(), a, run=Run(seed=5, jobs=3), block=250)
    assert essence(revisited(got, a, Run(seed=5, jobs=2))) == essence(want)


@online
def test_the_seed_decides_the_passes(variant: Variant) -> None:
    a = planted(1, 300)
    one, same, other = (
        essence(revisited(learned(variant.new(), a), a, Run(seed=seed))) for seed in (5, 5, 6)
    )
    assert same == one
    assert other[1] != one[1]


@online
def test_one_pass_does_not_depend_on_the_seed(variant: Variant) -> None:
    a = planted(1, 300)
    one, other = (essence(learned(variant.new(), a, run=Run(seed=seed))) for seed in (5, 6))
    assert other == one


@every
def test_the_same_seed_gives_the_same_model(variant: Variant) -> None:
    a, b = planted(1, 200), planted(2, 100, first=20)
    one, same = (essence(learned(variant.new(), a, b, run=Run(seed=9))) for _ in range(2))
    assert same == one


@every
def test_predicting_changes_nothing(variant: Variant) -> None:
    """Neither the model nor what the same rows, alone or among others, are predicted."""
    a, b = planted(1, 300), planted(2, 90, first=25)  # some features of b are unknown
    model = learned(variant.new(), a)
    before = essence(model)
    want = scores(model, b)
    assert scores(model, b) == want
    assert scores(model, b.slice(0, 40), b.slice(40, 41), b.slice(41, 90)) == want
    backwards = model.scores(b.take(np.arange(90)[::-1]))
    assert backwards.score[::-1].tobytes() + backwards.variance[::-1].tobytes() == want
    assert essence(model) == before
