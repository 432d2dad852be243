"""Whether models can be merged: the first thing in which they do not fit is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.errors import ModelError, UsageError
from cwtool.model import Model

WIDEST = 4.0  # between the row scales of two models


def merging_of(model: Model) -> Merging:
    """How models of this algorithm are merged; an error if they cannot be."""
    found = model.algorithm.merging
    if isinstance(found, Refusal):
        raise UsageError(
            f"models of {model.algorithm.name} cannot be merged: {found.reason}", found.instead
        )
    return found


def check(models: Sequence[Model], names: Sequence[str], base: Model | None, old: str) -> None:
    """Refuse models that cannot be merged with each other, or that do not continue the base
    `old`."""
    known = list(zip(models, names, strict=True))
    for model, name in [*known[1:], *([(base, old)] if base is not None else [])]:
        _same(known[0], (model, name))
    if len(models) > 1:
        merging_of(models[0])
    for model, name in known[1:]:
        _same_labels(known[0], (model, name))
        check_scale(models[0], model, names[0], name)
    if base is not None:
        check_scale(models[0], base, names[0], old)
        for model, name in known:
            if not continues(model, base):
                raise ModelError(
                    f"{name} does not continue {old}",
                    "give as `base` the model that all of them were resumed from",
                )
    _check_files(known, 0 if base is None else len(base.history), based=base is not None)


def _settings(model: Model) -> Iterator[tuple[str, Any]]:
    yield from asdict(model.algorithm.params).items()
    yield from model.reading.settings.items()
    yield "class_weight", model.class_weight.setting
    yield "multiclass", model.several.mode if model.several is not None else "no"


def _same(first: tuple[Model, str], other: tuple[Model, str]) -> None:
    """Refuse another algorithm, parameter or reading."""
    (a, one), (b, two) = first, other
    if a.algorithm.name != b.algorithm.name:
        raise ModelError(
            f"{one} is a model of {a.algorithm.name}, and {two} one of {b.algorithm.name}",
            "only models of one algorithm can be merged",
        )
    if a.reading.columns != b.reading.columns:
        raise ModelError(
            f"the columns of {one} and {two} have different means and scales",
            "train both from one model with `resume`, or in shards with `shards`",
        )
    for (name, mine), (_, theirs) in zip(_settings(a), _settings(b), strict=True):
        if mine != theirs:
            raise ModelError(
                f"{one} was trained {_with(name, mine)}, and {two} {_with(name, theirs)}",
                "only models with the same settings can be merged",
            )


def _with(name: str, value: Any) -> str:
    if value is False or value == "" or value is None:
        return f"without `{name}`"
    return f"with `{name}`" if value is True else f"with `{name}={value}`"


def _same_labels(first: tuple[Model, str], other: tuple[Model, str]) -> None:
    """Refuse different labels. With several classes the order of labels may differ, and a model may
    lack classes of another, but they must have one label in common."""
    (a, one), (b, two) = first, other
    if a.several is not None:
        same = not set(a.labels.values).isdisjoint(b.labels.values)
    else:
        pairs = zip(a.labels.values, b.labels.values, strict=True)
        same = all(x == y or x is None or y is None for x, y in pairs) or _both_rest(a, b)
        same &= bool(a.labels.rest) == bool(b.labels.rest)
    texts = [_texts(model) for model in (a, b)]
    if not same or texts[0] != texts[1]:
        names = [", ".join(texts[k] or m.labels.names) for k, m in enumerate((a, b))]
        raise ModelError(
            f"{one} has the labels {names[0]}, and {two} the labels {names[1]}",
            "only models with the same labels can be merged",
        )


def _texts(model: Model) -> list[str] | None:
    """The classes of a model of an estimator, if they are text: its labels are their numbers."""
    found = model.estimator.get("classes")
    return found if isinstance(found, list) else None


def _both_rest(a: Model, b: Model) -> bool:
    """Whether both have the same label against all others."""
    return bool(a.labels.rest and b.labels.rest) and a.labels.positive == b.labels.positive


def check_scale(a: Model, b: Model, one: str, two: str) -> None:
    unit = b.scale.value / a.scale.value
    if not 1 / WIDEST <= unit <= WIDEST:
        raise ModelError(
            f"{one} multiplies rows by {a.scale.value:.4g}, and {two} by {b.scale.value:.4g}; row "
            f"scales may differ by a factor of {WIDEST:g} at most",
            "train both with the same `prior`, or from one model with `resume`",
        )


def continues(model: Model, base: Model) -> bool:
    """Whether the model was resumed from the base: it has its history, and all that was counted."""
    if model.history[: len(base.history)] != base.history or model.rows < base.rows:
        return False
    if model.several is not None and model.calibration.rows < base.calibration.rows:
        return False
    before, after = _confusion(base), _confusion(model)
    size = len(before)
    if len(after) < size or (after[:size, :size] < before).any():
        return False
    if _fell(_numbers(base), _numbers(model)):
        return False
    settled = base.scale.seen[0] > 0 and base.scale.seen[0] == model.scale.seen[0]
    return not settled or bool(base.scale.seen[1] == model.scale.seen[1])


def _numbers(model: Model) -> dict[str, Any]:
    """All that the state counts, by name, or by class and name."""
    rounds = model.state.arrays.get("rounds", ())
    return model.state.pack_numbers() | {f"rounds.{k}": int(n) for k, n in enumerate(rounds)}


def _fell(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a count of the base is now less than before."""
    for name, count in before.items():
        now = after.get(name, count)
        if _fell(count, now) if isinstance(count, dict) else now < count:
            return True
    return False


def _confusion(model: Model) -> Any:
    progress: Any = model.progress
    return progress.confusion if model.several is None else progress.counts


def _check_files(known: list[tuple[Model, str]], skip: int, *, based: bool) -> None:
    """Refuse models that have learned the same file apart."""
    seen: dict[str, str] = {}
    hint = "each model must learn rows of its own" if based else (
        "give the model that both were resumed from as `base`, or leave one of them out"
    )  # fmt: skip
    for model, name in known:
        files = [f for run in model.history[skip:] for f in run["files"]]
        for f in files:
            if f["digest"] in seen:
                raise ModelError(f"{seen[f['digest']]} and {name} both learned {f['name']}", hint)
        seen |= {f["digest"]: name for f in files}
