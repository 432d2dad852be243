"""What a suite found: cells by their place in it, means over repeats, and claims judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from cwtool.bench.cells import Cell, Outcome
from cwtool.bench.suite import Claim, Figure, Suite, Table
from cwtool.data.block import Floats
from cwtool.metrics import stability

MADE_OF_ALL = ("kappa",)  # metrics of all repeats together


@dataclass(frozen=True)
class Record:
    """One cell in its place."""

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
    """Of one metric over the repeats."""

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
        """Those that did not fail."""
        return self._good.get((experiment, data, method), [])

    def data_of(self, experiment: str) -> list[str]:
        return self.suite.experiments[experiment].data or list(self.suite.data)

    def methods_of(self, experiment: str) -> list[str]:
        return self.suite.experiments[experiment].methods or list(self.suite.methods)

    def mean(
        self, experiment: str, data: str, method: str, point: dict[str, Any], metric: str
    ) -> Mean | None:
        """Over the repeats that have this metric."""
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
        """Two metrics of one repeat at all points of the sweep, by ascending x."""
        found = [
            (r.outcome.result[x], r.outcome.result[y])
            for r in self.of(experiment, data, method)
            if r.seed == seed
        ]
        points = np.array(sorted(found), dtype=float).reshape(-1, 2)
        return points[:, 0], points[:, 1]

    def read_off(self, table: Table, data: str, method: str, at: float) -> Mean | None:
        """The metric where the curves of all repeats reach this place; nothing elsewhere."""
        values = []
        for seed in {r.seed for r in self.of(table.experiment, data, method)}:
            x, y = self.curve(table.experiment, data, method, seed, table.along, table.metric)
            if not x[0] <= at <= x[-1]:
                return None
            values.append(float(np.interp(at, x, y)))
        return Mean(np.array(values)) if values else None

    def entry(self, table: Table, data: str, method: str, point: dict[str, Any]) -> Mean | None:
        """What stands in one place of a table."""
        if table.along:
            return self.read_off(table, data, method, point[table.along])
        return self.mean(table.experiment, data, method, point, table.metric)

    def rows(self, table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
        """Data sets with a figure of ours or of the paper, and the points of the sweep."""
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

    def series(
        self, figure: Figure, data: str, method: str
    ) -> tuple[list[float], list[float], list[float]] | None:
        """x, y and the standard deviation of y: a point for each value of the sweep, or the
        mean over the repeats of the curve that the task has drawn."""
        records = self.of(figure.experiment, data, method)
        if not records:
            return None
        if "curve" in records[0].outcome.result:
            curves = [r.outcome.result["curve"] for r in records]
            if figure.x not in curves[0] or figure.y not in curves[0]:
                return None
            length = min(len(curve[figure.y]) for curve in curves)
            x = np.array([curve[figure.x][:length] for curve in curves], dtype=float).mean(axis=0)
            y = np.array([curve[figure.y][:length] for curve in curves], dtype=float)
            return x.tolist(), y.mean(axis=0).tolist(), y.std(axis=0).tolist()
        found = []
        for point in self.suite.methods[method].points:
            y_mean = self.mean(figure.experiment, data, method, point, figure.y)
            at = self.mean(figure.experiment, data, method, point, figure.x)
            place = point.get(figure.x, at.mean if at else None)
            if y_mean is not None and place is not None:
                found.append((float(place), y_mean.mean, y_mean.sd or 0.0))
        places, means, sds = ([point[k] for point in sorted(found)] for k in range(3))
        return (places, means, sds) if found else None


@dataclass(frozen=True)
class Verdict:
    """A claim on one data set: ours and the paper's, each holds, fails, even or unknown."""

    data: str
    other: str
    ours: str
    paper: str
    difference: float | None  # of ours: one minus other
    error: float | None  # standard error of it


def judge(claim: Claim, results: Results) -> list[Verdict]:
    """On every data set: by a paired t-test at 5 % over orders and points where there are
    several, by the means where there is one; the paper's by its means."""
    one, sign, others, metric = claim.parsed
    slack = claim.slack if sign == "<" else -claim.slack
    tables = [
        t for t in results.suite.tables if (t.experiment, t.metric) == (claim.experiment, metric)
    ]
    verdicts = []
    for data in claim.data or [
        *dict.fromkeys([*results.data_of(claim.experiment), *(d for t in tables for d in t.paper)])
    ]:
        printed = [(t.paper[data], slack * t.scale) for t in tables if data in t.paper]
        for other in others:
            pairs = (
                _along(results, claim, data, one, other, metric)
                if claim.along
                else _pairs(results, claim.experiment, data, one, other, metric)
            )
            difference = error = None
            ours = "unknown"
            if len(pairs):
                delta = pairs[:, 0] - pairs[:, 1]
                difference = float(delta.mean())
                ours = _word(difference - slack, sign)
                if len(delta) > 1:
                    error = float(delta.std(ddof=1) / np.sqrt(len(delta)))
                    if abs(difference - slack) <= stdtrit(len(delta) - 1, 0.975) * error:
                        ours = "even"
            paper = "unknown"
            for figures, shown_slack in printed:
                if one in figures and other in figures:
                    paper = _word(figures[one] - figures[other] - shown_slack, sign)
            if (ours, paper) != ("unknown", "unknown"):
                verdicts.append(Verdict(data, other, ours, paper, difference, error))
    return verdicts


def _word(difference: float, sign: str) -> str:
    if difference == 0:
        return "even"
    return "holds" if (difference < 0) == (sign == "<") else "fails"


def _pairs(
    results: Results, experiment: str, data: str, one: str, other: str, metric: str
) -> Floats:
    """Values of both methods, paired by seed and by place in the sweep."""
    if metric in MADE_OF_ALL:
        ours = [results.mean(experiment, data, m, {}, metric) for m in (one, other)]
        return np.array([[m.mean for m in ours if m]] if all(ours) else []).reshape(-1, 2)
    found: list[dict[tuple[int, int], float]] = []
    for method in (one, other):
        points = results.suite.methods[method].points
        found.append(
            {
                (points.index(r.point), r.seed): r.outcome.result[metric]
                for r in results.of(experiment, data, method)
                if r.outcome.result.get(metric) is not None
            }
        )
    both = sorted(found[0].keys() & found[1].keys())
    return np.array([[found[0][k], found[1][k]] for k in both], dtype=float).reshape(-1, 2)


def _along(results: Results, claim: Claim, data: str, one: str, other: str, metric: str) -> Floats:
    """Means of the curves of both methods over the range that both reach, paired by seed."""
    found = []
    for seed in sorted({r.seed for r in results.of(claim.experiment, data, one)}):
        curves = [
            results.curve(claim.experiment, data, m, seed, claim.along, metric)
            for m in (one, other)
        ]
        if not all(len(x) for x, _ in curves):
            continue
        at = np.linspace(max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves), 101)
        if at[0] < at[-1]:
            found.append([float(np.interp(at, x, y).mean()) for x, y in curves])
    return np.array(found, dtype=float).reshape(-1, 2)
