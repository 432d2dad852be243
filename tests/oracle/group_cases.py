"""What the tests of SBCW and FGM share: data, frozen vectors, groups over given features."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from cwtool.algorithms.batch.rows_by_column import Matrix
from cwtool.algorithms.fgm import FGM
from cwtool.algorithms.sbcw import SBCW, SbcwParams
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.selection.subproblem import Subproblem
from cwtool.state import State

FOLDER = Path(__file__).parent / "vectors/bcw-sbcw"
VECTORS = json.loads((FOLDER / "vectors.json").read_text())
DEFAULT = json.loads((FOLDER / "default_mode.json").read_text())["sbcw_default_mode"]
LOSS = {1: "hinge", 2: "squared-hinge"}
PLAIN: dict[str, Any] = {
    "prior": 1.0, "shuffle": False, "final_passes": 0, "tol": 0.0, "group_gap": 1e100,
}  # fmt: skip


def sbcw(**params: Any) -> SBCW:
    return SBCW(SbcwParams(**{**PLAIN, "final_C": "same", **params}))


def groups_of(algorithm: FGM, state: State) -> list[list[int]]:
    """The features of each group."""
    chosen = algorithm.chosen(state)
    return [chosen[at].tolist() for _, at in algorithm.groups(state).parts()]


def mean_of(state: State, d: int) -> np.ndarray:
    return state.table[:d, 0].copy()


def random_data(seed: int, n: int = 60, d: int = 12, density: float = 0.6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    x[3] = 0
    return x, np.sign(x @ rng.normal(size=d) + 0.5 * rng.normal(size=n) + 1e-9)


def problem_over(x, y, members, C, c, q, sigma) -> Subproblem:
    """The subproblem over groups of given features."""
    groups = Groups.empty(c, max(map(len, members)))
    for B in members:
        groups.add(x[:, B].T @ x[:, B])
    chosen = np.concatenate(members)
    part = csc_matrix(x[:, chosen])
    columns = Matrix(part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data)
    empty = Subproblem.empty(y, groups, C, q, sigma, tuple)
    return empty.widened(SimpleNamespace(x=columns), np.arange(len(chosen)))
