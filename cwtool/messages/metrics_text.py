"""Metrics for people: in one line, and as tables of the classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

WHOLE = 20  # classes up to which the tables show all of them
FEW = 10  # lines of the tables of more classes


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def number(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def about(auc: float | None) -> str:
    """An AUC that was computed from a histogram of the scores, with the word about."""
    return f"AUC {'-' if auc is None else f'about {number(auc)}'}"


def metrics_line(m: dict[str, Any]) -> str:
    """error 2.41 %  AUC 0.9950  precision 0.9510  recall 0.9680  F1 0.9594, and of several classes
    error 2.41 %  macro F1 0.9402  balanced error 4.11 %. An AUC of a histogram of scores is called
    about 0.9950; where the score of every row was kept, `auc_about` is that of the histogram."""
    parts = [f"error {percent(m['error'])}"]
    if "macro_f1" in m:
        parts += [f"macro F1 {number(m['macro_f1'])}"]
        return "  ".join([*parts, f"balanced error {percent(m['balanced_error'])}"])
    parts += [f"AUC {number(m['auc'])}" if "auc_about" in m else about(m["auc"])]
    parts += [f"{k} {number(m[k])}" for k in ("precision", "recall")]
    return "  ".join([*parts, f"F1 {number(m['f1'])}"])


def all_fitted(run: dict[str, Any]) -> bool:
    """Whether all rows of a run were a first batch, which there was no model to predict."""
    return "fitted" in run and run["fitted"]["rows"] == run["rows"]


def measured(run: dict[str, Any]) -> str:
    """The metrics of a run before learning, or of a first batch once it was learned."""
    if all_fitted(run):
        return f"on the learned rows {metrics_line(run['fitted'])}"
    return f"progressive {metrics_line(run)}"


def evaluated(e: dict[str, Any]) -> str:
    """The metrics of predictions, with more lines about the classes."""
    weight = f" of the total weight {e['weight']:,.6g}" if "weight" in e else ""
    quality = f"log loss {number(e['log_loss'])}  ECE {percent(e['ece'])}"
    if "macro_f1" in e:
        return "\n".join(
            [
                f"{metrics_line(e)}  weighted F1 {number(e['weighted_f1'])}  {quality}",
                f"{e['rows']:,} rows{weight}, {len(e['classes']):,} classes{_strangers(e)}",
                *class_tables(e),
            ]
        )
    c = e["confusion"]
    return (
        f"{metrics_line(e)}  AP {number(e['average_precision'])}  {quality}\n"
        f"{e['rows']:,} rows{weight}, {percent(e['base_rate'])} positive ({e['positive']}); "
        f"TP {c['tp']:,}  FP {c['fp']:,}  TN {c['tn']:,}  FN {c['fn']:,}"
        + (f"  threshold {e['threshold']:.6g}" if "threshold" in e else "")
        + _ranked(e)
    )


def _ranked(e: dict[str, Any]) -> str:
    """What was measured with the score of every row."""
    if "brier" not in e:
        return ""
    recall = "  ".join(
        f"recall {number(r)} at {100 * float(rate):g} % FPR"
        for rate, r in e["recall_at_fpr"].items()
    )
    tops = "".join(f"  precision at {k} {number(p)}" for k, p in e["precision_at"].items())
    return f"\n{recall}  Brier {number(e['brier'])}{tops}"


def _strangers(e: dict[str, Any]) -> str:
    n = e["new_class_rows"]
    if n == 0:
        return ""
    one = "row has a label" if n == 1 else "rows have labels"
    return f"; {n:,} {one} that the model has not learned"


def class_tables(m: dict[str, Any]) -> Iterator[str]:
    """Precision, recall and F1 by class, and the confusion matrix. Of more than 20 classes, those
    with the lowest F1 and the pairs that are confused most often."""
    classes = m["per_class"]
    if len(classes) <= WHOLE:
        yield from ("", *_by_class(classes, "weight" in m))
        yield from ("", "actual classes in rows, predicted classes in columns", *_matrix(m))
        return
    there = [one for one in classes if one["support"]]
    worst = sorted(there, key=lambda one: float(one["f1"]))[:FEW]
    yield from ("", "classes with the lowest F1", *_by_class(worst, "weight" in m))
    pairs = _confusions(m)[:FEW]
    if pairs:
        yield from ("", "most frequent confusions, actual class -> predicted class")
    for n, actual, said in pairs:
        yield f"{actual} -> {said}: {n:,} row{'s' if n > 1 else ''}"


def _by_class(classes: Sequence[dict[str, Any]], weighted: bool) -> Iterator[str]:
    form = ",.6g" if weighted else ","
    lines = []
    for one in classes:
        met = one["support"] or one["precision"] is not None  # actual or predicted rows
        ratios = one["precision"], one["recall"], one["f1"] if met else None
        lines.append([one["label"], *map(number, ratios), format(one["support"], form)])
    heads = ["class", "precision", "recall", "F1", "weight" if weighted else "rows"]
    return aligned([heads, *lines])


def _matrix(m: dict[str, Any]) -> Iterator[str]:
    names, counts = list(m["classes"]), [list(line) for line in m["confusion"]]
    heads = ["", *names]
    if "other" in m:
        names.append("other")
        counts.append(list(m["other"]))
    if "unpredicted" in m:
        heads.append("none")
        counts = [[*line, n] for line, n in zip(counts, m["unpredicted"], strict=True)]
    lines = [[name, *(f"{n:,}" for n in c)] for name, c in zip(names, counts, strict=True)]
    return aligned([heads, *lines])


def _confusions(m: dict[str, Any]) -> list[tuple[int, str, str]]:
    """Number of rows, actual and predicted class, the most frequent first."""
    names, counts = [*m["classes"], "other"], [*m["confusion"], m.get("other", [])]
    found = [
        (n, actual, said)
        for actual, line in zip(names, counts, strict=True)
        for said, n in zip(m["classes"], line, strict=False)
        if n and actual != said
    ]
    return sorted(found, key=lambda pair: -pair[0])


def aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of texts as columns that end below each other."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(text.rjust(n) for text, n in zip(line, widths, strict=True))
