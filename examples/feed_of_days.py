"""Make ten files of a daily feed, give each to `cwtool feed`, and draw them with `cwtool report`.

One day has inverted labels and one has lines that were cut off; `cwtool feed` refuses both.

    python examples/feed_of_days.py FOLDER

FOLDER then has the days, the model with the models of the days before, the log and feed.html. The
page is also in this folder. A real feed runs once a day; here the variable SOURCE_DATE_EPOCH stands
for the date.
"""

import os
import random
import sys
from pathlib import Path

from cwtool.cli import run

ROWS, FEATURES, ENTRIES = 1500, 200, 12
DAYS = 10
FLIPPED, CORRUPT = 5, 8  # days that are damaged first, and then sent again as they should be
START = 1_772_323_200  # 2026-03-01


def rows(seed: int, first: int) -> list[str]:
    """Rows over the features first .. first + FEATURES - 1, labelled by a plane with noise."""
    draw = random.Random(seed)
    found = []
    for _ in range(ROWS):
        ids = sorted(draw.sample(range(first, first + FEATURES), ENTRIES))
        score = sum(random.Random(j).gauss(0, 1) for j in ids) + draw.gauss(0, 0.5)
        found.append(f"{'+1' if score > 0 else '-1'} " + " ".join(f"{j}:1" for j in ids))
    return found


def inverted(row: str) -> str:
    return ("-1" if row.startswith("+1") else "+1") + row[2:]


def damaged(day: int, lines: list[str]) -> list[str]:
    if day == FLIPPED:
        return [inverted(line) for line in lines]
    return [line if k % 2 else line[:-2] for k, line in enumerate(lines)]  # 17:1 becomes 17


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model, log = str(folder / "feed.cw"), str(folder / "daily.jsonl")
    names = write(folder / "names.tsv", [f"{j}\tword {j}" for j in range(1, 300)])
    feed = ["-m", model, "--log", log, "--reservoir", "500"]
    for day in range(1, DAYS + 1):
        os.environ["SOURCE_DATE_EPOCH"] = str(START + 86_400 * day)
        lines = rows(day, first=1 + 5 * day)  # five features go and five come every day
        if day in (FLIPPED, CORRUPT):
            bad = write(folder / f"day{day}-damaged.svm", damaged(day, lines))
            assert run(["feed", bad, *feed]) in (3, 5), "a damaged day must be refused"
        assert run(["feed", write(folder / f"day{day}.svm", lines), *feed]) == 0
    page = ["--text", "-o", str(folder / "feed.html"), "--feature-names", names]
    assert run(["report", model, "--log", log, *page]) == 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
