"""A run of training: rows pass through one model, each predicted before it is learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cwtool.algorithms.base import Batch
from cwtool.clock import today
from cwtool.data.pipeline import read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Floats, Origin, Rows
from cwtool.errors import DataError
from cwtool.messages.console import Console
from cwtool.metrics.tally import AnyTally, ratio
from cwtool.model import Learned, Model
from cwtool.model.overlap import learned
from cwtool.run import Run
from cwtool.train.columns import ColumnSizes
from cwtool.train.counts import Counts
from cwtool.train.curve import Curve, nonzero_weights
from cwtool.train.data_notices import Turns, tell_of_file, tell_of_rows
from cwtool.train.heldout import Best, HeldOut
from cwtool.train.options import TrainOptions, check_passes

if TYPE_CHECKING:
    from cwtool.train.kept_rows import KeptRows


class Trainer:
    """One run of training on one model."""

    def __init__(
        self,
        model: Model,
        options: TrainOptions,
        console: Console,
        watch: Callable[[Rows, Floats], None] | None = None,
    ) -> None:
        """`watch` gets the rows with their scores before they are learned."""
        self.model, self.options, self.console, self.watch = model, options, console, watch
        self.settings = Run(
            options.seed,
            options.read.jobs,
            options.memory_of_a_model,
            options.engine,
            note=console.detail,
            warn=console.warn,
            day=today(),
        )
        self.curve = Curve(options.trace, console)
        self.turns = Turns()
        scaled = model.reading.normalize == "columns"
        self.columns = ColumnSizes(last=scaled) if scaled or not model.rows else None
        self.report = ReadReport()
        self.kept: KeptRows | None = None
        aside = None
        if options.passes > 1 or options.holdout:  # most runs keep no rows
            from cwtool.train.kept_rows import KeptRows
            from cwtool.train.room import Room

            room = Room(model, options.max_memory, options.passes)
            aside = room.spool() if options.holdout else None
            self.kept = KeptRows(model, room) if options.passes > 1 else None
        self.heldout = HeldOut(options.holdout, options.validation, options.read, console, aside)
        self.counts = Counts(self.model)
        self.best = Best()
        self.heaviest = 0.0  # the largest weight that a row was learned with
        self.n_paths = 0
        self.reported = 0  # files
        # rows met, learned or held out
        self.met = sum(f["rows"] for run in model.history for f in run["files"])

    def fit(self, paths: list[str]) -> dict[str, Any]:
        """Learn from all files; the model changes in place. Returns the record of the run."""
        check_passes(self.model, self.options.passes)
        self.n_paths = len(paths)
        self._first_pass(paths)
        record = self._record()
        pass_ = 1
        self._check(pass_)
        fold_models = None  # probabilities of shards, which keep no rows, are of their first pass
        if self.kept is not None:
            fold_models = self.kept.fold_models(self.model, self.settings)
        while pass_ < self.options.passes and not self._out_of_patience(pass_):
            pass_ += 1
            self._another_pass(pass_)
            if fold_models is not None:
                fold_models.another_pass(pass_)
                if self.heldout or pass_ == self.options.passes:
                    fold_models.calibrate(self.model)
            self._check(pass_)
        record["passes"] = pass_
        if self.heldout:
            if self.best.model is not None and self.best.pass_ != pass_:
                self.model = self.best.model
            record |= {"best_pass": self.best.pass_, "validation_error": self.best.error}
        if self.model.several is None:
            record["labels"] = list(self.model.labels.values)
        self.model.history.append(record)
        return record

    def measured(self, record: dict[str, Any]) -> dict[str, Any]:
        """The metrics for the conditions of `require`: those of the held-out rows, or of the
        predictions before learning, with the threshold of the model if it has one."""
        counts = self.counts
        if counts.untrained.rows or self.model.operating_point:
            record = {**record, **counts.judged(self.model).summary()}
        return {**record, **self.best.summary, "rows": counts.total.rows}

    def _learn_all(self, paths: list[str]) -> None:
        """Learn the rows of all files."""
        options = replace(self.options.read, sampled=True)
        blocks = self.model.labels.rows_of(read_blocks(paths, options, self.report))
        self.model.settle()
        self.counts = Counts(self.model)
        portions = self.model.portions(blocks, self.settings)
        with self.console.progress(self.model.algorithm.name) as progress:
            for _ in self._learn_portions(portions):
                progress.update(self._status)
            self._close_files(len(self.report.files))
        self._trace(1, self.counts.since)

    def _learn_portions(self, portions: Iterator[tuple[Rows, Origin]]) -> Iterator[None]:
        """Learn the portions of rows, with a stop after each."""
        if self.model.batch is None and not self.curve:
            arrived = ((self._arrived(rows), origin) for rows, origin in portions)
            for rows, origin, found in learned(self.model, arrived, self.settings):
                self._close_files(origin.file)
                self._count(rows, found)
                del rows, origin, found  # so that the reader can use their memory again
                yield
            return
        for rows, origin in portions:
            self._close_files(origin.file)
            self._learn_portion(rows, origin)
            del rows, origin
            yield

    def _learn_portion(self, rows: Rows, origin: Origin) -> None:
        """Learn rows met for the first time: a batch whole, others from point to point of the
        curve."""
        if self.model.batch is not None:
            self._learn_first(rows, origin)
            return
        for piece, at_point in self.curve.pieces(rows, self.met):
            self._learn_first(piece, origin)
            if at_point:
                self._trace(1, self.counts.since)

    def _first_pass(self, paths: list[str]) -> None:
        self._learn_all(paths)
        labels = self.model.labels
        names, digests = zip(*((f.name, f.digest) for f in self.report.files), strict=True)
        self.console.concerns(file=", ".join(names), digest=", ".join(digests))
        for f in self.report.files:
            self.model.known += f.sample
        tell_of_rows(self.model, self.turns, self.heaviest, self.console)
        if self.columns is not None and (notice := self.columns.notice(self.model)):
            self.console.warn(notice)
        if self.counts.total.rows == 0:
            if self.heldout.n_rows:
                raise DataError(f"{self.report.names}: no rows to learn from", "lower `holdout`")
            raise self.report.nothing("learn from")
        if not labels.complete:
            known = labels.name(0 if labels.positive is None else 1)
            raise DataError(
                f"all {self.model.rows:,} rows have the label {known}; two classes are needed",
                "add rows of another class; lines that begin with a feature, such as 1:0.5, have "
                "no label",
            )

    def _trace(self, pass_: int, tally: AnyTally) -> None:
        """A point of the curve, if there is one and rows were counted since the last point."""
        if self.curve and tally.rows:
            model, heldout = self.model, self.heldout
            self.curve.point(pass_, self.met, tally, model, heldout, self.settings)
            self.counts.since = model.new_tally()

    def _arrived(self, rows: Rows) -> Rows:
        """The new rows that are to be learned, without held-out ones."""
        n_rows = rows.n_rows
        self.turns.add(rows.y)
        if self.columns is not None:
            self.columns.add(rows)
        rows = self.heldout.split(rows, self.met, self.options.seed)
        self.met += n_rows
        return rows

    def _learn_first(self, rows: Rows, origin: Origin) -> None:
        """Predict, count and learn new rows."""
        rows = self._arrived(rows)
        if self.model.batch is None:
            self._count(rows, self.model.learn(rows, self.settings))
        else:
            self._learn_batch(self.model.batch, rows, origin)

    def _count(self, rows: Rows, found: Learned) -> None:
        """Count what an online learner predicted of these rows before it learned them."""
        self.counts.add(rows, found.score, curve=bool(self.curve))
        if self.watch is not None:
            self.watch(rows, found.score)
        self._keep(rows, found)

    def _keep(self, rows: Rows, found: Learned) -> None:
        """Keep rows that were learned for further passes."""
        if found.weight is not None:
            self.heaviest = max(self.heaviest, float(found.weight.max(initial=0.0)))
        if self.kept is not None:
            counted = None if rows.weight is None else rows.weight[rows.weight > 0]
            self.kept.spool.add(rows.weighing(found.weight), counted)

    def _learn_batch(self, algorithm: Batch, rows: Rows, origin: Origin) -> None:
        """Predict, learn and count a whole batch, whose fit may take long."""
        title = f"{self.model.algorithm.name}  fit to {self.met:,} rows"
        with self.console.progress(title) as progress:

            def tell(what: str, done: float) -> None:
                progress.update(lambda: {"text": what, "done": done})

            found = self.model.learn(rows, replace(self.settings, progress=tell))
        batch = self.counts.add_batch(rows, found.score, found.fitted)
        if algorithm.batch_rows and batch.rows:  # a batch that is not a whole file
            self.console.event("batch", {"file": origin.source, **batch.summary()})
        self._keep(rows, found)

    def _another_pass(self, pass_: int) -> None:
        assert self.kept is not None
        with self.console.progress(f"pass {pass_}") as progress:
            tally = self.kept.relearn(self.model, pass_, self.settings, progress)
        error, nonzero = tally.error or 0.0, nonzero_weights(self.model)
        self.console.event("pass", {"pass": pass_, "error": error, "nonzero_weights": nonzero})
        self.met += self.kept.spool.n_rows
        self._trace(pass_, tally)

    def _close_files(self, upto: int) -> None:
        """Report the files before number `upto`, each with its own progressive metrics."""
        while self.reported < upto:
            f = self.report.files[self.reported]
            self.console.concerns(file=f.name, digest=f.digest)
            tell_of_file(f, self.model.known, self.options.again, self.console)
            found = {**self.counts.end_file(), "bad_lines": f.bad_lines}
            if self.n_paths > 1 or self.console.json:
                self.console.event("file", {"file": f.name, **found})
            self.reported += 1

    def _status(self) -> dict[str, Any]:
        return {
            **self.counts.so_far(),
            "features": self.model.index.count,
            "done": ratio(self.report.bytes, self.report.size),
        }

    def _check(self, pass_: int) -> None:
        """The metrics on the rows held out, if there are any; the best pass is remembered."""
        if not self.heldout:
            return
        quality = self.model.new_reliability()
        tally = self.heldout.tally(self.model, self.settings, quality)
        found = tally.summary() | quality.summary()
        self.console.event("validation", {"pass": pass_, **found})
        self.best.judge(pass_, found, self.model, last=pass_ == self.options.passes)

    def _out_of_patience(self, pass_: int) -> bool:
        return 0 < self.options.patience <= pass_ - self.best.pass_

    def _record(self) -> dict[str, Any]:
        """The record of the run in the history of the model."""
        return {
            "files": [
                {"name": f.name, "digest": f.digest, "rows": f.rows, "nnz": f.nnz}
                for f in self.report.files
            ],
            "seed": self.options.seed,
            **self.counts.for_history(),
            "features": self.model.index.count,
        }
