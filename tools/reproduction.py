"""Write the tables of docs/reproduction.md anew from the reports of `cwtool bench`.

    cwtool bench all --data DIR -o bench-out
    python tools/reproduction.py bench-out [SUITE ...]

What stands before the first suite is kept, and with names of suites all other suites; sections that
have only plots are left out.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/reproduction.md"
SUITE = re.compile(r"^## .*\(`([a-z0-9-]+)`\)$", re.MULTILINE)


def section(report: str, suite: str) -> str:
    """The report of a suite as a part of the page: headings one level lower, without plots."""
    head, *parts = re.split(r"^(?=## )", report.strip(), flags=re.MULTILINE)
    title, text = head.removeprefix("# ").split("\n", 1)
    last = parts.pop()
    last, *left_out = re.split(r"\n(?=Not in the data folder)", last)
    shown = [f"#{part.strip()}\n" for part in [*parts, last] if not only_plots(part)]
    return "\n".join([f"## {title} (`{suite}`)\n{text.rstrip()}\n", *shown, *left_out]).strip()


def only_plots(part: str) -> bool:
    """Whether a section has nothing but a heading and pictures."""
    lines = [line for line in part.splitlines()[1:] if line.strip()]
    return all(line.startswith("![") for line in lines)


def main(out: Path, anew: list[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    suites = list(SUITE.finditer(page))
    ends = [suite.start() for suite in suites] + [len(page)]
    found = [page[: ends[0]].rstrip()]
    for suite, end in zip(suites, ends[1:], strict=True):
        if anew and suite[1] not in anew:
            found.append(page[suite.start() : end].strip())
        else:
            report = (out / suite[1] / "report.md").read_text(encoding="utf-8")
            found.append(section(report, suite[1]))
    PAGE.write_text("\n\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
