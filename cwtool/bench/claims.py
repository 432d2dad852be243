"""Claims of a paper judged by the results of a suite."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from cwtool.bench.results import Results
from cwtool.bench.suite import Claim
from cwtool.data.rows import Floats
from cwtool.report.claims import Finding, Verdict

OF_ALL_REPEATS = ("kappa",)  # metrics that are one number for all repeats together


def judge(claim: Claim, results: Results) -> list[Verdict]:
    """The claim on every data set and against every other method. Ours is judged by a paired
    t-test at the level of 5 % over repeats and points of the sweep where there are several pairs,
    and by the means where there is one; the paper's by the means that it prints."""
    one, _, others, metric = claim.parsed
    tables = [
        t for t in results.suite.tables if (t.experiment, t.metric) == (claim.experiment, metric)
    ]
    printed = [data for table in tables for data in table.paper]
    verdicts = []
    for data in claim.data or dict.fromkeys([*results.data_of(claim.experiment), *printed]):
        for other in others:
            pairs = _along(results, claim, data, other) if claim.along else _pairs(
                results, claim, data, other
            )  # fmt: skip
            ours, difference, error = _measured(claim, pairs)
            paper: Finding = "unknown"
            for table in tables:
                known = table.paper.get(data, {})
                if one in known and other in known:
                    paper = _finding(claim, known[one] - known[other], table.scale)
            if (ours, paper) != ("unknown", "unknown"):
                verdicts.append(Verdict(data, other, ours, paper, difference, error))
    return verdicts


def _measured(claim: Claim, pairs: Floats) -> tuple[Finding, float | None, float | None]:
    """What pairs of values say of the claim; the mean difference and its standard error."""
    if not len(pairs):
        return "unknown", None, None
    delta = pairs[:, 0] - pairs[:, 1]
    difference = float(delta.mean())
    if len(delta) < 2:
        return _finding(claim, difference), difference, None
    error = float(delta.std(ddof=1) / np.sqrt(len(delta)))
    if abs(difference - _slack(claim)) <= stdtrit(len(delta) - 1, 0.975) * error:
        return "even", difference, error
    return _finding(claim, difference), difference, error


def _slack(claim: Claim) -> float:
    """The difference that the claim allows, with its sign."""
    return claim.slack if claim.parsed[1] == "<" else -claim.slack


def _finding(claim: Claim, difference: float, scale: float = 1.0) -> Finding:
    """What a difference says of the claim; `scale` is its unit in that of the metric."""
    beyond = difference - _slack(claim) * scale
    if beyond == 0:
        return "even"
    return "holds" if (beyond < 0) == (claim.parsed[1] == "<") else "fails"


def _pairs(results: Results, claim: Claim, data: str, other: str) -> Floats:
    """The values of both methods, paired by seed and by place in the sweep."""
    one, *_, metric = claim.parsed
    if metric in OF_ALL_REPEATS:
        ours = [results.mean(claim.experiment, data, m, {}, metric) for m in (one, other)]
        return np.array([[m.mean for m in ours if m]] if all(ours) else []).reshape(-1, 2)
    found: list[dict[tuple[int, int], float]] = []
    for method in (one, other):
        points = results.suite.methods[method].points
        found.append(
            {
                (points.index(r.point), r.seed): r.outcome.result[metric]
                for r in results.of(claim.experiment, data, method)
                if r.outcome.result.get(metric) is not None
            }
        )
    both = sorted(found[0].keys() & found[1].keys())
    return np.array([[found[0][k], found[1][k]] for k in both], dtype=float).reshape(-1, 2)


def _along(results: Results, claim: Claim, data: str, other: str) -> Floats:
    """The means of the curves of both methods over the range that both reach, paired by seed."""
    one, *_, metric = claim.parsed
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
