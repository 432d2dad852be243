"""A duel: programs that do the same task run in turn, in several rounds, and targets are judged by
their median times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, field
from statistics import median
from typing import Any, Literal

from cwtool.bench.measure import CommandFailed, Cost, measure
from cwtool.records import dataclass
from cwtool.report import page
from cwtool.report.page import Grid, Heading, Words

Metric = Literal["cpu", "wall"]


@dataclass(frozen=True)
class Contender:
    name: str
    command: tuple[str, ...] = ()
    inside: bool = False  # the command prints its times itself, without its imports
    refusal: str = ""  # the command must fail, with this text in its last line
    absent: str = ""  # the reason why it cannot run


@dataclass(frozen=True)
class Target:
    """A goal for some contenders; `judge` gives what was measured, as text, and whether it is
    enough."""

    text: str
    needs: tuple[str, ...]
    judge: Callable[[dict[str, Cost]], tuple[str, bool]]


@dataclass(frozen=True)
class Duel:
    title: str
    timed: str  # what exactly is timed
    reference: str  # the contender the ratios are taken to
    contenders: list[Contender]
    targets: list[Target]
    rounds: int | None = None  # overrides the number of rounds that is asked for


@dataclass
class Outcome:
    duel: Duel
    runs: dict[str, list[Cost]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def costs(self) -> dict[str, Cost]:
        return {name: typical(runs) for name, runs in self.runs.items()}


def typical(runs: list[Cost]) -> Cost:
    """The median of the times and the largest memory."""
    return Cost(
        cpu=median(run.cpu for run in runs),
        wall=median(run.wall for run in runs),
        rss=max(run.rss for run in runs),
        facts=runs[-1].facts,
    )


def faster(name: str, peer: str, metric: Metric, factor: float) -> Target:
    def judge(costs: dict[str, Cost]) -> tuple[str, bool]:
        ratio = getattr(costs[peer], metric) / getattr(costs[name], metric)
        return f"{ratio:.2f}x", ratio >= factor

    return Target(
        f"{name}: at least {factor:g}x as fast as {peer} ({metric} time)", (name, peer), judge
    )


def within(name: str, peer: str, metric: Metric, factor: float) -> Target:
    def judge(costs: dict[str, Cost]) -> tuple[str, bool]:
        ratio = getattr(costs[name], metric) / getattr(costs[peer], metric)
        return f"{ratio:.2f}x", ratio <= factor

    return Target(f"{name}: at most {factor:g}x {peer} ({metric} time)", (name, peer), judge)


def memory_under(name: str, base: float, per_feature: float) -> Target:
    def judge(costs: dict[str, Cost]) -> tuple[str, bool]:
        features = costs[name].facts.get("features")
        if features is None:
            return "no `features` in the JSON output", False
        limit = base + per_feature * features / 1e6
        return f"{costs[name].rss:.0f} of {limit:.0f} MB", costs[name].rss <= limit

    text = f"{name}: peak memory under {base:g} MB + {per_feature:g} bytes per feature seen"
    return Target(text, (name,), judge)


def no_worse(name: str, peers: tuple[str, ...], points: float) -> Target:
    def judge(costs: dict[str, Cost]) -> tuple[str, bool]:
        mine = 100 * float(costs[name].facts["error"])
        best = min(100 * float(costs[p].facts["error"]) for p in peers)
        return f"{mine:.2f} against {best:.2f} %", mine <= best + points

    text = f"{name}: test error at most {points:g} points above the best of {', '.join(peers)}"
    return Target(text, (name, *peers), judge)


def run(duel: Duel, rounds: int) -> Outcome:
    outcome = Outcome(duel, missing={c.name: c.absent for c in duel.contenders if c.absent})
    rounds = duel.rounds or rounds
    for number in range(1, rounds + 1):
        for contender in duel.contenders:
            if contender.name in outcome.missing:
                continue
            try:
                cost = measure(contender.command, contender.refusal, contender.inside)
            except (CommandFailed, OSError) as error:
                outcome.missing[contender.name] = str(error)
                outcome.runs.pop(contender.name, None)
                continue
            outcome.runs.setdefault(contender.name, []).append(cost)
            progress = f"{duel.title}, round {number}/{rounds}: {contender.name}"
            print(f"{progress}: {cost.cpu:.3f} s CPU, {cost.wall:.3f} s wall", file=sys.stderr)
    counts = {cost.facts["nnz"] for cost in outcome.costs.values() if "nnz" in cost.facts}
    if len(counts) > 1:
        raise SystemExit(f"error: {duel.title}: the readers disagree on the nonzeros: {counts}")
    return outcome


def verdicts(outcome: Outcome) -> list[tuple[str, str, str]]:
    """Each target, what was measured, and `met`, `missed`, or `-` if it could not be judged."""
    costs = outcome.costs
    rows = []
    for target in outcome.duel.targets:
        if lacking := [name for name in target.needs if name not in costs]:
            rows.append((target.text, f"not measured: {', '.join(lacking)}", "-"))
        else:
            measured, met = target.judge(costs)
            rows.append((target.text, measured, "met" if met else "missed"))
    return rows


def tables(outcome: Outcome) -> list[Grid]:
    """The costs of the contenders, and the verdicts on the targets."""
    duel, costs = outcome.duel, outcome.costs
    reference = costs.get(duel.reference)
    heads = ["contender", "CPU s", "wall s", "peak MB", "CPU ratio", "wall ratio"]
    rows = []
    for contender in duel.contenders:
        name = contender.name
        if name in costs:
            cost = costs[name]
            ratios = ["-", "-"]
            if reference:
                ratios = [f"{cost.cpu / reference.cpu:.2f}", f"{cost.wall / reference.wall:.2f}"]
            if {"error", "C"} <= cost.facts.keys():
                error = 100 * float(cost.facts["error"])
                name += f" (test error {error:.2f} %, C {cost.facts['C']:g})"
            rows.append([name, f"{cost.cpu:.3f}", f"{cost.wall:.3f}", f"{cost.rss:.0f}", *ratios])
        else:
            rows.append([f"{name}: {outcome.missing[name]}", *["-"] * 5])
    judged = [list(row) for row in verdicts(outcome)]
    return [Grid(heads, rows), Grid(["target", "measured", "verdict"], judged)]


def explanation(outcome: Outcome) -> str:
    rounds = max(map(len, outcome.runs.values()), default=0)
    return (
        f"{outcome.duel.timed} Rounds: {rounds}; median times, highest peak, ratios to "
        f"{outcome.duel.reference}."
    )


def markdown(outcome: Outcome) -> str:
    """The results as a section of a Markdown report."""
    title, text = Heading(outcome.duel.title), Words(explanation(outcome))
    return page.markdown([title, text, *tables(outcome)], "##")


def record(outcome: Outcome) -> dict[str, Any]:
    """All runs, verdicts and tables, ready for JSON."""
    costs, judged = tables(outcome)
    title = outcome.duel.title
    return {
        "title": outcome.duel.title,
        "runs": {name: [asdict(cost) for cost in runs] for name, runs in outcome.runs.items()},
        "missing": outcome.missing,
        "targets": [
            dict(zip(("target", "measured", "verdict"), row, strict=True))
            for row in verdicts(outcome)
        ],
        "tables": [
            {"title": title, "text": explanation(outcome), **_plain(costs)},
            {"title": f"{title}: targets", **_plain(judged)},
        ],
    }


def _plain(table: Grid) -> dict[str, Any]:
    return {"heads": table.heads, "rows": table.rows}
