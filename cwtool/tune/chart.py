"""What tuning found as a chart: the metric against each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cwtool.report.charts import Line, Panel
from cwtool.tune.grid import TuneOptions
from cwtool.tune.halving import Cell
from cwtool.tune.tunable import Range, Values
from cwtool.validation import summary

SHARES = ("error", "balanced_error")  # drawn as percent
WIDE = 10  # from this ratio of the largest to the smallest value on, an axis is logarithmic


def panels(cells: Sequence[Cell], options: TuneOptions) -> list[Panel]:
    """A panel for each parameter that has several numbers, or, if there is none, for each that has
    several values. Its lines join points that differ in nothing else; points that were drawn are
    not joined, and differ by what is no number."""
    several = [name for name in options.grid if len(_values(cells, name)) > 1]
    numeric = [name for name in several if all(map(_is_number, _values(cells, name)))]
    shown = numeric or several or list(options.grid)
    return [_panel(cells, options, name, numeric) for name in shown]


def _panel(cells: Sequence[Cell], options: TuneOptions, name: str, numeric: list[str]) -> Panel:
    lines: dict[str, list[tuple[Any, float, float]]] = {}
    scale, unit = (100.0, ", %") if options.metric in SHARES else (1.0, "")
    rungs = max(cell.rung for cell in cells)
    for cell in cells:
        found = summary(cell.outcome.result)
        mean, sd = found.get(options.metric), found.get(f"{options.metric}_sd")
        if name in cell.point and mean is not None:
            left_out = {name, *numeric} if options.random else {name}
            words = [
                str(v) if k == "algo" else f"{k} {v}"
                for k, v in cell.point.items()
                if k not in left_out
            ]
            words += [f"{cell.rows:,} rows"] if rungs > 1 else []
            label = ", ".join(words) or options.algo_of(cell.point)
            at = (cell.point[name], scale * mean, scale * (sd or 0.0))
            lines.setdefault(label, []).append(at)
    drawn = [_line(label, points, joined=not options.random) for label, points in lines.items()]
    metric = options.metric.replace("_", " ")
    return Panel(name, drawn, name, f"{metric}{unit}", log_x=_wide(options.grid[name]))


def _line(label: str, points: list[tuple[Any, float, float]], *, joined: bool) -> Line:
    if all(_is_number(point[0]) for point in points):
        points = sorted(points)
    x, y, sd = (list(column) for column in zip(*points, strict=True))
    return Line(label, [v if _is_number(v) else str(v) for v in x], y, sd if joined else [], joined)


def _values(cells: Sequence[Cell], name: str) -> list[Any]:
    return list(dict.fromkeys(cell.point[name] for cell in cells if name in cell.point))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _wide(values: Values) -> bool:
    if isinstance(values, Range):
        return values.low > 0 and values.high >= WIDE * values.low
    numbers = [v for v in values if _is_number(v)]
    positive = len(numbers) == len(values) and min(numbers) > 0
    return positive and max(numbers) >= WIDE * min(numbers)
