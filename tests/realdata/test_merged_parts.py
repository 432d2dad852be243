"""Merges of real data, learned in parts: the error is near that of one pass."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from cwtool.data.labels import Labels
from cwtool.data.pipeline import read_blocks
from cwtool.data.rows import Rows, joined
from cwtool.merging import merge
from cwtool.merging.changes import changes
from cwtool.model import Model
from cwtool.run import Run

HEAD, TAIL, PARTS = 1000, 4000, 16


def rows_of(path: Path, labels: Labels) -> Rows:
    return joined([rows for rows, _ in labels.rows_of(read_blocks([str(path)]))])


def ends(total: int) -> Iterator[int]:
    """Each round is as long as all before it, and the last one is not short."""
    end = HEAD
    while end < total:
        yield end
        end = total if 8 * end > 3 * total else 2 * end
    yield total


def in_parts(algo: str, rows: Rows, labels: Labels) -> Model:
    """A head, and then rounds of parts that are merged, each with a tail."""
    model = Model.new(algo, {}, labels=labels)
    model.learn(rows.slice(0, HEAD), Run())
    for a, e in pairwise(ends(rows.n_rows)):
        cuts = [a + (e - a) * k // PARTS for k in range(PARTS + 1)]
        models, tails = [], []
        for start, stop in pairwise(cuts):
            held = min(TAIL // PARTS, (stop - start) // 4)
            part = model.copy()
            part.learn(rows.slice(start, stop - held), Run())
            models.append(changes(part, model))
            tails.append(rows.slice(stop - held, stop))
        found = merge(models, model, lambda labels, tails=tails: tails)  # type: ignore[misc]
        assert found.chosen in found.losses
        model = found.model
    return model


def error(model: Model, rows: Rows) -> float:
    tally = model.new_tally()
    tally.add(rows.y, model.scores(rows).score)
    assert tally.error is not None
    return 100 * tally.error


@pytest.mark.slow
@pytest.mark.parametrize(("algo", "most"), [("arow", 1.3), ("cw", 1.2)])
def test_sixteen_parts_are_near_one_pass(shared_data: Path, algo: str, most: float) -> None:
    folder, labels = shared_data / "reuters_earn", Labels()
    rows = rows_of(folder / "train.svm.gz", labels)
    test = rows_of(folder / "test.svm", labels)
    model = in_parts(algo, rows, labels)
    assert model.rows == rows.n_rows
    one = Model.new(algo, {}, labels=labels)
    one.learn(rows, Run())
    assert model.index.count == one.index.count
    assert error(model, test) <= most
    assert error(model, test) < error(one, test) + 0.4
