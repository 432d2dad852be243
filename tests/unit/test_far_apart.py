"""Models whose features lie far apart: the file decides how much memory they take."""

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.model import Model
from cwtool.run import Run
from cwtool.state.index import DIRECT


def rows_of(seed: int, n: int, classes: int) -> Rows:
    draw = np.random.default_rng(seed)
    ids = [np.sort(draw.choice(300, 6, replace=False)) * 20_011 for _ in range(n)]
    pairs = [
        [(int(j), float(x)) for j, x in zip(row, draw.normal(size=6), strict=True)] for row in ids
    ]
    return Rows.from_lists(pairs, [*range(classes), *draw.integers(0, classes, n - classes)])


@pytest.mark.parametrize(
    ("algo", "classes"), [("arow", 6), ("stsgd", 2), ("scw1", 6), ("fobos", 3)]
)
def test_a_loaded_model_goes_on_to_the_bit(algo: str, classes: int) -> None:
    several = [float(k) for k in range(classes)]
    labels = Labels(several=several) if classes > 2 else Labels(-1.0, 1.0)
    model = Model.new(algo, {}, labels=labels)
    model.learn(rows_of(1, 40, classes), Run())
    data = model.to_bytes()
    loaded = Model.from_bytes(data)
    assert loaded.index.direct < DIRECT
    assert loaded.to_bytes() == data
    more = rows_of(2, 40, classes)
    assert (loaded.learn(more, Run()).score == model.learn(more, Run()).score).all()
    assert loaded.to_bytes() == model.to_bytes()
