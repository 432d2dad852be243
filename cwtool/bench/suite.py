"""A suite is one TOML file: data, methods, experiments, and what to report of them.

    title, paper, notes          text of the report
    repeats = 10, folds = 5      number of random orders; folds of the cross-validation
    choose_by = "error"          the metric by which cross-validation chooses parameters
    [data.NAME]                  files of the data folder, or make = a generator (sources.py)
    [method.NAME]                algo ("": only the paper has numbers of it; or a program of
                                 others.py), label, params (also multiclass, class_weight and
                                 threshold), grid (chosen by cross-validation on the training
                                 rows), sweep (each value is a point of a curve)
    [[experiment]]               name, task (tasks.py), data, methods, repeats, options
    [[table]]                    experiment, metric, title, scale, digits, paper.DATA.METHOD;
                                 along, at: interpolated on a curve
    [[figure]]                   experiment, x, y, title; panels.TITLE: data sets in one panel;
                                 maps = true: the maps that the task has made, x and y their axes
    [[claim]]                    of the paper: text, rule = "a < b, c on metric", slack

Any table may hold a table `quick`, whose keys replace its own in the quick version of the suite.
"""

from __future__ import annotations

import re
import sys
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import Any, TypeVar

from cwtool import registry
from cwtool.bench.kinds import check_kinds
from cwtool.bench.tasks import TASKS, Task
from cwtool.data.handles import near
from cwtool.errors import UsageError
from cwtool.params import build as build_params
from cwtool.params import declared
from cwtool.records import dataclass
from cwtool.validation import points

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUITES = Path(__file__).parent / "suites"
RULE = re.compile(r"(?P<one>[\w.-]+) (?P<sign>[<>]) (?P<others>[\w., -]+) on (?P<metric>\w+)")
T = TypeVar("T")
Values = dict[str, Any]


@dataclass(frozen=True)
class Method:
    algo: str
    label: str = ""
    params: Values = field(default_factory=dict)
    grid: dict[str, list[Any]] = field(default_factory=dict)
    sweep: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def points(self) -> list[Values]:
        """The points of the sweep; one empty point if there is no sweep."""
        return points(self.sweep)


@dataclass(frozen=True)
class Experiment:
    task: str
    name: str = ""
    data: list[str] = field(default_factory=list)  # empty: all
    methods: list[str] = field(default_factory=list)  # empty: all
    repeats: int = 0  # 0: as many as the suite says
    options: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    metric: str
    title: str
    experiment: str = ""
    scale: float = 1.0  # shown = scale * measured; the numbers of the paper are given as shown
    digits: int = 2
    along: str = ""  # interpolate on the curve of the sweep against this metric,
    at: list[float] = field(default_factory=list)  # at these values of it
    paper: dict[str, dict[str, float]] = field(default_factory=dict)  # by data and method


@dataclass(frozen=True)
class Figure:
    x: str  # a metric, a column of the curve, or a parameter of the sweep
    y: str
    title: str
    experiment: str = ""
    x_label: str = ""
    y_label: str = ""
    scale: float = 1.0
    log_x: bool = False
    panels: dict[str, list[str]] = field(default_factory=dict)  # empty: one for each data set
    maps: bool = False  # instead of lines: the maps of the task, a row for each data and method


@dataclass(frozen=True)
class Claim:
    """A rule "a < b, c on metric" says that the mean of the metric is smaller for method a than for
    b and for c, or larger by no more than `slack`. With `along`, the means of their curves against
    that metric are compared over the range that both curves reach."""

    text: str
    rule: str
    experiment: str = ""
    slack: float = 0.0  # in the unit of the metric
    along: str = ""
    data: list[str] = field(default_factory=list)  # empty: all

    @property
    def parsed(self) -> tuple[str, str, list[str], str]:
        """Of the rule: the first method, < or >, the others, and the metric."""
        match = RULE.fullmatch(self.rule)
        if match is None:
            raise UsageError(f'claim {self.rule!r} is not of the form "a < b, c on metric"')
        others = [name.strip() for name in match["others"].split(",")]
        return match["one"], match["sign"], others, match["metric"]


@dataclass(frozen=True)
class Suite:
    name: str
    title: str
    data: dict[str, Values]
    methods: dict[str, Method]
    experiments: dict[str, Experiment]
    paper: str = ""
    notes: str = ""
    repeats: int = 1
    folds: int = 5
    choose_by: str = "error"
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    quick: bool = False


def names() -> list[str]:
    """The suites that cwtool ships."""
    return sorted(path.stem for path in SUITES.glob("*.toml"))


