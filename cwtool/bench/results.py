"""What a suite found: its cells by their place, and means over repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np

from cwtool.bench.cells import Cell
from cwtool.bench.suite import Figure, Suite, Table
from cwtool.data.rows import Floats
from cwtool.metrics.stability import stability
from cwtool.parallel import Outcome
from cwtool.records import dataclass

Series = tuple[list[float], list[float], list[float]]  # x, y, standard deviation of y


@dataclass(frozen=True)
class Record:
    """One cell and its place in the suite."""

    experiment: str
    data: str
    method: str
    point: dict[str, Any]  # of the sweep
    seed: int
    cell: Cell
    outcome: Outcome
    chosen: dict[str, Any] = field(default_factory=dict)  # by cross-validation


@dataclass(frozen=True)
class Mean:
    """The values of a metric over the repeats."""

    values: Floats

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def sd(self) -> float | None:
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else None


@dataclass
class Results:
    suite: Suite
    records: list[Record] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)  # data that is not there
    missing: dict[str, str] = field(default_factory=dict)  # method -> how to install its program
    _good: dict[tuple[str, str, str], list[Record]] = field(default_factory=dict)

    @property
    def failures(self) -> list[Record]:
        return [r for r in self.records if r.outcome.failure]

    def add(self, record: Record) -> None:
        self.records.append(record)
        if not record.outcome.failure:
            place = record.experiment, record.data, record.method
            self._good.setdefault(place, []).append(record)

    def of(self, experiment: str, data: str, method: str) -> list[Record]:
        """The records at this place that did not fail."""
        return self._good.get((experiment, data, method), [])

    def data_of(self, experiment: str) -> list[str]:
        return self.suite.experiments[experiment].data or list(self.suite.data)

    def methods_of(self, experiment: str) -> list[str]:
        return self.suite.experiments[experiment].methods or list(self.suite.methods)

    def metrics_of(self, experiment: str) -> list[str]:
        """The numbers that were measured, by name; none if nothing was."""
        records = [r for r in self.records if r.experiment == experiment and not r.outcome.failure]
        found = [r.outcome.result for r in records]
        names = {key for r in found for key, value in r.items() if isinstance(value, int | float)}
        return sorted(names | {"kappa"} if any("support" in r for r in found) else names)

    def mean(
        self, experiment: str, data: str, method: str, point: dict[str, Any], metric: str
    ) -> Mean | None:
        """The values of a metric over the repeats that have it. `kappa`, the agreement of the
        features that the repeats use, is one value of all repeats together."""
        found = [r.outcome.result for r in self.of(experiment, data, method) if r.point == point]
        if metric == "kappa":
            supports = [np.array(r["support"], dtype=np.int32) for r in found if "support" in r]
            value = stability(supports, found[0]["features"]) if supports else None
            return None if value is None else Mean(np.array([value]))
        values = [r[metric] for r in found if r.get(metric) is not None]
        return Mean(np.array(values, dtype=float)) if values else None

    def curve(
        self, experiment: str, data: str, method: str, seed: int, x: str, y: str
    ) -> tuple[Floats, Floats]:
        """Two metrics of one repeat at all points of the sweep, in the order of x."""
        found = [
            (r.outcome.result[x], r.outcome.result[y])
            for r in self.of(experiment, data, method)
            if r.seed == seed
        ]
        points = np.array(sorted(found), dtype=float).reshape(-1, 2)
        return points[:, 0], points[:, 1]

    def read_off(self, table: Table, data: str, method: str, at: float) -> Mean | None:
        """The metric of a table, interpolated on the curves of all repeats at the place `at`; None
        if some curve does not reach it."""
        values = []
        for seed in {r.seed for r in self.of(table.experiment, data, method)}:
            x, y = self.curve(table.experiment, data, method, seed, table.along, table.metric)
            if not x[0] <= at <= x[-1]:
                return None
            values.append(float(np.interp(at, x, y)))
        return Mean(np.array(values)) if values else None

    def entry(self, table: Table, data: str, method: str, point: dict[str, Any]) -> Mean | None:
        """The numbers for one cell of a table."""
        if table.along:
            return self.read_off(table, data, method, point[table.along])
        return self.mean(table.experiment, data, method, point, table.metric)

    def rows(self, table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows of a table: data sets that have a number of ours or of the paper, with the
        points of the sweep."""
        methods = self.methods_of(table.experiment)
        for data in [*dict.fromkeys([*self.data_of(table.experiment), *table.paper])]:
            if table.along:
                for at in table.at:
                    if any(self.read_off(table, data, m, at) for m in methods):
                        yield data, {table.along: at}
                continue
            points: list[dict[str, Any]] = []
            for method in methods:
                if self.of(table.experiment, data, method):
                    points += self.suite.methods[method].points
            unique = [p for k, p in enumerate(points) if p not in points[:k]]
            if not unique and data in table.paper:
                unique = [{}]
            yield from ((data, point) for point in unique)

    def series(self, figure: Figure, data: str, method: str) -> Series | None:
        """x, y and the standard deviation of y: the mean over the repeats of the curves that the
        task has recorded, or a point for each value of the sweep."""
        records = self.of(figure.experiment, data, method)
        if not records:
            return None
        if "curve" in records[0].outcome.result:
            return _recorded(figure, [record.outcome.result["curve"] for record in records])
        found = []
        for point in self.suite.methods[method].points:
            y_mean = self.mean(figure.experiment, data, method, point, figure.y)
            at = self.mean(figure.experiment, data, method, point, figure.x)
            place = point.get(figure.x, at.mean if at else None)
            if y_mean is not None and place is not None:
                found.append((float(place), y_mean.mean, y_mean.sd or 0.0))
        places, means, sds = ([point[k] for point in sorted(found)] for k in range(3))
        return (places, means, sds) if found else None


def _recorded(figure: Figure, curves: list[dict[str, list[float]]]) -> Series | None:
    """The mean of curves that tasks have recorded; None if they lack a metric of the figure."""
    if figure.x not in curves[0] or figure.y not in curves[0]:
        return None
    length = min(len(curve[figure.y]) for curve in curves)
    x = np.array([curve[figure.x][:length] for curve in curves], dtype=float).mean(axis=0)
    y = np.array([curve[figure.y][:length] for curve in curves], dtype=float)
    return x.tolist(), y.mean(axis=0).tolist(), y.std(axis=0).tolist()
