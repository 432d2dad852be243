"""The algorithms in groups, each with a line that says when to use it."""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "First-order learners of rows, with a weight for each feature": {
        "perceptron": "a baseline to compare with; averaging makes it better",
        "pa1": "streams, with 8 bytes a feature; noisy labels with a smaller C",
        "pa2": "the same as pa1, with a smoother penalty for rows that cannot be fitted",
        "pa": "labels without any noise; it has no parameter to set",
        "sgd": "a linear SVM or logistic regression on streams of any length",
    },
    "Second-order learners of rows, with a weight and its variance": {
        "arow": "sparse data of any kind, also with noisy labels; the default",
        "cw": "feeds that change from day to day, with few wrong labels",
        "cw-fact": "feeds whose features go together, such as URLs; slower, more memory",
        "cw-var": "comparisons with the paper on cw, of which it is the variance form",
        "scw1": "what cw is for, if some labels are wrong; C sets how many",
        "scw2": "the same as scw1, with squared slack",
        "nherd": "the same as arow; models of many shards merge well",
        "narow": "the same as arow, on few features",
        "sop": "comparisons with the papers",
    },
    "Learners of whole batches of rows": {
        "bcw": "up to some thousand features and many more rows, day by day",
        "dcd": "a linear SVM on data that fits into memory",
    },
    "Learners that use few features": {
        "sbcw": "10 to 500 features of high-dimensional data, in one fit",
        "l1svm": "a sparse SVM or logistic regression with a path of C",
        "fgm": "comparisons with sbcw, of which it is the form without covariance",
        "spar-dca": "the same as l1svm, with a small l2 norm",
        "cw-sparse": "few weights on streams that do not fit into memory",
        "sofs": "a fixed number of features on streams",
        "stsgd": "stable choices of features over several passes",
        "tg": "what sgd is for, with weights that are exactly zero",
        "fobos": "l1 norm on streams, exact zeros after each step",
        "rda": "l1 norm on streams by the mean of all gradients",
    },
    "Learners of boundaries that are not linear, for few columns or rows": {
        "knn": "a first look at whether a linear model is too simple",
        "sdist": "interactions of few columns among many",
        "rff-markov": "few variables that matter, with their probabilities",
    },
}


def lines() -> list[tuple[str, list[tuple[str, str]]]]:
    """The groups with their algorithms and advice, in the order in which they are shown."""
    return [(title, list(members.items())) for title, members in GROUPS.items()]
