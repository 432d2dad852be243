"""Soft confidence-weighted learning (Wang, Zhao, Hoi 2012): CW whose constraint has a slack."""

from __future__ import annotations

from cwtool.algorithms.covariance.factored import Factorable
from cwtool.algorithms.cw import EtaParams
from cwtool.params import param
from cwtool.records import dataclass
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class SoftParams(EtaParams):
    C: float = param(
        3.0,
        "Aggressiveness C, the weight of a violated constraint. Larger values make larger "
        "updates; lower it for noisy labels.",
        above=0,
    )


class SCW1(Factorable):
    name = "scw1"
    summary = "soft confidence-weighted, linear slack (SCW-I)"
    Params = SoftParams

    @property
    def rule(self) -> Rule:
        return rules.scw1(self.params.phi, self.params.C, self.params.eta)


class SCW2(Factorable):
    name = "scw2"
    summary = "soft confidence-weighted, squared slack (SCW-II)"
    Params = SoftParams

    @property
    def rule(self) -> Rule:
        return rules.scw2(self.params.phi, self.params.C, self.params.eta)


ALGORITHMS = {"scw1": SCW1, "scw2": SCW2}
