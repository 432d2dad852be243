"""Settings and numbers that a file may have, with which learning has to end."""

import json
from dataclasses import replace
from pathlib import Path
from sys import float_info

import fuzzed_models as models
import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.algorithms.batch.metric import cholesky
from cwtool.algorithms.neighbours.sdist_space import NO_METRIC, Space
from cwtool.data.labels import Labels
from cwtool.errors import Damage, ModelError
from cwtool.export import as_json
from cwtool.export.scorer import scorer_of
from cwtool.inspect import describe
from cwtool.merging import merge
from cwtool.messages.inspect_text import text
from cwtool.metrics.threshold import OperatingPoint
from cwtool.model import Model
from cwtool.model.arithmetic import computing
from cwtool.model.memory_estimate import check_load, check_merge
from cwtool.model.sample import fitted
from cwtool.run import Run
from cwtool.state import checking
from cwtool.state.layout import Layout

LARGEST = float_info.max
ROWS = models.rows_of(1, 60, 2)[0]


@pytest.mark.parametrize(
    ("algo", "given"),
    [
        ("sdist", {"cv": 100, "steps": 3}),  # more folds than rows
        ("spar-dca", {"C": 1e12, "features": 0}),
        ("sbcw", {"features": 1_000_000}),  # of which there are twelve
        ("fgm", {"features": 1_000_000}),
        ("l1svm", {"tol": 1e-12}),
    ],
)
def test_extreme_settings(algo: str, given: dict[str, object]) -> None:
    model = Model.new(algo, given, labels=Labels(-1.0, 1.0))
    model.learn(ROWS, Run())
    assert np.isfinite(model.scores(ROWS).score).all()


def test_a_divisor_that_overflows_is_told() -> None:
    model = Model.new("bcw", {}, labels=Labels(-1.0, 1.0))
    model.learn(ROWS, Run())
    model.state.numbers["precision_divisor"] = 5e-324
    with pytest.raises(ModelError, match="C divided by the precision divisor is too large"):
        model.learn(ROWS, Run())


@pytest.mark.parametrize("matrix", [-np.eye(3), np.full((3, 3), 1e308), -1e308 * np.eye(3)])
def test_a_matrix_that_is_no_precision_is_factored(matrix: np.ndarray) -> None:
    assert np.isfinite(cholesky(matrix.copy())).all()


def test_a_curvature_that_no_rows_have_is_told_at_once() -> None:
    model = Model.new("bcw", {}, labels=Labels(-1.0, 1.0))
    model.learn(ROWS, Run())
    square = model.state.squares["curvature"]
    i, j = np.unravel_index(np.argmax(np.tril(np.abs(square), -1)), square.shape)
    square[i, j] = 3 * square.diagonal().max()  # larger than on the diagonal
    with pytest.raises(ModelError, match="not positive definite"):
        Model.from_bytes(model.to_bytes()).learn(ROWS, Run())


def test_a_negative_variance_is_damage() -> None:
    layout = Layout((), squares=("sigma",))
    good = np.array([[1.0, 0.5], [0.5, -1e-12]])
    checking.check_arrays(layout, {}, {"square.sigma": good}, 2)
    with pytest.raises(Damage, match=r"square\.sigma has a negative value on its diagonal"):
        checking.check_arrays(layout, {}, {"square.sigma": -good}, 2)


def test_a_divisor_whose_inverse_overflows_leaves_numbers() -> None:
    space = Space(np.zeros(2), np.array([5e-324, 2.0]), dense=True, metric=NO_METRIC, share=0.0)
    assert space.base(csr_array([[0.0, 1.0], [3.0, 0.0]])).tolist() == [[0, 0.5], [0, 0]]


def test_numbers_that_overflow_are_told() -> None:
    class Broken:
        algorithm = Model.new("arow", {}).algorithm

        @computing
        def learn(self) -> float:
            return 1e300**2

    with pytest.raises(ModelError, match="the numbers of the arow model cannot be computed with"):
        Broken().learn()


