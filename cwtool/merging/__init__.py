"""Merging: one model from several that learned different rows.

All models started from one base, or from nothing. Their states are merged in one step, in the given
order, by one of the rules of the algorithm; rows that no model has learned, the tail, choose the
rule and are then learned by the merged model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, field, replace

import numpy as np

from cwtool.algorithms.merging.base import Merger, Merging, Rule
from cwtool.algorithms.merging.merged_classes import Source, merger_of, new_state
from cwtool.algorithms.merging.merged_columns import union
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.merging import counts, fitting
from cwtool.merging.choice import choose
from cwtool.model import Model
from cwtool.model.packing import is_partial, reindex
from cwtool.records import dataclass
from cwtool.run import Run

Tail = Callable[[Labels], Iterable[Rows]]  # rows, with class numbers by these labels


@dataclass
class Merged:
    """The result of a merge: the model, the rule that was chosen, and the errors of all rules."""

    model: Model
    chosen: str  # the name of the rule
    losses: dict[str, float] = field(default_factory=dict)  # on the tail, of each rule tried
    tail_error: float | None = None  # of the merged model before it learned the tail


def merge(
    models: Sequence[Model],
    base: Model | None = None,
    tail: Tail | None = None,
    *,
    names: Sequence[str] = (),
    old: str = "the base",
    run: Run | None = None,
    learn: Callable[[Model, Rows], object] | None = None,
) -> Merged:
    """The merge of the models, in their order. They continue `base`, or nothing. `tail` gives rows
    that none has learned, to choose the rule by and to learn at the end; `learn` learns them, by
    default `Model.learn`. One model is merged to itself. `names` and `old` are those of the models
    and of the base in messages.

    The history of the merge is that of the base and what each model has added to it. A model may
    leave out features whose columns are, in bits, those of the base: see merging/changes.py."""
    run = run or Run()
    names = names or [f"model {k}" for k in range(1, len(models) + 1)]
    fitting.check(models, names, base, old)
    one = _alone(models[0], base, run) if len(models) == 1 else frame(models, base)
    rows = [some for some in (tail(one.labels) if tail else ()) if some.n_rows]
    merging = one.algorithm.merging
    found = Merged(one, merging.with_base.name if isinstance(merging, Merging) else "")
    if len(models) > 1:
        with np.errstate(over="ignore", invalid="ignore"):  # found when the model is packed
            found = _merged(one, models, base, rows, run)
    if rows:
        tally = found.model.new_tally()
        for some in rows:
            tally.add(some.y, found.model.scores(some, run).score, some.weight)
        found.tail_error = tally.error
        for some in rows:
            if learn is None:
                found.model.learn(some, run)
            else:
                learn(found.model, some)
    if run.calibrate:
        found.model.calibrate()
    return found


def _alone(model: Model, base: Model | None, run: Run) -> Model:
    """The result of merging a single model: the model, with the features of the base that its file
    may have left out."""
    found, merging = model.copy(), model.algorithm.merging
    if base is not None and is_partial(model) and isinstance(merging, Merging):
        found.state = new_state(model.learner, model.labels.several)
        found.index = found.state.index
        _merger(found, [model], base).put(found.state, merging.with_base, run)
    return found


def _merged(
    model: Model, models: Sequence[Model], base: Model | None, tail: Sequence[Rows], run: Run
) -> Merged:
    """Fill a new model with the merge."""
    merging = fitting.merging_of(model)
    every = models if base is None else (base, *models)
    reindex(
        model, min((m.index.direct for m in every if m.index.direct), default=model.index.direct)
    )
    merger = _merger(model, models, base)
    rule = merging.without_base if base is None else merging.with_base
    losses: dict[str, float] = {}
    if tail and len(merging.rules) > 1:
        only = union([rows.indices for rows in tail])

        def candidate(rule: Rule) -> Model:
            state = new_state(model.learner, model.labels.several, small=True)
            merger.put(state, rule, run, only)
            return replace(model, state=state, index=state.index)

        rule, found = choose(merging.rules, candidate, tail, run.jobs)
        losses = {one.name: loss for one, loss in zip(merging.rules, found, strict=True)}
    merger.put(model.state, rule, run)
    model.state.reserve()
    counts.put(model, models, base)
    skip = 0 if base is None else len(base.history)
    model.history = [] if base is None else list(base.history)
    model.history += [run for one in models for run in one.history[skip:]]
    return Merged(model, rule.name, losses)


def frame(models: Sequence[Model], base: Model | None) -> Model:
    """An untrained model with the settings, labels and row scale of the merge: those of the first
    model. Classes that only a later one has come after its own."""
    first = models[0]
    every = [*([base] if base is not None else []), *models]
    labels = Labels(
        multiclass=first.several.mode if first.several is not None else first.labels.multiclass
    )
    if first.several is None:
        for one in every:
            labels.negative = one.labels.negative if labels.negative is None else labels.negative
            labels.positive = one.labels.positive if labels.positive is None else labels.positive
            labels.rest = max(labels.rest, one.labels.rest)
        if len({one.labels.negative for one in every}) > 1 and labels.rest:
            labels.rest = 2
    else:
        labels.several = list(dict.fromkeys(x for m in every for x in m.labels.several or []))
    model = Model.new(
        first.algorithm.name,
        asdict(first.algorithm.params),
        first.reading,
        class_weight=first.class_weight.setting,
        threshold=first.operating_point.setting,
        labels=labels,
    )
    model.settle()
    model.scale.seen[:] = first.scale.seen
    if all(one.estimator == first.estimator for one in models):
        model.estimator = first.estimator
    return model


def _merger(model: Model, models: Sequence[Model], base: Model | None) -> Merger:
    """The merge of the states; without a base they have started from an untrained one."""

    def source(one: Model) -> Source:
        one.learner.finish(one.state)
        return Source(one.state, one.scale.value / model.scale.value)

    labels = model.labels.several
    start = source(base) if base is not None else Source(new_state(model.learner, labels))
    return merger_of(model.learner, labels or [], start, [source(m) for m in models])
