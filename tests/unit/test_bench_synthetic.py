"""Hidden shapes, and the figures of what is learned from them."""

from pathlib import Path

import numpy as np
import pytest

from cwtool.bench import sdist_figures
from cwtool.bench.synthetic import hidden, probability, write


@pytest.mark.parametrize("shape", ["xor", "ring"])
def test_shapes(shape):
    x, y = hidden(shape, 40_000, 6, 3)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(x.std(axis=0), 1, atol=0.03)
    assert abs(y.mean()) < 0.03
    assert np.abs(np.corrcoef(x.T, y)[-1, :-1]).max() < 0.03  # no line helps
    p = probability(shape, x[:, :2])
    assert np.mean((p > 0.5) != (y > 0)) == pytest.approx(0.15, abs=0.01)  # the Bayes error
    sure = p > 0.9
    assert np.mean(y[sure] > 0) == pytest.approx(p[sure].mean(), abs=0.02)


def test_informative_columns_repeat_the_first_two():
    x, _ = hidden("ring", 20_000, 8, 1, informative=5)
    found = np.corrcoef(x.T)
    for j in range(2, 5):
        assert found[j, j % 2] == pytest.approx(1 / np.sqrt(1.25), abs=0.02)
    assert np.abs(found[:5, 5:]).max() < 0.03


def test_written_rows_are_exact(tmp_path: Path):
    x, y = hidden("xor", 5, 4, 2)
    write(tmp_path / "a.svm", x, y)
    for line, row, label in zip((tmp_path / "a.svm").open(), x, y, strict=True):
        first, *pairs = line.split()
        assert float(first) == label
        assert [float(pair.split(":")[1]) for pair in pairs] == row.tolist()


def test_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sdist_figures, "GRID", 9)
    figures = {"surface": sdist_figures.surface_figure("xor", n=120, p=6)}
    assert 3 <= len(figures["surface"].axes) <= 4
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 150)
    images = rng.random((150, 16)) + (np.arange(16) == 5) * y[:, None]
    write(tmp_path / "digits.svm", images, y)
    figures |= sdist_figures.digit_figures(tmp_path / "digits.svm")
    bars = [bar.get_height() for bar in figures["component"].axes[0].patches]
    assert min(bars) < -90
    assert max(bars) > 90
    (points,) = figures["pixels"].axes[0].collections
    largest = points.get_offsets()[np.argmax(points.get_sizes())]
    assert largest.tolist() == [1, 1]  # pixel 5 of 4 x 4
    for name, figure in figures.items():
        figure.savefig(tmp_path / f"{name}.png")
    with pytest.raises(ValueError, match="no square image"):
        sdist_figures.selected_pixels(np.zeros(15), np.zeros(15))
