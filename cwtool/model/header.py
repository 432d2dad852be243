"""The declaration and checks of the header of a model file."""

from __future__ import annotations

from typing import Any

from cwtool.errors import Damage
from cwtool.model.schema import (
    HEADER,
    MOST,
    Check,
    anything,
    either,
    entries,
    flag,
    items,
    number,
    plain,
    row,
    text,
    whole,
)

LARGE = 1e15  # the greatest figure of a history
LABEL = 1e300  # the greatest label
ROOM = 1024  # classes that a model may have, whatever it has counted

share = number(0, 1 + 1e-9, none=True)
figure = number(-LARGE, LARGE, none=True)
label = number(-LABEL, LABEL)
label_or_none = number(-LABEL, LABEL, none=True)

FILE = entries({"name": text(), "digest": text(200), "rows": whole(), "nnz": whole()})
METRICS = (
    "error", "auc", "precision", "recall", "f1", "macro_f1", "weighted_f1", "balanced_error",
    "base_rate", "unknown_share", "ece", "brier", "validation_error", "known_share",
)  # fmt: skip
SHARES: dict[str, Check] = dict.fromkeys(METRICS, share)
BINS = items(row(number(0, LARGE), number(-LARGE, LARGE), number(-LARGE, LARGE)), 15)
SCORED = either(items(figure, 0), BINS)  # the bins of a day; none, if it was not scored
DAY = entries(
    {
        **dict.fromkeys(("rows", "worst_row", "worst_rows", "windows", "classes"), whole()),
        **dict.fromkeys(("error", "median", "worst", "spread"), number(0, 1 + 1e-9)),
        "entries": number(0, LARGE),
    },
    {"base_rate": share, "auc": share},
)
# what a run may have; other entries are shown as they are, and nothing is computed with them
MORE: dict[str, Check] = {
    **SHARES,
    **dict.fromkeys(("worst", "psi", "bytes"), figure),
    "weight": number(0, LARGE),
    "fitted": entries({"rows": whole(), "error": share}, {**SHARES, "weight": number(0, LARGE)}),
    "best_pass": whole(),
    "time": text(100),
    "day": DAY,
    "evaluated": entries({}, {**SHARES, "log_loss": figure, "bins": SCORED}),
    "bytes_before": whole(),
    "labels": items(label_or_none, 2),
    "shards": whole(1),
    "rounds": whole(),
    "bytes_sent": whole(),
    "tail_error": number(0, LARGE, none=True),
}
RUN = entries(
    {
        "files": items(FILE),
        "seed": whole(-(1 << 64), 1 << 64),
        "rows": whole(),
        "error": share,
        "features": whole(),
        "passes": whole(1),
    },
    MORE | {"chosen": items(text(100))},
    plain,
)
MERGE = entries(
    {
        "files": items(FILE),
        "seed": whole(-(1 << 64), 1 << 64),
        "rows": whole(),
        "features": whole(),
        "passes": whole(1),
        "merged": items(entries({"name": text(), "rows": whole(-MOST)})),
        "chosen": text(100),
    },
    MORE | {"base": text()},
    plain,
)


def run_of_history(value: Any, place: str) -> None:
    """A run that learned, or a merge of models."""
    (MERGE if isinstance(value, dict) and "merged" in value else RUN)(value, place)


READING = entries(
    {},
    {
        "zero_based": flag,
        "normalize": text(20, ("none", "l2", "columns")),
        "bias": flag,
        "hash_bits": whole(0, 30),
        "columns": entries(
            {
                "ids": items(whole(0, (1 << 31) - 2)),
                "mean": items(number()),
                "scale": items(number(1e-300)),
            }
        ),
    },
)
HEADER_OF = entries(
    {
        "cwtool": text(100),
        "algorithm": text(100),
        "params": anything,  # by Params of the algorithm
        "reading": READING,
        "features": whole(0, 1 << 31),
        "rows": whole(),
        "scale": entries({"value": number(), "rows": number(0), "total": number()}),
        "calibration": entries(
            {"a": number(0), "rows": whole()},
            {"b": number(), "by_variance": flag, "k": number(1e-300), "offsets": items(number())},
        ),
        "numbers": anything,  # by the layout of the algorithm
        "history": items(run_of_history),
        "labels": either(items(label_or_none, 2), items(label)),
    },
    {
        "confusion": items(items(whole(), 2), 2),
        "weighted_confusion": items(items(whole(0, 1 << 62), 2), 2),
        "multiclass": text(20, ("no", "rival", "ovr")),
        "rest": whole(0, 2),
        "class_weight": entries({"setting": text(1 << 20), "counts": items(whole())}),
        "threshold": entries({"setting": text(100)}, {"value": number()}),
        "estimator": entries(
            {"columns": whole(0, (1 << 31) - 1)},
            {"classes": either(text(1, ("b", "i", "u")), items(text()))},
        ),
        "known_level": whole(0, 63),
        "partial": flag,
    },
)


def check_header(header: dict[str, Any]) -> None:
    """Raise Damage if the header cannot be that of a model; parameters and numbers are checked by
    the algorithm."""
    HEADER_OF(header, HEADER)
    several = header.get("multiclass", "no") != "no"
    labels = [one for one in header["labels"] if one is not None]
    if several and len(labels) != len(header["labels"]):
        raise Damage("its labels have an entry that is no number")
    if len(set(labels)) < len(labels) or (not several and len(header["labels"]) != 2):
        raise Damage("its labels are not two, or not all different")
    if not several and "confusion" not in header:
        raise Damage("its header has no entry confusion")
    counts = header.get("class_weight", {}).get("counts", [])
    if len(counts) > max(2, len(labels)):
        raise Damage("its class_weight has more counts than there are classes")
    for number_, run in enumerate(header["history"]):
        missing = [name for name in _needed(run, several) if name not in run]
        if fitted := run.get("fitted"):
            missing += [f"fitted.{n}" for n in _metrics(fitted, several) if n not in fitted]
        if missing:
            raise Damage(f"its history.{number_} has no entry {missing[0]}")
        met = run.get("labels", header["labels"])
        if any(one not in (None, now) for one, now in zip(met, header["labels"], strict=False)):
            raise Damage(f"its labels are not those of its history.{number_}")
    of_class = zip(header["labels"], header.get("confusion", ()), strict=False)
    if labels and any(one is None and any(rows) for one, rows in of_class):
        raise Damage("its labels have none for a class that it has rows of")


def _needed(run: dict[str, Any], several: bool) -> tuple[str, ...]:
    """What a run must have besides, by what it has."""
    dealt = ("rounds",) if run.get("shards", 1) > 1 else ()
    if "merged" in run:
        return dealt
    return (*dealt, *_metrics(run, several))


def _metrics(found: dict[str, Any], several: bool) -> tuple[str, ...]:
    """The metrics that are shown besides the error."""
    if several or "macro_f1" in found:
        return "macro_f1", "balanced_error"
    return "auc", "precision", "recall", "f1"
