"""The covariance of second-order learners as a whole matrix."""

from __future__ import annotations

import numpy as np

from cwtool import memory
from cwtool.algorithms.covariance.diagonal import Covariance
from cwtool.algorithms.merging.base import NAT, Merging, Refusal
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.errors import Damage, UsageError
from cwtool.run import Run
from cwtool.state import Column, Layout, State
from cwtool_ext import full
from cwtool_ext.visit import Learner

FEWEST = 16  # features that there is room for; there may be a Sigma for each of many classes
PAIR = 16  # bytes per pair of features: the matrix, and its copy when it grows, is loaded or saved


class Full(Covariance):
    """mu_j, and all of Sigma over the features seen."""

    layout = Layout(((Column("mean"),),), squares=("sigma",), compact=True)
    shrink = 0.0  # NAROW's b: score = mu.x / max(1, b v)

    def reserve(self, state: State, rows: SlotRows, run: Run) -> None:
        grown_sigma(state, run.max_memory)

    def learner(self, state: State) -> Learner:
        return full.Full(
            state.table, grown_sigma(state), state.index.count, self.rule, self.shrink,
            self.params.variance_floor,
        )  # fmt: skip

    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        return state.table[slots, 0], np.diag(grown_sigma(state))[slots]

    def check(self, state: State) -> None:
        check_sigma(state)

    def forget(self, state: State, factor: float) -> None:
        """Sigma <- (I + f (Sigma^-1 - I))^-1 = (f I + (1 - f) Sigma)^-1 Sigma, over the features
        that were learned."""
        sigma = grown_sigma(state)
        some = np.flatnonzero(np.diag(sigma) != 1)
        part = sigma[np.ix_(some, some)]
        mixed = (1 - factor) * part
        mixed[np.diag_indices(len(some))] += factor
        found = np.linalg.solve(mixed, part)
        sigma[np.ix_(some, some)] = (found + found.T) / 2

    def merging(self, additive: bool) -> Merging | Refusal:
        from cwtool.algorithms.merging.merged_matrices import FULL  # only merges need it

        return FULL._replace(without_base=NAT["1"]) if additive else FULL


def check_sigma(state: State) -> None:
    """Raise Damage if there are features and no Sigma over them, which would have to be made."""
    if state.index.count and "sigma" not in state.squares:
        raise Damage("it has no array square.sigma")


def grown_sigma(state: State, max_memory: int = 0) -> Floats:
    """Sigma with a row for every feature seen; the identity where nothing was learned yet."""
    n = state.index.count
    sigma = state.squares.get("sigma")
    have = 0 if sigma is None else len(sigma)
    if sigma is not None and n <= have:
        return sigma
    wanted = max(n, have + have // 4, FEWEST)
    free = memory.allowed_for(PAIR * wanted**2, max_memory)
    if free < PAIR * wanted**2:
        wanted = n
    if free < PAIR * n**2:
        raise UsageError(
            f"a full covariance over {n:,} features needs {memory.words(PAIR * n**2)} of memory "
            f"with the copy that is saved, and {memory.may_be_used(free)}",
            "use `covariance=diag`, or fold the feature ids, for example with "
            f"`hash_bits={max(1, int((free / PAIR) ** 0.5).bit_length() - 1)}`",
        )
    grown = np.zeros((wanted, wanted))
    np.fill_diagonal(grown, 1.0)
    if sigma is not None:
        grown[:have, :have] = sigma
    state.squares["sigma"] = grown
    return grown
