"""Line charts and maps as SVG and PNG. matplotlib is an optional dependency; only this module
imports it."""

from __future__ import annotations

import io
from dataclasses import field
from pathlib import Path
from typing import Any

from cwtool.errors import UsageError
from cwtool.files import complete_bytes
from cwtool.records import dataclass

COLOURS = ("#3366a8", "#d1622b", "#3d8f5b", "#8a4fa3", "#b8860b", "#2b9ba8", "#a83256", "#666666")
MARKS = "osD^vP*X"
DASHES = ("-", "--", ":")  # of the first eight lines, the next eight, the rest
COLUMNS = 3  # panels side by side
CHARACTERS = 46  # of the legend that fit below a panel
SUFFIXES = (".png", ".svg")


@dataclass(frozen=True)
class Line:
    """Points of a curve, or single ones; `sd` is drawn as a band around a curve."""

    label: str
    x: list[Any]  # numbers, or names in their order
    y: list[float]
    sd: list[float] = field(default_factory=list)
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """A pair of axes with its lines."""

    title: str
    lines: list[Line]
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Map:
    """A matrix drawn as colours over a rectangle, its first row on top."""

    title: str
    grid: list[list[float]]
    extent: tuple[float, float, float, float] | None = None  # left, right, bottom, top
    colours: str = "coolwarm"
    marks: list[tuple[float, float, float]] = field(default_factory=list)  # x, y, size up to 1


def available() -> bool:
    """Whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def check(path: Path) -> None:
    """Refuse a file name that no chart can be saved to, or charts without matplotlib."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: the name of a plot must end in {' or '.join(SUFFIXES)}")
    if not available():
        raise UsageError("plots need matplotlib", "pip install 'cwtool[report]'")


def blank(width: float, height: float) -> Any:
    """A figure without axes. The same content gives the same bytes in every run."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": "cwtool", "font.size": 9})
    return Figure(figsize=(width, height), layout="constrained")


def chart(panels: list[Panel]) -> Any:
    """Panels side by side with one legend. Lines with the same label look the same in all."""
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = blank(*((3.4 * columns + 0.4, 2.9 * rows + 0.5) if len(panels) > 1 else (5.6, 3.8)))
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    handles: dict[str, Any] = {}
    for k, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, k + 1)
        handles |= _draw(axes, panel, labels)
    if len(labels) > 1:
        known = [handles[label] for label in labels]
        fitting = CHARACTERS * columns // (max(map(len, labels)) + 6)
        columns = min(len(labels), max(3, 2 * columns), max(1, fitting))
        figure.legend(known, labels, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def _draw(axes: Any, panel: Panel, labels: list[str]) -> dict[str, Any]:
    """Draw the lines of a panel; their handles by label."""
    handles = {}
    for line in panel.lines:
        number = labels.index(line.label)
        colour = COLOURS[number % len(COLOURS)]
        style: dict[str, Any] = {
            "color": colour,
            "marker": MARKS[number % len(MARKS)],
            "linestyle": DASHES[number // len(COLOURS) % len(DASHES)] if line.joined else "none",
            "markersize": 3.5,
        }
        (handles[line.label],) = axes.plot(line.x, line.y, linewidth=1.4, **style)
        if any(line.sd):
            low = [y - sd for y, sd in zip(line.y, line.sd, strict=True)]
            high = [y + sd for y, sd in zip(line.y, line.sd, strict=True)]
            axes.fill_between(line.x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return handles


def maps(rows: list[list[Map]], x_label: str = "", y_label: str = "") -> Any:
    """Maps in rows; the colours of each map range from its smallest to its largest number."""
    columns = max(map(len, rows))
    figure = blank(2.6 * columns + 0.4, 2.8 * len(rows) + 0.2)
    for r, row in enumerate(rows):
        for c, one in enumerate(row):
            axes = figure.add_subplot(len(rows), columns, r * columns + c + 1)
            axes.imshow(one.grid, cmap=one.colours, extent=one.extent)
            if one.marks:
                x, y, weight = zip(*one.marks, strict=True)
                area = [8 + 72 * w for w in weight]
                axes.scatter(x, y, s=area, color=COLOURS[1], alpha=0.7, linewidths=0)
            axes.set_title(one.title, fontsize=10)
            axes.set_xlabel(x_label)
            axes.set_ylabel(y_label if c == 0 else "")
    return figure


def as_svg(figure: Any) -> str:
    """The figure as an SVG element of an HTML page."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def save(figure: Any, path: Path) -> None:
    """Write the figure as PNG or SVG, as the suffix of the file says."""
    out = io.BytesIO()
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(out, format=path.suffix[1:], dpi=150, metadata=metadata)
    with complete_bytes(path) as file:
        file.write(out.getvalue())
