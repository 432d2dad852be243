"""A run of training in shards: the head in sequence, then rounds of shards that are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from cwtool.data.labels import Labels
from cwtool.data.pipeline import read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Origin, Rows
from cwtool.errors import DataError
from cwtool.merging import Merged, merge
from cwtool.metrics.confusion import Confusion
from cwtool.metrics.tally import AnyTally, ratio
from cwtool.model import Model
from cwtool.model.memory_estimate import check_merge
from cwtool.parallel import Engine, opened
from cwtool.shards import ShardOptions
from cwtool.shards.change import Change, Piece, remove
from cwtool.shards.deal import Deal
from cwtool.shards.sources import FIRST_ROWS, Sources
from cwtool.shards.task import finished, piece_of, ready
from cwtool.shards.working import folder_of, joined, run
from cwtool.train.counts import Counts
from cwtool.train.curve import nonzero_weights
from cwtool.train.trainer import Trainer

SMALL = 16 << 20  # bytes below which starting processes takes longer than what they save


class OneShard(Trainer):
    """Training in one shard, which is training in sequence."""

    def _record(self) -> dict[str, Any]:
        return {**super()._record(), "shards": 1}


class ShardTrainer(Trainer):
    """One run of training in shards."""

    engine: Engine
    folder: Path
    sources: Sources
    deal: Deal

    def __init__(self, *given: Any) -> None:
        *plain, self.sharding = given
        super().__init__(*plain)
        assert isinstance(self.sharding, ShardOptions)
        self.kept = None  # shards read their rows again
        self.pieces: list[Piece] = []
        self.by_file: dict[int, AnyTally] = {}
        self.rounds: list[dict[str, Any]] = []
        self.written: list[Path] = []

    def fit(self, paths: list[str]) -> dict[str, Any]:
        self.sources = Sources.of(paths)
        options = self.sharding.engine
        if options.name in ("", "local") and self.sources.total < SMALL:
            options = replace(options, jobs=1)
        with folder_of(self.sharding.work_dir) as folder, opened(options) as engine:
            self.folder, self.engine = folder, engine
            engine.prepare(ready)
            record = super().fit(paths)
            record |= self._dealt()
            remove(folder, self.written)
        return record

    # -- the first pass ---------------------------------------------------------------------------

    def _learn_all(self, paths: list[str]) -> None:
        sharding, sources = self.sharding, self.sources
        with self.console.progress(self.model.algorithm.name) as progress:
            if self._unsettled:
                positive = self.model.labels.positive if self.model.labels.rest else None
                end = sources.head_end(sharding.head, positive, self.options.read)
                self._learn_head(end)
                before, row_bytes = 0, -(-end // max(self.total_rows, 1))
            else:
                row_bytes = sources.row_bytes()
                before, end = self.model.rows * row_bytes, 0
            if end == sources.total:
                self.console.note(
                    f"the head, the first {end:,} bytes, has all rows, so that they are learned in "
                    "sequence and not in shards; `head` sets its length"
                )
            self.deal = Deal(sources, sharding, self.options, sharding.tail_rows * row_bytes)
            for start, stop in self.deal.rounds(self.model, before, end):
                self._round(start, stop, 1)
                progress.update(self._status)
        self._report_files()

    @property
    def _unsettled(self) -> bool:
        """Whether a head is needed, to settle the row scale and the labels."""
        scale, labels = self.model.scale, self.model.labels
        open_ = isinstance(scale.prior, str) and not scale.of_batches and scale.seen[0] < FIRST_ROWS
        return self.model.rows < FIRST_ROWS or open_ or not labels.complete

    @property
    def total_rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    def _learn_head(self, end: int) -> None:
        """Learn the first bytes in sequence, as a run without shards does."""
        numbers, spans = self.sources.spans(0, end)
        report = ReadReport()
        read = replace(self.options.read, sampled=True)
        blocks = self.model.labels.rows_of(read_blocks(spans, read, report))
        self.model.settle()
        self.counts = Counts(self.model)
        for rows, origin in self.model.portions(blocks, self.settings):
            self._count_in(numbers[origin.file])
            self._learn_first(rows, origin)
            del rows, origin
        none = self.model.new_tally()
        self.pieces += [piece_of(f, k, none) for k, f in zip(numbers, report.files, strict=True)]

    def _count_in(self, number: int) -> None:
        """Count the following rows as rows of the file with this number."""
        self.counts.file = self.by_file.setdefault(number, self.model.new_tally())

    # -- a round ----------------------------------------------------------------------------------

    def _round(self, start: int, stop: int, pass_: int) -> tuple[float, float]:
        """Learn the bytes [start, stop) in shards, merge them, and learn the tails. Returns the
        errors and rows of a further pass."""
        began = perf_counter()
        number = len(self.rounds) + 1
        base, tasks = self.deal.tasks(self.model, self.folder, number, start, stop, pass_)
        self.written += [base, *(Path(task.target) for task in tasks)]
        run(self.engine, tasks)
        ran = perf_counter()
        made = [Path(task.target) for task in tasks]
        check_merge(made, base, self.options.max_memory, self.settings.jobs)
        changes = finished(tasks)
        self._take(changes)
        found = self._merged(changes, pass_)
        sent = sum(change.model.index.count for change in changes)
        told = {
            "round": number,
            "rows": sum(p.rows for c in changes for p in c.pieces),
            "shards": len(tasks),
            "features_sent": sent,
            "bytes": sum(change.bytes for change in changes),
            "chosen": found.chosen,
            "tail_error": found.tail_error,
            "seconds": {"tasks": ran - began, "merge": perf_counter() - ran},
        }
        self.rounds.append(told)
        self.console.event("round", told)
        wrong, rows = zip(*(change.error for change in changes), strict=True)
        return sum(wrong), sum(rows)

    def _take(self, changes: Sequence[Change]) -> None:
        """Add the metrics, rows and bad lines that the shards have counted to those of this run.
        New classes go by their labels, because each shard numbers them by itself."""
        lists = [one.labels.several or [] for one in (self.model, *(c.model for c in changes))]
        labels = list(dict.fromkeys(label for some in lists for label in some))  # as in a merge
        counted = self.model.new_tally()
        for change in changes:
            self.heaviest = max(self.heaviest, change.heaviest)
            for piece in change.pieces:
                if isinstance(piece.tally, Confusion):
                    piece.tally = piece.tally.moved(labels)
                self._count_in(piece.file)
                self.by_file[piece.file] = self.counts.file + piece.tally
                self.met += piece.tally.rows
                piece.tally = counted  # it is not needed any more
                self.pieces.append(piece)
        bad = sum(piece.bad_lines for piece in self.pieces)
        if bad > self.options.read.max_bad_lines:
            first = min(
                (p for p in self.pieces if p.first_bad), key=lambda p: (p.file, p.start)
            ).first_bad
            raise DataError(
                f"more than {self.options.read.max_bad_lines:,} bad lines; the first in this file "
                f"is {first}",
                "look at the file, or raise `max_bad_lines`",
            )

    def _merged(self, changes: Sequence[Change], pass_: int) -> Merged:
        """Merge the models of the shards and learn the tails. Shards without bytes have changed
        nothing."""
        base = self.model
        empty = [base] * (self.sharding.shards - len(changes))
        tails = [block for change in changes for block in change.tail]
        origins = iter([block.origin for block in tails if block.n_rows])

        def tail(labels: Labels) -> list[Rows]:
            return [labels.encode(block) for block in tails]

        def learn(model: Model, rows: Rows) -> None:
            self._go_on(base, model)
            if pass_ > 1:
                self._relearn(rows)
            else:
                self._learn_tail(rows, next(origins))

        between = replace(self.settings, calibrate=False)  # this model predicts no row
        found = merge([*(c.model for c in changes), *empty], base, tail, run=between, learn=learn)
        self._go_on(base, found.model)
        return found

    def _go_on(self, base: Model, model: Model) -> None:
        """Go on with a merge. All that was counted, also that of the merge, has the list of labels
        of the model before, to which the classes of the merge are added."""
        self.model, labels, merged = model, base.labels.several, model.labels.several
        if labels is not None and merged is not None and isinstance(model.progress, Confusion):
            labels += merged[len(labels) :]
            model.labels.several = model.progress.labels = labels

    def _learn_tail(self, rows: Rows, origin: Origin) -> None:
        self._count_in(origin.file)
        self._learn_first(rows, origin)

    def _relearn(self, rows: Rows) -> None:
        weight = self.model.class_weight.relearning(rows, self.model.labels)
        rows = rows.weighing(weight)
        self.model.relearn(rows, rows.order, self.settings)

    # -- the end ----------------------------------------------------------------------------------

    def _another_pass(self, pass_: int) -> None:
        wrong, rows = self._round(0, self.sources.total, pass_)
        error, nonzero = ratio(wrong, rows) or 0.0, nonzero_weights(self.model)
        self.console.event("pass", {"pass": pass_, "error": error, "nonzero_weights": nonzero})
        self.met += self.total_rows

    def _report_files(self) -> None:
        """Report the files as if each had been read in one piece."""
        for number, name in enumerate(self.sources.names):
            parts = sorted((p for p in self.pieces if p.file == number), key=lambda p: p.start)
            self.report.files.append(joined(name, parts))
            self.counts.file = self.by_file.get(number, self.model.new_tally())
            self._close_files(number + 1)

    def _dealt(self) -> dict[str, Any]:
        """How the rows were divided among shards, for the history of the model."""
        sharding = self.sharding
        found = {
            "shards": sharding.shards,
            "rounds": len(self.rounds),
            "chosen": [told["chosen"] for told in self.rounds],
            "tail_error": self.rounds[-1]["tail_error"] if self.rounds else None,
            "head": sharding.head,
            "tail_rows": sharding.tail_rows,
        }
        return found if sharding.rounds else {**found, "growth": sharding.growth}
