"""Results of a suite as Markdown, CSV, JSON lines, plots, and a section of a page."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cwtool import charts
from cwtool.bench.results import Record, Results, Verdict, judge
from cwtool.bench.suite import Claim, Figure, Table
from cwtool.files import complete_text
from cwtool.page import (
    DIFFERENCE,
    PAPER,
    Grid,
    Heading,
    Part,
    Picture,
    Points,
    Words,
    html,
    markdown,
)

MORE_IS_BETTER = {"auc", "f1", "kappa", "accuracy"}
WITHOUT_PLOTS = "Plots were left out: matplotlib is not installed (`pip install 'cwtool[report]'`)."


def number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class Entry:
    """One place of a table, as shown."""

    ours: float | None = None
    sd: float | None = None
    repeats: int = 0
    paper: float | None = None

    @property
    def difference(self) -> float | None:
        both = self.ours is not None and self.paper is not None
        return self.ours - self.paper if both else None  # type: ignore[operator]

    def words(self, digits: int, best: float | None) -> str:
        if self.ours is None:
            return "–"
        text = number(self.ours, digits)
        text = f"**{text}**" if self.ours == best else text
        return text + (f" ± {number(self.sd, digits)}" if self.sd is not None else "")


def title_of(data: str, point: dict[str, Any]) -> str:
    return ", ".join([data, *(f"{k} {v}" for k, v in point.items())])


def entries(table: Table, results: Results) -> dict[tuple[str, str], Entry]:
    """By row of data and by method."""
    found = {}
    for data, point in results.rows(table):
        for method in results.methods_of(table.experiment):
            mean = results.entry(table, data, method, point)
            paper = table.paper.get(data, {}).get(method) if not point else None
            found[title_of(data, point), method] = Entry(
                None if mean is None else table.scale * mean.mean,
                None if mean is None or mean.sd is None else table.scale * mean.sd,
                0 if mean is None else len(mean.values),
                paper,
            )
    return found


def grid(table: Table, results: Results) -> Grid | None:
    """Of the methods that have a figure. The longer of data and methods goes down; beside what has
    a figure in the paper, that figure and the difference."""
    found = entries(table, results)
    if not any(entry.ours is not None for entry in found.values()):
        return None
    data = list(dict.fromkeys(row for row, _ in found))
    told = {m for (_, m), e in found.items() if e.ours is not None or e.paper is not None}
    methods = [m for m in results.methods_of(table.experiment) if m in told]
    better: Callable[..., float] = max if table.metric in MORE_IS_BETTER else min
    best = {}
    for row in data:
        values = [e.ours for (r, _), e in found.items() if r == row and e.ours is not None]
        best[row] = better(values) if len(values) > 1 else None
    labels = {m: results.suite.methods[m].label for m in methods}
    down = len(data) >= len(methods)
    lines, across = (data, methods) if down else (methods, data)

    def at(line: str, column: str) -> tuple[str, str]:
        return (line, column) if down else (column, line)

    def figures(line: str, column: str) -> list[str]:
        """Ours, the paper's and the difference, as far as the column has them."""
        entry = found[at(line, column)]
        ours = entry.words(table.digits, best[at(line, column)[0]])
        paper, gap = number(entry.paper, table.digits), entry.difference
        difference = "" if gap is None else signed(gap, table.digits)
        shown = [(ours, measured), (paper, printed), (difference, measured & printed)]
        return [text for text, columns in shown if column in columns]

    def columns_with(name: str) -> set[str]:
        return {c for c in across if any(getattr(found[at(n, c)], name) is not None for n in lines)}

    measured, printed = columns_with("ours"), columns_with("paper")
    heads = ["data" if down else "method"]
    for column in across:
        name = labels[column] if down else column
        if column in measured:
            heads += [name, PAPER, DIFFERENCE] if column in printed else [name]
        elif column in printed:
            heads.append(f"{name}, paper")
    rows = [
        [line if down else labels[line], *(text for c in across for text in figures(line, c))]
        for line in lines
    ]
    return Grid(heads, rows)


