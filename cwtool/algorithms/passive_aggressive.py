"""Passive-aggressive learning (Crammer et al. 2006): the smallest step to margin 1."""

from __future__ import annotations

from cwtool.algorithms.covariance.prior import prior_of_rows
from cwtool.algorithms.online.first_order import FirstOrder, FirstOrderParams
from cwtool.params import param
from cwtool.records import dataclass
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class SoftParams(FirstOrderParams):
    C: float = param(
        1.0,
        "Aggressiveness C, the weight of a margin error. Larger values make larger updates; lower "
        "it for noisy labels.",
        above=0,
    )
    prior: float | str = prior_of_rows()


class PA(FirstOrder):
    name = "pa"
    summary = "passive-aggressive with a hard margin"
    Params = FirstOrderParams
    takes_weights = False  # a hard margin has no slack term that a weight could scale
    weighted_instead = "pa1"
    rule = rules.pa()


class PA1(FirstOrder):
    name = "pa1"
    summary = "passive-aggressive with linear slack (PA-I)"
    Params = SoftParams

    @property
    def rule(self) -> Rule:
        return rules.pa1(self.params.C)


class PA2(FirstOrder):
    name = "pa2"
    summary = "passive-aggressive with squared slack (PA-II)"
    Params = SoftParams

    @property
    def rule(self) -> Rule:
        return rules.pa2(self.params.C)


ALGORITHMS = {"pa": PA, "pa1": PA1, "pa2": PA2}
