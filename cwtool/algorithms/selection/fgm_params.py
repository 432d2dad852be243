"""The parameters of fgm, most of which sbcw has as well."""

from __future__ import annotations

from cwtool.algorithms.batch.learner import BatchParams
from cwtool.params import param
from cwtool.records import dataclass


@dataclass(frozen=True)
class FgmParams(BatchParams):
    features: int = param(
        100, "Number p of features to select.", low=1, high=1_000_000, unasked=50_000
    )
    group_size: int = param(
        0,
        "Number r of features that are selected together as a group; 0 takes `features` / "
        "`iterations`, rounded up.",
        low=0,
        formerly=("block",),
    )
    iterations: int = param(
        15, "Number of groups to select; applies only if `group_size` is 0.", low=1, unasked=1000
    )
    C: float = param(
        100.0,
        "Weight C of the training loss against the regularizer, for rows of length 1. Larger "
        "values fit the training rows more closely.",
        above=0,
    )
    loss: str = param(
        "squared-hinge",
        "Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi, "
        "squared-hinge is C/2 xi^2.",
        choices=("hinge", "squared-hinge"),
    )
    sigma: float = param(
        0.0,
        "Weight sigma of the sum of squared group norms, which is added to the squared sum of "
        "group norms. Values above 0 make the dual smooth and spread the weight over more groups.",
        low=0,
    )
    solver: str = param(
        "mm",
        "Method for learning the groups: mm gives each group a metric that is improved after each "
        "pass; exact makes the best possible step for each row and needs `sigma` above 0; printed "
        "makes one pass from zero after each new group, as in the paper.",
        choices=("mm", "exact", "printed"),
    )
    group_passes: int = param(
        2,
        "Number of passes over the rows after each new group, unless `group_gap` asks for more. "
        "More passes solve the problem of each group more exactly.",
        low=1,
        formerly=("sweeps",),
        unasked=100,
    )
    group_gap: float = param(
        0.5,
        "Relative duality gap above which up to 30 further passes follow after each new group, "
        "with `solver=mm`. Greater values are faster; smaller ones solve the problem of each group "
        "more exactly.",
        low=0,
    )
    final_passes: int = param(
        20,
        "Largest number of further passes over the rows after the last group was selected.",
        low=0,
        formerly=("final_sweeps",),
        unasked=1000,
    )
    tol: float = param(
        1e-3,
        "Relative duality gap at which passes over the rows stop. Smaller values are more "
        "exact and slower.",
        low=0,
    )
    change: float = param(
        0.0,
        "Select no more groups when a new group changes the objective by less than this share; 0 "
        "always selects all groups. Use it with many `group_passes`, so that the objective is "
        "exact.",
        low=0,
    )
    shuffle: bool = param(True, "Visit the rows in a new random order in each pass.")
    carry: str = param(
        "keep",
        "Start of a batch: keep continues with the groups and dual variables of earlier batches; "
        "restart selects all features again, and keeps only the precision of features that are "
        "selected again.",
        choices=("keep", "restart"),
    )

    group: str = param(
        "sum",
        "Selection of the common features of more than two classes: sum takes the features with "
        "the largest sum of scores over all classes, max those with the largest score of any "
        "class. max had fewer errors on news with 20 topics, sum on the other data sets.",
        choices=("sum", "max"),
    )

    @property
    def width(self) -> int:
        """r, the number of features of a group."""
        return min(self.features, self.group_size or -(-self.features // self.iterations))
