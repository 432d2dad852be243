"""What happened to a feed: the days of a model, those that were refused by its logs, and the
features that moved."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.errors import Damage, UsageError
from cwtool.inspect import bytes_of_weights, external
from cwtool.messages.metrics_text import number, percent
from cwtool.model import Model, generations
from cwtool.model.header import SCORED, figure
from cwtool.model.memory_estimate import MemoryEstimate, estimates
from cwtool.model.schema import HEADER, anything, entries, text
from cwtool.records import dataclass


@dataclass
class Day:
    """One day, learned or refused."""

    time: str
    name: str
    digest: str = ""
    refused: str = ""  # why
    figures: dict[str, float | None] = field(default_factory=dict)
    bins: list[list[float]] = field(default_factory=list)

    @property
    def date(self) -> str:
        return self.time[:10] or self.name

    @property
    def moment(self) -> str:
        """The time without Z, so that 10:15:00 comes before 10:15:00.250."""
        return self.time.rstrip("Z")


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


# figure -> its title and how it is shown
FIGURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "error": ("Error before learning", percent),
    "auc": ("AUC before learning", number),
    "macro_f1": ("Macro F1 before learning", number),
    "worst": ("Error of the worst window", percent),
    "base_rate": ("Share of the positive class", percent),
    "unknown_share": ("Share of unknown features", percent),
    "ece": ("Calibration error (ECE)", percent),
    "psi": ("Shift of the probabilities (PSI)", number),
    "rows": ("Rows per day", _count),
    "features": ("Features of the model", _count),
    "bytes": ("Bytes of the model", _count),
}


# what is read of the lines of a log, by their event
SHOWN = dict.fromkeys(FIGURES, figure)
LOGGED = {
    "evaluate": entries(
        {},
        {**SHOWN, "day": entries({}, SHOWN, anything), "bins": SCORED, "digest": text(200)},
        anything,
    ),
    "refused": entries(
        {"time": text(100), "file": text(), "why": text(1 << 20)}, {"digest": text(200)}, anything
    ),
}


def days_of(model: Model, size: int, logs: Sequence[Path]) -> list[Day]:
    """All days, in the order of time: those that the model learned, and those of the logs that
    were refused. If the clock went back between days, they stand in the order they were learned,
    and the refused ones behind them."""
    runs = [run for run in model.history if run["files"]]  # a merge may have none
    days = [_learned(run) for run in runs]
    for day, run in zip(days, runs[1:], strict=False):
        day.figures["bytes"] = run.get("bytes_before")
    if days:
        days[-1].figures["bytes"] = float(size)
    forward = all(a.moment <= b.moment for a, b in pairwise(days))
    days += [day for path in logs for day in _refused(path)]
    if forward and all(day.time for day in days):
        days.sort(key=lambda day: day.moment)
    before: list[list[list[float]]] = []
    for day in days:
        day.figures["psi"] = psi(day.bins, before[-7:])
        if day.bins and not day.refused:
            before.append(day.bins)
    return days


def _figures(found: dict[str, Any], day: dict[str, Any]) -> dict[str, float | None]:
    figures = {name: found[name] for name in FIGURES if name in found}
    own = {name: day[name] for name in ("worst", "error", "rows", "base_rate") if name in day}
    return own | figures | {name: own[name] for name in ("error", "rows") if name in own}


def _learned(run: dict[str, Any]) -> Day:
    names, digests = (", ".join(f[key] for f in run["files"]) for key in ("name", "digest"))
    evaluated = run.get("evaluated", {})
    day = Day(run.get("time", ""), names, digests)
    shown = {name: run[name] for name in FIGURES if name in run} | evaluated
    day.figures = _figures(shown, run.get("day", {}))
    day.bins = evaluated.get("bins", [])
    return day


def _refused(path: Path) -> list[Day]:
    """The days of a log that were refused, with what was measured before."""
    found, measured = [], {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as failure:
        raise UsageError(f"{path}: {os.strerror(failure.errno or 0)}") from None
    except UnicodeDecodeError as failure:
        why = f"it is not UTF-8 text: {failure.reason}"
        raise UsageError(f"{path} is not a log of cwtool: {why}") from None
    for k, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
            kind = event.get("event")
            LOGGED.get(kind, anything)(event, HEADER)
        except Damage as failure:
            raise UsageError(
                f"{path}:{k}: this is not a line of a log of feed: {failure}"
            ) from None
        except (AttributeError, RecursionError, TypeError, ValueError):
            raise UsageError(f"{path}:{k}: this is no JSON line of cwtool") from None
        if kind == "evaluate":
            measured = event
        elif kind == "refused":
            same = measured if measured.get("digest") == event.get("digest") else {}
            day = Day(event["time"], event["file"], event.get("digest", ""), event["why"])
            day.figures = _figures(same, same.get("day", {}))
            day.bins = same.get("bins", [])
            found.append(day)
    return found


def psi(bins: list[list[float]], before: list[list[list[float]]]) -> float | None:
    """The population stability index of the probabilities of a day against the days before:
    sum over the bins of (p - q) ln(p / q), with half a row more in each bin."""
    if not bins or not before:
        return None
    now = np.array(bins)[:, 0] + 0.5
    past = np.sum([np.array(one)[:, 0] for one in before], axis=0) + 0.5
    p, q = now / now.sum(), past / past.sum()
    return float(sum((a - b) * log(a / b) for a, b in zip(p.tolist(), q.tolist(), strict=True)))


def work_of_moved(path: Path, since: int) -> Callable[[MemoryEstimate], int]:
    """The bytes that `moved` takes beside the model, at most: those of an old model and its
    weights; then the weights of the model; then 24 for the weights of each feature of both, and 56
    to compare them."""
    found = estimates(generations.kept(path)[:since][-1:])

    def work(model: MemoryEstimate) -> int:
        if not found:
            return 0
        old, features = found[0], len(found[0].ids) + len(model.ids)
        return max(
            old.kept + max(old.read, bytes_of_weights(old)),
            24 * len(old.ids) + bytes_of_weights(model),
            (24 + 56) * features,
        )

    return work


def moved(path: Path, model: Model, since: int, top: int, names: dict[str, str]) -> dict[str, Any]:
    """The features whose weights changed most since the model of so many days ago, or the oldest
    one that was kept; for linear models of two classes."""
    old = generations.kept(path)[:since]
    if not old or model.several is not None:
        return {}
    other = Model.load(old[-1])
    if other.several is not None:  # a model that had other classes was there before
        return {}
    before = other.weights()
    del other  # the weights of both models and one of the models are in memory at a time
    after = model.weights()
    ids = np.union1d(before.ids, after.ids)
    change, now = np.zeros(len(ids)), np.zeros(len(ids))
    now[np.searchsorted(ids, after.ids)] = after.weight
    change[np.searchsorted(ids, after.ids)] += after.weight
    change[np.searchsorted(ids, before.ids)] -= before.weight
    order = np.argsort(-np.abs(change), kind="stable")[:top]
    rows = []
    for k in order[change[order] != 0].tolist():
        key = external(model, int(ids[k]))
        rows.append([key, names.get(key, ""), f"{now[k] - change[k]:.4g}", f"{now[k]:.4g}"])
    return {"since": old[-1].name, "days": len(old), "rows": rows}
