"""The memory of a run that keeps rows: models and windows of rows share its limit."""

from __future__ import annotations

from collections.abc import Callable

from cwtool import memory
from cwtool.data.spool import Spool
from cwtool.errors import UsageError
from cwtool.model import Model
from cwtool.model.learning_checks import bytes_of
from cwtool.train.options import models_of

# copies of the rows of a window: its blocks, the whole, and what fold models learn of it
WINDOWS = 3


class Room:
    """What the rows of a run may take beside its models."""

    def __init__(self, model: Model, limit: int, passes: int) -> None:
        """`limit` is in bytes, 0 for none."""
        self.model, self.limit, self.passes = model, limit, passes
        self.kept: dict[Spool, int] = {}  # what the rows of each need where they are used again

    def spool(self, work: Callable[[int, int], int] = lambda rows, nnz: 0) -> Spool:
        """An empty store for rows that are learned or judged again. Rows that do not fit beside the
        window that is learned and the models wait in a file. `work` gives the bytes that learning
        takes, from the number of rows and entries."""
        found = Spool()
        if self.limit:
            self.kept[found] = 0

            def check(n_rows: int, nnz: int) -> None:
                needed = WINDOWS * (12 * nnz + 20 * n_rows) + work(n_rows, nnz)
                self.kept[found] = max(self.kept[found], needed)
                self.check()

            found.check = check
        return found

    def check(self, fold_models: int = 1) -> None:
        """Refuse rows that do not fit beside the models, with so many fold models; move windows to
        a file that do not fit beside both."""
        if not self.limit:
            return
        models = models_of(self.passes, fold_models) * bytes_of(self.model.state) // 2
        rows = sum(self.kept.values())
        if models + rows > self.limit:
            n_rows = sum(spool.n_rows for spool in self.kept)
            raise UsageError(
                f"`passes` and `holdout` keep {n_rows:,} rows, which need {memory.words(rows)} "
                f"beside models of {memory.words(models)}, and {memory.may_be_used(self.limit)}",
                "train with `passes=1` and without `holdout`, or raise `max_memory`",
            )
        for spool in self.kept:
            spool.limit((self.limit - models - rows) // len(self.kept))
