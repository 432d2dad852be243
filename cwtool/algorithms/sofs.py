"""Second-order online feature selection (Wu, Hoi, Mei, Yu 2017): the most confident features."""

from __future__ import annotations

from dataclasses import dataclass

from cwtool.algorithms.cw_sparse import Budget, ConfidenceParams
from cwtool.params import param


@dataclass(frozen=True)
class SofsParams(ConfidenceParams):
    budget: int = param(1000, "so many features have a weight", low=1)


class Sofs(Budget):
    name = "sofs"
    summary = "second-order online feature selection"
    Params = SofsParams
    ranking = "certain"


ALGORITHMS = {"sofs": Sofs}
