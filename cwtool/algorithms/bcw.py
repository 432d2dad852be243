"""Online-batch confidence-weighted learning (Tan et al. 2016, Algorithm 1).

For each slot:  P += c X'X, c = C/kappa;  then one pass (or more) of dual coordinate ascent on
1/2 (mu - mu0)' P (mu - mu0) + C/q sum xi^q. With kappa = 1, as printed, wherever margins stay
below 1 this is ridge regression; a larger kappa gives the hinge its say.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from cwtool import memory
from cwtool.algorithms import metric
from cwtool.algorithms.slotted import SlotParams, Slotted, rows_of
from cwtool.data.block import Block, Floats
from cwtool.errors import UsageError
from cwtool.params import AUTO, param
from cwtool.state import State
from cwtool_ext import dual

KAPPAS = (1.0, 10.0, 100.0, 1000.0)
USUAL = 100.0  # unless another is better for certain
TRIAL = 2000  # rows that each kappa is tried on
CHECK = 10000  # rows that it is judged by


@dataclass(frozen=True)
class BcwParams(SlotParams):
    kappa: float | str = param(
        AUTO,
        "C over the weight of X'X in the precision; 1 = as printed; auto tries 1, 10, 100 and "
        "1000 on part of the first slot",
        kind=float,
        above=0,
        auto=True,
    )
    epochs: int = param(1, "visits to each slot; 1 = as printed", low=1)
    average: bool = param(
        True, "with one visit: predict with the mean of mu over its second half (printed: off)"
    )
    carry: str = param(
        "dual",
        "what a slot starts from: dual keeps the old dual variables, printed the old mean under "
        "the new precision, forget nothing but the precision",
        choices=("dual", "printed", "forget"),
    )


class BCW(Slotted):
    name = "bcw"
    summary = "online-batch confidence-weighted"
    Params = BcwParams
    columns = ("mean", "dual")  # mu, and b = sum of all a_i y_i x_i
    compact = True

    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        n = state.features.count
        gram = self._room(state, n)
        metric.add_gram(block, gram, n, self.jobs)
        kappa = self._kappa(block, state, gram, n)
        a = self._solve(block, state, gram, n, kappa)
        dual.add_rows(*rows_of(block), a * block.y, state.features.table, 1)

    def _start(self, state: State, n: int, inverse: metric.Metric) -> Floats:
        """mu before the slot's own rows."""
        table = state.features.table[:n]
        if self.params.carry == "dual":
            return inverse.solve(table[:, 1])
        return table[:, 0].copy() if self.params.carry == "printed" else np.zeros(n)

    def _solve(self, block: Block, state: State, gram: Floats, n: int, kappa: float) -> Floats:
        p = self.params
        fresh = "slots" not in state.numbers
        kind = metric.cheapest(block, n, p.epochs, fresh)
        inverse = kind(gram, n, p.C / kappa, self.jobs)
        start = self._start(state, n, inverse)
        mu, a, epochs = self._ascend(block, inverse, start, p.epochs)
        state.features.table[:n, 0] = mu
        self.notes.append(
            f"slot of {block.n_rows:,} rows, {n:,} features: {kind.name} form, "
            f"kappa {kappa:g}, {epochs} epochs"
        )
        return a

    def _ascend(
        self, block: Block, inverse: metric.Metric, start: Floats, epochs: int
    ) -> tuple[Floats, Floats, int]:
        p = self.params
        mu, a, done = inverse.ascend(block, start, p.ridge, p.upper, epochs)
        if p.average and epochs == 1:
            mu = inverse.late_mean(block, mu, a)
        return mu, a, done

    def _room(self, state: State, n: int) -> Floats:
        """X'X over all slots, with a row for every feature seen."""
        gram = state.squares.get("gram")
        if gram is not None and n <= len(gram):
            return gram
        needed = 5 * 8 * n * n  # X'X, its factor, its inverse, and copies to work in and to save
        free = memory.allowed(self.max_memory)
        if needed > free:
            raise UsageError(
                f"bcw over {n:,} features needs {memory.words(needed)} for its precision matrix, "
                f"and {memory.words(free)} may be used",
                "use --algo sbcw, cw-fact or cw, whose memory follows the features, or fold the "
                "ids with --hash-bits",
            )
        grown = np.zeros((n, n))
        if gram is not None:
            grown[: len(gram), : len(gram)] = gram
        state.squares["gram"] = grown
        return grown

    def _kappa(self, block: Block, state: State, gram: Floats, n: int) -> float:
        """Given, settled by the first slot, or settled now: each kappa learns a sample of the
        rows, as a problem of that size, and the error on other rows decides."""
        if self.params.kappa != AUTO:
            return float(self.params.kappa)
        if "kappa" in state.numbers:
            return float(state.numbers["kappa"])
        half = block.n_rows // 2
        trial = block.take(np.arange(0, 2 * half, 2)[:: max(1, half // TRIAL)][:TRIAL])
        check = block.take(np.arange(1, 2 * half, 2)[:: max(1, half // CHECK)][:CHECK])
        share = gram[:n, :n] * (trial.n_rows / max(1, block.n_rows))
        errors = {k: self._error(trial, check, share, n, k) for k in KAPPAS if half}
        best = min(errors, key=lambda k: errors[k], default=USUAL)
        usual = errors.get(USUAL, 0.0)
        if usual - errors.get(best, 0.0) < 3 * sqrt(usual * (1 - usual) / max(1, check.n_rows)):
            best = USUAL  # a small sample favours small kappas, so only clear evidence counts
        found = ", ".join(f"{k:g}: {100 * e:.2f} %" for k, e in errors.items())
        self.notes.append(f"kappa {best:g} ({found})")
        state.numbers["kappa"] = best
        return best

    def _error(self, trial: Block, check: Block, gram: Floats, n: int, kappa: float) -> float:
        """On the rows of `check`, after learning `trial` with this kappa."""
        inverse = metric.cheapest(trial, n, 1, False)(gram, n, self.params.C / kappa, self.jobs)
        mu, _, _ = self._ascend(trial, inverse, np.zeros(n), 1)
        score = np.empty(check.n_rows)
        dual.margins(*rows_of(check), np.ascontiguousarray(mu[:, None]), 0, score)
        return float(np.mean((score >= 0) != (check.y > 0)))


ALGORITHMS = {"bcw": BCW}
