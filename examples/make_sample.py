"""Write the bundled sample: two days of a made-up feed of good and bad web addresses.

An address has an age, a length, and some words in its host and path. Bad ones prefer certain
words; the second day brings words that the first did not have.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from cwtool.data import writer

ROWS = 1500
WORDS = 900
PLACES = ("host", "path")


def day(rng: np.random.Generator, newest: int) -> list[str]:
    """Lines of one day; words up to number `newest` exist."""
    taste = np.random.default_rng(7).normal(0, 1.5, size=2 * WORDS)
    lines = []
    for _ in range(ROWS):
        count = rng.integers(4, 13)
        rank = np.minimum(newest - 1, (newest ** rng.random(count)).astype(int))
        words = np.unique(2 * rank + rng.integers(0, 2, count))
        age, length = rng.gamma(2.0, 0.2), rng.uniform(0.1, 1.0)
        odds = taste[words].sum() - 1.5 * age + length + 0.5
        label = "+1" if rng.logistic(0, 0.5) < odds else "-1"
        pairs = [(1, f"{age:.3f}"), (2, f"{length:.2f}"), *((3 + w, "1") for w in words)]
        lines.append(writer.line(label, writer.features(pairs, str)))
    return lines


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    (folder / "day1.svm").write_text("".join(day(rng, WORDS // 2)))
    (folder / "day2.svm").write_text("".join(day(rng, WORDS)))
    names = ["1\tage", "2\tlength"]
    names += [f"{3 + 2 * w + k}\t{place}:word{w}" for w in range(WORDS) for k, place in
              enumerate(PLACES)]  # fmt: skip
    (folder / "names.tsv").write_text("\n".join(names) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
