"""An ONNX graph: dense rows of doubles in; labels, scores and probabilities out."""

from __future__ import annotations

from typing import Any

import numpy as np

from cwtool.errors import UsageError
from cwtool.export.scorer import Scorer

MOST = 1 << 26  # weights of all columns and classes
# more than a few are so many at most for each weight, as three copies are in memory at a time
FEW, SPARSE = 1 << 22, 16
OPSET = 18


class Graph:
    """Nodes and constants, as they are added."""

    def __init__(self, helper: Any, numpy_helper: Any) -> None:
        self.helper, self.numpy_helper = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        name = f"constant_{len(self.constants)}"
        array = np.asarray(values, dtype=dtype)
        self.constants.append(self.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: str, out: str = "", outs: int = 1, **attributes: Any) -> str:
        """Add a node; the name of its (first) result."""
        names = [out or f"value_{len(self.nodes)}"]
        names += [f"{names[0]}_{k}" for k in range(1, outs)]
        self.nodes.append(self.helper.make_node(kind, list(inputs), names, **attributes))
        return names[0]


def data(scorer: Scorer) -> bytes:
    """The bytes of the model. Its input X has a column for each feature up to the last of the
    model. Its outputs are `label`, `score` (one column per class, or one for two classes) and, if
    the graph can express it, `probability`."""
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise UsageError("`format=onnx` needs onnx: pip install 'cwtool[onnx]'") from None
    scorer.check_width(
        min(MOST, max(FEW, SPARSE * scorer.weight.size)),
        "the rows of ONNX are dense",
        "fold the features with `hash_bits`, or use `format=python` or sql",
    )
    g = Graph(helper, numpy_helper)
    x = _row(g, scorer)
    weight, intercept = g.constant(scorer.dense(scorer.weight)), g.constant(scorer.intercept)
    score = g.add("Add", g.add("MatMul", x, weight), intercept, out="score")
    kind = _label(g, scorer, score, TensorProto)
    outputs = [helper.make_tensor_value_info("label", kind, ["rows"])]
    names = ["score"]
    if scorer.has_probability:
        _probability(g, scorer, x, score)
        names.append("probability")
    double = TensorProto.DOUBLE
    outputs += [helper.make_tensor_value_info(n, double, ["rows", None]) for n in names]
    given = helper.make_tensor_value_info("X", double, ["rows", scorer.width])
    graph = helper.make_graph(g.nodes, "cwtool", [given], outputs, g.constants)
    opset = [helper.make_opsetid("", OPSET)]
    g.constants.clear()  # the graph has copies of them, and the model copies of the graph
    model = helper.make_model(graph, producer_name="cwtool", opset_imports=opset, ir_version=8)
    del graph
    found: bytes = model.SerializeToString()
    del model
    checker.check_model(found)
    return found


def _row(g: Graph, scorer: Scorer) -> str:
    """The rows, divided by their length if the model has `normalize=l2`."""
    if scorer.reading.normalize != "l2":
        return "X"
    length = g.add("ReduceL2", "X", g.constant([1], np.int64), keepdims=1)
    zero = g.add("Equal", length, g.constant(0.0))
    return g.add("Div", "X", g.add("Where", zero, g.constant(1.0), length))


def _label(g: Graph, scorer: Scorer, score: str, types: Any) -> int:
    """Add the node `label`; the type of it: whole numbers where all labels are, otherwise text."""
    whole = all(_is_whole(label) for label in scorer.labels)
    if whole:
        labels = g.constant([int(label) for label in scorer.labels], np.int64)
    else:
        labels = g.constant(scorer.labels, object)
    if scorer.several:
        number = g.add("ArgMax", score, axis=1, keepdims=0)
    else:
        flat = g.add("Squeeze", score, g.constant([1], np.int64))
        bound = g.constant(0.0 if scorer.above else scorer.threshold)
        kind = "Greater" if scorer.above else "GreaterOrEqual"
        number = g.add("Cast", g.add(kind, flat, bound), to=types.INT64)
    g.add("Gather", labels, number, out="label")
    return int(types.INT64 if whole else types.STRING)


def _is_whole(label: str) -> bool:
    return label.lstrip("+-").isdecimal() and -(1 << 63) <= int(label) < 1 << 63


def _joint(g: Graph, scorer: Scorer, x: str, v: str) -> str:
    """The variance with the sum of c x_i x_j over pairs, and with its linear part."""
    if scorer.pairs is None or scorer.linear is None:
        return v
    i, j, c = scorer.pairs
    matrix = np.zeros((len(scorer.features), len(scorer.features)))
    matrix[i, j] = c
    linear = g.constant(scorer.linear[:, None])
    known = g.add("Gather", x, g.constant(scorer.places, np.int64), axis=1)
    products = g.add("Mul", g.add("MatMul", known, g.constant(matrix)), known)
    total = g.add("ReduceSum", products, g.constant([1], np.int64), keepdims=1)
    return g.add("Add", v, g.add("Add", total, g.add("MatMul", known, linear)))


def _asinh(g: Graph, x: str) -> str:
    """asinh(x) = sign(x) log(|x| + sqrt(x^2 + 1)); runtimes may know Asinh of single precision
    only."""
    size = g.add("Abs", x)
    root = g.add("Sqrt", g.add("Add", g.add("Mul", x, x), g.constant(1.0)))
    return g.add("Mul", g.add("Sign", x), g.add("Log", g.add("Add", size, root)))


def _probability(g: Graph, scorer: Scorer, x: str, score: str) -> None:
    """Add the node `probability`."""
    z = score
    if scorer.variance is not None:
        squares = g.add("Mul", x, x)
        known = g.constant(scorer.dense(scorer.variance, scorer.unknown))
        v = g.add("MatMul", squares, known)
        v = g.add("Add", v, g.constant(scorer.constant_variance))
        v = _joint(g, scorer, x, v)
        if scorer.several:  # the mean of the two highest scores
            top = g.add("TopK", score, g.constant([2], np.int64), outs=2, axis=1)
            v = g.add("GatherElements", v, f"{top}_1", axis=1)
            v = g.add("ReduceMean", v, g.constant([1], np.int64), keepdims=1)
        z = g.add("Div", score, g.add("Sqrt", g.add("Add", v, g.constant(1.0))))
    if scorer.bend:
        z = g.add(
            "Div", _asinh(g, g.add("Mul", z, g.constant(scorer.bend))), g.constant(scorer.bend)
        )
    z = g.add("Mul", z, g.constant(scorer.slope))
    z = g.add("Add", z, g.constant(scorer.offsets))
    if not scorer.several:
        z = g.add("Concat", g.add("Mul", z, g.constant(0.0)), z, axis=1)
    g.add("Softmax", z, out="probability", axis=1)