def picture(figure: Figure, results: Results) -> Any:
    """A panel for each data set, or for several whose points make one line."""
    if figure.maps:
        return atlas(figure, results)
    panels = []
    alone = {data: [data] for data in results.data_of(figure.experiment)}
    for title, sets in (figure.panels or alone).items():
        lines = []
        for method in results.methods_of(figure.experiment):
            found = [results.series(figure, data, method) for data in sets]
            points = [point for one in found if one for point in zip(*one, strict=True)]
            if points:
                x, y, sd = map(list, zip(*points, strict=True))
                label = results.suite.methods[method].label
                scaled = [figure.scale * v for v in y], [figure.scale * v for v in sd]
                lines.append(charts.Line(label, x, *scaled))
        if lines:
            named = figure.x_label or figure.x, figure.y_label or figure.y
            panels.append(charts.Panel(title, lines, *named, log_x=figure.log_x))
    return charts.chart(panels) if panels else None


def atlas(figure: Figure, results: Results) -> Any:
    """The maps of the first repeat, a row for each data set and method."""
    rows = []
    for data in results.data_of(figure.experiment):
        for method in results.methods_of(figure.experiment):
            for record in results.of(figure.experiment, data, method)[:1]:
                found = [charts.Map(**one) for one in record.outcome.result["maps"]]
                rows.append([replace(one, title=f"{data}: {one.title}") for one in found])
    return charts.maps(rows, figure.x, figure.y) if rows else None


def judged(claim: Claim, results: Results) -> str:
    """What the numbers say of a claim, in words."""
    metric = claim.parsed[-1]
    table = next((t for t in results.suite.tables if t.metric == metric), None)
    scale, digits = (table.scale, table.digits) if table else (1.0, 4)
    label = {name: method.label for name, method in results.suite.methods.items()}

    def listed(verdicts: list[Verdict]) -> str:
        words: dict[str, list[str]] = {}
        for v in verdicts:
            assert v.difference is not None
            error = f" ± {number(scale * v.error, digits)}" if v.error else ""
            gap = signed(scale * v.difference, digits)
            words.setdefault(v.data, []).append(f"{label[v.other]} ({gap}{error})")
        return "; ".join(f"{data} against {', '.join(of)}" for data, of in words.items())

    verdicts = judge(claim, results)
    ours = {w: [v for v in verdicts if v.ours == w] for w in ("holds", "fails", "even")}
    paper = {w: [v for v in verdicts if v.paper == w] for w in ("holds", "fails", "even")}
    total = sum(map(len, ours.values()))
    said = [f"**{claim.text}**"]
    if not total:
        said.append("Not measured here.")
    elif len(ours["holds"]) == total:
        said.append(f"Our numbers confirm it: {listed(ours['holds'])}.")
    else:
        if ours["fails"]:
            some = f" in {len(ours['fails'])} of {total} comparisons" if total > 1 else ""
            said.append(f"Our numbers contradict it{some}: {listed(ours['fails'])}.")
        if ours["holds"]:
            said.append(f"It holds in {len(ours['holds'])} of {total}: {listed(ours['holds'])}.")
        if ours["even"]:
            said.append(f"No difference to be told: {listed(ours['even'])}.")
    if printed := sum(map(len, paper.values())):
        said.append(
            f"By the figures the paper prints it holds in {len(paper['holds'])} of {printed}."
        )
        against = [v for v in verdicts if v.paper == "holds" and v.ours == "fails"]
        if against:
            where = ", ".join(f"{v.data} against {label[v.other]}" for v in against)
            said.append(f"On the paper's own data we find the reverse: {where}.")
    return " ".join(said)


def at_edge(value: Any, tried: list[Any]) -> bool:
    """Might a value beyond those that were tried be better?"""
    numbers = len(tried) > 2 and not any(isinstance(v, bool | str) for v in tried)
    return numbers and value in (min(tried), max(tried))


