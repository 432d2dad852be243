"""Training: blocks pass through one algorithm, each row predicted before it is learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool import modelfile
from cwtool.algorithms.base import Scores
from cwtool.console import Console
from cwtool.data import Block, ReadOptions, read_blocks
from cwtool.data.pipeline import ReadReport
from cwtool.data.sources import display
from cwtool.data.timeslots import time_slots
from cwtool.errors import DataError, QualityError
from cwtool.gate import Gate
from cwtool.metrics import Tally, ratio
from cwtool.model import Model
from cwtool.order import chosen

if TYPE_CHECKING:
    from cwtool.data.spool import Spool


@dataclass(frozen=True)
class TrainOptions:
    """How this run trains."""

    passes: int = 1
    seed: int = 0
    holdout: float = 0.0
    validation: tuple[str, ...] = ()
    patience: int = 0
    require: tuple[Gate, ...] = ()
    trace: int = 0  # rows between two points of the curve of error and weights; 0: none
    max_memory: int = 0  # bytes that an algorithm may use; 0: most of what is free
    read: ReadOptions = field(default_factory=ReadOptions)


@dataclass
class Best:
    """The best pass so far, by error on the rows kept aside, packed as it would be saved."""

    pass_: int = 0
    error: float = np.inf
    summary: dict[str, Any] = field(default_factory=dict)
    packed: tuple[dict[str, Any], modelfile.Arrays] | None = None


def _spool() -> Spool:
    from cwtool.data.spool import Spool  # most runs need none

    return Spool()


class Trainer:
    """One run of training on one model."""

    def __init__(self, model: Model, options: TrainOptions, console: Console) -> None:
        self.model, self.options, self.console = model, options, console
        model.algorithm.jobs = options.read.jobs
        model.algorithm.seed = options.seed
        model.algorithm.max_memory = options.max_memory
        self.report = ReadReport()
        self.run = Tally()
        self.file = Tally()
        self.kept = _spool() if options.passes > 1 else None
        self.aside = _spool() if options.holdout else None
        self.n_paths = 0
        self.reported = 0  # files closed
        self.judged: dict[str, Any] = {}  # metrics on the rows kept aside
        self.since = Tally()  # the last point of the curve
        self.fitted = Tally()  # rows that there was no model to predict with, once learned
        # rows met, learned or kept aside
        self.visited = sum(f["rows"] for run in model.history for f in run["files"])

    def fit(self, paths: list[str]) -> dict[str, Any]:
        """Learn from all of it; the model changes in place. Returns the record of the run."""
        self.model.algorithm.check_passes(self.options.passes)
        self.n_paths = len(paths)
        self._first_pass(paths)
        record = self._record()
        best = Best()
        checks = self.aside is not None or bool(self.options.validation)
        pass_ = 1
        if checks:
            self._check(1, best)
        while pass_ < self.options.passes and not self._out_of_patience(pass_, best):
            pass_ += 1
            self._another_pass(pass_)
            if checks:
                self._check(pass_, best)
        record["passes"] = pass_
        if checks:
            if best.pass_ != pass_ and best.packed is not None:
                self.model = Model.unpack(*best.packed)
            record |= {"best_pass": best.pass_, "validation_error": best.error}
            self.judged = best.summary
        self.model.history.append(record)
        return record

    def _first_pass(self, paths: list[str]) -> None:
        labels = self.model.labels
        blocks = read_blocks(paths, self.options.read, self.report)
        with self.console.progress(self.model.algorithm.name) as progress:
            for block in self._portions(labels.settle(blocks)):
                self._close_files(block.file)
                for piece in self._pieces(block):
                    self._learn_first(piece)
                block.release()
                progress.update(self._status)
            self._close_files(len(self.report.files))
        self._trace(1, self.since)
        if self.run.rows == 0:
            hint = "lower --holdout" if self.aside and self.aside.n_rows else None
            raise DataError(f"{self.report.names}: no rows to learn from", hint)
        if not labels.complete:
            known = labels.name(1) if labels.positive is not None else labels.name(-1)
            raise DataError(
                f"all {self.model.rows:,} rows have the label {known}; two classes are needed",
                "add rows of the other class",
            )

    def _portions(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Blocks as they come, or whole time slots for algorithms that learn these at once."""
        slot_rows = self.model.algorithm.slot_rows
        if slot_rows is None:
            return blocks
        return time_slots(blocks, slot_rows, self.options.max_memory)

    def _pieces(self, block: Block) -> Iterator[Block]:
        """The block, cut where the curve has points; time slots stay whole."""
        step, done = self.options.trace, 0
        while step and self.model.algorithm.slot_rows is None and done < block.n_rows:
            stop = min(block.n_rows, done + step - self.visited % step)
            yield block.rows(done, stop)
            done = stop
            if self.visited % step == 0:
                self._trace(1, self.since)
        if done == 0:
            yield block

    def _trace(self, pass_: int, tally: Tally) -> None:
        """A point of the curve: error since the last one, each row predicted before it was learned,
        error on the rows kept aside, and weights that are not zero."""
        if self.options.trace == 0 or tally.rows == 0:
            return
        point: dict[str, Any] = {"pass": pass_, "rows": self.visited, "error": tally.error}
        if self.aside is not None or self.options.validation:
            point["validation_error"] = self._validated().error
        point["nonzero_weights"] = int(np.count_nonzero(self.model.weights()[1]))
        self.console.event("trace", point)
        self.since = Tally()

    def _learn_first(self, block: Block) -> None:
        """Rows met for the first time: predicted, counted, learned."""
        n_rows = block.n_rows
        if self.aside is not None:
            aside = chosen(self.visited, n_rows, self.options.holdout, self.options.seed)
            self.aside.add(block.take(np.flatnonzero(aside)))
            block = block.take(np.flatnonzero(~aside))
        self.visited += n_rows
        self.model.state.features.observe(block)
        if self.kept is not None:
            self.kept.add(block)
        for part in self.model.scale.split(block):
            untrained = self.model.algorithm.untrained(self.model.state)
            score, variance = self._learn(part)
            self.file.add(part.y, score)
            self.since.add(part.y, score)
            if self.model.algorithm.slot_rows:
                slot = Tally()
                slot.add(part.y, score)
                self.console.event("slot", {"file": part.source, **slot.summary()})
            if untrained:  # an empty model says nothing of the slope; these rows do, once learned
                score, variance = self.model.algorithm.fitted(part, self.model.state)
                self.fitted.add(part.y, score)
            self.model.calibration.add(part.y, score, variance)
            while self.model.algorithm.notes:
                self.console.detail(self.model.algorithm.notes.pop(0))

    def _learn(self, part: Block) -> Scores:
        """Rows one by one are told by their number; a slot may be fitted for long."""
        algorithm = self.model.algorithm
        if algorithm.slot_rows is None:
            return algorithm.learn(part, self.model.state, part.order)
        title = f"{algorithm.name}  fit to {self.visited:,} rows"
        with self.console.progress(title) as progress:
            algorithm.tell = lambda what, done: progress.update(
                lambda: {"text": what, "done": done}
            )
            return algorithm.learn(part, self.model.state, part.order)

    def _another_pass(self, pass_: int) -> None:
        assert self.kept is not None
        tally = Tally()
        with self.console.progress(f"pass {pass_}") as progress:
            for block, order in self.kept.shuffled(self.options.seed, pass_):
                block.scale = self.model.scale.value
                score, _ = self.model.algorithm.relearn(block, self.model.state, order)
                tally.add(block.y, score)
                progress.update(lambda: {"pass": pass_})
        nonzero = int(np.count_nonzero(self.model.weights()[1]))
        seen = {"pass": pass_, "error": tally.error or 0.0, "nonzero_weights": nonzero}
        self.console.event("pass", seen)
        self.visited += self.kept.n_rows
        self._trace(pass_, tally)

    def _close_files(self, upto: int) -> None:
        """Report the files before number `upto`, each with its own progressive metrics."""
        while self.reported < upto:
            f = self.report.files[self.reported]
            if f.bad_lines:
                self.console.warn(f"{f.name}: {f.bad_lines:,} bad lines skipped; {f.first_bad}")
            if f.qids:
                self.console.note(f"{f.name}: qid: is ignored")
            if self.n_paths > 1 or self.console.json:
                self.console.event(
                    "file", {"file": f.name, **self.file.summary(), "bad_lines": f.bad_lines}
                )
            self.run += self.file
            self.model.progress += self.file
            self.file = Tally()
            self.reported += 1

    def _status(self) -> dict[str, Any]:
        so_far = self.run + self.file
        return {
            "rows": so_far.rows,
            "error": so_far.error,
            "auc": so_far.auc,
            "features": self.model.state.features.count,
            "done": ratio(self.report.bytes, self.report.size),
        }

    def _held_out(self) -> Iterator[Block]:
        if self.options.validation:
            report = ReadReport()
            yield from self.model.labels.settle(
                read_blocks(self.options.validation, self.options.read, report)
            )
            if report.bad_lines:
                self.console.warn(f"{report.names}: {report.bad_lines:,} bad lines skipped")
        if self.aside is not None:
            yield from (block.take(block.order) for block in self.aside.blocks())

    def _validated(self) -> Tally:
        """The rows kept aside, predicted."""
        tally = Tally()
        for block in self._held_out():
            y = block.y
            tally.add(y, self.model.scores(block)[0].score)
        return tally

    def _check(self, pass_: int, best: Best) -> None:
        """Error on the rows kept aside; remember the model if it is the best so far."""
        tally = self._validated()
        error = tally.error
        if error is None:
            if self.options.validation:
                names = ", ".join(map(display, self.options.validation))
                raise DataError(f"{names}: no rows to validate on")
            raise DataError("no rows were kept aside to validate on", "raise --holdout")
        self.console.event("validation", {"pass": pass_, **tally.summary()})
        if error < best.error:
            best.pass_, best.error, best.summary = pass_, error, tally.summary()
            if pass_ < self.options.passes:  # one that follows may be worse
                header, arrays = self.model.pack()
                best.packed = header, {name: array.copy() for name, array in arrays.items()}

    def _out_of_patience(self, pass_: int, best: Best) -> bool:
        return 0 < self.options.patience <= pass_ - best.pass_

    def _record(self) -> dict[str, Any]:
        summary = self.run.summary()
        return {
            "files": [
                {"name": f.name, "digest": f.digest, "rows": f.rows, "nnz": f.nnz}
                for f in self.report.files
            ],
            "seed": self.options.seed,
            **{k: summary[k] for k in ("rows", "error", "auc", "precision", "recall", "f1")},
            "features": self.model.state.features.count,
        }


def train(
    model: Model, paths: list[str], target: Path, options: TrainOptions, console: Console
) -> None:
    """Train, save and report; only a finished model that passes its gates replaces the target."""
    started = perf_counter()
    trainer = Trainer(model, options, console)
    record = trainer.fit(paths)
    measured = {**record, **trainer.judged, "rows": record["rows"]}
    failed = [gate for gate in options.require if not gate.passes(measured)]
    place = target.with_name(target.name + ".rejected") if failed else target
    size = trainer.model.save(place)
    seconds = perf_counter() - started
    result = {
        "algo": model.algorithm.name,
        **record,
        **trainer.run.summary(),
        "seconds": seconds,
        "rows_per_second": ratio(trainer.run.rows, seconds),
        "model": display(str(place)),
        "bytes": size,
    }
    if trainer.fitted.rows:
        result["fitted"] = trainer.fitted.summary()
    console.event("train", result)
    advice = trainer.model.algorithm.advice(trainer.model.state)
    if advice:
        console.note(advice)
    if failed:
        raise QualityError(
            f"not {failed[0]}: {failed[0].metric} is {measured.get(failed[0].metric)}",
            f"the new model is in {place}; {target} is as it was",
        )
