"""Model files as classifiers."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cwtool.data.rows import BIAS
from cwtool.errors import ModelError, UsageError
from cwtool.estimators import classes, classifiers
from cwtool.estimators.classifier import Classifier
from cwtool.model import Model
from cwtool.model.opening import unasked_work

CLASSIFIERS: dict[str, type[Classifier]] = {
    made.algorithm: made
    for made in vars(classifiers).values()
    if isinstance(made, type) and issubclass(made, Classifier) and "algorithm" in vars(made)
}


def load(path: str | os.PathLike[str], **given: Any) -> Classifier:
    """The classifier of a model file. Its parameters are those that the model was trained with,
    and `passes`, `random_state` and `n_jobs`, which a file does not keep, have their defaults.
    Parameters that are `given` must be those of the model. A model with settings that make learning
    very long, such as iterations=10000000, is continued by partial_fit only if they are given."""
    model = Model.load(Path(path))
    kind = CLASSIFIERS[model.algorithm.name]
    parameters = _parameters(model, kind)
    for name, value in given.items():
        if name not in parameters or parameters[name] != value:
            raise UsageError(f"{path} is not a model with `{name}={value}`")
    found = kind(**parameters)
    if asked := unasked_work(model, {kind.renamed.get(name, name) for name in given}):
        found._unasked = f"{asked}={getattr(model.algorithm.params, asked)}"
    found.model_, found._uncalibrated = model, []
    found.classes_ = classes.unpacked(model.labels, model.estimator.get("classes"))
    if len(found.classes_) == 0:
        raise ModelError(f"{path} has learned no rows, and has no classes", "train it first")
    ids, _ = model.index.ids_and_slots()
    needed = int(ids[ids != BIAS].max(initial=-1)) + 1
    found.n_features_in_ = max(needed, model.estimator.get("columns", 0))
    if needed > model.estimator.get("columns", 0):  # it was trained further by the command line
        model.estimator.pop("columns", None)
    return found


def _parameters(model: Model, kind: type[Classifier]) -> dict[str, Any]:
    own = {p: name for name, p in kind.renamed.items()}
    given = {own.get(p, p): value for p, value in asdict(model.algorithm.params).items()}
    common = {
        "fit_intercept": model.reading.bias,
        "multi_class": "auto" if model.several is None else model.several.mode,
        "threshold": model.operating_point.setting or None,
        "class_weight": _class_weight(model),
    }
    return given | {k: v for k, v in common.items() if k in kind().get_params()}


def _class_weight(model: Model) -> Any:
    weight = model.class_weight
    if not weight.given:
        return weight.setting or None
    found = classes.unpacked(model.labels, model.estimator.get("classes"))
    names = dict(zip(classes.numbers(found).tolist(), found.tolist(), strict=True))
    return {names[label]: value for label, value in weight.given.items() if label in names}
