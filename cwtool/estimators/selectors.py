"""A transformer that selects columns for each algorithm.

Generated from the declared parameters of the algorithms by tools/estimators.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cwtool.estimators.selector import Selector, WeightedSelector


class SBCWSelector(WeightedSelector):
    """Selects columns by sbcw: sparse batch confidence-weighted: groups of features with their
    covariance.

    Parameters
    ----------
    C : float, default=100.0
        Weight C of the training loss against the regularizer, for rows of length 1. Larger
        values fit the training rows more closely. Must be above 0.
    loss : 'hinge' or 'squared-hinge', default='squared-hinge'
        Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi,
        squared-hinge is C/2 xi^2.
    batch_rows : int, default=0
        Number of rows that are learned together as one batch; 0 learns each file as one batch.
        Set it if a file does not fit into memory. Must be at least 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    features : int, default=100
        Number p of features to select. Must be at least 1 and at most 1e+06.
    group_size : int, default=0
        Number r of features that are selected together as a group; 0 takes `features` /
        `iterations`, rounded up. Must be at least 0.
    iterations : int, default=15
        Number of groups to select; applies only if `group_size` is 0. Must be at least 1.
    sigma : float, default=0.0
        Weight sigma of the sum of squared group norms, which is added to the squared sum of
        group norms. Values above 0 make the dual smooth and spread the weight over more groups.
        Must be at least 0.
    solver : 'mm' or 'exact' or 'printed', default='mm'
        Method for learning the groups: mm gives each group a metric that is improved after each
        pass; exact makes the best possible step for each row and needs `sigma` above 0; printed
        makes one pass from zero after each new group, as in the paper.
    group_passes : int, default=2
        Number of passes over the rows after each new group, unless `group_gap` asks for more.
        More passes solve the problem of each group more exactly. Must be at least 1.
    group_gap : float, default=0.5
        Relative duality gap above which up to 30 further passes follow after each new group,
        with `solver=mm`. Greater values are faster; smaller ones solve the problem of each
        group more exactly. Must be at least 0.
    final_passes : int, default=0
        Largest number of further passes over the rows after the last group was selected. On
        text they did not lower the error. Must be at least 0.
    tol : float, default=0.001
        Relative duality gap at which passes over the rows stop. Smaller values are more exact
        and slower. Must be at least 0.
    change : float, default=0.0
        Select no more groups when a new group changes the objective by less than this share; 0
        always selects all groups. Use it with many `group_passes`, so that the objective is
        exact. Must be at least 0.
    shuffle : bool, default=True
        Visit the rows in a new random order in each pass.
    carry : 'keep' or 'restart', default='keep'
        Start of a batch: keep continues with the groups and dual variables of earlier batches;
        restart selects all features again, and keeps only the precision of features that are
        selected again.
    group : 'sum' or 'max', default='sum'
        Selection of the common features of more than two classes: sum takes the features with
        the largest sum of scores over all classes, max those with the largest score of any
        class. max had fewer errors on news with 20 topics, sum on the other data sets.
    final_C : 'auto' or 'same', default='auto'
        C of the final weights: auto multiplies `C` by 1, 3, 10, 30 and so on up to 10^6,
        whichever has the least loss by generalized cross-validation with a correction for the
        number of features that were not selected; same takes `C`. Applies with
        `loss=squared-hinge`, `solver=mm` and at most 500 features. With auto, `score_by=gain`,
        two classes and at most 64 features, features of the first batch are then exchanged for
        others that lower the loss by more than a feature costs in this estimate.
    precision_divisor : float or 'auto', default='auto'
        C divided by this number is the weight of X'X in the precision of a group. 1 is the
        algorithm of the paper; larger values give the precision less influence. auto is 100, or
        more if there are many rows for each feature: then X'X makes the precision of a feature
        6 times as large, on the mean. Must be auto, or above 0.
    score_by : 'gain' or 'diag' or 'plain', default='gain'
        Score by which features are selected: gain is twice the decrease of the objective that a
        Newton step of the weight of the feature, together with those of the features selected
        so far, adds to a step of the latter alone (with `loss=hinge` the same as diag); diag is
        s_j^2 / (1 + c |x_j|^2) with c = `C` / `precision_divisor`; plain is s_j^2, as in the
        paper.
    scale : 'auto' or 'columns' or 'none', default='auto'
        Precision of a weight before any rows: columns takes the mean square of the values of
        its column that are not 0, so that the units of the columns do not matter; none takes 1,
        as in the paper; auto takes columns if the sizes of the columns' values differ by more
        than a factor of about 2.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "sbcw"
    renamed: ClassVar[dict[str, str]] = {"score_by": "score"}

    def __init__(
        self,
        *,
        C: float = 100.0,
        loss: str = "squared-hinge",
        batch_rows: int = 0,
        prior: float | str = "auto",
        features: int = 100,
        group_size: int = 0,
        iterations: int = 15,
        sigma: float = 0.0,
        solver: str = "mm",
        group_passes: int = 2,
        group_gap: float = 0.5,
        final_passes: int = 0,
        tol: float = 0.001,
        change: float = 0.0,
        shuffle: bool = True,
        carry: str = "keep",
        group: str = "sum",
        final_C: str = "auto",
        precision_divisor: float | str = "auto",
        score_by: str = "gain",
        scale: str = "auto",
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.batch_rows = batch_rows
        self.prior = prior
        self.features = features
        self.group_size = group_size
        self.iterations = iterations
        self.sigma = sigma
        self.solver = solver
        self.group_passes = group_passes
        self.group_gap = group_gap
        self.final_passes = final_passes
        self.tol = tol
        self.change = change
        self.shuffle = shuffle
        self.carry = carry
        self.group = group
        self.final_C = final_C
        self.precision_divisor = precision_divisor
        self.score_by = score_by
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class FGMSelector(WeightedSelector):
    """Selects columns by fgm: feature generating machine: sparse SVM over groups of features.

    Parameters
    ----------
    C : float, default=100.0
        Weight C of the training loss against the regularizer, for rows of length 1. Larger
        values fit the training rows more closely. Must be above 0.
    loss : 'hinge' or 'squared-hinge', default='squared-hinge'
        Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi,
        squared-hinge is C/2 xi^2.
    batch_rows : int, default=0
        Number of rows that are learned together as one batch; 0 learns each file as one batch.
        Set it if a file does not fit into memory. Must be at least 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    features : int, default=100
        Number p of features to select. Must be at least 1 and at most 1e+06.
    group_size : int, default=0
        Number r of features that are selected together as a group; 0 takes `features` /
        `iterations`, rounded up. Must be at least 0.
    iterations : int, default=15
        Number of groups to select; applies only if `group_size` is 0. Must be at least 1.
    sigma : float, default=0.0
        Weight sigma of the sum of squared group norms, which is added to the squared sum of
        group norms. Values above 0 make the dual smooth and spread the weight over more groups.
        Must be at least 0.
    solver : 'mm' or 'exact' or 'printed', default='mm'
        Method for learning the groups: mm gives each group a metric that is improved after each
        pass; exact makes the best possible step for each row and needs `sigma` above 0; printed
        makes one pass from zero after each new group, as in the paper.
    group_passes : int, default=2
        Number of passes over the rows after each new group, unless `group_gap` asks for more.
        More passes solve the problem of each group more exactly. Must be at least 1.
    group_gap : float, default=0.5
        Relative duality gap above which up to 30 further passes follow after each new group,
        with `solver=mm`. Greater values are faster; smaller ones solve the problem of each
        group more exactly. Must be at least 0.
    final_passes : int, default=20
        Largest number of further passes over the rows after the last group was selected. Must
        be at least 0.
    tol : float, default=0.001
        Relative duality gap at which passes over the rows stop. Smaller values are more exact
        and slower. Must be at least 0.
    change : float, default=0.0
        Select no more groups when a new group changes the objective by less than this share; 0
        always selects all groups. Use it with many `group_passes`, so that the objective is
        exact. Must be at least 0.
    shuffle : bool, default=True
        Visit the rows in a new random order in each pass.
    carry : 'keep' or 'restart', default='keep'
        Start of a batch: keep continues with the groups and dual variables of earlier batches;
        restart selects all features again, and keeps only the precision of features that are
        selected again.
    group : 'sum' or 'max', default='sum'
        Selection of the common features of more than two classes: sum takes the features with
        the largest sum of scores over all classes, max those with the largest score of any
        class. max had fewer errors on news with 20 topics, sum on the other data sets.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "fgm"

    def __init__(
        self,
        *,
        C: float = 100.0,
        loss: str = "squared-hinge",
        batch_rows: int = 0,
        prior: float | str = "auto",
        features: int = 100,
        group_size: int = 0,
        iterations: int = 15,
        sigma: float = 0.0,
        solver: str = "mm",
        group_passes: int = 2,
        group_gap: float = 0.5,
        final_passes: int = 20,
        tol: float = 0.001,
        change: float = 0.0,
        shuffle: bool = True,
        carry: str = "keep",
        group: str = "sum",
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.batch_rows = batch_rows
        self.prior = prior
        self.features = features
        self.group_size = group_size
        self.iterations = iterations
        self.sigma = sigma
        self.solver = solver
        self.group_passes = group_passes
        self.group_gap = group_gap
        self.final_passes = final_passes
        self.tol = tol
        self.change = change
        self.shuffle = shuffle
        self.carry = carry
        self.group = group
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class L1SVMSelector(WeightedSelector):
    """Selects columns by l1svm: sparse SVM or logistic regression by the l1 norm.

    Parameters
    ----------
    C : float, default=10000.0
        Weight C of the training loss against the l1 norm, for rows of length 1; if `features`
        is not 0, the largest C that is tried. Must be above 0 and at most 1e+12.
    loss : 'squared-hinge' or 'logistic', default='squared-hinge'
        Loss of a row with margin m: squared-hinge is C/2 max(0, 1 - m)^2, where LIBLINEAR has C
        instead of C/2; logistic is C log(1 + exp(-m)).
    batch_rows : int, default=0
        Number of rows that are learned together as one batch; 0 makes each file one batch. Each
        batch is learned anew and replaces what earlier batches, or a resumed model, had
        learned. Must be at least 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    features : int, default=100
        Number of features to select; C is raised until so many features have a weight. 0 solves
        for the given `C` and takes all features with a weight. Must be at least 0.
    tol : float, default=0.0001
        Stop when the violation of the optimality conditions is at most this, relative to the
        violation at w = 0 or to 1, whichever is larger. Smaller values are more exact and
        slower. Must be at least 1e-12.
    max_batch_passes : int, default=1000
        Largest number of passes over the features for one C, if `tol` is not reached before.
        Must be at least 1.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "l1svm"

    def __init__(
        self,
        *,
        C: float = 10000.0,
        loss: str = "squared-hinge",
        batch_rows: int = 0,
        prior: float | str = "auto",
        features: int = 100,
        tol: float = 0.0001,
        max_batch_passes: int = 1000,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.batch_rows = batch_rows
        self.prior = prior
        self.features = features
        self.tol = tol
        self.max_batch_passes = max_batch_passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class SparDCASelector(WeightedSelector):
    """Selects columns by spar-dca: sparse SVM by proximal dual coordinate ascent, l1 and a small
    l2 norm.

    Parameters
    ----------
    C : float, default=10000.0
        Weight C of the training loss against the l1 norm, for rows of length 1; if `features`
        is not 0, the largest C that is tried. Must be above 0 and at most 1e+12.
    loss : 'hinge' or 'squared-hinge', default='squared-hinge'
        Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi,
        squared-hinge is C/2 xi^2.
    batch_rows : int, default=0
        Number of rows that are learned together as one batch; 0 makes each file one batch. Each
        batch is learned anew and replaces what earlier batches, or a resumed model, had
        learned. Must be at least 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    features : int, default=100
        Number of features to select; C is raised until so many features have a weight. 0 solves
        for the given `C` and takes all features with a weight. Must be at least 0.
    l2 : float, default=0.1
        Weight e of the squared norm beside the l1 norm. Smaller values come closer to the plain
        l1 norm and converge more slowly. Must be above 0.
    tol : float, default=0.01
        Stop when the relative duality gap is at most this. Smaller values are more exact and
        slower. Must be above 0.
    max_batch_passes : int, default=200
        Largest number of passes over the rows for one C, if `tol` is not reached before. Must
        be at least 1.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "spar-dca"

    def __init__(
        self,
        *,
        C: float = 10000.0,
        loss: str = "squared-hinge",
        batch_rows: int = 0,
        prior: float | str = "auto",
        features: int = 100,
        l2: float = 0.1,
        tol: float = 0.01,
        max_batch_passes: int = 200,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.batch_rows = batch_rows
        self.prior = prior
        self.features = features
        self.l2 = l2
        self.tol = tol
        self.max_batch_passes = max_batch_passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class STSGDSelector(WeightedSelector):
    """Selects columns by stsgd: stabilized truncated stochastic gradient descent.

    Parameters
    ----------
    loss : 'hinge' or 'logistic', default='hinge'
        Loss of a margin m: hinge is max(0, 1 - m), logistic is log(1 + exp(-m)).
    paths : int, default=8
        Number of learners (paths); the model is their mean. More paths judge features more
        reliably and take proportionally more time and memory. Must be at least 1 and at most
        64.
    share : float, default=0.5
        Share of the rows that each path learns in the first pass, chosen at random for each
        path. In later passes every path learns all rows. Must be above 0 and at most 1.
    gravity_by : 'norm' or 'count', default='norm'
        Quantity that the shrinkage of a weight after a burst is proportional to: norm is the
        root of the sum of the squared inputs of the feature in the burst; count is the number
        of rows that informed it, as in the thesis, which favours rare features.
    rate : float or 'auto', default='auto'
        Learning rate of every row. auto is 1 / (mean squared norm of the scaled rows), and
        twice that with the logistic loss, whose gradients are smaller. Must be auto, or above
        0.
    burst : int or 'auto', default='auto'
        Number of rows of a burst; weights are shrunk towards zero after each burst. auto is a
        tenth of the rows, but at least 100 in the first pass and 20 in later passes. Shorter
        bursts remove more features. Must be auto, or at least 1.
    bursts : int, default=5
        Number of bursts of a stage. After each stage, features with unstable weights are
        removed. Must be at least 1.
    rejection : float or 'auto', default='auto'
        Share of the weight changes of the last stage that the shrinkage would undo while no
        feature has been removed. Larger values give fewer features. auto is 0.2 in the first
        pass; in later passes 0.7, or 0.2 + 0.5 sqrt(features / rows) if there are fewer
        features than rows. Must be auto, or at least 0 and at most 1.
    annealing : float, default=-1.0
        Rate at which the rejection falls as features are removed. Positive values let it fall
        fast, negative ones slowly; 0 makes it proportional to the share of features left.
    stability : float, default=0.7
        A feature is removed for good when its weight was nonzero after less than this share of
        the bursts that informed it (see `informed_by`). Larger values give fewer features; 0
        removes none. Must be at least 0 and at most 1.
    least : int, default=0
        Number of bursts that must have informed a feature before it can be removed. Raise it to
        keep rare features longer. Must be at least 0.
    growth : float or 'auto', default='auto'
        alpha of the burst length K log(1 / (alpha d)), which is at least K; K is `burst` and d
        the share of features left. Bursts become longer as features are removed. auto keeps the
        length K. Must be auto, or above 0 and at most 1.
    scale : 'none' or 'std' or 'floor' or 'balanced', default='balanced'
        Scaling of columns: std divides each column by its standard deviation; floor does the
        same, but by no less than the median of the standard deviations over the nonzero
        entries; balanced divides by r^(3/4) q^(1/4), where r is the root mean square of the
        nonzero values of the column and q their share of the rows, with a floor of the same
        kind; none does not scale. Frequent columns have the least influence with std and floor,
        more with balanced and most with none.
    informed_by : 'rows' or 'gradients', default='rows'
        Rows that inform a feature: rows takes every row with a nonzero value of the feature,
        gradients only those of them whose loss has a nonzero gradient.
    pull_on : 'change' or 'weight', default='change'
        Quantity from which the strength of the shrinkage is derived: change is the change of
        the weights in a burst, weight is the weights themselves.
    intercept : 'auto' or 'on' or 'off', default='auto'
        Whether an intercept is learned. auto learns one if the smaller class has at most a
        tenth of the rows.
    tol : float, default=0.0
        Learning stops when 3 stages in a row each change the mean weight vector by less than
        this share of its length; 0 never stops. Must be at least 0.
    passes : int, default=1
        Number of passes over the rows in `fit`. From the second pass on the rows are visited in
        a random order.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    max_features : int or None, default=None
        Largest number of columns to select: those with the largest weights. None selects all
        whose weight is not 0.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "stsgd"

    def __init__(
        self,
        *,
        loss: str = "hinge",
        paths: int = 8,
        share: float = 0.5,
        gravity_by: str = "norm",
        rate: float | str = "auto",
        burst: int | str = "auto",
        bursts: int = 5,
        rejection: float | str = "auto",
        annealing: float = -1.0,
        stability: float = 0.7,
        least: int = 0,
        growth: float | str = "auto",
        scale: str = "balanced",
        informed_by: str = "rows",
        pull_on: str = "change",
        intercept: str = "auto",
        tol: float = 0.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        max_features: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.paths = paths
        self.share = share
        self.gravity_by = gravity_by
        self.rate = rate
        self.burst = burst
        self.bursts = bursts
        self.rejection = rejection
        self.annealing = annealing
        self.stability = stability
        self.least = least
        self.growth = growth
        self.scale = scale
        self.informed_by = informed_by
        self.pull_on = pull_on
        self.intercept = intercept
        self.tol = tol
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class SOFSSelector(WeightedSelector):
    """Selects columns by sofs: second-order online feature selection.

    Parameters
    ----------
    r : float, default=1.0
        Regularization r of AROW. Larger values make smaller updates; raise it for noisy labels.
        Must be above 0.
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    features : int, default=1000
        Largest number of features with a weight. Must be at least 1.
    passes : int, default=1
        Number of passes over the rows in `fit`. From the second pass on the rows are visited in
        a random order.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    max_features : int or None, default=None
        Largest number of columns to select: those with the largest weights. None selects all
        whose weight is not 0.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "sofs"

    def __init__(
        self,
        *,
        r: float = 1.0,
        prior: float | str = "auto",
        features: int = 1000,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        max_features: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.r = r
        self.prior = prior
        self.features = features
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class CWSparseSelector(WeightedSelector):
    """Selects columns by cw-sparse: confidence-weighted learning with few weights.

    Parameters
    ----------
    r : float, default=1.0
        Regularization r of AROW. Larger values make smaller updates; raise it for noisy labels.
        Must be above 0.
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    mode : 'smooth-tg' or 'smooth-da' or 'aggressive', default='smooth-da'
        How weights become zero: smooth-tg shrinks them row by row, smooth-da shrinks the sum of
        all updates, aggressive keeps only a given number of features.
    lam : float, default=0.001
        Weight of the L1 norm in the two smooth modes. Larger values leave fewer features with a
        weight. Must be at least 0.
    features : int, default=1000
        Largest number of features with a weight in mode aggressive. Must be at least 1.
    ranking : 'mahalanobis' or 'certain' or 'weight' or 'printed', default='mahalanobis'
        Which features mode aggressive keeps: those with the largest |mu| / sigma (mahalanobis),
        1 / sigma (certain), |mu| (weight), or sigma^2 |mu| as printed in the paper (printed).
    projection : 'kl' or 'l2', default='kl'
        Projection of an update of the smooth modes to a diagonal covariance: kl drops the
        off-diagonal elements of the inverse covariance, l2 those of the covariance.
    every_round : bool, default=False
        Shrink weights in the smooth modes after every row instead of only after margin errors.
    proximal : bool, default=False
        Centre the regularizer of mode smooth-da at the current weights instead of zero.
    passes : int, default=1
        Number of passes over the rows in `fit`. From the second pass on the rows are visited in
        a random order.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    max_features : int or None, default=None
        Largest number of columns to select: those with the largest weights. None selects all
        whose weight is not 0.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "cw-sparse"

    def __init__(
        self,
        *,
        r: float = 1.0,
        prior: float | str = "auto",
        mode: str = "smooth-da",
        lam: float = 0.001,
        features: int = 1000,
        ranking: str = "mahalanobis",
        projection: str = "kl",
        every_round: bool = False,
        proximal: bool = False,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        max_features: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.r = r
        self.prior = prior
        self.mode = mode
        self.lam = lam
        self.features = features
        self.ranking = ranking
        self.projection = projection
        self.every_round = every_round
        self.proximal = proximal
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class FobosSelector(WeightedSelector):
    """Selects columns by fobos: forward-backward splitting with L1.

    Parameters
    ----------
    loss : 'hinge' or 'logistic', default='hinge'
        Loss of a margin m: hinge is max(0, 1 - m), logistic is log(1 + exp(-m)).
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    rate : float, default=1.0
        Learning rate of the first row. Larger values make larger updates; lower it for noisy
        labels. Must be above 0.
    power : float, default=0.0
        Exponent with which the learning rate falls: row t has rate / t^power. 0 keeps the rate
        constant, 0.5 suits data that do not change over time. Must be at least 0 and at most 1.
    lam : float, default=0.0001
        Weight of the L1 norm of the weights against the loss of a row. Larger values leave
        fewer features with a weight. Must be at least 0.
    passes : int, default=1
        Number of passes over the rows in `fit`. From the second pass on the rows are visited in
        a random order.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    max_features : int or None, default=None
        Largest number of columns to select: those with the largest weights. None selects all
        whose weight is not 0.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "fobos"

    def __init__(
        self,
        *,
        loss: str = "hinge",
        prior: float | str = "auto",
        rate: float = 1.0,
        power: float = 0.0,
        lam: float = 0.0001,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        max_features: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.rate = rate
        self.power = power
        self.lam = lam
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class SDistSelector(Selector):
    """Selects columns by sdist: sparse boosted metric over columns and their products, for nearest
    neighbours.

    Parameters
    ----------
    batch_rows : int, default=0
        Number of rows that are added together as one batch; 0 makes each file one batch. The
        model is fitted anew to all rows so far after each batch, so smaller batches cost more
        time; what is learned in the end is the same. Must be at least 0.
    k : int or 'auto', default='auto'
        Number of nearest rows: in training those of each class, in prediction those of all
        classes together, which vote. auto is 3; for dense data the number of votes is the one
        of 3, 5, 9, 15 and 25 with the fewest errors on rows out of the bag (see `bag`). Must be
        auto, or at least 1 and at most 99.
    scale : 'auto' or 'std' or 'global', default='auto'
        Scale of the columns before distances are measured. std divides each column by its own
        standard deviation; global divides all columns by one number, which keeps their
        proportions; auto takes the one with the lower leave-one-out error of 3 neighbours.
    predict_by : 'knn' or 'fw', default='knn'
        Score of a row. knn is the vote of the nearest rows; fw is the mean squared distance to
        the nearest rows of the negative class minus that to the nearest of the positive class.
    engine : 'auto' or 'power' or 'stsgd', default='auto'
        Method that finds the direction of a step. power uses truncated power iterations on a
        sample of the columns; stsgd uses stabilized truncated descent on all columns and is
        meant for sparse data. auto is power if the data are dense, and otherwise the one that
        has fewer errors on rows out of the bag (see `bag`), in a few steps.
    steps : int or 'auto', default='auto'
        Number of boosting steps. auto is 500, and 150 for `engine=stsgd`. More steps take more
        time and allow a finer metric. Must be auto, or at least 0 and at most 100000.
    runs : int or 'auto', default='auto'
        Number of metrics that are boosted with different random seeds; their mean is the
        metric. auto is 4 for at most 500 rows (sparse data: 2,000), where a single metric
        depends much on chance, and 1 for more rows. The time grows in proportion. Must be auto,
        or at least 1 and at most 1000.
    direction_columns : int or 'auto', default='auto'
        Largest number of columns or products in the direction of one step. auto is 2, and 20
        for `engine=stsgd`. Larger values give a less sparse metric. Must be auto, or at least
        1.
    direction_share : float, default=0.0
        Largest number of columns in the direction of one step as a share of the columns that
        the step chooses from, instead of the fixed number `direction_columns`; 0 uses the fixed
        number. Must be at least 0 and at most 1.
    order : int or 'auto', default='auto'
        Largest number of columns that may be multiplied with each other; 1 allows no products.
        auto is 1 if the data are sparse, 2 for at most 500 dense rows, and for more the one of
        1 and 2 that has fewer errors on up to 1,000 rows out of the bag (see `bag`). Raise it
        where more than two features act together. Must be auto, or at least 1 and at most 4.
    init_squares : bool, default=True
        Squares of columns, and products of two columns that tell the classes apart beyond
        chance, may be chosen from the first step, if the data are dense. Otherwise they may be
        chosen like other products, after their factors.
    shrink : float, default=0.1
        Learning rate: the share of its best weight that a step receives. Smaller values need
        more steps and overfit less. Must be above 0 and at most 1.
    bag : float, default=0.7
        Share of the rows, drawn at random for each step, on which its direction is found. The
        other rows are out of the bag. Must be above 0 and at most 1.
    weight_on : 'oob' or 'bag', default='oob'
        Rows that decide the weight of a step. oob takes the rows out of the bag, which can also
        reject the step; bag takes those in the bag, as the thesis of Ma (2017) does.
    z_accept : float, default=2.0
        A step is accepted if it lowers the loss of the rows out of the bag by more than this
        number of standard errors. Larger values keep out more noise. Must be at least 0.
    sample : 'strat' or 'uniform' or 'none', default='strat'
        Columns and products that a step of `engine=power` chooses from. strat draws about the
        square root of their number, equally many of each order; uniform draws as many without
        regard to the order; none takes all.
    update_every : int, default=50
        Number of steps after which the neighbours are searched anew in the metric so far; 0
        keeps those of the first step. Must be at least 0.
    loss : 'exp' or 'logistic', default='exp'
        Loss of a margin m that the steps reduce: exp is exp(-m), logistic is log(1 + exp(-m)),
        which is less sensitive to wrong labels.
    lambda_c : float, default=0.1
        Weight of the complexity of the metric against the loss when the last step to keep is
        chosen. Larger values keep fewer steps. Must be at least 0.
    stop : 'common' or 'thesis' or 'last', default='common'
        Choice of the last step to keep. common minimizes loss plus complexity with the losses
        of all steps measured on the neighbours at the end; thesis measures each loss on the
        neighbours of its own step; last keeps all steps.
    w0 : float or 'auto', default='auto'
        Trace of a part of the metric that weighs all columns equally, relative to the weights
        of the steps; 0 has no such part. auto is 0 if the data are dense; if they are sparse,
        such a part is added to the learned metric in the end, in which the rows are spread half
        as far. Must be auto, or at least 0.
    cv : int, default=0
        Number of folds of a cross-validation that chooses `direction_columns` (or
        `direction_share`), `steps` and `lambda_c`; 0 uses these as they are given. Must be at
        least 0 and at most 100.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    max_features : int or None, default=None
        Largest number of columns to select: those with the largest weights. None selects all
        whose weight is not 0.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "sdist"
    renamed: ClassVar[dict[str, str]] = {"predict_by": "predict"}

    def __init__(
        self,
        *,
        batch_rows: int = 0,
        k: int | str = "auto",
        scale: str = "auto",
        predict_by: str = "knn",
        engine: str = "auto",
        steps: int | str = "auto",
        runs: int | str = "auto",
        direction_columns: int | str = "auto",
        direction_share: float = 0.0,
        order: int | str = "auto",
        init_squares: bool = True,
        shrink: float = 0.1,
        bag: float = 0.7,
        weight_on: str = "oob",
        z_accept: float = 2.0,
        sample: str = "strat",
        update_every: int = 50,
        loss: str = "exp",
        lambda_c: float = 0.1,
        stop: str = "common",
        w0: float | str = "auto",
        cv: int = 0,
        multi_class: str = "auto",
        max_features: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.batch_rows = batch_rows
        self.k = k
        self.scale = scale
        self.predict_by = predict_by
        self.engine = engine
        self.steps = steps
        self.runs = runs
        self.direction_columns = direction_columns
        self.direction_share = direction_share
        self.order = order
        self.init_squares = init_squares
        self.shrink = shrink
        self.bag = bag
        self.weight_on = weight_on
        self.z_accept = z_accept
        self.sample = sample
        self.update_every = update_every
        self.loss = loss
        self.lambda_c = lambda_c
        self.stop = stop
        self.w0 = w0
        self.cv = cv
        self.multi_class = multi_class
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs
