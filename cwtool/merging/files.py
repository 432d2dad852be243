"""Merging model files into one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from cwtool.data.known import file_digests
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Rows
from cwtool.data.sources import display
from cwtool.errors import DataError
from cwtool.merging import Merged, merge
from cwtool.messages.console import Console
from cwtool.model import Model
from cwtool.model.memory_estimate import check_merge
from cwtool.run import Run

KNOWN = 0.5  # a share of rows that two models have both learned above this is worth a warning


class Files:
    """The models to merge, in their order, and the base that they continue, if there is one."""

    def __init__(
        self, models: Sequence[Path], base: Path | None, max_memory: int = 0, jobs: int = 1
    ) -> None:
        check_merge(models, base, max_memory, jobs)
        self.names = [display(str(path)) for path in models]
        self.models = [Model.load(path) for path in models]
        self.old = "" if base is None else display(str(base))
        self.base = None if base is None else Model.load(base)
        before = 0 if self.base is None else self.base.rows
        self.rows = [model.rows - before for model in self.models]  # that each has added

    def merge(
        self, tail: Sequence[str], target: Path, read: ReadOptions, run: Run, console: Console
    ) -> None:
        """Merge the models, learn the rows of the tail, save and report."""
        started = perf_counter()
        self._check_tail(tail)
        self._warn(console)
        report, several = ReadReport(), len(self.models) > 1
        found = self._merged(tail, read, run, report)
        if tail and not sum(f.rows for f in report.files):
            raise DataError(f"{report.names}: no rows to choose the merge by")
        if several or tail:
            found.model.history.append(self._record(found, report))
        for f in report.files:
            found.model.known += f.sample
            if f.bad_lines:
                console.warn(f"{f.name}: {f.skipped}; {f.first_bad}")
        size = found.model.save(target)
        result = {
            **self._record(found, report),
            "algo": found.model.algorithm.name,
            "rows": found.model.rows,
            "tail_rows": sum(f.rows for f in report.files),
            "losses": found.losses,
            "seconds": perf_counter() - started,
            "model": display(str(target)),
            "bytes": size,
        }
        console.event("merge", result | console.told())

    def _merged(
        self, tail: Sequence[str], read: ReadOptions, run: Run, report: ReadReport
    ) -> Merged:
        """Merge the models, which are gone afterwards: saving the merge takes their memory."""
        first = self.models[0]

        def rows(labels: Labels) -> Iterable[Rows]:
            blocks = labels.rows_of(read_blocks(tail, read, report))
            return [some for some, _ in first.portions(blocks, run)]

        given = rows if tail else None
        found = merge(self.models, self.base, given, names=self.names, old=self.old, run=run)
        self.models.clear()
        self.base = None
        return found

    def _check_tail(self, tail: Sequence[str]) -> None:
        """Refuse tail rows that a model has learned, because the merge rule must be chosen on new
        rows."""
        for path in tail:
            digests = file_digests(path)
            for model, name in zip(self.models, self.names, strict=True):
                if any(digest in model.learned() for digest in digests):
                    raise DataError(
                        f"{name} has learned {display(path)}, which is to choose the merge",
                        "give rows as `tail` that no model has learned",
                    )

    def _warn(self, console: Console) -> None:
        """Warn of rows that were learned more than once, and of thresholds that differ."""
        first = self.models[0]
        for model, name in list(zip(self.models, self.names, strict=True))[1:]:
            share = 0.0 if self.base is not None else model.known.share_in(first.known)
            if share > KNOWN:
                console.warn(
                    f"{name}: about {100 * share:.0f} % of its rows are also rows of "
                    f"{self.names[0]}, and count twice"
                )
            if model.operating_point.setting != first.operating_point.setting:
                console.warn(
                    f"{name} has another `threshold` than {self.names[0]}, whose setting is kept"
                )

    def _record(self, found: Merged, report: ReadReport) -> dict[str, Any]:
        """The record of the merge in the history of the model."""
        merged = [{"name": name, "rows": n} for name, n in zip(self.names, self.rows, strict=True)]
        record: dict[str, Any] = {
            "files": [
                {"name": f.name, "digest": f.digest, "rows": f.rows, "nnz": f.nnz}
                for f in report.files
            ],
            "seed": 0,
            "passes": 1,
            "merged": merged,
            "chosen": found.chosen,
            "rows": sum(f.rows for f in report.files),
            "features": found.model.index.count,
        }
        if self.old:
            record["base"] = self.old
        if found.tail_error is not None:
            record["tail_error"] = found.tail_error
        return record
