"""The fit of sdist to rows: preparation, the engine of its steps, and cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.ahead import ahead
from cwtool.algorithms.neighbours.boosting import Boost, Finder, Path
from cwtool.algorithms.neighbours.column_scale import best_scale, deviations, divisors, is_dense
from cwtool.algorithms.neighbours.monomials import Monomials, Term
from cwtool.algorithms.neighbours.oja import Oja
from cwtool.algorithms.neighbours.sdist_space import NO_METRIC, Space, fitted_space
from cwtool.algorithms.neighbours.search import Near, nearest, shares, vote
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.order import permutation
from cwtool.run import Run, no_note

# values that cross-validation tries in addition to the given ones
DIRECTION_COLUMNS = {"power": (2, 5), "stsgd": (20, 40)}
DIRECTION_SHARES = (0.05, 0.1, 0.2)
LAMBDAS = (0.001, 0.01, 0.1, 1.0, 10.0)
FOLDS = 2  # second seed of the folds, which makes them independent of other random choices

Ending = tuple[int, float]  # steps and lambda_c


def prepared(rows: csr_array, kind: Ints, params: Any, run: Run) -> tuple[Space, Boost]:
    """The space of the scaled columns, and the boosting of a metric on these rows, whose classes
    are `kind`."""
    mean, sd = deviations(rows)
    dense = is_dense(rows)
    by = divisors(sd, best_scale(rows, kind, sd, params.scale, run))
    space = Space(mean if dense else np.zeros(len(mean)), by, dense, NO_METRIC, 0.0)
    deviation = np.divide(sd, by, out=np.zeros(len(sd)), where=by > 0)
    monomials = Monomials(space.base(rows), deviation)
    return space, Boost(monomials, kind, params, (run.seed,), run.jobs)


def finder(boost: Boost) -> Finder:
    """The engine that finds the direction of each step."""
    return Oja(boost) if boost.params.engine == "stsgd" else boost.truncated_power


def boosted(boost: Boost, run: Run) -> tuple[list[list[Term]], int]:
    """The terms of each of `runs` metrics, and the number of accepted steps of all."""
    p, found, accepted = boost.params, [], 0
    for number in range(p.runs):
        one = boost.again(number)

        def told(text: str, share: float, number: int = number) -> None:
            which = f" of metric {number + 1} of {p.runs}" if p.runs > 1 else ""
            run.progress(text + which, (number + share) / p.runs)

        path = one.run(p.steps, finder(one), told)
        found.append(one.stopped(path, p.steps, p.lambda_c))
        accepted += len(path.terms)
    return found, accepted


def score(near: Near, predict: str) -> Floats:
    """The scores of rows with these neighbours, as the parameter `predict` says."""
    if predict == "knn":
        return vote(near)
    negative, positive = near.means.T
    with np.errstate(invalid="ignore"):
        difference: Floats = np.nan_to_num(negative - positive, posinf=1.0, neginf=-1.0)
    return difference


def scores(near: Near, predict: str) -> Floats:
    """The same for several classes, with a column for each: its share of the votes, or minus the
    mean distance d_c to its nearest points."""
    return shares(near) if predict == "knn" else -near.means


def said(near: Near, predict: str) -> Longs:
    """The predicted class of rows with these neighbours."""
    if near.who.shape[1] == 2:
        return (score(near, predict) >= 0).astype(np.int64)
    return np.asarray(scores(near, predict).argmax(axis=1))


def cross_validated(rows: csr_array, kind: Ints, params: Any, votes: int, run: Run) -> Any:
    """The parameters with the direction size, steps and lambda_c of the least error over all
    folds, of which there are no more than rows, if the nearest `votes` rows vote; of equally good
    ones the first that was tried."""
    n = min(params.cv, len(kind))
    if n < 2:
        return params
    name = "direction_share" if params.direction_share else "direction_columns"
    grid = DIRECTION_SHARES if params.direction_share else DIRECTION_COLUMNS[params.engine]
    values = list(dict.fromkeys((getattr(params, name), *grid)))
    fold = folds(kind, n, run.seed)
    inside = replace(run, jobs=1, note=no_note)

    def errors(task: tuple[int, Any]) -> dict[Ending, int]:
        number, value = task
        tried = replace(params, **{name: value})
        return fold_errors(rows, kind, fold == number, tried, votes, inside)

    total: dict[tuple[Any, int, float], int] = {}
    tasks = list(product(range(n), values))
    for number, found in enumerate(ahead(errors, tasks, run.jobs), 1):
        for ending, wrong in found.items():
            key = (tasks[number - 1][1], *ending)
            total[key] = total.get(key, 0) + wrong
        run.progress(f"{number:,} of {len(tasks):,} fits to folds", number / len(tasks))
    value, steps, lambda_c = min(total, key=lambda key: total[key])
    run.note(
        f"{n} folds: {name} {value}, {steps} steps, lambda_c {lambda_c:g}: error "
        f"{min(total.values()) / max(len(kind), 1):.4f}"
    )
    return replace(params, **{name: value, "steps": steps, "lambda_c": lambda_c})


def folds(kind: Ints, n: int, seed: int) -> Longs:
    """The number of the fold of each row; every fold has an equal share of each class."""
    fold = np.empty(len(kind), dtype=np.int64)
    order = permutation(len(kind), seed, FOLDS)
    order = order[np.argsort(kind[order], kind="stable")]
    fold[order] = np.arange(len(kind)) % n
    return fold


def fold_errors(
    rows: csr_array, kind: Ints, outside: NDArray[np.bool_], params: Any, votes: int, run: Run
) -> dict[Ending, int]:
    """The number of errors on the rows `outside` after a fit to the others, for each ending."""
    space, boost = prepared(rows[~outside], kind[~outside], params, run)
    path = boost.run(params.steps, finder(boost))
    wrong: dict[int, int] = {}  # by the number of terms that are kept
    found = {}
    for steps, lambda_c, terms in endings(boost, path, params):
        if len(terms) not in wrong:
            here = fitted_space(space, boost, terms)
            points = here.points(rows[~outside])
            near = nearest(here.points(rows[outside]), points, kind[~outside], votes)
            wrong[len(terms)] = int(np.count_nonzero(said(near, params.predict) != kind[outside]))
        found[steps, lambda_c] = wrong[len(terms)]
    return found


def endings(boost: Boost, path: Path, params: Any) -> Iterator[tuple[int, float, list[Term]]]:
    """The terms that would be kept after fewer steps or with another lambda_c."""
    for divisor in (1, 2, 4):
        steps = params.steps // divisor
        for lambda_c in dict.fromkeys((params.lambda_c, *LAMBDAS)):
            yield steps, lambda_c, boost.stopped(path, steps, lambda_c)
