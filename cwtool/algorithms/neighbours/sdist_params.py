"""The parameters of sdist."""

from __future__ import annotations

from dataclasses import replace

from cwtool.algorithms.knn import KnnParams
from cwtool.params import AUTO, param
from cwtool.records import dataclass

STEPS = {"power": 500, "stsgd": 150}
DIRECTION_COLUMNS = {"power": 2, "stsgd": 20}
RUNS = 4  # metrics whose mean is used, for up to as many dense or sparse rows
FEW_DENSE, FEW_SPARSE = 500, 2000
AT_FIRST = 3  # nearest rows of each class, where k is auto


@dataclass(frozen=True)
class SdistParams(KnnParams):
    k: int | str = param(  # type: ignore[assignment]
        AUTO,
        "Number of nearest rows: in training those of each class, in prediction those of all "
        "classes together, which vote. auto is 3; for dense data the number of votes is the one "
        "of 3, 5, 9, 15 and 25 with the fewest errors on rows out of the bag (see `bag`).",
        kind=int,
        low=1,
        high=99,
        auto=True,
    )
    predict: str = param(
        "knn",
        "Score of a row. knn is the vote of the nearest rows; fw is the mean squared distance to "
        "the nearest rows of the negative class minus that to the nearest of the positive class.",
        choices=("knn", "fw"),
    )
    engine: str = param(
        AUTO,
        "Method that finds the direction of a step. power uses truncated power iterations on a "
        "sample of the columns; stsgd uses stabilized truncated descent on all columns and is "
        "meant for sparse data. auto is power if the data are dense, and otherwise the one that "
        "has fewer errors on rows out of the bag (see `bag`), in a few steps.",
        choices=(AUTO, "power", "stsgd"),
        unasked_choices=("stsgd",),
    )
    steps: int | str = param(
        AUTO,
        "Number of boosting steps. auto is 500, and 150 for `engine=stsgd`. More steps take more "
        "time and allow a finer metric.",
        kind=int,
        low=0,
        high=100_000,
        auto=True,
        unasked=STEPS["stsgd"],
    )
    runs: int | str = param(
        AUTO,
        "Number of metrics that are boosted with different random seeds; their mean is the "
        "metric. auto is 4 for at most 500 rows (sparse data: 2,000), where a single metric "
        "depends much on chance, and 1 for more rows. The time grows in proportion.",
        kind=int,
        low=1,
        high=1000,
        auto=True,
        unasked=RUNS,
    )
    direction_columns: int | str = param(
        AUTO,
        "Largest number of columns or products in the direction of one step. auto is 2, and 20 "
        "for `engine=stsgd`. Larger values give a less sparse metric.",
        kind=int,
        low=1,
        auto=True,
        formerly=("kappa",),
    )
    direction_share: float = param(
        0.0,
        "Largest number of columns in the direction of one step as a share of the columns that "
        "the step chooses from, instead of the fixed number `direction_columns`; 0 uses the fixed "
        "number.",
        low=0,
        high=1,
        formerly=("rho",),
    )
    order: int | str = param(
        AUTO,
        "Largest number of columns that may be multiplied with each other; 1 allows no products. "
        "auto is 1 if the data are sparse, 2 for at most 500 dense rows, and for more the one of 1 "
        "and 2 that has fewer errors on up to 1,000 rows out of the bag (see `bag`). Raise "
        "it where more than two features act together.",
        kind=int,
        low=1,
        high=4,
        auto=True,
    )
    init_squares: bool = param(
        True,
        "Squares of columns, and products of two columns that tell the classes apart beyond "
        "chance, may be chosen from the first step, if the data are dense. Otherwise they may be "
        "chosen like other products, after their factors.",
    )
    shrink: float = param(
        0.1,
        "Learning rate: the share of its best weight that a step receives. Smaller values need "
        "more steps and overfit less.",
        above=0,
        high=1,
    )
    bag: float = param(
        0.7, "Share of the rows, drawn at random for each step, on which its direction is found. "
        "The other rows are out of the bag.", above=0,
        high=1,
    )  # fmt: skip
    weight_on: str = param(
        "oob",
        "Rows that decide the weight of a step. oob takes the rows out of the bag, which can also "
        "reject the step; bag takes those in the bag, as the thesis of Ma (2017) does.",
        choices=("oob", "bag"),
    )
    z_accept: float = param(
        2.0,
        "A step is accepted if it lowers the loss of the rows out of the bag by more than this "
        "number of standard errors. Larger values keep out more noise.",
        low=0,
    )
    sample: str = param(
        "strat",
        "Columns and products that a step of `engine=power` chooses from. strat draws about the "
        "square root of their number, equally many of each order; uniform draws as many without "
        "regard to the order; none takes all.",
        choices=("strat", "uniform", "none"),
    )
    update_every: int = param(
        50,
        "Number of steps after which the neighbours are searched anew in the metric so far; 0 "
        "keeps those of the first step.",
        low=0,
    )
    loss: str = param(
        "exp",
        "Loss of a margin m that the steps reduce: exp is exp(-m), logistic is log(1 + exp(-m)), "
        "which is less sensitive to wrong labels.",
        choices=("exp", "logistic"),
    )
    lambda_c: float = param(
        0.1,
        "Weight of the complexity of the metric against the loss when the last step to keep is "
        "chosen. Larger values keep fewer steps.",
        low=0,
    )
    stop: str = param(
        "common",
        "Choice of the last step to keep. common minimizes loss plus complexity with the losses "
        "of all steps measured on the neighbours at the end; thesis measures each loss on the "
        "neighbours of its own step; last keeps all steps.",
        choices=("common", "thesis", "last"),
    )
    w0: float | str = param(
        AUTO,
        "Trace of a part of the metric that weighs all columns equally, relative to the weights "
        "of the steps; 0 has no such part. auto is 0 if the data are dense; if they are sparse, "
        "such a part is added to the learned metric in the end, in which the rows are spread half "
        "as far.",
        kind=float,
        low=0,
        auto=True,
    )
    cv: int = param(
        0,
        "Number of folds of a cross-validation that chooses `direction_columns` (or "
        "`direction_share`), `steps` and `lambda_c`; 0 uses these as they are given.",
        low=0,
        high=100,
        unasked=0,
    )

    def resolved(self, dense: bool, rows: int) -> SdistParams:
        """The same parameters with what auto stands for where rows out of the bag do not decide,
        for data that are dense or sparse and have so many rows."""
        engine, order, steps, most = self.engine, self.order, self.steps, self.direction_columns
        runs = self.runs
        if runs == AUTO:
            runs = RUNS if rows <= (FEW_DENSE if dense else FEW_SPARSE) else 1
        if engine == AUTO:
            engine = "power"
        if order == AUTO:
            order = 2 if dense else 1
        if steps == AUTO:
            steps = STEPS[engine]
        if most == AUTO:
            most = DIRECTION_COLUMNS[engine]
        return replace(
            self, engine=engine, order=order, steps=steps, direction_columns=most, runs=runs,
            k=AT_FIRST if self.k == AUTO else self.k, w0=0.0 if self.w0 == AUTO else self.w0,
        )  # fmt: skip
