"""sDist: nearest neighbours in a sparse metric over columns and their products, which is learned by
boosting (Ma 2017, chapters 2 and 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from cwtool.algorithms.base import Variants, each_choice
from cwtool.algorithms.batch.remembered_rows import NUMBERS, ROWS
from cwtool.algorithms.knn import Extent, Voter
from cwtool.algorithms.neighbours.column_scale import best_scale, deviations, is_dense
from cwtool.algorithms.neighbours.monomials import Metric
from cwtool.algorithms.neighbours.sdist_choice import VOTES, chosen, several
from cwtool.algorithms.neighbours.sdist_fit import boosted, cross_validated, prepared, score, scores
from cwtool.algorithms.neighbours.sdist_params import SdistParams
from cwtool.algorithms.neighbours.sdist_space import Space, blended, mean_space
from cwtool.algorithms.neighbours.search import Near
from cwtool.data.rows import Floats, Ints
from cwtool.errors import Damage, UsageError
from cwtool.params import AUTO
from cwtool.run import Run
from cwtool.state import Array, Column, Layout, Number, State

FEW = {"runs": 1, "k": 9, "steps": 25, "scale": "std", "update_every": 15}
CANDIDATE = 1000  # bytes of a column of sparse rows: its key, and the places of its entries
FIT = (  # what the last fit used and found
    Number("terms"),
    Number("accepted"),
    Number("steps"),
    Number("last_step"),
    Number("direction_columns", formerly="kappa"),
    Number("direction_share", 0.0, formerly="rho"),
    Number("lambda_c", 0.0),
    Number("votes", high=99),  # 0 in files of earlier versions, where k vote
    Number("stsgd", high=1),  # whether this is the engine
)
SPACE = (Number("dense", high=1), Number("share", 0.0, low=0), Number("std", high=1))
METRIC = (
    Array("metric.keys", "<i4", (0, 1), sizes=("support", "order"), low=-1, below="columns"),
    Array("metric.scale", sizes=("support",), low=0),
    Array("metric.factor", shape=(0, 0), sizes=("support", "rank")),
)


class SDist(Voter):
    name = "sdist"
    unmergeable = "its metric is fitted to all rows at once"
    summary = "sparse boosted metric over columns and their products, for nearest neighbours"
    Params = SdistParams
    variants: ClassVar[Variants] = {
        **each_choice(SdistParams, "loss", **FEW),
        "fw": {**FEW, "order": 1, "predict": "fw", "stop": "last", "w0": 0.1},
        "stsgd": {
            **FEW, "steps": 4, "order": 1, "stop": "last", "engine": "stsgd",
            "direction_columns": 6,
        },
    }  # fmt: skip
    layout = Layout(
        tables=((Column("mean"), Column("divisor", low=0), Column("importance", low=0)),),
        numbers=(*NUMBERS, *FIT, *SPACE),
        arrays=(*ROWS, *METRIC),
        compact=True,
    )

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        if params.cv == 1:
            raise UsageError("`cv` is 1; it must be 0 or at least 2 folds")
        if params.direction_share and params.direction_columns != AUTO:
            raise UsageError("`direction_share` and `direction_columns` exclude each other")
        if params.direction_share and params.engine == "stsgd":
            raise UsageError("`direction_share` is for `engine=power`", "use `direction_columns`")

    def bytes_needed(self, rows: csr_array, run: Run) -> float:
        n, p = rows.shape
        columns = 8 * n * p if is_dense(rows) else 8 * n * 64 + CANDIDATE * p
        return super().bytes_needed(rows, run) + float(columns)

    def extent(self, state: State) -> Extent:
        """Points have the columns of the factor and, with a share of the identity, all others; the
        columns that the metric needs are dense on the way."""
        space, plain = space_of(state), super().extent(state)
        if not len(space.metric.keys):
            return plain._replace(width=len(space.mean) if space.dense else 0)
        more = len(space.metric.used) + space.metric.factor.shape[1]
        if not space.share:
            return plain._replace(width=more)
        if space.dense:
            return plain._replace(width=more + len(space.mean))
        return Extent(plain.n, 0, plain.nnz + plain.n * more)

    def voters(self, state: State) -> int:
        return int(state.numbers["votes"] or self.params.k)

    @property
    def most_votes(self) -> int:
        return max(VOTES) if self.params.k == AUTO else int(self.params.k)

    def score(self, near: Near) -> Floats:
        return score(near, self.params.predict)

    def class_scores(self, near: Near) -> Floats:
        return scores(near, self.params.predict)

    def fit(self, state: State, rows: csr_array, kind: Ints, run: Run) -> None:
        """One metric for all classes: rows of the same class are to be near, all others far."""
        rows, kind = several(rows, kind)
        scale = best_scale(rows, kind, deviations(rows)[1], self.params.scale, run)
        p, votes = chosen(rows, kind, replace(self.params, scale=scale), run)
        if p.cv:
            p = cross_validated(rows, kind, replace(p, scale=self.params.scale), votes, run)
            p = replace(p, scale=scale)
        space, boost = prepared(rows, kind, p, run)
        metrics, accepted = boosted(boost, run)
        space = mean_space(space, boost, metrics)
        if self.params.w0 == AUTO and not space.dense:
            space = blended(space, rows)
        keep(state, space)
        kept = sum(len(terms) for terms in metrics)
        state.numbers |= {
            "terms": kept,
            "accepted": accepted,
            "steps": p.runs * p.steps,
            "last_step": max((terms[-1].step for terms in metrics if terms), default=0),
            "direction_columns": p.direction_columns,
            "direction_share": p.direction_share,
            "lambda_c": p.lambda_c,
            "votes": votes,
            "stsgd": int(p.engine == "stsgd"),
        }
        run.note(
            f"{accepted} of {p.runs * p.steps} steps accepted, {kept} kept, "
            f"{len(space.metric.keys)} columns and products"
        )

    def check(self, state: State) -> None:
        super().check(state)
        keys, scale = state.arrays["metric.keys"], state.arrays["metric.scale"]
        if not ((keys >= 0).any(axis=1).all() and (scale > 0).all()):
            raise Damage("its metric has a product of no columns, or without a scale")
        rows = self.rows(state)
        if len(state.labels):
            rows, _ = several(rows, state.arrays["y"].astype(np.int32))  # those that were fitted
        if state.numbers["dense"] and not is_dense(rows):
            raise Damage("its number dense is 1, and its rows are sparse")

    def points(self, state: State, rows: csr_array) -> Any:
        return space_of(state).points(rows)

    def importance(self, state: State, slots: Ints) -> Floats:
        """The trace of W, which is 1, by column; products are split equally among their factors."""
        return state.column("importance")[slots]

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The products of columns in the metric, with their entries on the diagonal of W."""
        found = space_of(state).metric
        pairs = zip(found.keys, found.importance.tolist(), strict=True)
        return [(key[key >= 0], w) for key, w in pairs if np.count_nonzero(key >= 0) > 1]

    def advice(self, state: State) -> str | None:
        if self.untrained(state) or state.numbers["dense"]:
            return None
        return "these rows are sparse, and a linear model such as dcd is often better for them"

    def details(self, state: State) -> dict[str, Any]:
        if self.untrained(state):
            return super().details(state)
        found, numbers = space_of(state).metric, state.numbers
        shown = "steps", "last_step", "accepted", "terms", "direction_columns", "direction_share"
        used = "stsgd" if numbers["stsgd"] else "power"
        engine = used if numbers["votes"] else self.params.engine  # not in files of before
        return {
            **super().details(state),
            **{name: numbers[name] for name in (*shown, "lambda_c", "dense")},
            "engine": engine,
            "votes": self.voters(state),
            "order": found.keys.shape[1],
            "rank": found.factor.shape[1],
            "support": len(found.keys),
            "scaling": "std" if numbers["std"] else "global",
        }


def keep(state: State, space: Space) -> None:
    """Put the space into the state, with the importance of its columns."""
    p = len(space.mean)
    state.column("mean")[:p] = space.mean
    state.column("divisor")[:p] = space.divisor
    state.arrays |= {f"metric.{part}": a for part, a in space.metric._asdict().items()}
    live = space.divisor[space.divisor > 0]
    state.numbers |= {
        "dense": int(space.dense),
        "share": space.share,
        "std": int(len(live) > 0 and live.min() < live.max()),
    }
    importance = state.column("importance")
    importance[:p] = 0
    for key, w in zip(space.metric.keys, space.metric.importance.tolist(), strict=True):
        factors = key[key >= 0]
        np.add.at(importance, factors, w / len(factors))


def space_of(state: State) -> Space:
    """The space that was put into the state."""
    p, a = int(state.numbers["columns"]), state.arrays
    return Space(
        state.column("mean")[:p],
        state.column("divisor")[:p],
        bool(state.numbers["dense"]),
        Metric(a["metric.keys"], a["metric.scale"], a["metric.factor"]),
        float(state.numbers["share"]),
    )


ALGORITHMS = {"sdist": SDist}
