"""A classifier for each algorithm.

Generated from the declared parameters of the algorithms by tools/estimators.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cwtool.estimators.classifier import Importances, LinearScore, WeightedClassifier


class PerceptronClassifier(LinearScore, WeightedClassifier):
    """Classifier by perceptron: w += y x on a mistake.

    Parameters
    ----------
    average : bool, default=False
        Predict with the mean of the weight vectors after all rows so far instead of the latest
        one. It lowers the error on noisy data and takes 8 more bytes per feature.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "perceptron"

    def __init__(
        self,
        *,
        average: bool = False,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.average = average
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class PassiveAggressiveClassifier(LinearScore):
    """Classifier by pa: passive-aggressive with a hard margin.

    Parameters
    ----------
    average : bool, default=False
        Predict with the mean of the weight vectors after all rows so far instead of the latest
        one. It lowers the error on noisy data and takes 8 more bytes per feature.
    passes : int, default=1
        Number of passes over the rows in `fit`. From the second pass on the rows are visited in
        a random order.
    fit_intercept : bool, default=False
        Whether every row gets a constant column of value 1, whose weight is the intercept.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "pa"

    def __init__(
        self,
        *,
        average: bool = False,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.average = average
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class PassiveAggressive1Classifier(LinearScore, WeightedClassifier):
    """Classifier by pa1: passive-aggressive with linear slack (PA-I).

    Parameters
    ----------
    average : bool, default=False
        Predict with the mean of the weight vectors after all rows so far instead of the latest
        one. It lowers the error on noisy data and takes 8 more bytes per feature.
    C : float, default=1.0
        Aggressiveness C, the weight of a margin error. Larger values make larger updates; lower
        it for noisy labels. Must be above 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "pa1"

    def __init__(
        self,
        *,
        average: bool = False,
        C: float = 1.0,
        prior: float | str = "auto",
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.average = average
        self.C = C
        self.prior = prior
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class PassiveAggressive2Classifier(LinearScore, WeightedClassifier):
    """Classifier by pa2: passive-aggressive with squared slack (PA-II).

    Parameters
    ----------
    average : bool, default=False
        Predict with the mean of the weight vectors after all rows so far instead of the latest
        one. It lowers the error on noisy data and takes 8 more bytes per feature.
    C : float, default=1.0
        Aggressiveness C, the weight of a margin error. Larger values make larger updates; lower
        it for noisy labels. Must be above 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "pa2"

    def __init__(
        self,
        *,
        average: bool = False,
        C: float = 1.0,
        prior: float | str = "auto",
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.average = average
        self.C = C
        self.prior = prior
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SOPClassifier(Importances, WeightedClassifier):
    """Classifier by sop: second-order perceptron.

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior. It only guards against numerical
        underflow; there is rarely a reason to change it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes times the square of the number of features and suits
        up to some thousand features.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "sop"

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class CWClassifier(LinearScore, WeightedClassifier):
    """Classifier by cw: confidence-weighted with the constraint m >= phi sqrt(v).

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior; a factored covariance uses at
        least 1e-10. It only prevents numerical underflow; there is rarely a reason to change
        it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full' or 'factored', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes per pair of features and suits up to some thousand
        features; factored has a diagonal and a low-rank part of the inverse covariance.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    rank : int, default=8
        Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' +
        B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it
        for strongly correlated features. Must be at least 1 and at most 256.
    buffer : int, default=64
        Number of updates that the factored covariance keeps exactly, as the sparse columns B,
        before they are fitted into D and R. Larger values are more exact; smaller ones may be
        faster. Must be at least 1 and at most 1024.
    fit_by : 'spectral' or 'em', default='spectral'
        How the factored covariance fits D and R: spectral takes one step by eigenvectors; em
        takes the paper's iterations and is 2 to 70 times slower, most with many features.
    em_iterations : int or 'auto', default='auto'
        Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit_by=em`
        and 0 with `fit_by=spectral`. Must be auto, or at least 0 and at most 1000.
    eta : float, default=0.9
        Probability eta with which a row must be classified correctly after its update. Larger
        values make larger updates; lower it for noisy labels. Must be above 0.5 and at most
        0.999999.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "cw"
    renamed: ClassVar[dict[str, str]] = {"fit_by": "fit"}

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        rank: int = 8,
        buffer: int = 64,
        fit_by: str = "spectral",
        em_iterations: int | str = "auto",
        eta: float = 0.9,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.rank = rank
        self.buffer = buffer
        self.fit_by = fit_by
        self.em_iterations = em_iterations
        self.eta = eta
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class CWVarClassifier(LinearScore, WeightedClassifier):
    """Classifier by cw-var: confidence-weighted with the constraint m >= phi v.

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior; a factored covariance uses at
        least 1e-10. It only prevents numerical underflow; there is rarely a reason to change
        it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full' or 'factored', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes per pair of features and suits up to some thousand
        features; factored has a diagonal and a low-rank part of the inverse covariance.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    rank : int, default=8
        Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' +
        B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it
        for strongly correlated features. Must be at least 1 and at most 256.
    buffer : int, default=64
        Number of updates that the factored covariance keeps exactly, as the sparse columns B,
        before they are fitted into D and R. Larger values are more exact; smaller ones may be
        faster. Must be at least 1 and at most 1024.
    fit_by : 'spectral' or 'em', default='spectral'
        How the factored covariance fits D and R: spectral takes one step by eigenvectors; em
        takes the paper's iterations and is 2 to 70 times slower, most with many features.
    em_iterations : int or 'auto', default='auto'
        Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit_by=em`
        and 0 with `fit_by=spectral`. Must be auto, or at least 0 and at most 1000.
    eta : float, default=0.9
        Probability eta with which a row must be classified correctly after its update. Larger
        values make larger updates; lower it for noisy labels. Must be above 0.5 and at most
        0.999999.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "cw-var"
    renamed: ClassVar[dict[str, str]] = {"fit_by": "fit"}

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        rank: int = 8,
        buffer: int = 64,
        fit_by: str = "spectral",
        em_iterations: int | str = "auto",
        eta: float = 0.9,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.rank = rank
        self.buffer = buffer
        self.fit_by = fit_by
        self.em_iterations = em_iterations
        self.eta = eta
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class CWFactClassifier(LinearScore, WeightedClassifier):
    """Classifier by cw-fact: confidence-weighted with a factored covariance (CW-fact).

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior; a factored covariance uses at
        least 1e-10. It only prevents numerical underflow; there is rarely a reason to change
        it. Must be above 0 and at most 0.999999.
    rank : int, default=8
        Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' +
        B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it
        for strongly correlated features. Must be at least 1 and at most 256.
    buffer : int, default=64
        Number of updates that the factored covariance keeps exactly, as the sparse columns B,
        before they are fitted into D and R. Larger values are more exact; smaller ones may be
        faster. Must be at least 1 and at most 1024.
    fit_by : 'spectral' or 'em', default='spectral'
        How the factored covariance fits D and R: spectral takes one step by eigenvectors; em
        takes the paper's iterations and is 2 to 70 times slower, most with many features.
    em_iterations : int or 'auto', default='auto'
        Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit_by=em`
        and 0 with `fit_by=spectral`. Must be auto, or at least 0 and at most 1000.
    eta : float, default=0.9
        Probability eta with which a row must be classified correctly after its update. Larger
        values make larger updates; lower it for noisy labels. Must be above 0.5 and at most
        0.999999.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "cw-fact"
    renamed: ClassVar[dict[str, str]] = {"fit_by": "fit"}

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        rank: int = 8,
        buffer: int = 64,
        fit_by: str = "spectral",
        em_iterations: int | str = "auto",
        eta: float = 0.9,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.rank = rank
        self.buffer = buffer
        self.fit_by = fit_by
        self.em_iterations = em_iterations
        self.eta = eta
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class ArowClassifier(LinearScore, WeightedClassifier):
    """Classifier by arow: adaptive regularization of weights.

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior; a factored covariance uses at
        least 1e-10. It only prevents numerical underflow; there is rarely a reason to change
        it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full' or 'factored', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes per pair of features and suits up to some thousand
        features; factored has a diagonal and a low-rank part of the inverse covariance.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    rank : int, default=8
        Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' +
        B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it
        for strongly correlated features. Must be at least 1 and at most 256.
    buffer : int, default=64
        Number of updates that the factored covariance keeps exactly, as the sparse columns B,
        before they are fitted into D and R. Larger values are more exact; smaller ones may be
        faster. Must be at least 1 and at most 1024.
    fit_by : 'spectral' or 'em', default='spectral'
        How the factored covariance fits D and R: spectral takes one step by eigenvectors; em
        takes the paper's iterations and is 2 to 70 times slower, most with many features.
    em_iterations : int or 'auto', default='auto'
        Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit_by=em`
        and 0 with `fit_by=spectral`. Must be auto, or at least 0 and at most 1000.
    r : float, default=0.1
        Regularization r of AROW. Larger values make smaller updates; raise it for noisy labels.
        Must be above 0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "arow"
    renamed: ClassVar[dict[str, str]] = {"fit_by": "fit"}

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        rank: int = 8,
        buffer: int = 64,
        fit_by: str = "spectral",
        em_iterations: int | str = "auto",
        r: float = 0.1,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.rank = rank
        self.buffer = buffer
        self.fit_by = fit_by
        self.em_iterations = em_iterations
        self.r = r
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class NarowClassifier(Importances, WeightedClassifier):
    """Classifier by narow: narrow adaptive regularization of weights.

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior. It only guards against numerical
        underflow; there is rarely a reason to change it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes times the square of the number of features and suits
        up to some thousand features.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    b : float, default=1.0
        The variance of a score is not lowered below 1/b by an update. Larger values let the
        learner become more certain and make later updates smaller. Must be above 0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "narow"

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        b: float = 1.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.b = b
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class NHerdClassifier(LinearScore, WeightedClassifier):
    """Classifier by nherd: normal herding.

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior. It only guards against numerical
        underflow; there is rarely a reason to change it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes times the square of the number of features and suits
        up to some thousand features.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    C : float, default=3.0
        Aggressiveness C. Larger values make larger updates; lower it for noisy labels. Must be
        above 0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "nherd"

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        C: float = 3.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.C = C
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SCWClassifier(LinearScore, WeightedClassifier):
    """Classifier by scw1: soft confidence-weighted, linear slack (SCW-I).

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior; a factored covariance uses at
        least 1e-10. It only prevents numerical underflow; there is rarely a reason to change
        it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full' or 'factored', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes per pair of features and suits up to some thousand
        features; factored has a diagonal and a low-rank part of the inverse covariance.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    rank : int, default=8
        Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' +
        B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it
        for strongly correlated features. Must be at least 1 and at most 256.
    buffer : int, default=64
        Number of updates that the factored covariance keeps exactly, as the sparse columns B,
        before they are fitted into D and R. Larger values are more exact; smaller ones may be
        faster. Must be at least 1 and at most 1024.
    fit_by : 'spectral' or 'em', default='spectral'
        How the factored covariance fits D and R: spectral takes one step by eigenvectors; em
        takes the paper's iterations and is 2 to 70 times slower, most with many features.
    em_iterations : int or 'auto', default='auto'
        Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit_by=em`
        and 0 with `fit_by=spectral`. Must be auto, or at least 0 and at most 1000.
    eta : float, default=0.9
        Probability eta with which a row must be classified correctly after its update. Larger
        values make larger updates; lower it for noisy labels. Must be above 0.5 and at most
        0.999999.
    C : float, default=3.0
        Aggressiveness C, the weight of a violated constraint. Larger values make larger
        updates; lower it for noisy labels. Must be above 0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "scw1"
    renamed: ClassVar[dict[str, str]] = {"fit_by": "fit"}

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        rank: int = 8,
        buffer: int = 64,
        fit_by: str = "spectral",
        em_iterations: int | str = "auto",
        eta: float = 0.9,
        C: float = 3.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.rank = rank
        self.buffer = buffer
        self.fit_by = fit_by
        self.em_iterations = em_iterations
        self.eta = eta
        self.C = C
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SCW2Classifier(LinearScore, WeightedClassifier):
    """Classifier by scw2: soft confidence-weighted, squared slack (SCW-II).

    Parameters
    ----------
    prior : float or 'auto', default='auto'
        Variance of every weight before any data. auto is 1 / (typical squared norm of the first
        1,000 rows), so that the other parameters do not depend on the scale of the data; 1 is
        the choice of the papers. Must be auto, or above 0.
    variance_floor : float, default=1e-12
        Smallest variance of a weight, as a share of the prior; a factored covariance uses at
        least 1e-10. It only prevents numerical underflow; there is rarely a reason to change
        it. Must be above 0 and at most 0.999999.
    covariance : 'diag' or 'full' or 'factored', default='diag'
        Form of the covariance of the weights: diag has one variance per feature; full is the
        whole matrix, which takes 8 bytes per pair of features and suits up to some thousand
        features; factored has a diagonal and a low-rank part of the inverse covariance.
    projection : 'kl' or 'l2', default='kl'
        Projection of an update to a diagonal covariance: kl drops the off-diagonal elements of
        the inverse covariance, l2 those of the covariance.
    half_life : int, or str such as '30d', default=0
        Number of rows (20000) or days (30d) after which half of the gained precision is
        forgotten, so that weights can follow a feed that changes; 0 forgets nothing. Days are
        counted between the dates of runs. Not for a factored covariance. Must be at least 0, or
        days such as 30d.
    rank : int, default=8
        Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' +
        B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it
        for strongly correlated features. Must be at least 1 and at most 256.
    buffer : int, default=64
        Number of updates that the factored covariance keeps exactly, as the sparse columns B,
        before they are fitted into D and R. Larger values are more exact; smaller ones may be
        faster. Must be at least 1 and at most 1024.
    fit_by : 'spectral' or 'em', default='spectral'
        How the factored covariance fits D and R: spectral takes one step by eigenvectors; em
        takes the paper's iterations and is 2 to 70 times slower, most with many features.
    em_iterations : int or 'auto', default='auto'
        Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit_by=em`
        and 0 with `fit_by=spectral`. Must be auto, or at least 0 and at most 1000.
    eta : float, default=0.9
        Probability eta with which a row must be classified correctly after its update. Larger
        values make larger updates; lower it for noisy labels. Must be above 0.5 and at most
        0.999999.
    C : float, default=3.0
        Aggressiveness C, the weight of a violated constraint. Larger values make larger
        updates; lower it for noisy labels. Must be above 0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "scw2"
    renamed: ClassVar[dict[str, str]] = {"fit_by": "fit"}

    def __init__(
        self,
        *,
        prior: float | str = "auto",
        variance_floor: float = 1e-12,
        covariance: str = "diag",
        projection: str = "kl",
        half_life: int | str = 0,
        rank: int = 8,
        buffer: int = 64,
        fit_by: str = "spectral",
        em_iterations: int | str = "auto",
        eta: float = 0.9,
        C: float = 3.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.variance_floor = variance_floor
        self.covariance = covariance
        self.projection = projection
        self.half_life = half_life
        self.rank = rank
        self.buffer = buffer
        self.fit_by = fit_by
        self.em_iterations = em_iterations
        self.eta = eta
        self.C = C
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class BCWClassifier(LinearScore, WeightedClassifier):
    """Classifier by bcw: online-batch confidence-weighted.

    Parameters
    ----------
    C : float, default=1.0
        Weight C of the training loss against the regularizer, for rows of length 1. Larger
        values fit the training rows more closely. Must be above 0.
    loss : 'hinge' or 'squared-hinge', default='hinge'
        Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi,
        squared-hinge is C/2 xi^2, where LIBLINEAR has C xi^2.
    batch_rows : int, default=0
        Number of rows that are learned together as one batch; 0 learns each file as one batch.
        Set it if a file does not fit into memory. Must be at least 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    precision_divisor : float or 'auto', default='auto'
        Method of the precision matrix. auto builds it from the rows where the loss is curved,
        with the weight C, and finds the optimum of each batch; for this the hinge loss is
        rounded between the margins 0 and 1. A number builds it from all rows, with the weight C
        divided by this number, and visits the rows as the algorithm of the paper does; 1 is
        that algorithm, larger values give the precision less influence. Must be auto, or above
        0.
    batch_passes : int, default=1
        Number of passes over the rows of each batch; 1 is the algorithm of the paper. Applies
        only if `precision_divisor` is a number. Must be at least 1.
    average : bool, default=True
        Predict with the mean of mu over the second half of the pass instead of the last mu,
        which the paper uses. Applies only if `batch_passes` is 1 and `precision_divisor` is a
        number.
    carry : 'dual' or 'printed' or 'forget', default='dual'
        Start of a batch if `precision_divisor` is a number: dual keeps the dual variables of
        earlier batches, printed keeps the mean of earlier batches under the new precision as
        the paper does, forget keeps only the precision.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "bcw"

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "hinge",
        batch_rows: int = 0,
        prior: float | str = "auto",
        precision_divisor: float | str = "auto",
        batch_passes: int = 1,
        average: bool = True,
        carry: str = "dual",
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.batch_rows = batch_rows
        self.prior = prior
        self.precision_divisor = precision_divisor
        self.batch_passes = batch_passes
        self.average = average
        self.carry = carry
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class DCDClassifier(LinearScore, WeightedClassifier):
    """Classifier by dcd: linear SVM by dual coordinate descent.

    Parameters
    ----------
    C : float, default=1.0
        Weight C of the training loss against the regularizer, for rows of length 1. Larger
        values fit the training rows more closely. Must be above 0.
    loss : 'hinge' or 'squared-hinge', default='squared-hinge'
        Loss of a margin error xi = max(0, 1 - m) of a row with margin m: hinge is C xi,
        squared-hinge is C/2 xi^2, where LIBLINEAR has C xi^2.
    batch_rows : int, default=0
        Number of rows that are learned together as one batch; 0 learns each file as one batch.
        Set it if a file does not fit into memory. Must be at least 0.
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    tol : float, default=0.1
        Relative duality gap in percent at which a batch is solved: its objective is then at
        most this percentage above the optimum. Smaller values are more exact and slower. Must
        be above 0.
    max_batch_passes : int, default=1000
        Largest number of passes over the rows of a batch, if `tol` is not reached before. Must
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "dcd"

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "squared-hinge",
        batch_rows: int = 0,
        prior: float | str = "auto",
        tol: float = 0.1,
        max_batch_passes: int = 1000,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.batch_rows = batch_rows
        self.prior = prior
        self.tol = tol
        self.max_batch_passes = max_batch_passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SGDClassifier(LinearScore, WeightedClassifier):
    """Classifier by sgd: stochastic gradient descent.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "sgd"

    def __init__(
        self,
        *,
        loss: str = "hinge",
        prior: float | str = "auto",
        rate: float = 1.0,
        power: float = 0.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.rate = rate
        self.power = power
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class TruncatedGradientClassifier(LinearScore, WeightedClassifier):
    """Classifier by tg: truncated gradient.

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
    gravity : float, default=0.0001
        Amount by which every weight is pulled towards zero for each row. Larger values leave
        fewer features with a weight. Must be at least 0.
    every : int, default=10
        Number of rows between two truncations; each truncation applies the gravity of all these
        rows at once. Larger values save time. Must be at least 1.
    theta : float or 'auto', default='auto'
        Weights whose absolute value is larger than this number are not pulled towards zero.
        auto pulls all weights. Must be auto, or above 0.
    by_rate : bool, default=True
        Multiply the gravity by the learning rate, as in the paper. Without it the gravity is
        constant.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "tg"

    def __init__(
        self,
        *,
        loss: str = "hinge",
        prior: float | str = "auto",
        rate: float = 1.0,
        power: float = 0.0,
        gravity: float = 0.0001,
        every: int = 10,
        theta: float | str = "auto",
        by_rate: bool = True,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.rate = rate
        self.power = power
        self.gravity = gravity
        self.every = every
        self.theta = theta
        self.by_rate = by_rate
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class FobosClassifier(LinearScore, WeightedClassifier):
    """Classifier by fobos: forward-backward splitting with L1.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class RDAClassifier(LinearScore, WeightedClassifier):
    """Classifier by rda: regularized dual averaging with L1.

    Parameters
    ----------
    loss : 'hinge' or 'logistic', default='hinge'
        Loss of a margin m: hinge is max(0, 1 - m), logistic is log(1 + exp(-m)).
    prior : float or 'auto', default='auto'
        Rows are multiplied by the square root of this number before learning. auto is 1 /
        (typical squared norm of the first 1,000 rows), so that the other parameters do not
        depend on the scale of the data; 1 is the choice of the papers. Must be auto, or above
        0.
    lam : float, default=0.0001
        Weight of the L1 norm of the weights against the loss of a row. Larger values leave
        fewer features with a weight. Must be at least 0.
    gamma : float, default=0.03
        Step parameter gamma: the learning rate after t rows is 1 / (gamma sqrt t). Larger
        values make smaller weights. Must be above 0.
    rho : float, default=0.0
        Additional L1 norm at the beginning: after t rows the weight of the L1 norm is lam +
        gamma rho / sqrt t. Raise it if too many features get a weight from few rows. Must be at
        least 0.
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "rda"

    def __init__(
        self,
        *,
        loss: str = "hinge",
        prior: float | str = "auto",
        lam: float = 0.0001,
        gamma: float = 0.03,
        rho: float = 0.0,
        passes: int = 1,
        fit_intercept: bool = False,
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.lam = lam
        self.gamma = gamma
        self.rho = rho
        self.passes = passes
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class CWSparseClassifier(LinearScore, WeightedClassifier):
    """Classifier by cw-sparse: confidence-weighted learning with few weights.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SOFSClassifier(LinearScore, WeightedClassifier):
    """Classifier by sofs: second-order online feature selection.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class STSGDClassifier(LinearScore, WeightedClassifier):
    """Classifier by stsgd: stabilized truncated stochastic gradient descent.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SBCWClassifier(LinearScore, WeightedClassifier):
    """Classifier by sbcw: sparse batch confidence-weighted: groups of features with their
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class FGMClassifier(LinearScore, WeightedClassifier):
    """Classifier by fgm: feature generating machine: sparse SVM over groups of features.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class L1SVMClassifier(LinearScore, WeightedClassifier):
    """Classifier by l1svm: sparse SVM or logistic regression by the l1 norm.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SparDCAClassifier(LinearScore, WeightedClassifier):
    """Classifier by spar-dca: sparse SVM by proximal dual coordinate ascent, l1 and a small l2
    norm.

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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class KNNClassifier(WeightedClassifier):
    """Classifier by knn: k nearest neighbours.

    Parameters
    ----------
    batch_rows : int, default=0
        Number of rows that are added together as one batch; 0 makes each file one batch. The
        model is fitted anew to all rows so far after each batch, so smaller batches cost more
        time; what is learned in the end is the same. Must be at least 0.
    k : int, default=3
        Number of nearest neighbours that vote. Larger values smooth the decision; raise it for
        noisy labels. Must be at least 1 and at most 1024.
    scale : 'auto' or 'std' or 'global', default='auto'
        Scale of the columns before distances are measured. std divides each column by its own
        standard deviation; global divides all columns by one number, which keeps their
        proportions; auto takes the one with the lower leave-one-out error of 3 neighbours.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the row weights of each class in learning. 'balanced' gives rows of rarer
        classes a larger weight, inversely proportional to the number of rows of the class
        learned so far.
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "knn"

    def __init__(
        self,
        *,
        batch_rows: int = 0,
        k: int = 3,
        scale: str = "auto",
        multi_class: str = "auto",
        class_weight: Any = None,
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.batch_rows = batch_rows
        self.k = k
        self.scale = scale
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class SDistClassifier(Importances):
    """Classifier by sdist: sparse boosted metric over columns and their products, for nearest
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
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
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
        threshold: Any = None,
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
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


class RFFMarkovClassifier(Importances):
    """Classifier by rff-markov: random Fourier features of few variables, by reversible jumps.

    Parameters
    ----------
    batch_rows : int, default=0
        Number of rows that are added together as one batch; 0 makes each file one batch. The
        model is fitted anew to all rows so far after each batch, so smaller batches cost more
        time; what is learned in the end is the same. Must be at least 0.
    iterations : int or 'auto', default='auto'
        Number of iterations of each sampler chain. The first half finds the variables; 100
        samples are taken from the second half. Raise it for many features. auto is about
        20,000, doubled until the chains agree: until differences between them make up at most 5
        % of the variance of the probabilities of the rows. At most it is 150,000, 1,000 for
        each row of the rarer class, or 225,000,000 divided by the number of rows, but never
        below 20,000; chains that have found nothing end after 50,000. Must be auto, or at least
        1 and at most 1e+07.
    chains : int, default=4
        Number of sampler chains with different seeds. If they do not agree, the better half of
        them by likelihood is kept. More chains make it more likely that one finds the
        variables. Must be at least 1 and at most 1000.
    d_max : int, default=40
        Largest number of Fourier features in the model at any time. Raise it for boundaries
        with more detail. Must be at least 1 and at most 1000.
    t_max : int, default=3
        Largest number of variables of one Fourier feature, and so of variables that interact.
        Must be at least 1 and at most 20.
    alpha0 : float, default=0.5
        Prior probability that the chain of variables of a Fourier feature ends after a
        variable. Larger values prefer features of fewer variables. Must be above 0 and at most
        1.
    gamma : float, default=2.0
        Prior weight of a uniformly drawn first variable of a Fourier feature, relative to each
        first variable in use. Larger values try more different variables. Must be above 0.
    conc : float, default=1.0
        Prior weight of a uniformly drawn next variable of a Fourier feature, relative to each
        transition in use. Larger values try more different combinations. Must be above 0.
    discriminant : 'linear' or 'nn', default='linear'
        Score of a row. linear is the logarithm of the odds of the mean probability of all
        samples; nn compares the `k` most similar rows of each class by the learned kernel.
    k : int, default=3
        Number of rows of each class that `discriminant=nn` compares. Must be at least 1 and at
        most 1024.
    multi_class : 'auto', 'rival' or 'ovr', default='auto'
        How more than two classes are learned. 'rival' updates the class of a row and the class
        with the highest score among the others; 'ovr' learns each class against the rest;
        'auto' is 'rival' if the algorithm supports it, and otherwise 'ovr'.
    threshold : 'error', 'f1', 'balanced', 'fpr=P', 'precision=P', number or None, default=None
        Lowest score that is predicted as the second class; None is 0. 'error' minimizes the
        number of errors, 'f1' maximizes F1, 'balanced' minimizes the mean of the error rates of
        both classes, 'fpr=0.001' maximizes the recall at a false positive rate of at most
        0.001, and 'precision=0.99' at a precision of at least 0.99, all by the scores of the
        training rows before they were learned. With more than two classes only 'error' and
        'balanced' are possible: 'error' predicts the class of the highest probability instead
        of that of the highest score, 'balanced' predicts rare classes more often.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator; None is 0.
    n_jobs : int or None, default=None
        Number of threads; None is 1, and -1 is all cores. The result does not depend on it.
    """

    algorithm = "rff-markov"

    def __init__(
        self,
        *,
        batch_rows: int = 0,
        iterations: int | str = "auto",
        chains: int = 4,
        d_max: int = 40,
        t_max: int = 3,
        alpha0: float = 0.5,
        gamma: float = 2.0,
        conc: float = 1.0,
        discriminant: str = "linear",
        k: int = 3,
        multi_class: str = "auto",
        threshold: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.batch_rows = batch_rows
        self.iterations = iterations
        self.chains = chains
        self.d_max = d_max
        self.t_max = t_max
        self.alpha0 = alpha0
        self.gamma = gamma
        self.conc = conc
        self.discriminant = discriminant
        self.k = k
        self.multi_class = multi_class
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs


SCW1Classifier = SCWClassifier
