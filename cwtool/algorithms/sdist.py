"""sDist: a sparse metric over columns and their products, boosted (Ma 2017, chapters 2 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cwtool.algorithms.boosting import Boost, beside
from cwtool.algorithms.knn import (
    FARTHEST,
    KnnParams,
    Neighbours,
    deviations,
    divided,
    divisors,
    is_dense,
)
from cwtool.algorithms.monomials import Metric, Monomials, Term, metric
from cwtool.algorithms.neighbours import Near, nearest, vote
from cwtool.algorithms.oja import Oja
from cwtool.data.block import Floats, Ints
from cwtool.errors import UsageError
from cwtool.order import permutation
from cwtool.parallel import ahead
from cwtool.params import AUTO, param
from cwtool.state import State

MANY = 500  # columns from which twice as many steps are taken
STEPS = {"power": 500, "stsgd": 150}
KAPPA = {"power": 2, "stsgd": 20}
# what --cv tries besides
KAPPAS = {"power": (2, 5), "stsgd": (20, 40)}
RHOS = (0.05, 0.1, 0.2)
LAMBDAS = (0.001, 0.01, 0.1, 1.0, 10.0)
FOLDS = 2  # beside the seed: of the folds


@dataclass(frozen=True)
class SdistParams(KnnParams):
    k: int = param(3, "neighbours of either class in training, and those that vote", low=1, high=99)
    predict: str = param(
        "knn",
        "knn: the vote of the nearest;  fw: the mean squared distance to the nearest of the "
        "negative class less that to the nearest of the positive",
        choices=("knn", "fw"),
    )
    engine: str = param(
        "power",
        "how the direction of a step is found: power: truncated power iterations among a sample "
        "of the columns;  stsgd: stabilized truncated descent over all, for sparse data",
        choices=("power", "stsgd"),
    )
    steps: int | str = param(
        AUTO, "boosting steps; auto = 500, 1000 for 500 columns or more, 150 for stsgd", kind=int,
        low=0, auto=True,
    )  # fmt: skip
    kappa: int | str = param(
        AUTO, "columns of a direction; auto = 2, 20 for stsgd", kind=int, low=1, auto=True
    )
    rho: float = param(
        0.0, "or this share of the columns it is chosen from; 0: kappa", low=0, high=1
    )
    order: int = param(2, "columns that may be multiplied; 1: none", low=1, high=4)
    init_squares: bool = param(
        True, "squares may be chosen from the start, if the data are dense, others only after "
        "their factors"
    )  # fmt: skip
    shrink: float = param(0.1, "share of the best weight that a step gets", above=0, high=1)
    bag: float = param(0.7, "share of the rows that a direction is found on", above=0, high=1)
    weight_on: str = param(
        "oob",
        "the rows that give a step its weight: oob: those out of the bag, which may also reject "
        "it;  bag: those of the bag (thesis)",
        choices=("oob", "bag"),
    )
    z_accept: float = param(
        2.0, "standard errors by which a step must help the rows out of the bag", low=0
    )
    sample: str = param(
        "strat",
        "columns that a step chooses from: strat: a root of their number, as many of each order; "
        "uniform: the same of all alike;  none: all",
        choices=("strat", "uniform", "none"),
    )
    update_every: int = param(50, "steps after which neighbours are found anew; 0: never", low=0)
    loss: str = param("exp", "of the margins", choices=("exp", "logistic"))
    lambda_c: float = param(0.1, "price of complexity when the last step is chosen", low=0)
    stop: str = param(
        "common",
        "the last step: where loss and complexity are least, the loss taken on the neighbours at "
        "the end (common) or as it was (thesis); or the last of all",
        choices=("common", "thesis", "last"),
    )
    w0: float = param(0.0, "trace of a part of the metric that treats all columns alike", low=0)
    cv: int = param(
        0, "folds of a cross-validation that chooses kappa (or rho), steps and lambda-c; 0: none",
        low=0, high=100,
    )  # fmt: skip


class Space(NamedTuple):
    """Where rows lie: scaled columns, the metric over their products, and the share of each
    column that it has besides."""

    mean: Floats
    divisor: Floats
    dense: bool
    metric: Metric
    share: float

    def base(self, rows: csr_array) -> Any:
        """Scaled columns, centred if dense."""
        if not self.dense:
            return divided(rows, self.divisor)
        return self._scaled(rows, np.arange(rows.shape[1]))

    def _scaled(self, rows: csr_array, columns: Any) -> Floats:
        by = self.divisor[columns]
        x: Floats = rows[:, columns].toarray() - self.mean[columns]
        x *= np.divide(1.0, by, out=np.zeros(len(by)), where=by > 0)
        np.clip(x, -FARTHEST, FARTHEST, out=x)
        return x

    def points(self, rows: csr_array) -> Any:
        if not len(self.metric.keys):
            return self.base(rows)
        used = self.metric.used
        z = self.metric.embed(self._scaled(rows, used), used)
        return beside(self.base(rows), self.share, z) if self.share else z


NO_METRIC = Metric(np.empty((0, 1), dtype=np.int32), np.empty(0), np.empty((0, 0)))


class SDist(Neighbours):
    name = "sdist"
    summary = "sparse boosted metric over columns and their products, for nearest neighbours"
    Params = SdistParams
    columns = ("mean", "divisor", "importance")
    measure = "importance"

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        if params.cv == 1:
            raise UsageError("--cv is 1; it must be 0 or at least 2 folds")
        if params.rho and params.kappa != AUTO:
            raise UsageError("--rho and --kappa exclude each other")
        if params.rho and params.engine == "stsgd":
            raise UsageError("--rho is for --engine power", "use --kappa")

    def bytes_needed(self, rows: csr_array) -> float:
        n, p = rows.shape
        return super().bytes_needed(rows) + float(8 * n * (p if is_dense(rows) else 64))

    def score(self, near: Near) -> Floats:
        if self.params.predict == "knn":
            return vote(near)
        negative, positive = near.means
        with np.errstate(invalid="ignore"):
            score: Floats = np.nan_to_num(negative - positive, posinf=1.0, neginf=-1.0)
        return score

    def settled(self, columns: int) -> Any:
        """The parameters with numbers for what is auto."""
        p = self.params
        steps = p.steps
        if steps == AUTO:
            steps = STEPS[p.engine] * (2 if p.engine == "power" and columns >= MANY else 1)
        return replace(p, steps=steps, kappa=KAPPA[p.engine] if p.kappa == AUTO else p.kappa)

    def fit(self, rows: csr_array, y: Floats, state: State) -> None:
        asked = self.settled(rows.shape[1])
        p = self._chosen(rows, y, asked) if asked.cv else asked
        space, boost = self.prepared(rows, y, p, self.jobs)
        path = boost.run(p.steps, self.finder(boost), self.tell)
        terms = boost.stopped(path, p.steps, p.lambda_c)
        space = fitted_space(space, boost, terms)
        self._keep(state, space)
        state.numbers |= {
            "terms": len(terms), "accepted": len(path.terms), "steps": p.steps,
            "last_step": terms[-1].step if terms else 0, "kappa": p.kappa, "rho": p.rho,
            "lambda_c": p.lambda_c,
        }  # fmt: skip
        self.notes.append(
            f"{len(path.terms)} of {p.steps} steps accepted, {len(terms)} kept, "
            f"{len(space.metric.keys)} columns and products"
        )

    def prepared(self, rows: csr_array, y: Floats, params: Any, jobs: int) -> tuple[Space, Boost]:
        """The rows in scaled columns, ready for boosting."""
        mean, sd = deviations(rows)
        dense = is_dense(rows)
        by = divisors(sd, self.best_scale(rows, y, sd))
        space = Space(mean if dense else np.zeros(len(mean)), by, dense, NO_METRIC, 0.0)
        deviation = np.divide(sd, by, out=np.zeros(len(sd)), where=by > 0)
        monomials = Monomials(space.base(rows), deviation)
        return space, Boost(monomials, y > 0, params, self.seed, jobs)

    def finder(self, boost: Boost) -> Any:
        return Oja(boost) if self.params.engine == "stsgd" else boost.truncated_power

    def _chosen(self, rows: csr_array, y: Floats, params: Any) -> Any:
        """The parameters of least error over the folds; of equal ones the first."""
        name = "rho" if params.rho else "kappa"
        grid = RHOS if params.rho else KAPPAS[params.engine]
        values = list(dict.fromkeys((getattr(params, name), *grid)))
        fold = np.empty(len(y), dtype=np.int64)  # as many of each class in each
        order = permutation(len(y), self.seed, FOLDS)
        order = order[np.argsort(y[order], kind="stable")]
        fold[order] = np.arange(len(y)) % params.cv

        def errors(task: tuple[int, Any]) -> dict[tuple[Any, ...], int]:
            number, value = task
            inside = fold != number
            mine = replace(params, **{name: value})
            space, boost = self.prepared(rows[inside], y[inside], mine, 1)
            path = boost.run(mine.steps, self.finder(boost))
            wrong: dict[int, int] = {}
            found = {}
            for steps, lambda_c, terms in endings(boost, path, mine):
                if len(terms) not in wrong:
                    here = fitted_space(space, boost, terms)
                    near = nearest(
                        here.points(rows[~inside]), here.points(rows[inside]), y[inside] > 0, mine.k
                    )
                    wrong[len(terms)] = int(
                        np.count_nonzero((self.score(near) >= 0) != (y[~inside] > 0))
                    )
                found[value, steps, lambda_c] = wrong[len(terms)]
            return found

        total: dict[tuple[Any, ...], int] = {}
        tasks = list(product(range(params.cv), values))
        for number, found in enumerate(ahead(errors, tasks, self.jobs), 1):
            for key, wrong in found.items():
                total[key] = total.get(key, 0) + wrong
            self.tell(f"{number:,} of {len(tasks):,} fits to folds", number / len(tasks))
        value, steps, lambda_c = min(total, key=lambda key: total[key])
        self.notes.clear()  # of the folds
        self.notes.append(
            f"{params.cv} folds: {name} {value}, {steps} steps, lambda-c {lambda_c:g}: error "
            f"{min(total.values()) / max(len(y), 1):.4f}"
        )
        return replace(params, **{name: value, "steps": steps, "lambda_c": lambda_c})

    def _keep(self, state: State, space: Space) -> None:
        p = len(space.mean)
        state.features.column("mean")[:p] = space.mean
        state.features.column("divisor")[:p] = space.divisor
        state.arrays |= {f"metric.{part}": a for part, a in space.metric._asdict().items()}
        state.numbers |= {"dense": int(space.dense), "share": space.share}
        live = space.divisor[space.divisor > 0]
        state.numbers["std"] = int(len(live) > 0 and live.min() < live.max())
        importance = state.features.column("importance")
        importance[:p] = 0
        for key, w in zip(space.metric.keys, space.metric.importance.tolist(), strict=True):
            factors = key[key >= 0]
            np.add.at(importance, factors, w / len(factors))

    def space(self, state: State) -> Space:
        p, a = int(state.numbers["columns"]), state.arrays
        return Space(
            state.features.column("mean")[:p],
            state.features.column("divisor")[:p],
            bool(state.numbers["dense"]),
            Metric(a["metric.keys"], a["metric.scale"], a["metric.factor"]),
            float(state.numbers["share"]),
        )

    def points(self, rows: csr_array, state: State) -> Any:
        return self.space(state).points(rows)

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        """The trace of W, which is 1, by column; products are split among their factors."""
        return state.features.column("importance")[slots], None

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        if self.untrained(state):
            return []
        found = self.space(state).metric
        pairs = zip(found.keys, found.importance.tolist(), strict=True)
        return [(key[key >= 0], w) for key, w in pairs if np.count_nonzero(key >= 0) > 1]

    def advice(self, state: State) -> str | None:
        if self.untrained(state) or state.numbers["dense"] or self.params.engine == "stsgd":
            return None
        return (
            "these rows are sparse: --engine stsgd --order 1 is often better there, and a linear "
            "model such as dcd better still"
        )

    def details(self, state: State) -> dict[str, Any]:
        if self.untrained(state):
            return super().details(state)
        found, numbers = self.space(state).metric, state.numbers
        names = "steps", "last_step", "accepted", "terms", "kappa", "rho", "lambda_c", "dense"
        return {
            **super().details(state),
            **{name: numbers[name] for name in names},
            "rank": found.factor.shape[1],
            "support": len(found.keys),
            "scaling": "std" if numbers["std"] else "global",
        }


def fitted_space(space: Space, boost: Boost, terms: list[Term]) -> Space:
    """With the metric of these terms, of trace 1; without terms all columns are alike."""
    if not terms:
        return space
    p = boost.params
    total = p.w0 + sum(t.weight for t in terms)
    scaled = [t._replace(weight=t.weight / total) for t in terms]
    return space._replace(
        metric=metric(scaled, boost.monomials, p.order), share=p.w0 / boost.live / total
    )


def endings(boost: Boost, path: Any, params: Any) -> Iterator[tuple[int, float, list[Term]]]:
    """The terms that would be kept after fewer steps or at another price of complexity."""
    for divisor in (1, 2, 4):
        steps = params.steps // divisor
        for lambda_c in dict.fromkeys((params.lambda_c, *LAMBDAS)):
            yield steps, lambda_c, boost.stopped(path, steps, lambda_c)


ALGORITHMS = {"sdist": SDist}