def load(name: str, *, quick: bool = False) -> Suite:
    """A suite by its name, or by the path of a TOML file."""
    path = Path(name) if name.endswith(".toml") else SUITES / f"{name}.toml"
    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        if name.endswith(".toml"):
            raise UsageError(f"{name}: no such file", near(name)) from None
        raise UsageError(
            f"there is no suite {name!r}",
            f"choose one of {', '.join(names())}, or give a TOML file",
        ) from None
    except (OSError, RecursionError, ValueError) as failure:
        raise UsageError(f"{path}: {failure}") from None
    try:
        return _suite(path.stem, shortened(found, quick), quick)
    except UsageError as failure:
        raise UsageError(f"{path}: {failure}", failure.hint) from None


def shortened(table: Any, quick: bool) -> Any:
    """The tables without their `quick` tables; these have replaced other keys if `quick`."""
    if isinstance(table, list):
        return [shortened(item, quick) for item in table]
    if not isinstance(table, dict):
        return table
    quicker = table.get("quick", {})
    if not isinstance(quicker, dict):
        raise UsageError("quick is not a table")
    merged = {**table, **(quicker if quick else {})}
    return {key: shortened(value, quick) for key, value in merged.items() if key != "quick"}


class Tables:
    """The tables that a suite is made of."""

    data: dict[str, Values]
    method: dict[str, Values]
    experiment: list[Values]
    table: list[Values]
    figure: list[Values]
    claim: list[Values]


def _suite(name: str, found: Values, quick: bool) -> Suite:
    check_kinds(Tables, found, "suite")
    methods = {
        key: _made(Method, {"label": key, **table}, f"method.{key}")
        for key, table in found.pop("method", {}).items()
    }
    experiments = {}
    for table in found.pop("experiment", []):
        experiment = _made(Experiment, {"name": table.get("task", ""), **table}, "experiment")
        experiments[experiment.name] = experiment
    parts: Values = {"methods": methods, "experiments": experiments, "name": name, "quick": quick}
    for key, kind in (("table", Table), ("figure", Figure), ("claim", Claim)):
        first = {"experiment": next(iter(experiments), "")}
        parts[f"{key}s"] = [_made(kind, {**first, **t}, key) for t in found.pop(key, [])]
    suite = _made(Suite, {**found, **parts}, "suite")
    _check(suite)
    return suite


def _made(kind: type[T], table: Values, where: str) -> T:
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: {key!r} is unknown", f"choose one of {', '.join(known)}")
    for f in fields(kind):  # type: ignore[arg-type]
        if f.name not in table and f.default is MISSING and f.default_factory is MISSING:
            raise UsageError(f"{where}: {f.name!r} is missing")
    check_kinds(kind, table, where)
    return kind(**table)


def _check(suite: Suite) -> None:
    """Every name that is used is declared, and every parameter is one of its algorithm."""

    def known(name: str, group: Any, where: str) -> None:
        if name not in group:
            raise UsageError(f"{where}: there is no {name!r} among {', '.join(group)}")

    for experiment in suite.experiments.values():
        known(experiment.task, TASKS, "experiment")
        for name in experiment.data:
            known(name, suite.data, f"experiment {experiment.name}")
        for name in experiment.methods or suite.methods:
            known(name, suite.methods, f"experiment {experiment.name}")
            _check_method(name, suite.methods[name], TASKS[experiment.task])
    parts: list[Table | Figure | Claim] = [*suite.tables, *suite.figures, *suite.claims]
    for part in parts:
        known(part.experiment, suite.experiments, type(part).__name__.lower())
    for figure in suite.figures:
        for name in (name for panel in figure.panels.values() for name in panel):
            known(name, suite.data, f"figure {figure.title!r}")
    for claim in suite.claims:
        one, _, others, _ = claim.parsed
        for name in [one, *others]:
            known(name, suite.methods, "claim")


def _check_method(name: str, method: Method, task: Task) -> None:
    if method.algo not in registry.names():
        if method.algo and task.others is not None and method.algo not in task.others:
            raise UsageError(
                f"method {name}: there is no algorithm {method.algo!r}",
                f"choose one of {', '.join((*registry.names(), *task.others))}",
            )
        return  # a name that only its task knows
    kind, extra = registry.algorithm(method.algo), task.extra
    own = {p.name for p in declared(kind.Params)}
    try:
        for point in points({**method.sweep, **method.grid}):
            given = {**method.params, **point}
            build_params(
                kind.Params, {k: v for k, v in given.items() if k in own or k not in extra}
            )
    except UsageError as failure:
        raise UsageError(f"method {name}: {failure}", failure.hint) from None
