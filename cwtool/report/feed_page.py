"""The days of a feed as one page that loads nothing, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from cwtool import __version__
from cwtool.report.page import STYLE, Grid, Heading, Part, Words, html
from cwtool.report.svg import Shown, line_chart, reliability, sparkline

Figures = dict[str, tuple[str, Shown]]

DAYS = 4000  # that are drawn at most: more take seconds, and a chart has no room for them

MARKS = ". Red dots are refused days; at an edge they lie beyond it or have no value."

LOOKS = """
:root { color-scheme: light dark; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); gap: 18px; }
.charts figure { margin: 0; }
figcaption { font-weight: 600; font-size: 14px; }
figcaption small { font-weight: 400; opacity: .75; }
svg text { font-size: 10px; fill: currentColor; opacity: .8; }
svg .end { text-anchor: end; }
svg polyline { fill: none; stroke: #3366a8; stroke-width: 1.6; }
svg .axis { fill: none; stroke: #bbb; }
svg .dot { fill: #3366a8; }
svg .bad { fill: #c0392b; }
td.word { white-space: normal; min-width: 9em; }
@media (max-width: 600px) { body { padding: 12px 12px 40px; } }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181c; }
  section, td { border-color: #333; }
  code { background: #2a2d33; }
  svg polyline { stroke: #7aa7e0; }
  svg .dot { fill: #7aa7e0; }
  svg .bad { fill: #ff7a66; }
  svg .axis { stroke: #555; }
}
"""


def curves(days: Sequence[Any], figures: Figures) -> list[tuple[str, Shown, list[float | None]]]:
    """The figures that some day has: title, how a value is shown, and the value of each day."""
    found = []
    for name, (title, shown) in figures.items():
        values = [day.figures.get(name) for day in days]
        if any(value is not None for value in values):
            found.append((title, shown, values))
    return found


def page(title: str, days: Sequence[Any], figures: Figures, moved: dict[str, Any]) -> str:
    """The page as HTML."""
    summary, days = _summary(days), days[-DAYS:]
    dates, bad = [day.date for day in days], [bool(day.refused) for day in days]
    charts = []
    for name, shown, values in curves(days, figures):
        last = next(shown(v) for v in reversed(values) if v is not None)
        chart = line_chart(values, dates, shown, bad)
        head = f"{escape(name)} <small>{escape(last)}</small>"
        charts.append(f"<figure><figcaption>{head}</figcaption>{chart}</figure>")
    bins = next((day.bins for day in reversed(days) if day.bins and not day.refused), None)
    if bins:
        head = "Reliability of the last day <small>observed share</small>"
        charts.append(f"<figure><figcaption>{head}</figcaption>{reliability(bins)}</figure>")
    body = html(_tables(days, figures, moved))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title>'
        f"<style>{STYLE}{LOOKS}</style></head><body><h1>{escape(title)}</h1>"
        f"<p>{escape(summary)}{MARKS if any(bad) else ''}</p>\n"
        f'<div class="charts">{"".join(charts)}</div>\n{body}'
        f"<footer>cwtool {__version__}</footer></body></html>\n"
    )


def _summary(days: Sequence[Any]) -> str:
    refused = sum(bool(day.refused) for day in days)
    span = f", {days[0].date} to {days[-1].date}" if days else ""
    drawn = f"; the latest {DAYS:,} days are shown" if len(days) > DAYS else ""
    learned = len(days) - refused
    plural = "" if learned == 1 else "s"
    return f"{learned:,} day{plural} learned, {refused:,} refused{span}{drawn}"


def _tables(days: Sequence[Any], figures: Figures, moved: dict[str, Any]) -> list[Part]:
    parts: list[Part] = [Heading("Days")]
    shown = [name for name in ("rows", "error", "auc", "macro_f1", "base_rate") if name in figures]
    shown = [name for name in shown if any(day.figures.get(name) is not None for day in days)]
    heads = ["day", "file", *(figures[name][0] for name in shown)]
    rows = [
        [
            day.date,
            f"{day.name} (refused)" if day.refused else day.name,
            *(figures[n][1](day.figures.get(n)) for n in shown),
        ]
        for day in reversed(days)
    ]
    parts.append(Grid(heads, rows, words=2))
    refused = [day for day in days if day.refused]
    parts.append(Heading("Days that were refused"))
    if refused:
        parts.append(
            Grid(["day", "file", "why"], [[d.date, d.name, d.refused] for d in refused], 3)
        )
    else:
        parts.append(Words("None."))
    if moved:
        parts.append(Heading(f"Features whose weights changed most since {moved['since']}"))
        parts.append(Grid(["feature", "name", "weight then", "weight now"], moved["rows"], words=2))
    return parts


def text(title: str, days: Sequence[Any], figures: Figures, moved: dict[str, Any]) -> str:
    """The same for a terminal."""
    lines, days = [title, _summary(days), ""], days[-DAYS:]
    found, bad = curves(days, figures), [bool(day.refused) for day in days]
    width = max((len(name) for name, _, _ in found), default=0)
    for name, shown, values in found:
        known = [v for v in values if v is not None]
        ends = f"{shown(min(known))} to {shown(max(known))}, last {shown(known[-1])}"
        lines.append(f"{name.ljust(width)}  {sparkline(values, bad)}  {ends}")
    for day in days:
        if day.refused:
            lines.append(f"refused  {day.date}  {day.name}: {day.refused}")
    if moved:
        lines += ["", f"features whose weights changed most since {moved['since']}"]
        for key, name, then, now in moved["rows"]:
            lines.append(f"{key:>12}  {then:>10} -> {now:>10}  {name}".rstrip())
    return "\n".join(lines)
