"""A run of training in shards of a batch learner: all rows of the run are one batch, which
stays in the shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.algorithms.base import Scores, joined_scores
from cwtool.algorithms.batch.learner import POSITIVE
from cwtool.algorithms.multiclass.one_vs_rest import NO_CLASS, States
from cwtool.algorithms.shards.steps import Arrays, Sharded
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.rows import Rows, joined
from cwtool.model.arithmetic import computing
from cwtool.model.crossfit import FoldScores, fold_scores, held
from cwtool.model.scale import slotted
from cwtool.shards.asking import Asking, rows_of
from cwtool.shards.batch_task import Reading, Scoring, perform, untrained
from cwtool.shards.change import Change, contents, unpack_pieces
from cwtool.shards.deal import Deal
from cwtool.shards.driver import ShardTrainer
from cwtool.shards.working import run_all
from cwtool.train.counts import Counts


class BatchTrainer(ShardTrainer):
    """One run of training a batch in shards."""

    def _learn_all(self, paths: list[str]) -> None:
        with self.console.progress(self.model.algorithm.name) as progress:
            head = self._read_head()
            self.deal = Deal(self.sources, self.sharding, self.options, 0)
            if not (reads := self._reads()):  # all files are empty
                self._learn_head(0)
                self._report_files()
                return
            run_all(self.engine, perform, reads)
            met = [self._met(task) for task in reads]
            progress.update(self._status)
            first = untrained(self.model)
            before = [self._before(arrays) for arrays in met]
            self._observe(met)
            asking = Asking(
                self.engine, self.folder, self.model, self.sharding, reads, met, self._tell
            )
            asking.begin(head)
            found = self._fold_scores(asking) if first else []
            self._learn(asking)
            self.written += asking.written
            after = self._fitted(reads) if first else None
            self._count_files(reads, met, before, after)
            self._count_all(rows_of(met), found, joined_scores(before), after)
        self._report_files()

    # -- reading ----------------------------------------------------------------------------------

    def _read_head(self) -> Rows:
        """The first rows, which settle the labels and the row scale."""
        labels = self.model.labels
        positive = labels.positive if labels.rest else None
        end = self.sources.head_end(self.sharding.head, positive, self.options.read)
        _, spans = self.sources.spans(0, end)
        read: ReadOptions = replace(self.options.read, sampled=False)
        rows = [
            rows.take(rows.order if rows.weight is None else np.flatnonzero(rows.weight))
            for rows, _ in labels.rows_of(read_blocks(spans, read))
        ]
        self.model.settle()
        self.counts = Counts(self.model)
        head = joined(rows) if rows else Rows.from_lists([], [])
        for _ in self.model.scale.observe(slotted(head, head.indices)):
            pass
        return head

    def _reads(self) -> list[Reading]:
        """The tasks that read the rows."""
        base, tasks = self.deal.tasks(self.model, self.folder, 0, 0, self.sources.total, 1)
        found = []
        for task in tasks:
            rows = str(Path(task.target).with_suffix(".rows"))
            target = str(Path(task.target).with_suffix(".read"))
            read = Reading(
                task.name, target, rows, task.learn, (), task.base, task.files, task.max_memory,
                task.read,
            )  # fmt: skip
            found.append(read)
            self.written += [Path(target), Path(rows)]  # without the first, both are written anew
        self.written.append(base)
        return found

    def _met(self, task: Reading) -> Arrays:
        """The counts of a shard, with the classes by their numbers in the model."""
        header, arrays = contents(Path(task.target))
        labels = self.model.labels
        labels.rest = max(labels.rest, header["rest"])
        if labels.several is not None:
            labels.several += [x for x in header["labels"] if x not in labels.several]
            numbers = np.array([labels.several.index(x) for x in header["labels"]], dtype=np.int32)
            arrays["y"] = numbers[arrays["y"]]
        pieces = unpack_pieces(header["pieces"], arrays, header["labels"])
        self._take([Change(self.model, pieces, [])])
        return arrays

    def _before(self, arrays: Arrays) -> Scores:
        """The scores of the rows before they are learned."""
        n, several = len(arrays["y"]), self.model.labels.several
        shape = n if several is None else (n, len(several))
        score = np.full(shape, 0.0 if several is None else -np.inf)
        variance = np.zeros(n)
        if "score" in arrays:
            known = arrays["score"]
            score[..., : known.shape[-1]] = known
            variance[:] = arrays["variance"]
        return Scores(score, variance)

    def _observe(self, met: Sequence[Arrays]) -> None:
        """Take over the features and classes of all rows."""
        model = self.model
        for arrays in met:
            model.index.observe(arrays["ids"])
        model.make_room(self.settings, len(model.labels.values))
        weight = model.class_weight.learning(rows_of(met), model.labels, at_once=True)
        if weight is not None:
            self.heaviest = max(self.heaviest, float(weight.max(initial=0.0)))

    # -- learning ---------------------------------------------------------------------------------

    def _learn(self, asking: Asking) -> None:
        """Learn the batch with the state of each class."""
        state, algorithm = self.model.state, self.model.algorithm
        assert isinstance(algorithm, Sharded)
        states, classes = [state], [POSITIVE]
        if isinstance(state, States):
            for class_ in np.unique(asking.rows.y).tolist():
                if state.parts[class_] is None:
                    state.birth(class_)
            states = state.known
            classes = [NO_CLASS, *state.known_classes]
        if asking.rows.n_rows:
            run = replace(self.settings, jobs=1)
            computing(lambda _: algorithm.learn_shards(states, classes, asking, run))(self.model)
            for one in states:
                one.numbers["batches"] += 1

    def _fold_scores(self, asking: Asking) -> list[FoldScores]:
        """What models that have learned part of the head say of it, for the probabilities."""
        model, run = self.model, replace(self.settings, jobs=1)
        if not run.calibrate or not asking.first.n_rows:
            return []
        each = model.index, model.labels, asking.first, run
        return computing(lambda one: fold_scores(one.learner, *each))(model)

    def _tell(self, told: dict[str, Any]) -> None:
        self.rounds.append(told)
        self.console.event("round", told)

    def _fitted(self, reads: Sequence[Reading]) -> list[Scores]:
        """The scores of all rows now that they are learned."""
        fitted = self.folder / f"fitted-{Path(reads[0].target).stem}.cw"
        self.model.save(fitted)
        with fitted.open("rb") as saved:
            saved.seek(-32, 2)
            digest = saved.read().hex()[:16]
        tasks = [
            Scoring(t.name, f"{t.target}-{digest}.score", t.rows, t.learn, (), str(fitted), digest)
            for t in reads
        ]
        self.written += [fitted, *(Path(task.target) for task in tasks)]
        run_all(self.engine, perform, tasks)
        found = [contents(Path(task.target))[1] for task in tasks]
        return [Scores(arrays["score"], arrays["variance"]) for arrays in found]

    # -- counting ---------------------------------------------------------------------------------

    def _count_files(
        self,
        reads: Sequence[Reading],
        met: Sequence[Arrays],
        before: Sequence[Scores],
        after: Sequence[Scores] | None,
    ) -> None:
        """Count the scores of the rows of each file."""
        for k, task in enumerate(reads):
            y, weight, start = met[k]["y"], met[k].get("weight"), 0
            self.turns.add(y)
            for number, rows in zip(task.files, met[k]["file_rows"].tolist(), strict=True):
                here = slice(start, start := start + rows)
                own, tally = None if weight is None else weight[here], self.model.new_tally()
                tally.add(y[here], before[k].score[here], own)
                self._count_in(number)
                self.by_file[number] = self.counts.file + tally
                self.met += rows
                if after is not None:
                    self.counts.untrained += tally
                    self.counts.fitted.add(y[here], after[k].score[here], own)

    def _count_all(
        self, rows: Rows, found: list[FoldScores], before: Scores, after: Sequence[Scores] | None
    ) -> None:
        """Count the scores of all rows, as the model counts those of a batch; the fold models have
        seen the first of the rows."""
        if after is None:
            self.model.count_batch(rows.y, before, rows.weight)
        else:
            fitted, y, weight = joined_scores(after), rows.y, rows.weight
            of_folds = computing(lambda _: held(found, fitted.take, y, weight))
            self.model.count_first(y, of_folds(self.model) if found else None, fitted, weight)
        self.model.progress.add(rows.y, before.score, rows.weight)

    def _dealt(self) -> dict[str, Any]:
        return {
            "shards": self.sharding.shards,
            "rounds": len(self.rounds),
            "bytes_sent": sum(told["bytes"] for told in self.rounds),
            "head": self.sharding.head,
            "gap": self.sharding.gap,
        }
