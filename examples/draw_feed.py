"""Draw the error of each day of a feed as an SVG picture, for several ways to keep a model current.

    python examples/draw_feed.py FOLDER PICTURE.svg

FOLDER has a LIBSVM file for each day; their names sort in the order of the days. Each day is
predicted by the model of the days before it. docs/feed.svg was drawn from the 15 days of phishurl,
URLs of phishing and of other pages.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import cwtool
from cwtool.estimators import CWClassifier, DCDClassifier, PerceptronClassifier

Day = tuple[Any, Any]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 44, 250, 46, 36
COLOURS = ("#d1242f", "#9a6700", "#0969da", "#8250df", "#1a7f37")
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px } .small { font-size: 12px; fill: #656d76 }
.grid { stroke: #8c959f; stroke-opacity: .3 } .curve { fill: none; stroke-width: 2.2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 } }
</style>"""


def read(folder: Path) -> list[Day]:
    days = [cwtool.read_libsvm(path) for path in sorted(folder.iterdir()) if "svm" in path.name]
    width = max(X.shape[1] for X, _ in days)
    for X, _ in days:
        X.resize(X.shape[0], width)
    return days


def learned(method: Any, days: list[Day], rows: str) -> Iterator[Any]:
    """The model after each day: of that day alone, of the first day, of all days so far fitted
    anew, or continued with each day."""
    model = method
    for k, (X, y) in enumerate(days):
        if rows == "continued":
            model.partial_fit(X, y, classes=[-1, 1])
        elif rows == "all days":
            past = days[: k + 1]
            model.fit(sp.vstack([X for X, _ in past], "csr"), np.concatenate([y for _, y in past]))
        elif rows == "last day" or k == 0:
            model.fit(X, y)
        yield model


def errors(method: Any, days: list[Day], rows: str) -> tuple[list[float], float]:
    """The error of each day but the first in percent, and the CPU seconds of learning."""
    found, seconds = [], 0.0
    models = learned(method, days[:-1], rows)
    for X, y in days[1:]:
        start = time.process_time()
        model = next(models)
        seconds += time.process_time() - start
        found.append(100 * float((model.predict(X) != y).mean()))
    return found, seconds


def picture(curves: dict[str, tuple[list[float], float]]) -> str:
    """Curves over the days, each with its name, mean error and time at the right."""
    top = max(max(values) for values, _ in curves.values()) * 1.05
    days = max(len(values) for values, _ in curves.values())

    def x(k: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * k / max(days - 1, 1)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top

    drawn = [
        f'<text class="title" x="{LEFT}" y="20">Errors on the next day of a feed of URLs, %</text>'
    ]
    for level in range(0, int(top) + 1, 2):
        drawn.append(f'<path class="grid" d="M{LEFT} {y(level):.1f}H{WIDTH - RIGHT}"/>')
        drawn.append(
            f'<text class="small" x="{LEFT - 8}" y="{y(level) + 4:.1f}" '
            f'text-anchor="end">{level}</text>'
        )
    for k in range(0, days, 2):
        drawn.append(
            f'<text class="small" x="{x(k):.1f}" y="{HEIGHT - BOTTOM + 18}" '
            f'text-anchor="middle">day {k + 1}</text>'
        )
    for k, (name, (values, seconds)) in enumerate(curves.items()):
        colour, at = COLOURS[k % len(COLOURS)], TOP + 6 + 52 * k
        points = " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in enumerate(values))
        drawn.append(f'<polyline class="curve" stroke="{colour}" points="{points}"/>')
        left = WIDTH - RIGHT + 18
        drawn.append(f'<rect x="{left}" y="{at}" width="14" height="4" fill="{colour}"/>')
        drawn.append(f'<text x="{left + 22}" y="{at + 8}">{name}</text>')
        drawn.append(
            f'<text class="small" x="{left + 22}" y="{at + 25}">'
            f"{np.mean(values):.2f} %, {seconds:.1f} s of CPU time</text>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>Error on each day of a feed by the model of the days before</title>{STYLE}"
        + "\n".join(drawn)
        + "</svg>\n"
    )


def main(folder: Path, target: Path) -> None:
    days = read(folder)
    curves = {}
    for name, method, rows in (
        ("SVM of the first day", DCDClassifier(), "first day"),
        ("SVM of the day before", DCDClassifier(), "last day"),
        ("perceptron, continued each day", PerceptronClassifier(), "continued"),
        ("SVM of all days, fitted anew", DCDClassifier(), "all days"),
        ("cwtool feed --algo cw", CWClassifier(), "continued"),
    ):
        curves[name] = errors(method, days, rows)
        values, seconds = curves[name]
        print(f"{name}: mean {np.mean(values):.2f} %, {seconds:.1f} s;", *np.round(values, 2))
    target.write_text(picture(curves))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