HISTORIES: list[dict[str, object]] = [
    {"macro_f1": 0.5},
    {"evaluated": {"bins": [[-1.0, 0.5, 1.0]] * 15}},
    {"shards": 3},
    {"shards": 3, "rounds": "x"},
    {"shards": 3, "rounds": 1, "chosen": [1]},
    {"shards": 3, "rounds": 1, "bytes_sent": "x"},
    {"worst": "x"},
    {"merged": [], "chosen": "mean", "time": 1},
    {"merged": [], "chosen": "mean", "day": []},
    {"merged": [], "chosen": "mean", "auc": "x"},
]


@pytest.mark.parametrize("changed", HISTORIES, ids=str)
def test_histories_that_cannot_be_shown_are_damage(changed: dict[str, object]) -> None:
    model = models.trained("arow", {}, 2, 0)
    model.history[0] |= changed
    with pytest.raises(ModelError, match=r"is damaged: its history\.0"):
        Model.from_bytes(model.to_bytes())


def test_a_class_without_rounds_is_shown() -> None:
    model = models.trained("perceptron", {"average": True}, 4, 0)
    model.state.arrays["rounds"] = model.state.arrays["rounds"][:2]
    shown = text(describe(Model.from_bytes(model.to_bytes()), 5, {}, 3))
    assert "weight" in shown


def test_rows_of_a_class_without_a_label_are_damage() -> None:
    model = models.trained("arow", {}, 2, 0)
    model.history.clear()
    model.labels.negative = None
    with pytest.raises(ModelError, match="none for a class that it has rows of"):
        Model.from_bytes(model.to_bytes())


def test_a_merge_without_an_error_is_shown() -> None:
    model = models.trained("arow", {}, 2, 0)
    model.history[0] |= {"merged": [{"name": "a.cw", "rows": 5}], "chosen": "mean"}
    assert "error - before learning" in text(describe(Model.from_bytes(model.to_bytes()), 5, {}))


def test_labels_beyond_whole_numbers_become_text_in_onnx() -> None:
    pytest.importorskip("onnx")
    from cwtool.export.as_onnx import _is_whole

    assert [_is_whole(label) for label in ("+1", "-7", "0.5", "1" + 30 * "0")] == [1, 1, 0, 0]


def test_intercepts_that_overflow_are_shown_and_exported() -> None:
    model = models.trained("stsgd", {"paths": 3, "intercept": "on"}, 2, 0)
    model.state.arrays["intercept"][:] = -1.7e308
    assert json.dumps(describe(model, 5, {}), allow_nan=False)
    assert json.loads("".join(as_json.text(scorer_of(model))))["intercept"] == [-LARGEST]


def test_a_row_scale_whose_square_overflows_is_exported() -> None:
    model = models.trained("arow", {}, 2, 0)
    model.scale.seen[:] = 1.0, -1200.0  # binary logarithm of the squared length of a row
    assert model.scale.value > 1e170
    assert scorer_of(model).unknown == LARGEST


def test_differences_of_weights_that_overflow_are_exported() -> None:
    labels = Labels(several=[0.0, 1.0], multiclass="rival")
    model = Model.new("perceptron", {}, labels=labels)
    model.learn(ROWS, Run())
    model.state.column("weight", 0)[:12] = 1.7e308
    model.state.column("weight", 1)[:12] = -1.7e308
    found = json.loads("".join(as_json.text(scorer_of(model))))
    assert set(map(tuple, found["weights"].values())) == {(-LARGEST,)}


def test_sums_of_weights_that_overflow_are_shown() -> None:
    model = models.trained("perceptron", {}, 4, 0)
    for class_ in range(4):
        model.state.column("weight", class_)[:12] = 1e308
    assert '"weight": ' in json.dumps(describe(model, 5, {}), allow_nan=False)


@pytest.mark.filterwarnings("error")
def test_a_spectrum_that_overflows_is_shown() -> None:
    model = models.trained("cw-fact", {}, 2, 0)
    model.state.arrays["factor"] *= 1e300
    assert np.isfinite(model.algorithm.details(model.state)["spectrum"]).all()  # type: ignore


