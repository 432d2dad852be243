"""Normal herding (Crammer and Lee 2010)."""

from __future__ import annotations

from cwtool.algorithms.covariance.diagonal import CovarianceParams
from cwtool.algorithms.online.second_order import SecondOrder
from cwtool.params import param
from cwtool.records import dataclass
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class HerdParams(CovarianceParams):
    C: float = param(
        3.0, "Aggressiveness C. Larger values make larger updates; lower it for noisy labels.",
        above=0,
    )  # fmt: skip


class NHerd(SecondOrder):
    name = "nherd"
    summary = "normal herding"
    Params = HerdParams
    additive = True

    @property
    def rule(self) -> Rule:
        return rules.nherd(self.params.C)


ALGORITHMS = {"nherd": NHerd}
