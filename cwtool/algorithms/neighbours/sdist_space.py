"""The space of sdist, in which rows are points and neighbours are found."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cwtool.algorithms.neighbours.boosting import Boost, beside
from cwtool.algorithms.neighbours.column_scale import FARTHEST, divided
from cwtool.algorithms.neighbours.monomials import Metric, Term, metric
from cwtool.algorithms.neighbours.search import squares
from cwtool.data.rows import Floats
from cwtool.order import added

BLEND = 0.5
NO_METRIC = Metric(np.empty((0, 1), dtype=np.int32), np.empty(0), np.empty((0, 0)))


class Space(NamedTuple):
    """Scaled columns with the metric W over their products, plus `share` times the identity over
    the columns themselves. Without a metric, distances are those of the scaled columns."""

    mean: Floats
    divisor: Floats
    dense: bool
    metric: Metric
    share: float

    def base(self, rows: csr_array) -> Any:
        """The scaled columns, centred if dense."""
        if not self.dense:
            return divided(rows, self.divisor)
        return self._scaled(rows, np.arange(rows.shape[1]))

    def _scaled(self, rows: csr_array, columns: Any) -> Floats:
        """Some scaled columns as a dense array."""
        by = self.divisor[columns]
        x: Floats = rows[:, columns].toarray() - self.mean[columns]
        x *= np.divide(1.0, by, out=np.zeros(len(by)), where=by > 1e-300)
        np.clip(x, -FARTHEST, FARTHEST, out=x)
        return x

    def points(self, rows: csr_array) -> Any:
        """The rows as points whose squared distances are those of the metric."""
        if not len(self.metric.keys):
            return self.base(rows)
        used = self.metric.used
        z = self.metric.embed(self._scaled(rows, used), used)
        return beside(self.base(rows), self.share, z) if self.share else z


def fitted_space(space: Space, boost: Boost, terms: list[Term]) -> Space:
    """The space with the metric of these terms, scaled to trace 1. Without terms there is no
    metric, and all columns count equally."""
    return mean_space(space, boost, [terms])


def mean_space(space: Space, boost: Boost, metrics: list[list[Term]]) -> Space:
    """The space with the mean of these metrics, each scaled to trace 1; those without terms do not
    count."""
    metrics = [terms for terms in metrics if terms]
    if not metrics:
        return space
    p, share, scaled = boost.params, 0.0, []
    for terms in metrics:
        total = len(metrics) * (p.w0 + added(t.weight for t in terms))
        scaled += [t._replace(weight=t.weight / total) for t in terms]
        share += p.w0 / boost.live / total
    return space._replace(metric=metric(scaled, boost.monomials, p.order), share=share)


def blended(space: Space, rows: csr_array) -> Space:
    """The space with a part that weighs all columns equally, in which these rows are spread BLEND
    times as far as in the metric."""
    if not len(space.metric.keys):
        return space
    far = spread(space.base(rows))
    share = BLEND * spread(space.points(rows)) / far if far > 0 else 0.0
    return space._replace(share=share)


def spread(points: Any) -> float:
    """The mean squared distance of the points from their mean."""
    mean = np.asarray(points.mean(axis=0)).ravel()
    return float(squares(points).mean() - mean @ mean)
