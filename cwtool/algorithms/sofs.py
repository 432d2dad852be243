"""Second-order online feature selection (Wu, Hoi, Mei, Yu 2017): the most confident features."""

from __future__ import annotations

from typing import ClassVar

from cwtool.algorithms.base import Variants
from cwtool.algorithms.cw_sparse import Budget, ConfidenceParams
from cwtool.params import param
from cwtool.records import dataclass


@dataclass(frozen=True)
class SofsParams(ConfidenceParams):
    features: int = param(
        1000, "Largest number of features with a weight.", low=1, formerly=("budget",)
    )


class Sofs(Budget):
    name = "sofs"
    unmergeable = "models that learned apart keep different features"
    summary = "second-order online feature selection"
    Params = SofsParams
    ranking = "certain"
    variants: ClassVar[Variants] = {"": {}, "few": {"features": 24}}


ALGORITHMS = {"sofs": Sofs}
