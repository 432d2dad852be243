"""One day of a feed: score the file with yesterday's model, judge it, learn it, keep the old model.

Nothing changes on disk until the new model has passed every gate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cwtool.clock import now
from cwtool.data.known import file_digests
from cwtool.data.pipeline import ReadOptions
from cwtool.data.reports import FileReport, ReadReport
from cwtool.data.sources import display
from cwtool.errors import DataError, QualityError
from cwtool.feed import recent
from cwtool.feed.day_rules import Limits, complaints
from cwtool.feed.watch import Day, Watch
from cwtool.messages.console import Console
from cwtool.messages.metrics_text import percent
from cwtool.metrics.tally import AnyTally
from cwtool.model import Model, generations
from cwtool.predict import predict
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.shards import ShardOptions, new_trainer
from cwtool.train.gate import Gate
from cwtool.train.heldout import HeldOut
from cwtool.train.options import TrainOptions
from cwtool.train.run import skipped

# of the metrics before learning, what the history of the model keeps
KEPT = (
    "error", "auc", "macro_f1", "balanced_error", "base_rate", "unknown_share", "log_loss", "ece",
    "brier", "bins",
)  # fmt: skip


@dataclass(frozen=True)
class FeedOptions:
    """The settings by which a day is checked and learned."""

    require: tuple[Gate, ...] = ()  # before learning
    require_after: tuple[Gate, ...] = ()  # on rows that are not of this day
    validation: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    accept: bool = False  # learn days that are not like those before
    again: bool = False
    known_share: float = 0.5  # of rows learned before
    reservoir: int = 0  # rows
    keep: int = 7  # old models
    seed: int = 0
    max_memory: int = 0
    read: ReadOptions = field(default_factory=ReadOptions)
    sharding: ShardOptions | None = None


class DayRun:
    """The steps of one day."""

    def __init__(
        self, model: Model, path: str, target: Path, options: FeedOptions, console: Console
    ) -> None:
        self.model, self.path, self.target = model, path, target
        self.options, self.console = options, console
        self.started = perf_counter()
        self.settings = Run(options.seed, options.read.jobs, options.max_memory)
        self.new = model.rows == 0
        self.evaluated: dict[str, Any] = {}  # metrics of the day before it is learned
        self.known_share = 0.0  # of the rows of the day that were learned before
        self.heldout = HeldOut(0.0, self._checked(), options.read, console)

    def _checked(self) -> tuple[str, ...]:
        """The files that the models are compared on."""
        sample = recent.place(self.target)
        has = self.options.reservoir and sample.exists() and sample.stat().st_size
        return (*self.options.validation, *([str(sample)] if has else []))

    def run(self) -> None:
        """Learn the day, or raise the reason why it is not learned."""
        self.console.concerns(file=display(self.path))
        known = self.model.learned()
        for digest in reversed(file_digests(self.path)):
            self.console.concerns(digest=digest)
            if digest in known and not self.options.again:
                why = f"was learned before (as {known[digest]})"
                skipped(display(self.path), why, self.console)
                return
        day = None if self.new else self._judged_before()
        before = self.heldout.tally(self.model, self.settings) if self._compared else None
        watch = Watch(self.model)
        trainer = new_trainer(
            self.model, self._training(), self.console, watch.add, self.options.sharding
        )
        record = trainer.fit([self.path])
        self.model = trainer.model
        if day is None:
            day = watch.day(first=True, auc=record.get("auc"))
            self._gate("before learning", trainer.measured(record), self.options.require)
            self._compare(day)
        try:
            self._judge_after(before)
        except QualityError as refusal:
            raise self._rejected(refusal) from None
        self._save(record, day, trainer.report.files[0])

    @property
    def _compared(self) -> bool:
        return bool(self.heldout) and not self.new

    def _training(self) -> TrainOptions:
        o = self.options
        return TrainOptions(seed=o.seed, max_memory=o.max_memory, again=True, read=o.read)

    def _judged_before(self) -> Day | None:
        """Predict the day with the current model, report the metrics and apply the conditions."""
        report, watch = ReadReport(), Watch(self.model)
        read = replace(self.options.read, sampled=True)
        found = predict(
            self.model, [self.path], read, (), None, evaluate=True, report=report, watch=watch.add
        )
        notice, day = found.pop("notice"), watch.day(auc=found.get("auc"))
        found |= {"known_share": report.files[0].sample.share_in(self.model.known)}
        self.console.event("evaluate", found | ({"day": day.packed()} if day else {}))
        self.evaluated = {name: found[name] for name in KEPT if name in found}
        self._known_rows(report.files[0], found["known_share"])
        self._gate("before learning", found, self.options.require)
        self._compare(day)
        self.console.told(notice)
        return day

    def _known_rows(self, file: FileReport, share: float) -> None:
        """Refuse a file whose rows are mostly known. Where rows repeat anyway, in the file or from
        day to day, the share is counted from there on: (share - usual) / (1 - usual)."""
        shares = [run["known_share"] for run in self.model.history if "known_share" in run][-7:]
        own = 1 - file.sample.distinct / max(file.rows, 1)
        usual = min(max(own, float(np.median(shares)) if shares else 0.0, 0.0), 0.99)
        self.known_share = share
        if not self.options.again and (share - usual) / (1 - usual) > self.options.known_share:
            self._refuse(
                f"about {100 * share:.0f} % of its rows were learned before",
                hint="leave them out, or learn them once more with `again`",
            )

    def _compare(self, day: Day | None) -> None:
        if day is None or self.options.accept:
            return
        wrong = complaints(day, self.model.history[: -1 if self.new else None], self.options.limits)
        if wrong:
            self._refuse(*wrong, hint="look at the file; `accept` learns it as it is")

    def _gate(self, when: str, measured: dict[str, Any], gates: tuple[Gate, ...]) -> None:
        for gate in gates:
            if not gate.passes(measured):
                self._refuse(gate.failed(measured, when))

    def _judge_after(self, before: AnyTally | None) -> None:
        """Compare the new model with the old one on rows that are not of this day:
        error <= tolerance times the old error + 3 standard deviations."""
        if not self.heldout:
            return
        quality = self.model.new_reliability()
        after = self.heldout.tally(self.model, self.settings, quality)
        found = after.summary() | quality.summary()
        self.console.event("validation", found)
        self._gate("after learning", found, self.options.require_after)
        if before is None or self.options.accept or before.error is None or after.error is None:
            return
        n = after.rows
        p = (before.error * n + 1) / (n + 2)
        limit = self.options.limits.tolerance * before.error + 3 * (p * (1 - p) / n) ** 0.5
        if after.error > limit:
            self._refuse(
                f"after learning, the error on rows of other days is {percent(after.error)}; "
                f"before it was {percent(before.error)}",
                hint="look at the file; `accept` learns it as it is",
            )

    def _refuse(self, *reasons: str, hint: str | None = None) -> None:
        """Report the reasons, each in a line of its own if there are several."""
        self.console.event("refused", {"file": display(self.path), "why": "; ".join(reasons)})
        before = " " if len(reasons) == 1 else "\n  "
        raise QualityError(
            f"{display(self.path)} is refused:{before}{f';{before}'.join(reasons)}",
            "; ".join(filter(None, [hint, generations.untouched(self.target)])),
        )

    def _rejected(self, refusal: QualityError) -> QualityError:
        """The refusal of a model that has learned the day, which is kept aside."""
        if not self.options.keep:
            return refusal
        place, _ = generations.reject(self.target, now()[:10], self.options.keep, self.model.save)
        return QualityError(str(refusal), f"{refusal.hint}; the new model is in {place}")

    def _save(self, record: dict[str, Any], day: Day | None, file: FileReport) -> None:
        """Keep the old model and put the new one in its place."""
        record["time"] = now()
        if day is not None:
            record["day"] = day.packed()
        if not self.new:
            record |= {"known_share": self.known_share, "evaluated": self.evaluated}
        generations.keep(self.target, self.options.keep)
        if self.target.exists():
            record["bytes_before"] = self.target.stat().st_size
        size = self.model.save(self.target)
        if self.options.reservoir:
            recent.add(self.target, self.path, file.digest, self.options.reservoir)
        self.console.event(
            "feed",
            {
                "algo": self.model.algorithm.name,
                **record,
                "total_rows": self.model.rows,
                "seconds": perf_counter() - self.started,
                "bytes": size,
                **self.console.told(),
            },
        )


def feed(
    subject: Callable[[], Model], paths: list[str], target: Path, options: FeedOptions,
    console: Console,
) -> None:  # fmt: skip
    """Learn each file as a day, in this order; the first that is refused ends the run, and those
    before it stay learned."""
    for path in paths:
        console.warnings.clear()
        try:
            DayRun(subject(), path, target, options, console).run()
        except DataError as failure:  # bad lines, or none
            console.event("refused", {"file": display(path), "why": str(failure)})
            raise
