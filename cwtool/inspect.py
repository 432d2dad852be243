"""The contents of a model for people and programs: settings, history, weights."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.algorithms.base import Describes, Linear, Ranks
from cwtool.data.parse import Reading
from cwtool.data.rows import BIAS
from cwtool.errors import UsageError
from cwtool.files import complete_text
from cwtool.metrics_text import metrics_line
from cwtool.model import Model


def external(model: Model, feature: int) -> str:
    """The id as it stands in the data."""
    if feature == BIAS:
        return "bias"
    return str(feature if model.reading.zero_based else feature + 1)


def measure(model: Model) -> str:
    """What a feature has in this model: a weight in a linear score, an importance, or nothing."""
    if isinstance(model.algorithm, Linear):
        return "weight"
    return "importance" if isinstance(model.algorithm, Ranks) else ""


def interactions(model: Model, names: dict[str, str]) -> list[dict[str, Any]]:
    """Products such as 12*40 with their importance, the greatest first."""
    if not isinstance(model.algorithm, Describes):
        return []
    shown = []
    for slots, importance in model.algorithm.interactions(model.state):
        factors = sorted(model.index.ids_of(slots).tolist())
        keys = [external(model, j) for j in factors]
        row: dict[str, Any] = {"interaction": "*".join(keys), "importance": importance}
        if any(key in names for key in keys):
            row["name"] = "*".join(names.get(key, key) for key in keys)
        shown.append(row)
    return sorted(shown, key=lambda row: -row["importance"])


def names_of(path: Path, reading: Reading) -> dict[str, str]:
    """id -> name from lines of id, tab, name."""
    if reading.hash_bits:
        raise UsageError(
            "feature names belong to ids, and `hash_bits` has folded the ids of this model",
            "leave out the names",
        )
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as failure:
        raise UsageError(f"{path}: {failure.strerror}") from None
    except UnicodeDecodeError as failure:
        raise UsageError(f"{path}: {failure}", "names are UTF-8 text") from None
    names = {}
    for number, line in enumerate(lines, 1):
        key, tab, name = line.partition("\t")
        if line.strip() and not tab:
            raise UsageError(f"{path}:{number}: expected id, tab, name")
        names[key.strip()] = name.strip()
    return names


def describe(model: Model, top: int, names: dict[str, str]) -> dict[str, Any]:
    """All that inspect shows, ready for JSON."""
    ids, weight, variance, intercept = model.weights()
    kind = measure(model)
    nonzero = np.flatnonzero(weight)
    largest = nonzero[np.argsort(-np.abs(weight[nonzero]), kind="stable")][:top]
    shown = []
    for k in largest.tolist():
        key = external(model, int(ids[k]))
        row = {"feature": key, kind: float(weight[k])}
        if variance is not None:
            row["variance"] = float(variance[k])
        if key in names:
            row["name"] = names[key]
        shown.append(row)
    return {
        "cwtool": model.version,
        "algorithm": model.algorithm.name,
        "params": asdict(model.algorithm.params),
        "reading": asdict(model.reading),
        "labels": {"negative": model.labels.name(0), "positive": model.labels.name(1)},
        **({"class_weight": model.class_weight.setting} if model.class_weight else {}),
        "rows": model.rows,
        "features": model.index.count,
        "measure": kind,
        "nonzero_weights": len(nonzero),
        "intercept": intercept,
        "row_scale": model.scale.value,
        **details(model),
        "calibration": model.slope,
        "progressive": model.progress.summary(),
        "history": model.history,
        "top": shown,
        "interactions": interactions(model, names)[:top],
    }


def details(model: Model) -> dict[str, Any]:
    """What the algorithm shows besides, if anything."""
    if isinstance(model.algorithm, Describes):
        return model.algorithm.details(model.state)
    return {}


def text(found: dict[str, Any]) -> str:
    """The description for people."""
    params = "  ".join(f"{k}={v}" for k, v in found["params"].items())
    reading = "  ".join(f"{k}={v}" for k, v in found["reading"].items() if v and v != "none")
    measure = found["measure"]
    known = f", {found['nonzero_weights']:,} with {_article(measure)}" if measure else ""
    lines = [
        f"algorithm    {found['algorithm']}  {params}",
        f"reading      {reading or 'as it is'}",
        f"classes      {found['labels']['negative']}, {found['labels']['positive']} (positive)",
        *([f"weights      {found['class_weight']}"] if "class_weight" in found else []),
        f"rows         {found['rows']:,}",
        f"features     {found['features']:,} seen{known}",
        *([f"intercept    {found['intercept']:.6g}"] if found["intercept"] else []),
        f"row scale    {found['row_scale']:.6g}",
        *_spectrum(found),
        *_metric(found),
        *_posterior(found),
        f"probability  sigmoid({found['calibration']:.6g} * score / sqrt(1 + variance))",
        f"progressive  {metrics_line(found['progressive'])}",
        "history",
    ]
    for number, run in enumerate(found["history"], 1):
        files = ", ".join(f["name"] for f in run["files"])
        lines.append(
            f"  {number}. {files}: {run['rows']:,} rows, {run['passes']} pass"
            f"{'es' if run['passes'] > 1 else ''}, {metrics_line(run)}"
        )
    if found["top"]:
        lines.append(f"{'feature':>12}  {measure:>12}  {'variance':>12}  name")
    for row in found["top"]:
        variance = f"{row['variance']:.6g}" if "variance" in row else "-"
        lines.append(
            f"{row['feature']:>12}  {row[measure]:>12.6g}  {variance:>12}  "
            f"{row.get('name', '')}".rstrip()
        )
    if found["interactions"]:
        lines.append(f"{'interaction':>12}  {'importance':>12}  name")
    for row in found["interactions"]:
        lines.append(
            f"{row['interaction']:>12}  {row['importance']:>12.6g}  {row.get('name', '')}".rstrip()
        )
    return "\n".join(lines)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _metric(found: dict[str, Any]) -> list[str]:
    """Of a learned metric W = L'L."""
    if "rank" not in found:
        return []
    return [
        f"metric       {found['terms']} terms of {found['steps']} steps, rank {found['rank']}, "
        f"{found['support']} columns, scale {found['scaling']}"
    ]