def test_a_model_that_could_not_be_read_again_is_not_written() -> None:
    model = models.trained("arow", {"covariance": "full"}, 2, 0)
    model.state.squares["sigma"][0, 0] = -1.0
    with pytest.raises(ModelError, match="a variance of the arow model has become negative"):
        model.to_bytes()
    model = models.trained("arow", {}, 4, 0)
    model.state.column("precision", 2)[3] = -1.0
    with pytest.raises(ModelError, match="a variance of the arow model has become negative"):
        model.to_bytes()
    model = models.trained("perceptron", {}, 2, 0)
    model.state.numbers["rounds"] = 1 << 53
    with pytest.raises(ModelError, match="have become too large for a file"):
        model.to_bytes()
    model = models.trained("perceptron", {}, 2, 0)
    model.labels.negative = -1e301
    with pytest.raises(ModelError, match="have become too large for a file"):
        model.to_bytes()
    model = models.trained("pa2", {}, 4, 0)
    model.state.table[0, 0] = np.inf
    with pytest.raises(ModelError, match="have become too large for a file"):
        model.to_bytes()


def test_a_copy_that_cannot_be_is_told() -> None:
    model = models.trained("pa1", {}, 2, 0)
    model.state.numbers["rounds"] = -1
    with pytest.raises(ModelError, match="the numbers of the pa1 model cannot be computed with"):
        model.copy()


def test_more_columns_than_a_matrix_can_have_are_damage() -> None:
    model = models.trained("arow", {}, 2, 0)
    model.estimator = {"columns": 2**31}
    with pytest.raises(ModelError, match=r"its estimator.columns is 2147483648"):
        Model.from_bytes(model.to_bytes())


def test_more_bits_than_ids_can_be_folded_to_are_damage() -> None:
    model = models.trained("arow", {}, 2, 3)
    model.reading = replace(model.reading, hash_bits=31)
    with pytest.raises(ModelError, match=r"its reading\.hash_bits is 31"):
        Model.from_bytes(model.to_bytes())


def test_a_class_without_the_matrix_of_the_others_is_damage() -> None:
    model = models.trained("bcw", {}, 4, 0)
    del model.state.parts[0].squares["curvature"]
    with pytest.raises(ModelError, match="has a matrix that another one does not have"):
        Model.from_bytes(model.to_bytes())


def test_a_slope_of_zero_calls_the_rarest_class() -> None:
    shifts = OperatingPoint("balanced").shifts(np.array([3.0, 5.0, 1.0]), 0.0, np.zeros(3))
    assert np.isfinite(shifts).all() and int(np.argmin(shifts)) == 2


def test_infinite_logits_leave_finite_probabilities() -> None:
    c, b = fitted(np.array([np.inf, 1.0]), np.array([0, 1]), None, 0.0)
    assert 0 < c <= 1 and b == 0


@pytest.mark.parametrize(("labels", "half_life"), [(2, 50), (4, 0)])
def test_a_model_with_lower_counts_does_not_continue_another(labels: int, half_life: int) -> None:
    """Its precision would be multiplied by 2^(rows / half-life), or its rounds become negative."""
    base = models.trained("arow", {"half_life": half_life}, labels, 0)
    part = base.copy()
    if half_life:
        base.state.numbers["visits"] += 100_000
    else:
        base.state.arrays["rounds"] += 100_000
    with pytest.raises(ModelError, match="model 1 does not continue the base"):
        merge([part, part.copy()], base)


@pytest.mark.parametrize("ids", [[-(2**31), 5], [5, 3], [7, 7]])
def test_a_limit_of_memory_reads_no_ids_that_cannot_be(ids: list[int], tmp_path: Path) -> None:
    """They are left to loading, which refuses the file."""
    model = models.trained("arow", {}, 2, 0)
    data = bytearray(model.to_bytes())
    good = model.state.index.saving_order()[0][:2].astype("<i4").tobytes()
    at = data.index(good)
    data[at : at + 8] = np.array(ids, dtype="<i4").tobytes()
    path = tmp_path / "m.cw"
    path.write_bytes(data)
    check_merge([path, path], None, 1 << 40)
    check_load(path, 1 << 40)
