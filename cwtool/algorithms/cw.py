"""Confidence-weighted learning: the nearest Gaussian that classifies the row with probability eta.

CW-stdev (Crammer, Dredze, Pereira 2008) and CW-var (Dredze, Crammer, Pereira 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from cwtool.algorithms.covariance import CovarianceParams, SecondOrder
from cwtool.params import param
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class EtaParams(CovarianceParams):
    eta: float = param(
        0.9,
        "probability with which a row is to be classified correctly after its update",
        above=0.5,
        high=0.999999,
    )

    @property
    def phi(self) -> float:
        return NormalDist().inv_cdf(self.eta)


class CW(SecondOrder):
    name = "cw"
    summary = "confidence-weighted, m >= phi sqrt(v)"
    Params = EtaParams

    @property
    def rule(self) -> Rule:
        return rules.cw(self.params.phi)


class CWVar(SecondOrder):
    name = "cw-var"
    summary = "confidence-weighted, m >= phi v"
    Params = EtaParams

    @property
    def rule(self) -> Rule:
        return rules.cw_var(self.params.phi)


ALGORITHMS = {"cw": CW, "cw-var": CWVar}
