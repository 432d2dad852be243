"""A claim of a paper and what the measured numbers say of it, in words."""

from __future__ import annotations

from typing import Literal

from cwtool.records import dataclass
from cwtool.report.tables import number, signed

Finding = Literal["holds", "fails", "even", "unknown"]


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

    def listed(self, verdicts: list[Verdict]) -> str:
        """The verdicts by data set, each with its difference and standard error."""
        words: dict[str, list[str]] = {}
        for verdict in verdicts:
            assert verdict.difference is not None
            error = f" ± {number(self.scale * verdict.error, self.digits)}" if verdict.error else ""
            gap = signed(self.scale * verdict.difference, self.digits)
            words.setdefault(verdict.data, []).append(
                f"{self.labels[verdict.other]} ({gap}{error})"
            )
        return "; ".join(f"{data} against {', '.join(of)}" for data, of in words.items())


def paragraph(text: str, verdicts: list[Verdict], wording: Wording) -> str:
    """The claim in bold, then what our numbers and those of the paper say of it."""
    return " ".join([f"**{text}**", *_of_ours(verdicts, wording), *_of_paper(verdicts, wording)])


def _of_ours(verdicts: list[Verdict], wording: Wording) -> list[str]:
    holds, fails, even = ([v for v in verdicts if v.ours == w] for w in ("holds", "fails", "even"))
    total = len(holds) + len(fails) + len(even)
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
