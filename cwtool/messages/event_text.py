"""The events of commands as lines of text, for people; JSON has them whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cwtool.memory import words
from cwtool.messages.metrics_text import (
    evaluated,
    measured,
    metrics_line,
    number,
    percent,
)

VALUE = 6  # characters of a parameter of tune, as in 0.0195
COMPARED: dict[str, tuple[str, Callable[[float | None], str]]] = {  # metrics of tune
    "error": ("error", percent), "auc": ("AUC about", number), "f1": ("F1", number),
    "macro_f1": ("macro F1", number), "log_loss": ("log loss", number),
    "balanced_error": ("balanced error", percent),
}  # fmt: skip


def _file(e: dict[str, Any]) -> str:
    return f"{e['file']}  {e['rows']:,} rows  {measured(e)}"


def _batch(e: dict[str, Any]) -> str:
    return f"{e['file']}  batch of {e['rows']:,} rows  progressive {metrics_line(e)}"


def _pass(e: dict[str, Any]) -> str:
    weights = f"{e['nonzero_weights']:,} weights"
    return f"pass {e['pass']}  error {percent(e['error'])} while learning  {weights}"


def _trace(e: dict[str, Any]) -> str:
    checked = f"  validation {percent(e['validation_error'])}" if "validation_error" in e else ""
    return (
        f"pass {e['pass']}  {e['rows']:,} rows  error {percent(e['error'])}{checked}  "
        f"{e['nonzero_weights']:,} weights"
    )


def _validation(e: dict[str, Any]) -> str:
    when = f"pass {e['pass']}  validation" if "pass" in e else "rows of other days, after learning "
    return f"{when} {metrics_line(e)}"


def _train(e: dict[str, Any]) -> str:
    best = f"  best pass {e['best_pass']} of {e['passes']}" if "best_pass" in e else ""
    speed = e["rows_per_second"] or 0
    return (
        f"{e['algo']}  {e['rows']:,} rows  {measured(e)}  "
        f"{speed:,.0f} rows/s  features {e['features']:,}{best}\n"
        f"{_at_threshold(e)}"
        f"wrote {e['model']} ({words(e['bytes'])})"
    )


def _at_threshold(e: dict[str, Any]) -> str:
    if "at_threshold" not in e:
        return ""
    point = e["operating_point"]
    how = "" if point == repr(e["threshold"]) else f" ({point})"
    return f"at the threshold {e['threshold']:.6g}{how}  {metrics_line(e['at_threshold'])}\n"


def _merge(e: dict[str, Any]) -> str:
    base = f" from {e['base']}" if "base" in e else ""
    tail = ""
    if "tail_error" in e:
        tail = f"  tail {e['tail_rows']:,} rows, error {percent(e['tail_error'])} before learning"
    rule, n = f" by {e['chosen']}" if e["chosen"] else "", len(e["merged"])
    return (
        f"{e['algo']}  {n} model{'s' if n > 1 else ''} merged{base}{rule}{tail}\n"
        f"{e['rows']:,} rows  features {e['features']:,}\n"
        f"wrote {e['model']} ({words(e['bytes'])})"
    )


def _select(e: dict[str, Any]) -> str:
    stable = f"  stability {number(e['stability'])}" if "stability" in e else ""
    own = f"class {e['class']}  " if "class" in e else ""
    tested = ""
    if e["test_error"] is not None:
        tested = (
            f"test error {percent(e['test_error'])}{_compared(e.get('test_metrics', {}))}  "
            f"refit {percent(e['refit_error'])}  "
        )
    return (
        f"{own}{e['algo']}  {len(e['selected']):,} features  {tested}{e['seconds']:.3f} s{stable}"
    )


def _compared(metrics: dict[str, Any]) -> str:
    """The metrics beside the error that selections are compared by."""
    names = {"auc": "AUC", "f1": "F1", "macro_f1": "macro F1"}
    shown = [f"  {name} {number(metrics[key])}" for key, name in names.items() if key in metrics]
    if "balanced_error" in metrics:
        shown.append(f"  balanced error {percent(metrics['balanced_error'])}")
    return "".join(shown)


def _settings(params: dict[str, Any], width: int = 0) -> str:
    """The parameters; `width` aligns the values of several lines."""
    return "  ".join(f"{name} {value!s:<{width}}" for name, value in params.items())


def _point(e: dict[str, Any]) -> str:
    rung = f"rung {e['rung']}  {e['rows']:,} rows  " if "rung" in e else ""
    if "failure" in e:
        return f"{rung}{_settings(e['params'], VALUE)}  failed: {e['failure']}"
    shown = []
    for key, (name, form) in COMPARED.items():
        if key in e:
            sd = e[f"{key}_sd"] if key == e["metric"] else None
            shown.append(f"{name} {form(e[key])}" + ("" if sd is None else f" ± {form(sd)}"))
    return rung + "  ".join([_settings(e["params"], VALUE), *shown])


def _winner(e: dict[str, Any]) -> str:
    chosen = _settings({name: value for name, value in e["params"].items() if name != "algo"})
    return f"best {e['metric']}: {e['algo']}" + (f" with {chosen}" if chosen else "")


def _feed(e: dict[str, Any]) -> str:
    files = ", ".join(f["name"] for f in e["files"])
    return (
        f"{files}  learned {e['rows']:,} rows  progressive {metrics_line(e)}  "
        f"features {e['features']:,}  {words(e['bytes'])}"
    )


def _evaluate(e: dict[str, Any]) -> str:
    return f"{e['file']}  before learning {evaluated(e)}" if "day" in e else evaluated(e)


def _undo(e: dict[str, Any]) -> str:
    names = ", ".join(
        f["name"] + (f" of {f['time'][:10]}" if f["time"] else "") for f in e["forgotten"]
    )
    return (
        f"the model before the last day is back; it has learned {e['rows']:,} rows"
        f"{', and not ' if names else ''}{names}\n"
        f"the model that it replaced is kept as {e['undone']}"
    )


def _round(e: dict[str, Any]) -> str:
    if "step" in e:
        return (
            f"round {e['round']}  {e['shards']:,} shards  {e['step']}  {words(e['bytes'])}  "
            f"{e['seconds']['tasks']:.2f} s"
        )
    tails = "" if e["tail_error"] is None else f"  error {percent(e['tail_error'])} on the tails"
    spent = e["seconds"]
    return (
        f"round {e['round']}  {e['shards']:,} shard{'s' if e['shards'] > 1 else ''}  "
        f"{e['rows']:,} rows  merged by {e['chosen']}{tails}  {words(e['bytes'])}  "
        f"{spent['tasks']:.2f} s and {spent['merge']:.2f} s to merge"
    )


TEXT: dict[str, Callable[[dict[str, Any]], str]] = {
    "file": _file,
    "batch": _batch,
    "pass": _pass,
    "trace": _trace,
    "validation": _validation,
    "round": _round,
    "train": _train,
    "merge": _merge,
    "evaluate": _evaluate,
    "feed": _feed,
    "undo": _undo,
    "select": _select,
    "point": _point,
    "winner": _winner,
}
