"""The description of a model as text, as `inspect` prints it."""

from __future__ import annotations

from typing import Any

from cwtool.messages.metrics_text import all_fitted, measured, metrics_line, percent

LABELS = 20  # labels of classes that are listed


def text(found: dict[str, Any]) -> str:
    """The description of a model as text."""
    params = "  ".join(f"{k}={v}" for k, v in found["params"].items())
    reading = "  ".join(f"{k}={v}" for k, v in found["reading"].items() if v and v != "none")
    measure = found["measure"]
    lines = [
        f"algorithm    {found['algorithm']}  {params}",
        f"reading      {reading or 'rows as in the files'}",
        *_classes(found),
        *([f"weights      {found['class_weight']}"] if "class_weight" in found else []),
        *([f"threshold    {_point(found)}"] if "threshold" in found else []),
        f"rows         {found['rows']:,}",
        f"features     {found['features']:,} seen{_known(found)}",
        *_intercept(found["intercept"]),
        f"row scale    {found['row_scale']:.6g}",
        *_spectrum(found),
        *_metric(found),
        *_posterior(found),
        f"probability  {'softmax' if 'multiclass' in found else 'sigmoid'}({_exponent(found)})",
        *_by_class("offsets", found.get("calibration_offsets", {})),
        f"progressive  {_progressive(found)}",
        *(["history"] if found["history"] else []),
    ]
    lines += [f"  {number}. {_run(run)}" for number, run in enumerate(found["history"], 1)]
    lines += _top(found["top"], measure)
    if found["interactions"]:
        names = _name(found["interactions"])
        lines.append(f"{'interaction':>12}  {'importance':>12}{names}")
    for row in found["interactions"]:
        lines.append(
            f"{row['interaction']:>12}  {row['importance']:>12.6g}  {row.get('name', '')}".rstrip()
        )
    return "\n".join(lines)


def _progressive(found: dict[str, Any]) -> str:
    """The metrics of predictions before learning, unless all rows are of a first batch."""
    if found["history"] and all(map(all_fitted, found["history"])):
        return "not measured, because there was no model before the first batch was learned"
    return metrics_line(found["progressive"])


def _run(run: dict[str, Any]) -> str:
    """A run of the history."""
    files = ", ".join(f["name"] for f in run["files"])
    if "merged" in run:
        return _merged(run, files)
    return (
        f"{_date(run)}{files}: {run['rows']:,} rows, {run['passes']} pass"
        f"{'es' if run['passes'] > 1 else ''}, {measured(run)}{_shards(run)}"
    )


def _merged(run: dict[str, Any], files: str) -> str:
    """A merge of models, which chose its rule on the rows of files, if there were any."""
    models = ", ".join(f"{m['name']} ({m['rows']:,} rows)" for m in run["merged"])
    base = f" from {run['base']}" if "base" in run else ""
    rule = f" by {run['chosen']}" if run["chosen"] else ""
    tail = ""
    if files:
        error = percent(run.get("tail_error"))
        tail = f"; {files}: {run['rows']:,} rows, error {error} before learning"
    return f"merged {models}{base}{rule}{tail}"


def _shards(run: dict[str, Any]) -> str:
    """How the rows of a run were divided among shards; empty without shards."""
    if run.get("shards", 1) == 1:
        return ""
    chosen = f" (merged by {', '.join(run['chosen'])})" if run.get("chosen") else ""
    plural = "" if run["rounds"] == 1 else "s"
    sent = f", {run['bytes_sent']:,} bytes sent" if "bytes_sent" in run else ""
    return f", {run['shards']} shards in {run['rounds']} round{plural}{chosen}{sent}"


def _date(run: dict[str, Any]) -> str:
    """The day of a run; runs of version 0.1 have none."""
    return f"{run['time'][:10]}  " if "time" in run else ""


