"""Write the bundled sample: two days of a made-up feed of good and bad web addresses, and made-up
messages on five topics.

An address has an age, a length, and some words in its host and path. Bad ones prefer certain
words; the second day brings words that the first did not have.

A message is a bag of words. Each topic has its favourite words, all share the frequent ones, and
the smallest topic comes up only in the second half of the training rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from cwtool.data import writer

ROWS = 1500
WORDS = 900
PLACES = ("host", "path")

MESSAGES = {"topics.svm": 1000, "topics_test.svm": 400}
SHARES = (0.40, 0.28, 0.16, 0.10, 0.06)  # of the topics 1 to 5
VOCABULARY = 600
FAVOURITES = 40  # words of a topic
TASTE = 0.25  # share of the words of a message that are favourites of its topic


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


def messages(rng: np.random.Generator, rows: int, late: int) -> list[str]:
    """Lines of so many messages; the last topic comes up from row number `late` on."""
    favourites = np.random.default_rng(8).integers(1, VOCABULARY + 1, (len(SHARES), FAVOURITES))
    lines = []
    for row in range(rows):
        known = len(SHARES) if row >= late else len(SHARES) - 1
        shares = np.array(SHARES[:known])
        topic = rng.choice(known, p=shares / shares.sum())
        count = rng.integers(6, 16)
        common = (VOCABULARY ** rng.random(count)).astype(int)
        own = rng.choice(favourites[topic], count)
        words = np.where(rng.random(count) < TASTE, own, common)
        found = zip(*np.unique(words, return_counts=True), strict=True)
        lines.append(writer.line(str(topic + 1), writer.features(found, str)))
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
    for late, (name, rows) in zip((500, 0), MESSAGES.items(), strict=True):
        (folder / name).write_text("".join(messages(rng, rows, late)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
