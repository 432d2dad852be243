"""A claim of a paper and what the measured numbers say of it, in words."""

from __future__ import annotations

from typing import Literal

from cwtool.records import dataclass
from cwtool.report.page import Grid, Part, Words
from cwtool.report.tables import number, signed

Finding = Literal["holds", "fails", "even", "unknown"]

FEW = 4  # comparisons that a sentence can list; more of them make a table
TABLES = (
    "The table below a claim has the mean of its method minus that of the method of the column, "
    "with the standard error of the difference. A difference in **bold** contradicts the claim; "
    "one in parentheses is not significant (paired t-test, 5 %)."
)


@dataclass(frozen=True)
class Verdict:
    """A claim about two methods on one data set: what our numbers and what the paper's numbers
    say of it."""

    data: str
    other: str  # the method that the claim compares with
    ours: Finding
    paper: Finding
    difference: float | None  # mean of our measurements: the first method minus the other
    error: float | None  # standard error of that mean


@dataclass(frozen=True)
class Wording:
    """How differences are written: the labels of the methods, the factor from measured to shown
    numbers, and the number of decimals."""

    labels: dict[str, str]
    scale: float = 1.0
    digits: int = 4

    def gap(self, verdict: Verdict) -> str:
        """The difference with its standard error."""
        assert verdict.difference is not None
        error = f" ± {number(self.scale * verdict.error, self.digits)}" if verdict.error else ""
        return signed(self.scale * verdict.difference, self.digits) + error

    def listed(self, verdicts: list[Verdict]) -> str:
        """The verdicts by data set, each with its difference and standard error."""
        words: dict[str, list[str]] = {}
        for verdict in verdicts:
            one = f"{self.labels[verdict.other]} ({self.gap(verdict)})"
            words.setdefault(verdict.data, []).append(one)
        return "; ".join(f"{data} against {', '.join(of)}" for data, of in words.items())

    def table(self, verdicts: list[Verdict]) -> Grid:
        """The differences: a line for each data set, a column for each other method."""
        marks = {"fails": "**{}**", "even": "({})", "holds": "{}"}
        cells = {(v.data, v.other): marks[v.ours].format(self.gap(v)) for v in verdicts}
        others = list(dict.fromkeys(v.other for v in verdicts))
        rows = [
            [data, *(cells.get((data, other), "–") for other in others)]
            for data in dict.fromkeys(v.data for v in verdicts)
        ]
        return Grid(["data", *(f"against {self.labels[other]}" for other in others)], rows)


def told(text: str, verdicts: list[Verdict], wording: Wording) -> list[Part]:
    """The claim in bold, then what our numbers and those of the paper say of it."""
    measured = [v for v in verdicts if v.ours != "unknown"]
    few = len(measured) <= FEW
    ours = _listed(measured, wording) if few else [_counted(measured)]
    said = Words(" ".join([f"**{text}**", *ours, *_of_paper(verdicts, wording)]))
    return [said] if few else [said, wording.table(measured)]


def _by_finding(measured: list[Verdict]) -> list[list[Verdict]]:
    """Those that hold, those that fail, and those that are even."""
    return [[v for v in measured if v.ours == which] for which in ("holds", "fails", "even")]


def _counted(measured: list[Verdict]) -> str:
    """How many of many comparisons agree with the claim."""
    holds, fails, even = map(len, _by_finding(measured))
    total = len(measured)
    if holds == total:
        return f"Our numbers confirm it in all {total} comparisons."
    said = (
        f"Our numbers confirm it in {holds or 'none'} of {total} comparisons and contradict it in "
        f"{fails or 'none'}"
    )
    return f"{said}; in {even} there is no significant difference." if even else f"{said}."


def _listed(measured: list[Verdict], wording: Wording) -> list[str]:
    """What few comparisons say, each of them named."""
    holds, fails, even = _by_finding(measured)
    total = len(measured)
    if not total:
        return ["Not measured here."]
    if len(holds) == total:
        return [f"Our numbers confirm it: {wording.listed(holds)}."]
    said = []
    if fails:
        some = f" in {len(fails)} of {total} comparisons" if total > 1 else ""
        said.append(f"Our numbers contradict it{some}: {wording.listed(fails)}.")
    if holds:
        said.append(f"It holds in {len(holds)} of {total}: {wording.listed(holds)}.")
    if even:
        said.append(f"No significant difference: {wording.listed(even)}.")
    return said


def _of_paper(verdicts: list[Verdict], wording: Wording) -> list[str]:
    judged = [v for v in verdicts if v.paper != "unknown"]
    if not judged:
        return []
    holds = sum(v.paper == "holds" for v in judged)
    said = [f"By the numbers printed in the paper it holds in {holds} of {len(judged)}."]
    reverse = [v for v in judged if v.paper == "holds" and v.ours == "fails"]
    if reverse:
        where = ", ".join(f"{v.data} against {wording.labels[v.other]}" for v in reverse)
        said.append(f"On the paper's own data we find the reverse: {where}.")
    return said
