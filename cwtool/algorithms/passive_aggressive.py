"""Passive-aggressive learning (Crammer et al. 2006): the smallest step to margin 1."""

from __future__ import annotations

from dataclasses import dataclass

from cwtool.algorithms.first_order import FirstOrder, FirstOrderParams
from cwtool.params import AUTO, param
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class SoftParams(FirstOrderParams):
    C: float = param(1.0, "aggressiveness: the price of a margin error", above=0)
    prior: float | str = param(
        AUTO,
        "rows are multiplied by its square root; auto = 1 / typical squared norm of the first "
        "1,000 rows, which frees C from the scale of the rows; 1 = as in the paper",
        kind=float,
        above=0,
        auto=True,
    )


class PA(FirstOrder):
    name = "pa"
    summary = "passive-aggressive, hard margin"
    Params = FirstOrderParams
    rule = rules.pa()


class PA1(FirstOrder):
    name = "pa1"
    summary = "passive-aggressive, linear slack (PA-I)"
    Params = SoftParams

    @property
    def rule(self) -> Rule:
        return rules.pa1(self.params.C)


class PA2(FirstOrder):
    name = "pa2"
    summary = "passive-aggressive, squared slack (PA-II)"
    Params = SoftParams

    @property
    def rule(self) -> Rule:
        return rules.pa2(self.params.C)


ALGORITHMS = {"pa": PA, "pa1": PA1, "pa2": PA2}