def _exponent(found: dict[str, Any]) -> str:
    """What the probability of a row is the sigmoid or softmax of."""
    offset = found.get("calibration_offset", 0.0)
    shift = f" {'-' if offset < 0 else '+'} {abs(offset):.6g}" if offset else ""
    if "calibration_offsets" in found:
        shift = " + offset of the class"
    spread = " / sqrt(1 + variance)" if found["calibration_by_variance"] else ""
    z, k = f"score{spread}", found.get("calibration_bend", 0.0)
    g = f"asinh({k:.6g} * {z}) / {k:.6g}" if k else z
    return f"{found['calibration']:.6g} * {g}{shift}"


def _point(found: dict[str, Any]) -> str:
    value = found["threshold"]
    named = found["operating_point"] != repr(value)
    return f"{value:.6g}" + (f" ({found['operating_point']})" if named else "")


def _classes(found: dict[str, Any]) -> list[str]:
    labels = found["labels"]
    if "multiclass" not in found:
        return [f"classes      {labels['negative']}, {labels['positive']} (positive)"]
    more = f" and {len(labels) - LABELS:,} more" if len(labels) > LABELS else ""
    return [
        f"classes      {', '.join(labels[:LABELS])}{more}",
        f"multiclass   {found['multiclass']}",
        *([f"class        {found['class']}, whose weights are shown"] if "class" in found else []),
    ]


def _known(found: dict[str, Any]) -> str:
    """How many features have a weight; of several classes how many weights there are."""
    n, measure = found["nonzero_weights"], found["measure"]
    if not measure:
        return ""
    if "multiclass" in found and "class" not in found:
        return f", {n:,} {measure}s in {len(found['labels']):,} classes"
    return f", {n:,} with {_article(measure)}"


def _intercept(intercept: float | dict[str, float]) -> list[str]:
    if isinstance(intercept, dict):
        return _by_class("intercept", intercept)
    return [f"intercept    {intercept:.6g}"] if intercept else []


def _by_class(name: str, numbers: dict[str, float]) -> list[str]:
    """The numbers of the classes that are not 0."""
    shown = "  ".join(f"{label}: {w:.6g}" for label, w in numbers.items() if w)
    return [f"{name:<13}{shown}"] if shown else []


def _top(rows: list[dict[str, Any]], measure: str) -> list[str]:
    """The features with the largest weights, of several classes each with its largest one."""
    if not rows:
        return []
    if "sum" not in rows[0]:
        lines = [f"{'feature':>12}  {measure:>12}  {'variance':>12}{_name(rows)}"]
        for row in rows:
            spread = f"{row['variance']:.6g}" if "variance" in row else "-"
            shown = f"{row['feature']:>12}  {row[measure]:>12.6g}  {spread:>12}"
            lines.append(f"{shown}  {row.get('name', '')}".rstrip())
        return lines
    heads = f"{f'sum of |{measure}|':>19}  {'largest':>12}  {'of class':>12}"
    lines = [f"{'feature':>12}  {heads}{_name(rows)}"]
    for row in rows:
        label, largest = max(row[measure].items(), key=lambda pair: abs(pair[1]))
        shown = f"{row['feature']:>12}  {row['sum']:>19.6g}  {largest:>12.6g}  {label:>12}"
        lines.append(f"{shown}  {row.get('name', '')}".rstrip())
    return lines


def _name(rows: list[dict[str, Any]]) -> str:
    """The head of the column of names, if there are any."""
    return "  name" if any("name" in row for row in rows) else ""


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _metric(found: dict[str, Any]) -> list[str]:
    """The lines about a learned metric W = L'L (sdist)."""
    if "rank" not in found:
        return []
    return [
        f"metric       {found['terms']} terms of {found['steps']} steps, rank {found['rank']}, "
        f"{found['support']} columns, scale {found['scaling']}, engine {found['engine']}, "
        f"order {found['order']}, {found['votes']} votes"
    ]


def _posterior(found: dict[str, Any]) -> list[str]:
    """The lines about chains that sample Fourier features (rff-markov)."""
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
