"""What sdist has learned, as numbers to draw (after Ma 2017, Figures 2.3, 4.2 and 4.3).

A map is a matrix over a rectangle, its first row on top, as report.charts.Map takes it.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool.bench import synthetic
from cwtool.bench.accuracy import Result, trained
from cwtool.data.rows import Floats
from cwtool.order import permutation
from cwtool.params import build
from cwtool.run import Run

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

EDGE = 2.5  # half the side of the square that a surface is drawn over
BINS = 25


def first_component(points: Floats, of: Floats) -> Floats:
    """The scores of points on the first principal component of other points; its sign is such
    that the largest score is positive."""
    centre = of.mean(axis=0)
    scores: Floats = (points - centre) @ np.linalg.svd(of - centre, full_matrices=False)[2][0]
    scores *= np.sign(scores[np.argmax(np.abs(scores))])
    return scores


def surface(cell: Cell, grid: int = 41) -> Result:
    """Figure 2.3, of a hidden shape: the class probability over its two columns, and the first
    principal component of the transformed points after the first step, half of the steps, and
    all steps."""
    from scipy.sparse import csr_array

    from cwtool.algorithms.neighbours.column_scale import is_dense
    from cwtool.algorithms.neighbours.sdist_fit import finder, prepared
    from cwtool.algorithms.neighbours.sdist_params import SdistParams
    from cwtool.algorithms.neighbours.sdist_space import fitted_space

    rows = cell.source.training(cell.seed)
    x = csr_array((rows.values, rows.indices, rows.indptr))
    params = build(SdistParams, cell.params).resolved(is_dense(x), rows.n_rows)
    space, boost = prepared(x, rows.y, params, Run())
    steps = int(params.steps)
    path = boost.run(steps, finder(boost))
    terms = boost.stopped(path, steps, params.lambda_c)
    axis = np.linspace(-EDGE, EDGE, grid)
    square = np.stack([a.ravel() for a in np.meshgrid(axis, axis[::-1])], axis=1)
    nothing_else = np.zeros((len(square), x.shape[1] - 2))
    points = csr_array(np.hstack([square, nothing_else]))
    shape = cell.source.args["shape"]
    heights = {"P(y = +1)": synthetic.probability(shape, square)}
    for count in sorted({1, max(1, len(terms) // 2), len(terms)}):
        now = fitted_space(space, boost, terms[:count])
        heights[f"step {terms[count - 1].step}"] = first_component(
            now.points(points), now.points(x)
        )
    extent = [-EDGE, EDGE, -EDGE, EDGE]
    return {
        "steps": terms[-1].step,
        "maps": [
            {"title": title, "grid": height.reshape(grid, grid).round(4).tolist(), "extent": extent}
            for title, height in heights.items()
        ],
    }


def images(cell: Cell) -> Result:
    """Figures 4.2 and 4.3, of rows that are square images: the difference of the shares of the
    classes along the first principal component of the transformed rows, and the pixels that the
    metric uses, on one image."""
    rows = cell.source.training(cell.seed)
    model, seconds = trained(cell, rows)
    algorithm: Any = model.algorithm
    learned = algorithm.rows(model.state)
    points = algorithm.points(model.state, learned)
    positive = rows.y[permutation(rows.n_rows, cell.seed)] > 0
    middle, balance = class_balance(first_component(points, points), positive)

    ids, slots = model.index.ids_and_slots()
    side = ceil(sqrt(int(ids.max()) + 1))
    image, importance = np.zeros(side * side), np.zeros(side * side)
    image[ids] = learned[[int(np.argmax(positive))], :].toarray()[0, slots]
    importance[ids] = model.weights().weight
    used = np.flatnonzero(importance)
    marks = np.stack([used % side, used // side, importance[used] / importance.max(initial=1e-300)])
    title = f"{len(used)} of {len(ids)} pixels"
    picture = {"title": title, "grid": image.reshape(side, side).tolist(), "colours": "gray_r"}
    return {
        "seconds": seconds,
        "nonzero": len(used),
        "share": len(used) / len(ids),
        "curve": {"component": middle.tolist(), "balance": balance.tolist()},
        "maps": [{**picture, "marks": marks.T.round(4).tolist()}],
    }


def class_balance(component: Floats, positive: Any) -> tuple[Floats, Floats]:
    """The middle of each bin of the component, and the share of the positive class in it minus
    that of the other class; bins without rows are left out."""
    edges = np.histogram_bin_edges(component, BINS)
    ours, others = (np.histogram(component[side], edges)[0] for side in (positive, ~positive))
    some = ours + others > 0
    middle = (edges[1:] + edges[:-1]) / 2
    return middle[some], (ours - others)[some] / (ours + others)[some]
