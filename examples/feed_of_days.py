"""A feed of a week, made by this script: each day is learned by `cwtool feed`, one day has inverted
labels and is refused, and `cwtool report` draws what happened.

    python examples/feed_of_days.py FOLDER

FOLDER then has the days, the model with the models of the days before, the log and feed.html.
"""

import random
import sys
from pathlib import Path

from cwtool.cli import run

ROWS, FEATURES, ENTRIES = 1500, 200, 12
BAD = 5  # the day that is damaged first, and then sent again as it should be


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


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model, log = str(folder / "feed.cw"), str(folder / "daily.jsonl")
    feed = ["-m", model, "--log", log, "--reservoir", "500"]
    for day in range(1, 8):
        lines = rows(day, first=1 + 5 * day)  # five features go and five come every day
        if day == BAD:
            damaged = write(folder / f"day{day}-damaged.svm", [inverted(line) for line in lines])
            assert run(["feed", damaged, *feed]) == 5, "a damaged day must be refused"
        assert run(["feed", write(folder / f"day{day}.svm", lines), *feed]) == 0
    page = str(folder / "feed.html")
    assert run(["report", model, "--log", log, "--text", "-o", page]) == 0


if __name__ == "__main__":
    main(Path(sys.argv[1]))
