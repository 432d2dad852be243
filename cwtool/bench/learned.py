"""What sdist has learned, as numbers to draw (after Ma 2017, Figures 2.3, 4.2 and 4.3).

A map is a picture of numbers over a rectangle, the first row on top, as charts.Map takes it.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool.bench import synthetic
from cwtool.data.block import Floats
from cwtool.order import permutation

if TYPE_CHECKING:
    from cwtool.bench.cells import Cell

Result = dict[str, Any]
EDGE = 2.5  # of the square that a surface is drawn over
BINS = 25


def first_component(points: Floats, of: Floats) -> Floats:
    """Where points lie along the first principal component of others, most of it upwards."""
    centre = of.mean(axis=0)
    scores: Floats = (points - centre) @ np.linalg.svd(of - centre, full_matrices=False)[2][0]
    scores *= np.sign(scores[np.argmax(np.abs(scores))])
    return scores


def surface(cell: Cell, grid: int = 41) -> Result:
    """Figure 2.3, of a hidden shape: the class probability over its two columns, and the first
    principal component of the transformed points after the first step, the middle, and the
    last."""
    from scipy.sparse import csr_array

    from cwtool.algorithms.sdist import SDist, SdistParams, fitted_space

    rows = cell.source.training(cell.seed)
    x = csr_array((rows.values, rows.indices, rows.indptr))
    algorithm = SDist(SdistParams(**cell.params))
    params = algorithm.settled(x.shape[1])
    space, boost = algorithm.prepared(x, rows.y, params, 1)
    path = boost.run(params.steps, algorithm.finder(boost))
    terms = boost.stopped(path, params.steps, params.lambda_c)
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
    """Figures 4.2 and 4.3, of rows that are square images: the share of the classes by the first
    principal component of the transformed rows, and the pixels of the metric in one image."""
    from cwtool.bench.fit import fit

    rows = cell.source.training(cell.seed)
    order = permutation(rows.n_rows, cell.seed)
    model, seconds = fit(cell.algo, cell.params, rows, order, seed=cell.seed)
    algorithm: Any = model.algorithm
    learned = algorithm.rows(model.state)
    points = algorithm.points(learned, model.state)
    y = rows.y[order]
    middle, balance = class_balance(first_component(points, points), y > 0)

    ids, slots = model.state.features.ids_and_slots()
    side = ceil(sqrt(int(ids.max()) + 1))
    image, importance = np.zeros(side * side), np.zeros(side * side)
    image[ids] = learned[[int(np.argmax(y > 0))], :].toarray()[0, slots]
    importance[ids] = algorithm.weights(model.state, slots)[0]
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
    """The middle of each bin, and in it the share of the positive class less that of the other;
    bins without rows are left out."""
    edges = np.histogram_bin_edges(component, BINS)
    ours, others = (np.histogram(component[side], edges)[0] for side in (positive, ~positive))
    some = ours + others > 0
    middle = (edges[1:] + edges[:-1]) / 2
    return middle[some], (ours - others)[some] / (ours + others)[some]
