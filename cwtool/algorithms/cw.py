"""Confidence-weighted learning: the nearest Gaussian that classifies the row with probability eta.

CW-stdev (Crammer, Dredze, Pereira 2008), CW-var (Dredze, Crammer, Pereira 2008), and CW-fact (Ma
et al. 2010), which is CW-stdev with a factored covariance.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import ClassVar

from cwtool.algorithms.covariance.factored import SMALL, Factorable, FactorableParams, FactorParams
from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.params import param
from cwtool.records import dataclass
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class Eta:
    eta: float = param(
        0.9,
        "Probability eta with which a row must be classified correctly after its update. Larger "
        "values make larger updates; lower it for noisy labels.",
        above=0.5,
        high=0.999999,
    )

    @property
    def phi(self) -> float:
        """The quantile of the standard normal distribution at eta."""
        return NormalDist().inv_cdf(self.eta)


@dataclass(frozen=True)
class EtaParams(Eta, FactorableParams):
    pass


@dataclass(frozen=True)
class FactParams(Eta, FactorParams):
    covariance: ClassVar[str] = "factored"


COLLAPSED = Refusal(
    "the full covariance that it learns becomes singular and cannot be inverted",
    "use `covariance=diag` or `covariance=factored`, or train one model on all files",
)


class Constrained(Factorable):
    """The rule of CW, which shrinks a variance until the constraint of the row holds."""

    @property
    def merging(self) -> Merging | Refusal:
        return COLLAPSED if self.params.covariance == "full" else super().merging


class CW(Constrained):
    name = "cw"
    summary = "confidence-weighted with the constraint m >= phi sqrt(v)"
    Params: ClassVar[type] = EtaParams

    @property
    def rule(self) -> Rule:
        return rules.cw(self.params.phi, self.params.eta)


class CWFact(CW):
    name = "cw-fact"
    summary = "confidence-weighted with a factored covariance (CW-fact)"
    Params = FactParams
    variants = SMALL


class CWVar(Constrained):
    name = "cw-var"
    summary = "confidence-weighted with the constraint m >= phi v"
    Params = EtaParams

    @property
    def rule(self) -> Rule:
        return rules.cw_var(self.params.phi, self.params.eta)


ALGORITHMS = {"cw": CW, "cw-var": CWVar, "cw-fact": CWFact}