def chosen(results: Results) -> Grid | None:
    """The parameters that cross-validation chose."""
    rows: dict[tuple[str, str, str], dict[str, None]] = {}
    for record in results.records:
        if record.chosen:
            method = results.suite.methods[record.method]
            words = ", ".join(
                f"{k} {v}{' (edge of the grid)' if at_edge(v, method.grid[k]) else ''}"
                for k, v in record.chosen.items()
            )
            at = (title_of(record.data, record.point), method.label, record.experiment)
            rows.setdefault(at, {})[words] = None
    if not rows:
        return None
    return Grid(
        ["data", "method", "chosen"],
        [[d, m, "; ".join(w)] for (d, m, _), w in rows.items()],
        words=3,
    )


def parts(results: Results, pictures: dict[str, Any]) -> Iterator[Part]:
    """The whole report of a suite, in order."""
    suite = results.suite
    yield Heading(suite.title)
    if suite.paper:
        yield Words(f"Source: {suite.paper}.")
    if suite.notes:
        yield Words(" ".join(suite.notes.split()))
    if suite.quick:
        yield Words("This is the quick version: less data, fewer repeats, smaller grids.")
    if suite.claims and results.records:
        yield Heading("What the paper claims, and what we measure")
        yield Points([judged(claim, results) for claim in suite.claims])
    for table in suite.tables:
        made = grid(table, results)
        if made is not None:
            yield Heading(table.title)
            yield made
    for record in results.records:
        for extra in record.outcome.result.get("tables", []):
            yield Heading(extra["title"])
            if "text" in extra:
                yield Words(extra["text"])
            yield Grid(extra["heads"], extra["rows"])
    for k, figure in enumerate(suite.figures):
        name = f"figure-{k + 1}"
        if name in pictures:
            yield Heading(figure.title)
            yield Picture(name, charts.as_svg(pictures[name]))
    if suite.figures and not charts.available():
        yield Words(WITHOUT_PLOTS)
    if (picked := chosen(results)) is not None:
        yield Heading(f"Chosen by {suite.folds}-fold cross-validation on the training rows")
        yield picked
    if results.absent:
        yield Words(f"Not in the data folder, and left out: {', '.join(results.absent)}.")
    if results.failures:
        yield Heading("Cells that failed")
        yield Points([failed(record) for record in results.failures])


def failed(record: Record) -> str:
    where = f"{record.experiment}, {record.data}, {record.method}, seed {record.seed}"
    return f"{where}: {record.outcome.failure}"


def write(results: Results, folder: Path) -> str:
    """All files of a suite, in a folder of its name; the Markdown."""
    here = folder / results.suite.name
    here.mkdir(parents=True, exist_ok=True)
    pictures = {}
    if charts.available():
        for k, figure in enumerate(results.suite.figures):
            made = picture(figure, results)
            if made is not None:
                pictures[f"figure-{k + 1}"] = made
    for name, made in pictures.items():
        for suffix in charts.SUFFIXES:
            charts.save(made, here / f"{name}{suffix}")
    report = list(parts(results, pictures))
    text = markdown(report)
    with complete_text(here / "report.md") as out:
        out.write(text)
    with complete_text(here / "section.html") as out:
        out.write(html(report))
    with complete_text(here / "tables.csv") as out:
        rows = csv.writer(out)
        rows.writerow(
            ["table", "data", "method", "metric", "mean", "sd", "repeats", "paper", "difference"]
        )
        for table in results.suite.tables:
            for (data, method), e in entries(table, results).items():
                values = [e.ours, e.sd, e.repeats, e.paper, e.difference]
                shown = ["" if v is None else f"{v:.6g}" for v in values]
                rows.writerow([table.title, data, method, table.metric, *shown])
    with complete_text(here / "cells.jsonl") as out:
        for record in results.records:
            out.write(json.dumps(flat(record)) + "\n")
    return text


def flat(record: Record) -> dict[str, Any]:
    """A cell and its place, for JSON."""
    place = {k: getattr(record, k) for k in ("experiment", "data", "method", "point", "seed")}
    known = {"cell": record.cell.name, "params": record.cell.params, "chosen": record.chosen}
    return {**place, **known, **asdict(record.outcome)}
