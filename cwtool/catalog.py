"""The algorithms in groups, each with a line that says when to use it."""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "First-order online learners, with one weight per feature": {
        "perceptron": "comparisons, as a baseline; averaging lowers its error",
        "pa1": "streams with little memory, 8 bytes per feature; lower C for noisy labels",
        "pa2": "the same data as pa1, with a squared penalty for rows that cannot be fitted",
        "pa": "data without wrong labels; it has no parameter to choose",
        "sgd": "a linear SVM or logistic regression on streams of any length",
    },
    "Second-order online learners, with a weight and its variance per feature": {
        "arow": "sparse data of any kind, also with noisy labels; the default",
        "cw": "feeds that change from day to day, with few wrong labels",
        "cw-fact": "feeds with correlated features, such as URLs; slower, more memory",
        "cw-var": "comparisons with the CW paper, as its variance form",
        "scw1": "feeds that change, if some labels are wrong; lower C for more wrong labels",
        "scw2": "the same data as scw1, with a squared penalty",
        "nherd": "the same data as arow on many machines; its models merge well",
        "narow": "the same data as arow, with few features",
        "sop": "comparisons with the papers",
    },
    "Batch learners, which learn all rows of a file together": {
        "bcw": "up to some thousand features and many more rows, learned day by day",
        "dcd": "a linear SVM on data that fits into memory",
    },
    "Learners that select features": {
        "sbcw": "selecting 10 to 500 features of high-dimensional data in one fit",
        "l1svm": "a sparse SVM or logistic regression with an l1 norm",
        "fgm": "comparisons with sbcw, which adds covariances to it",
        "spar-dca": "the same data as l1svm, with a small l2 norm beside the l1 norm",
        "cw-sparse": "few nonzero weights on streams that do not fit into memory",
        "sofs": "a fixed number of features on streams",
        "stsgd": "a stable selection of features over several passes",
        "tg": "the same data as sgd, with weights that are exactly zero",
        "fobos": "an l1 norm on streams, with exact zeros after each step",
        "rda": "an l1 norm on streams, by the mean of all gradients",
    },
    "Nonlinear learners, for few columns or rows": {
        "knn": "checking whether a linear model is too simple",
        "sdist": "interactions of few columns among many",
        "rff-markov": "finding few relevant variables, with their probabilities",
    },
}


def lines(listed: tuple[str, ...] = ()) -> list[tuple[str, list[tuple[str, str]]]]:
    """The groups of algorithms with advice on when to use each, in the order of the help; only
    those of the algorithms `listed`, if there are any."""
    found = []
    for title, members in GROUPS.items():
        shown = [(name, advice) for name, advice in members.items() if name in (listed or members)]
        found += [(title, shown)] if shown else []
    return found
