"""When stages and bursts of stabilized truncated gradient descent end, and how a stage begins.

Everything here is computed from the numbers of the state.
"""

from __future__ import annotations

from math import ceil, sqrt

from cwtool.algorithms.stabilized_descent.gravity import base_gravity, burst_size, rejection_rate
from cwtool.algorithms.stabilized_descent.stsgd_params import StsgdParams
from cwtool.data.rows import Floats
from cwtool.params import AUTO
from cwtool.records import dataclass

RULES = 1  # of a new state: see LEAST_BURST and rates.py
# In the first pass the number of rows is not known, and all rows lose a feature that is removed;
# bursts are longer there than in later passes: by the rules of the state.
LEAST_BURST = {True: (1000, 100), False: (20, 20)}
# In the first pass most features that a burst informs occur in one or two of its rows. A strong
# pull would forget what these say, and later rows do not say it again.
REJECTION = {True: 0.2, False: 0.7}  # by whether rows come for the first time
FEW = 5000  # rows; later passes begin anew after a first pass over fewer
UNBALANCED = 0.1  # the intercept is used if the share of the smaller class is not above this
BIAS = 0.1  # the squared constant of the intercept, relative to the mean squared norm of the rows
# In the first pass columns are scaled anew when the rows met grew by this factor: after a scaling
# by fewer than FEW rows, or by more. That of many rows is good for longer, and costs more.
REFIT = (2, 4)
CALM = 3  # stages in a row that changed the mean weights by less than `tol` end the learning

Numbers = dict[str, int | float]


@dataclass(frozen=True)
class Schedule:
    params: StsgdParams

    def stage_rows(self, numbers: Numbers) -> int:
        """Rows of this stage in all."""
        return int(numbers["burst"]) * self.params.bursts

    def left(self, numbers: Numbers) -> int:
        """Rows to the end of the stage."""
        return self.stage_rows(numbers) - int(numbers["into"])

    def until(self, numbers: Numbers) -> int:
        """Rows to the end of the stage, or to the end of the burst after which the scale of the
        columns is fitted, whichever comes first."""
        burst, stage = int(numbers["burst"]), self.left(numbers)
        if self.params.scale == "none":
            return stage
        first = burst - int(numbers["into"]) % burst
        goal = self.refit(numbers) * numbers["fitted"]
        more = ceil((goal - numbers["rows"] - first) / burst)
        return min(stage, first + burst * max(0, more))

    def refit(self, numbers: Numbers) -> int:
        """By how much the rows must have grown since the scale of the columns was fitted, until it
        is fitted again in the first pass; 2 in models of cwtool 0.1."""
        return REFIT[bool(numbers["rules"] and numbers["fitted"] >= FEW)]

    def fit_due(self, numbers: Numbers, factor: int) -> bool:
        """Whether the scale of the columns must be fitted now: there are at least `factor` times
        as many rows as when it was fitted last, and no burst is under way."""
        enough = numbers["rows"] >= factor * numbers["fitted"] + 1
        between = numbers["into"] % numbers["burst"] == 0
        return self.params.scale != "none" and enough and between

    def stopped(self, numbers: Numbers) -> bool:
        """Whether learning has stopped: because of `tol`, or because no feature would be left."""
        return numbers["calm"] >= CALM or numbers["empty"] > 0

    def restart_due(self, numbers: Numbers) -> bool:
        """Whether a later pass must begin anew, with all rows known, because the first one judged
        no feature yet, or judged them in short bursts of few rows. It does so once."""
        few = self.params.burst == AUTO and numbers["rows"] < FEW
        return not numbers["restarted"] and (numbers["stage"] == 1 or few)

    def intercept_on(self, numbers: Numbers) -> bool:
        """Whether an intercept is learned."""
        if self.params.intercept != AUTO:
            return self.params.intercept == "on"
        rare = min(numbers["positive"], numbers["rows"] - numbers["positive"])
        return 0 < rare <= UNBALANCED * numbers["rows"]

    def begin(self, numbers: Numbers, emitted: Floats, fresh: bool) -> None:
        """Begin a stage after one whose bursts emitted these values for features that are left;
        `fresh` if its rows come for the first time."""
        p = self.params
        d = 1 - numbers["gone"] / max(numbers["met"], 1)
        most = self._rejection(numbers, fresh) if p.rejection == AUTO else float(p.rejection)
        numbers["base_gravity"] = base_gravity(emitted, rejection_rate(d, most, p.annealing))
        numbers["burst"] = self._burst(numbers, d, fresh)
        numbers["stage"] += 1
        numbers["bias"] = BIAS if self.intercept_on(numbers) else 0.0
        numbers["into"] = 0

    @staticmethod
    def _rejection(numbers: Numbers, fresh: bool) -> float:
        """Later passes pull less if there are fewer features than rows: the weights then fit less
        noise, and a feature that is removed is more often one that matters."""
        least, most = REJECTION[True], REJECTION[fresh]
        return least + (most - least) * sqrt(min(1, numbers["met"] / max(numbers["rows"], 1)))

    def _burst(self, numbers: Numbers, d: float, fresh: bool) -> int:
        size = self.params.burst
        if size == AUTO:
            least = LEAST_BURST[fresh][int(numbers["rules"])]
            size = max(least, int(numbers["rows"]) // 10)
        return burst_size(int(size), self.params.growth, d)
