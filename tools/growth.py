"""CPU time and peak memory against the size of the data.

Each command runs in one thread on the same kind of text in sizes of 1, 10 and 100 MB; of several
rounds the least CPU time counts. The table goes to stdout, and the drawing to the file. The last
columns say how many times the CPU time and the memory grow from 10 to 100 MB; a command that is
linear in the size grows less than 10 times, because every command takes some time to start.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from cwtool.bench.measure import Cost, measure

SIZES = (1, 10, 100)  # MB

# {data} is the text, {data}.cw its model, {data}.1.cw and {data}.2.cw those of its halves
COMMANDS = {
    "train": "train {data} -m {out}",
    "predict": "predict {data} -m {data}.cw -o {out}",
    "tune, folds": "tune {data} --grid r=0.1,1 --cv 2",
    "tune, progressive": "tune {data} --grid r=0.1,1 --by progressive",
    "select-features": "select-features {data} --algo sbcw --features 100 -o {out}",
    "merge": "merge {data}.1.cw {data}.2.cw -m {out}",
}

DATA = """
import sys
from pathlib import Path
from cwtool.bench.corpus import libsvm
for size in map(int, sys.argv[2:]):
    text = b"".join(libsvm(size * 1_000_000))
    middle = text.index(b"\\n", len(text) // 2) + 1
    path = Path(sys.argv[1]) / f"{size}.svm"
    path.write_bytes(text)
    path.with_suffix(".1").write_bytes(text[:middle])
    path.with_suffix(".2").write_bytes(text[middle:])
"""


def cwtool(words: str) -> list[str]:
    return [sys.executable, "-m", "cwtool", *words.split(), "--quiet"]


def prepared(folder: Path) -> None:
    """The text in all sizes, with a model of it and a model of each half."""
    subprocess.run([sys.executable, "-c", DATA, str(folder), *map(str, SIZES)], check=True)
    for size in SIZES:
        data = folder / f"{size}.svm"
        halves = [data.with_suffix(".1"), data.with_suffix(".2")]
        for path, model in zip((data, *halves), (".cw", ".1.cw", ".2.cw"), strict=True):
            subprocess.run(cwtool(f"train {path} -m {data}{model}"), check=True)


def measured(folder: Path, name: str, size: int, rounds: int) -> Cost:
    """The cheapest of several runs."""
    words = COMMANDS[name].format(
        data=folder / f"{size}.svm", out=folder / f"{name.split()[0]}.out"
    )
    runs = [measure(cwtool(f"{words} --jobs 1")) for _ in range(rounds)]
    return min(runs, key=lambda cost: cost.cpu)


def table(costs: dict[str, list[Cost]]) -> str:
    sizes = " | ".join(f"{size} MB" for size in SIZES)
    lines = [
        f"| | CPU seconds: {sizes} | growth | peak memory, MB: {sizes} | growth |",
        f"|---|{'---:|' * (2 * len(SIZES) + 2)}",
    ]
    for name, found in costs.items():
        cpu = " | ".join(f"{cost.cpu:.2f}" for cost in found)
        rss = " | ".join(f"{cost.rss:,.0f}" for cost in found)
        grown = found[-1].cpu / found[-2].cpu, found[-1].rss / found[-2].rss
        lines.append(f"| `{name}` | {cpu} | {grown[0]:.1f} | {rss} | {grown[1]:.1f} |")
    return "\n".join(lines)


def draw(costs: dict[str, list[Cost]], path: Path) -> None:
    from cwtool.report.charts import Line, Panel, chart, save

    sizes = list(map(float, SIZES))
    time = [Line(name, sizes, [cost.cpu for cost in found]) for name, found in costs.items()]
    room = [Line(name, sizes, [cost.rss for cost in found]) for name, found in costs.items()]
    linear = [SIZES[0] / 10, SIZES[-1] / 10]
    time.append(Line("linear", [sizes[0], sizes[-1]], linear))
    panels = [
        Panel("CPU time", time, "MB of text", "seconds", log_x=True, log_y=True),
        Panel("peak memory", room, "MB of text", "MB", log_x=True, log_y=True),
    ]
    save(chart(panels), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--out", type=Path, required=True, help="the drawing, SVG or PNG")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    costs: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared(folder)
        for command in COMMANDS:
            costs[command] = [measured(folder, command, size, given.rounds) for size in SIZES]
            print(command, *(f"{c.cpu:.2f} s {c.rss:.0f} MB" for c in costs[command]), sep="  ",
                  file=sys.stderr)  # fmt: skip
    print(table(costs))
    draw(costs, given.out)


if __name__ == "__main__":
    main()
