"""The parameters of stabilized truncated stochastic gradient descent.

Defaults of later passes: of bursts of a fifth, tenth or twentieth of the rows, rejection .6, .7, .8
and stability .5, .6, .7, those with the fewest features (geometric mean over the data sets) among
all whose mean error is within half a point of the best, by cross-validation in 6 passes within the
training rows of a9a, gisette_valid, mnist_6v7, reuters_earn, sentiment_books,
sentiment_electronics, spambase, uci_ionosphere, url_mini and zip_4v9. Those of the first pass and
of the scale of columns: among first bursts of 20 to 1,000 rows, rejections from 0 to .7, and powers
of the two parts of the scale between 0 and 1, by cross-validation in 1 and 10 passes within the
training rows of these sets, dexter, news20_comp, phishurl, skf_pcmac and generated words. Test rows
took no part. The other parameters were not searched.

With fewer features than rows the rejection of later passes falls to that of the first pass. By
cross-validation in 6 passes, with both losses, .2 + .5 sqrt(q) with q = features / rows was chosen
among .7, .2 + .5 q, .3 + .4 q and .3 + .4 sqrt(q) on 18 sets of 8 to 1,617 features and 208 to
4,000 rows and on the training rows of a9a, madelon, mnist_6v7, mnist_evenodd, spambase,
uci_ionosphere and zip_4v9; .5 and .2 were compared on 21 of these 25.
"""

from __future__ import annotations

from cwtool.algorithms.online.losses import LOSSES
from cwtool.params import AUTO, param
from cwtool.records import dataclass


@dataclass(frozen=True)
class StsgdParams:
    loss: str = param(
        "hinge",
        "Loss of a margin m: hinge is max(0, 1 - m), logistic is log(1 + exp(-m)).",
        choices=tuple(LOSSES),
    )
    paths: int = param(
        8,
        "Number of learners (paths); the model is their mean. More paths judge features more "
        "reliably and take proportionally more time and memory.",
        low=1,
        high=64,
    )
    share: float = param(
        0.5,
        "Share of the rows that each path learns in the first pass, chosen at random for each "
        "path. In later passes every path learns all rows.",
        above=0,
        high=1,
    )
    gravity_by: str = param(
        "norm",
        "Quantity that the shrinkage of a weight after a burst is proportional to: norm is the "
        "root of the sum of the squared inputs of the feature in the burst; count is the number "
        "of rows that informed it, as in the thesis, which favours rare features.",
        choices=("norm", "count"),
        formerly=("gravity",),
    )
    rate: float | str = param(
        AUTO,
        "Learning rate of every row. auto is 1 / (mean squared norm of the scaled rows), and twice "
        "that with the logistic loss, whose gradients are smaller.",
        kind=float,
        above=0,
        auto=True,
        formerly=("eta",),
    )
    burst: int | str = param(
        AUTO,
        "Number of rows of a burst; weights are shrunk towards zero after each burst. auto is a "
        "tenth of the rows, but at least 100 in the first pass and 20 in later passes. Shorter "
        "bursts remove more features.",
        kind=int,
        low=1,
        auto=True,
    )
    bursts: int = param(
        5,
        "Number of bursts of a stage. After each stage, features with unstable weights are "
        "removed.",
        low=1,
    )
    rejection: float | str = param(
        AUTO,
        "Share of the weight changes of the last stage that the shrinkage would undo while no "
        "feature has been removed. Larger values give fewer features. auto is 0.2 in the first "
        "pass; in later passes 0.7, or 0.2 + 0.5 sqrt(features / rows) if there are fewer features "
        "than rows.",
        kind=float,
        low=0,
        high=1,
        auto=True,
    )
    annealing: float = param(
        -1.0,
        "Rate at which the rejection falls as features are removed. Positive values let it fall "
        "fast, negative ones slowly; 0 makes it proportional to the share of features left.",
    )
    stability: float = param(
        0.7,
        "A feature is removed for good when its weight was nonzero after less than this share of "
        "the bursts that informed it (see `informed_by`). Larger values give fewer features; "
        "0 removes none.",
        low=0,
        high=1,
    )
    least: int = param(
        0,
        "Number of bursts that must have informed a feature before it can be removed. Raise it to "
        "keep rare features longer.",
        low=0,
    )
    growth: float | str = param(
        AUTO,
        "alpha of the burst length K log(1 / (alpha d)), which is at least K; K is `burst` and d "
        "the share of features left. Bursts become longer as features are removed. auto keeps the "
        "length K.",
        kind=float,
        above=0,
        high=1,
        auto=True,
    )
    scale: str = param(
        "balanced",
        "Scaling of columns: std divides each column by its standard deviation; floor does the "
        "same, but by no less than the median of the standard deviations over the nonzero "
        "entries; balanced divides by r^(3/4) q^(1/4), where r is the root mean square of the "
        "nonzero values of the column and q their share of the rows, with a floor of the same "
        "kind; none does not scale. Frequent columns have the least influence with std and floor, "
        "more with balanced and most with none.",
        choices=("none", "std", "floor", "balanced"),
    )
    informed_by: str = param(
        "rows",
        "Rows that inform a feature: rows takes every row with a nonzero value of the feature, "
        "gradients only those of them whose loss has a nonzero gradient.",
        choices=("rows", "gradients"),
    )
    pull_on: str = param(
        "change",
        "Quantity from which the strength of the shrinkage is derived: change is the change of "
        "the weights in a burst, weight is the weights themselves.",
        choices=("change", "weight"),
    )
    intercept: str = param(
        AUTO,
        "Whether an intercept is learned. auto learns one if the smaller class has at most a "
        "tenth of the rows.",
        choices=(AUTO, "on", "off"),
    )
    tol: float = param(
        0.0,
        "Learning stops when 3 stages in a row each change the mean weight vector by less than "
        "this share of its length; 0 never stops.",
        low=0,
    )
