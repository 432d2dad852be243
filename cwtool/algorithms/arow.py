"""Adaptive regularization of weights (Crammer, Kulesza, Dredze 2009)."""

from __future__ import annotations

from typing import ClassVar

from cwtool.algorithms.base import Variants
from cwtool.algorithms.covariance.factored import Factorable, FactorableParams
from cwtool.params import param
from cwtool.records import dataclass
from cwtool_ext import rules
from cwtool_ext.rules import Rule


@dataclass(frozen=True)
class ArowParams(FactorableParams):
    r: float = param(
        0.1,
        "Regularization r of AROW. Larger values make smaller updates; raise it for noisy labels.",
        above=0,
    )


class Arow(Factorable):
    name = "arow"
    summary = "adaptive regularization of weights"
    Params = ArowParams
    additive = True
    variants: ClassVar[Variants] = {
        **Factorable.variants,
        "forgetting": {"half_life": 100},
        "forgetting full": {"half_life": 100, "covariance": "full"},
        "forgetting days": {"half_life": "30d"},
    }

    @property
    def rule(self) -> Rule:
        return rules.arow(self.params.r)


ALGORITHMS = {"arow": Arow}
