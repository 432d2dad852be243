"""Small charts as SVG elements of a page, drawn with its colours, and as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

WIDTH, HEIGHT = 320, 150
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 10, 22
ROOM = 8  # characters of a number at an axis
BARS = "▁▂▃▄▅▆▇█"

Values = Sequence[float | None]
Shown = Callable[[float | None], str]  # a value as text


def _span(values: Values, bad: Sequence[bool]) -> tuple[float, float]:
    """The least and the greatest value of days that were learned, a little apart if they are equal;
    of all days, if none was."""
    known = [v for v, out in zip(values, bad, strict=True) if v is not None and not out]
    known = known or [v for v in values if v is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    return (low, high) if high > low else (low - abs(low) / 10 - 1e-9, high + abs(high) / 10 + 1e-9)


def short(value: float) -> str:
    """A number in at most six characters, for an axis: 0.0537, 1,650, 22k, 4.72M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (1e3 if letter == 'k' else unit):.3g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def line_chart(values: Values, dates: Sequence[str], shown: Shown, bad: Sequence[bool]) -> str:
    """A curve over days, with one dot per day; days that were refused are marked, at the edge where
    they are beyond it, or below if there is no value. The limits of the axis, and the values that
    a browser tells beside the pointer, are written by `shown`."""
    low, high = _span(values, bad)

    def x(k: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (k / max(len(values) - 1, 1))

    def y(v: float | None) -> float:
        inside = low if v is None else min(max(v, low), high)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (inside - low) / (high - low)

    good = [(k, v) for k, v in enumerate(values) if v is not None and not bad[k]]
    path = " ".join(f"{x(k):.1f},{y(v):.1f}" for k, v in good)
    dots = [
        f'<circle class="{"bad" if bad[k] else "dot"}" cx="{x(k):.1f}" cy="{y(v):.1f}" '
        f'r="{3.2 if bad[k] else 2.2}"><title>{escape(dates[k])}: {escape(shown(v))}</title>'
        "</circle>"
        for k, v in enumerate(values)
        if v is not None or bad[k]
    ]
    limits = [text if len(text := shown(v)) <= ROOM else short(v) for v in (low, high)]
    return _frame([f'<polyline points="{path}"/>', *dots], limits, dates)


def _frame(
    drawn: list[str], limits: Sequence[str], ends: Sequence[str], right: int = WIDTH - RIGHT
) -> str:
    """Axes around what was drawn, with the limits and the first and the last day."""
    floor = HEIGHT - BOTTOM
    texts = [
        f'<text x="{LEFT - 5}" y="{TOP + 4}" class="end">{escape(limits[1])}</text>',
        f'<text x="{LEFT - 5}" y="{floor}" class="end">{escape(limits[0])}</text>',
    ]
    if ends:
        texts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">{escape(ends[0])}</text>')
    if len(ends) > 1:
        texts.append(f'<text x="{right}" y="{HEIGHT - 6}" class="end">{escape(ends[-1])}</text>')
    axes = f'<path class="axis" d="M{LEFT} {TOP}V{floor}H{right}"/>'
    inside = "".join([axes, *drawn, *texts])
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{inside}</svg>'


def reliability(bins: Sequence[Sequence[float]]) -> str:
    """Of each bin of probabilities, the mean probability and the share that was right; dots are
    larger the more rows the bin has. Good probabilities lie on the diagonal."""
    side, total = HEIGHT - TOP - BOTTOM, sum(n for n, _, _ in bins) or 1.0
    floor = HEIGHT - BOTTOM
    drawn = [f'<path class="axis" d="M{LEFT} {floor}L{LEFT + side} {TOP}"/>']
    for n, p, hits in bins:
        if n:
            at = f'cx="{LEFT + side * p / n:.1f}" cy="{floor - side * hits / n:.1f}"'
            told = f"probability {p / n:.3f}, right {hits / n:.3f}, {n:,.0f} rows"
            size = 2 + 8 * (n / total) ** 0.5
            drawn.append(f'<circle class="dot" {at} r="{size:.1f}"><title>{told}</title></circle>')
    return _frame(drawn, ["0", "1"], ["probability 0 to 1"], LEFT + side)


def sparkline(values: Values, bad: Sequence[bool]) -> str:
    """A curve of eight heights; a blank where there is no value. Days that were refused do not
    change its scale."""
    low, high = _span(values, bad)

    def bar(v: float) -> str:
        return BARS[min(7, max(0, int(8 * (v - low) / (high - low))))]

    return "".join(" " if v is None else bar(v) for v in values)