def _posterior(found: dict[str, Any]) -> list[str]:
    """Of chains that sample Fourier features."""
    if "samples" not in found:
        return []
    loglik = " ".join(f"{v:.1f}" for v in found["loglik_of_chains"])
    return [
        f"posterior    {found['samples']} samples with {found['fourier_features']:.1f} Fourier "
        f"features; log-likelihood of the chains {loglik}"
    ]


def _spectrum(found: dict[str, Any]) -> list[str]:
    """How far the directions of a factored covariance stand out, those above 1 % of the first."""
    if "spectrum" not in found:
        return []
    values = found["spectrum"]
    shown = " ".join(f"{v:.3g}" for v in values if v >= 0.01 * values[0])
    return [
        f"updated      {found['updated_features']:,} features",
        f"spectrum     {shown or '-'}",
    ]


def write_weights(model: Model, path: Path, sources: list[Path]) -> None:
    """Id, weight and variance of every weight that is not zero, tab-separated, as exact as they
    are; a line `intercept` where the model has one. `sources` are the files that were read."""
    if not isinstance(model.algorithm, Linear):
        shown = "; inspect shows importances" if isinstance(model.algorithm, Ranks) else ""
        raise UsageError(
            f"{model.algorithm.name} is no linear model and has no weights",
            f"leave out `weights`{shown}",
        )
    ids, weight, variance, intercept = model.weights()
    nonzero = np.flatnonzero(weight)
    spread = np.full(len(weight), np.nan) if variance is None else variance
    columns = (ids[nonzero].tolist(), weight[nonzero].tolist(), spread[nonzero].tolist())
    with nullcontext(sys.stdout) if str(path) == "-" else complete_text(path, sources) as out:
        out.writelines(
            f"{external(model, j)}\t{w!r}\t{v!r}\n" for j, w, v in zip(*columns, strict=True)
        )
        if intercept:
            out.write(f"intercept\t{intercept!r}\tnan\n")
