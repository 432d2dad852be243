"""The report of a suite: its tables, figures and judged claims as Markdown, HTML, CSV and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cwtool.bench.claims import judge
from cwtool.bench.results import Record, Results
from cwtool.bench.suite import Claim, Figure, Table
from cwtool.files import complete_text
from cwtool.report import charts
from cwtool.report.claims import TABLES, Wording, told
from cwtool.report.page import Grid, Heading, Part, Picture, Points, Words, html, markdown
from cwtool.report.tables import CSV_HEADS, Comparison, Entry

WITHOUT_PLOTS = "Plots were left out: matplotlib is not installed (`pip install 'cwtool[report]'`)."


def title_of(data: str, point: dict[str, Any]) -> str:
    """A data set at a point of a sweep, as the head of a row."""
    return ", ".join([data, *(f"{k} {v}" for k, v in point.items())])


def comparison(table: Table, results: Results) -> Comparison:
    """A table of the suite with our means and the numbers of the paper."""
    methods = results.methods_of(table.experiment)
    entries = {}
    for data, point in results.rows(table):
        for method in methods:
            mean = results.entry(table, data, method, point)
            paper = table.paper.get(data, {}).get(method) if not point else None
            entries[title_of(data, point), method] = Entry(
                None if mean is None else table.scale * mean.mean,
                None if mean is None or mean.sd is None else table.scale * mean.sd,
                0 if mean is None else len(mean.values),
                paper,
            )
    labels = {m: results.suite.methods[m].label for m in methods}
    return Comparison(table.title, table.metric, table.digits, entries, labels)


def picture(figure: Figure, results: Results) -> Any:
    """A chart with a panel for each data set, or for several data sets whose points make one
    line; None if there is nothing to draw."""
    if figure.maps:
        return maps_of(figure, results)
    panels = []
    alone = {data: [data] for data in results.data_of(figure.experiment)}
    named = figure.x_label or figure.x, figure.y_label or figure.y
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
            panels.append(charts.Panel(title, lines, *named, log_x=figure.log_x))
    return charts.chart(panels) if panels else None


def maps_of(figure: Figure, results: Results) -> Any:
    """The maps of the first repeat, in a row for each data set and method."""
    rows = []
    for data in results.data_of(figure.experiment):
        for method in results.methods_of(figure.experiment):
            for record in results.of(figure.experiment, data, method)[:1]:
                found = [charts.Map(**one) for one in record.outcome.result["maps"]]
                rows.append([replace(one, title=f"{data}: {one.title}") for one in found])
    return charts.maps(rows, figure.x, figure.y) if rows else None


def judged(claim: Claim, results: Results) -> list[Part]:
    """What the numbers say of a claim, in words and perhaps a table."""
    metric = claim.parsed[-1]
    table = next((t for t in results.suite.tables if t.metric == metric), None)
    labels = {name: method.label for name, method in results.suite.methods.items()}
    wording = Wording(labels, table.scale, table.digits) if table else Wording(labels)
    return told(claim.text, judge(claim, results), wording)


def at_edge(value: Any, tried: list[Any]) -> bool:
    """Whether a chosen number is the smallest or the largest that was tried."""
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
        claims = "What the paper claims" if suite.paper else "Claims"
        yield Heading(f"{claims}, and what we measure")
        found = [part for claim in suite.claims for part in judged(claim, results)]
        if any(isinstance(part, Grid) for part in found):
            yield Words(TABLES)
        yield from found
    yield from _tables(results)
    yield from _figures(results, pictures)
    if (picked := chosen(results)) is not None:
        yield Heading(f"Chosen by {suite.folds}-fold cross-validation on the training rows")
        yield picked
    if results.absent:
        yield Words(f"Not in the data folder, and left out: {', '.join(results.absent)}.")
    if results.missing:
        named = ", ".join(f"{label} ({how})" for label, how in results.missing.items())
        yield Words(f"Not installed, and left out: {named}.")
    if results.failures:
        yield Heading("Cells that failed")
        yield Points([failed(record) for record in results.failures])


def _tables(results: Results) -> Iterator[Part]:
    """The tables of the suite, then those that tasks have made themselves."""
    for table in results.suite.tables:
        made = comparison(table, results).grid()
        if made is not None:
            yield Heading(table.title)
            yield made
        elif (there := results.metrics_of(table.experiment)) and table.metric not in there:
            yield Heading(table.title)
            yield Words(f"Nothing has the metric `{table.metric}`; there are {', '.join(there)}.")
    for record in results.records:
        for extra in record.outcome.result.get("tables", []):
            yield Heading(extra["title"])
            if "text" in extra:
                yield Words(extra["text"])
            yield Grid(extra["heads"], extra["rows"])


def _figures(results: Results, pictures: dict[str, Any]) -> Iterator[Part]:
    for name, figure in _named(results):
        if name in pictures:
            yield Heading(figure.title)
            yield Picture(name, charts.as_svg(pictures[name]))
    if results.suite.figures and not charts.available():
        yield Words(WITHOUT_PLOTS)


def _named(results: Results) -> Iterator[tuple[str, Figure]]:
    return ((f"figure-{k}", figure) for k, figure in enumerate(results.suite.figures, 1))


def failed(record: Record) -> str:
    """Which cell failed, and why."""
    where = f"{record.experiment}, {record.data}, {record.method}, seed {record.seed}"
    return f"{where}: {record.outcome.failure}"


def write(results: Results, folder: Path) -> str:
    """Write all files of the report to a folder named after the suite; returns the Markdown."""
    here = folder / results.suite.name
    here.mkdir(parents=True, exist_ok=True)
    pictures = {}
    if charts.available():
        made = {name: picture(figure, results) for name, figure in _named(results)}
        pictures = {name: one for name, one in made.items() if one is not None}
    for name, one in pictures.items():
        for suffix in charts.SUFFIXES:
            charts.save(one, here / f"{name}{suffix}")
    report = list(parts(results, pictures))
    text = markdown(report)
    with complete_text(here / "report.md") as out:
        out.write(text)
    with complete_text(here / "section.html") as out:
        out.write(html(report))
    with complete_text(here / "tables.csv") as out:
        rows = csv.writer(out)
        rows.writerow(CSV_HEADS)
        for table in results.suite.tables:
            rows.writerows(comparison(table, results).csv_rows())
    with complete_text(here / "cells.jsonl") as out:
        out.writelines(json.dumps(flat(record)) + "\n" for record in results.records)
    return text


def flat(record: Record) -> dict[str, Any]:
    """A cell and its place in the suite, for JSON."""
    place = {k: getattr(record, k) for k in ("experiment", "data", "method", "point", "seed")}
    known = {"cell": record.cell.name, "params": record.cell.params, "chosen": record.chosen}
    return {**place, **known, **asdict(record.outcome)}
