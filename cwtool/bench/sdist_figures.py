"""Figures of what sdist has learned (after Ma 2017, Figures 2.3, 4.2 and 4.3).

    python -m cwtool.bench.sdist_figures --out DIR [--digits FILE]

writes surface_xor.png and surface_ring.png, and for LIBSVM rows of square images also
component.png and pixels.png.
"""

from __future__ import annotations

import argparse
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import charts
from cwtool.data.block import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGE = 2.5  # of the square that a surface is drawn over
GRID = 41
BINS = 25


def surfaces(axis: Floats, probability: Floats, heights: dict[str, Floats], title: str) -> Figure:
    """The class probability over a square, and above it the first principal component of the
    transformed points after some steps. All are square arrays over axis x axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * (1 + len(heights)), 4), layout="constrained")
    x, y = np.meshgrid(axis, axis)
    for place, (name, height) in enumerate({title: probability, **heights}.items(), 1):
        plot: Any = figure.add_subplot(1, 1 + len(heights), place, projection="3d")
        colours = _colours(probability)
        plot.plot_surface(x, y, height, facecolors=colours, rstride=1, cstride=1, shade=False)
        plot.set_title(name)
        plot.set_xlabel("$x_1$")
        plot.set_ylabel("$x_2$")
    return figure


def _colours(probability: Floats) -> Any:
    from matplotlib import colormaps

    return colormaps["coolwarm"](probability)


def component_by_class(component: Floats, positive: Any, names: tuple[str, str]) -> Figure:
    """In each bin of the component: percentage of the positive class less that of the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    plot = figure.add_subplot()
    edges = np.histogram_bin_edges(component, BINS)
    counts = [np.histogram(component[side], edges)[0] for side in (positive, ~positive)]
    total = counts[0] + counts[1]
    share = 100 * (counts[0] - counts[1]) / np.maximum(total, 1)
    middle = (edges[1:] + edges[:-1]) / 2
    plot.bar(
        middle, share, width=np.diff(edges), color=np.where(share > 0, "tab:red", "tab:blue"),
        edgecolor="white",
    )  # fmt: skip
    plot.axhline(0, color="black", linewidth=0.8)
    plot.set_xlabel("first principal component of the transformed rows")
    plot.set_ylabel(f"% {names[1]} - % {names[0]}")
    return figure


def selected_pixels(image: Floats, importance: Floats) -> Figure:
    """An image with the pixels that the metric uses, larger for those that matter more."""
    from matplotlib.figure import Figure

    side = isqrt(len(image))
    if side * side != len(image):
        raise ValueError(f"{len(image)} pixels are no square image")
    figure = Figure(figsize=(5, 5), layout="constrained")
    plot = figure.add_subplot()
    plot.imshow(image.reshape(side, side), cmap="gray_r")
    used = np.flatnonzero(importance)
    size = 20 + 180 * importance[used] / importance.max() if len(used) else []
    plot.scatter(used % side, used // side, s=size, color="tab:red", alpha=0.7, linewidths=0)
    plot.set_xticks([])
    plot.set_yticks([])
    plot.set_title(f"{len(used)} of {len(image)} pixels")
    return figure


def first_component(points: Floats, of: Floats) -> Floats:
    """Where points lie along the first principal component of others, most of it upwards."""
    centre = of.mean(axis=0)
    scores: Floats = (points - centre) @ np.linalg.svd(of - centre, full_matrices=False)[2][0]
    scores *= np.sign(scores[np.argmax(np.abs(scores))])
    return scores


def surface_figure(shape: str, n: int = 500, p: int = 50, seed: int = 1) -> Figure:
    """Figure 2.3: after the first step, the middle, and the last. Every step chooses from all
    columns, so that x_1^2 and x_2^2 can come together and not as two directions."""
    from scipy.sparse import csr_array

    from cwtool.algorithms.sdist import SDist, SdistParams, fitted_space
    from cwtool.bench import synthetic

    x, y = synthetic.hidden(shape, n, p, seed)
    algorithm = SDist(SdistParams(sample="none"))
    params = algorithm.settled(p)
    rows = csr_array(x)
    space, boost = algorithm.prepared(rows, y, params, 1)
    path = boost.run(params.steps, algorithm.finder(boost))
    terms = boost.stopped(path, params.steps, params.lambda_c)
    axis = np.linspace(-EDGE, EDGE, GRID)
    square = np.stack([a.ravel() for a in np.meshgrid(axis, axis)], axis=1)
    grid = csr_array(np.hstack([square, np.zeros((len(square), p - 2))]))
    heights = {}
    for count in sorted({1, max(1, len(terms) // 2), len(terms)}):
        now = fitted_space(space, boost, terms[:count])
        height = first_component(now.points(grid), now.points(rows))
        heights[f"step {terms[count - 1].step}"] = height.reshape(GRID, GRID)
    probability = synthetic.probability(shape, square).reshape(GRID, GRID)
    return surfaces(axis, probability, heights, f"{shape}: P(y = +1)")


def digit_figures(path: Path) -> dict[str, Figure]:
    """Figures 4.2 and 4.3, from rows of square images with ids from 1."""
    from cwtool.algorithms.sdist import SDist, SdistParams
    from cwtool.data import Reading, ReadOptions
    from cwtool.data.labels import Labels
    from cwtool.data.timeslots import joined
    from cwtool.select import load

    labels = Labels()
    block = joined(load([str(path)], labels, ReadOptions(reading=Reading())))
    algorithm = SDist(SdistParams())
    state = algorithm.new_state()
    pixel = int(block.indices.max()) + 1
    state.features.observe(block)
    algorithm.learn(block, state, block.order)
    ids, slots = state.features.ids_and_slots()
    importance, image = np.zeros(pixel), np.zeros(pixel)
    importance[ids] = algorithm.weights(state, slots)[0]
    image[ids] = algorithm.rows(state)[[int(np.argmax(block.y > 0))], :].toarray()[0, slots]
    points = algorithm.points(algorithm.rows(state), state)
    names = labels.name(-1), labels.name(1)
    return {
        "component": component_by_class(first_component(points, points), block.y > 0, names),
        "pixels": selected_pixels(image, importance),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--digits", type=Path)
    args = parser.parse_args()
    charts.check(args.out / "any.png")
    args.out.mkdir(parents=True, exist_ok=True)
    figures = {f"surface_{shape}": surface_figure(shape) for shape in ("xor", "ring")}
    if args.digits:
        figures |= digit_figures(args.digits)
    for name, figure in figures.items():
        charts.save(figure, args.out / f"{name}.png")


if __name__ == "__main__":
    main()
