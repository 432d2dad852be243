"""What the progress line of a batch learner shows, whose first batch no model could predict."""

import numpy as np

from cwtool.data.rows import Rows
from cwtool.model import Model
from cwtool.train.counts import Counts


def test_rows_that_no_model_could_predict_have_no_error() -> None:
    y = np.array([0, 1, 1, 0], dtype=np.int32)
    rows = Rows(np.zeros(5, dtype=np.int64), np.zeros(0, np.int32), np.zeros(0), y)
    counts = Counts(Model.new("dcd", {}))
    counts.add_batch(rows, np.zeros(4), fitted=np.array([-1.0, 1.0, 1.0, -1.0]))
    assert counts.so_far() == {"rows": 4}
    counts.end_file()
    counts.add_batch(rows, np.array([-1.0, 1.0, 2.0, 3.0]), fitted=None)
    assert counts.so_far() == {"rows": 8, "error": 0.25, "auc": 0.5}
