"""The merge of several classes: class by class, all by one rule. Classes are known by their labels,
so that their order may differ between the parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cwtool.algorithms.base import Algorithm
from cwtool.algorithms.merging.base import Merger, Merging, Part, Rule
from cwtool.algorithms.multiclass.base import Several
from cwtool.algorithms.multiclass.one_vs_rest import OneVsRest, States
from cwtool.algorithms.multiclass.side_by_side import SideBySide
from cwtool.algorithms.multiclass.votes import Votes
from cwtool.data.rows import Ints
from cwtool.run import Run
from cwtool.state import FeatureIndex, State

NONE = -1  # a class that a state does not have


class Source:
    """A state with its row scale divided by that of the merge."""

    def __init__(self, state: State, unit: float = 1.0) -> None:
        self.state, self.unit = state, unit
        self._numbers = {label: k for k, label in enumerate(state.labels.tolist())}

    def number(self, label: float) -> int:
        """The number of the class with this label, or NONE."""
        return self._numbers.get(label, NONE)


def new_state(
    learner: Algorithm | Several, labels: list[float] | None, *, small: bool = False
) -> State:
    """An untrained state for the classes with these labels; None: two classes. A `small` one takes
    memory only for the features that it has, and more time to find them."""
    state = learner.new_state(FeatureIndex(0) if small else None)
    if labels is not None:
        state.admit(labels)
    return state


def merger_of(
    learner: Algorithm | Several, labels: Sequence[float], base: Source, parts: Sequence[Source]
) -> Merger:
    """The merge of these states of a learner; with several classes `labels` are those of the merge,
    by class number."""
    algorithm = learner.base if isinstance(learner, Several) else learner
    merging = algorithm.merging
    assert isinstance(merging, Merging)
    if isinstance(learner, OneVsRest):
        return OneVsRestMerger(algorithm, labels, base, parts)
    places = partial(_places, learner, labels, parts)
    made = [Part(one.state, one.unit, places(one)) for one in (base, *parts)]
    return merging.kind(algorithm, made[0], made[1:])


def _places(
    learner: Algorithm | Several, labels: Sequence[float], parts: Sequence[Source], one: Source
) -> list[int]:
    """By place of the merge, that of this state. For votes these are the class numbers."""
    if isinstance(learner, Votes):
        return [one.number(label) for label in labels]
    if not isinstance(learner, SideBySide):
        return [0]
    ghosts = list(range(learner.ghosts))
    return ghosts + [_place(learner.ghosts, label, parts, one) for label in labels]


def _place(ghosts: int, label: float, parts: Sequence[Source], one: Source) -> int:
    """The column of a class in a part. For a class that only other parts have learned it is 0, the
    column of the ghost."""
    found = _born(one, ghosts, label)
    if found == NONE and ghosts and any(_born(part, ghosts, label) != NONE for part in parts):
        return 0
    return found


def _born(one: Source, ghosts: int, label: float) -> int:
    """The column in the table of weights of the class with this label, or NONE if the model has
    learned no row of that class."""
    number, rounds = one.number(label), one.state.arrays["rounds"]
    place = ghosts + number
    return place if number != NONE and place < len(rounds) and rounds[place] else NONE


class OneVsRestMerger(Merger):
    """One merge for the ghost and one for each class. A part that has no row of a class contributes
    its ghost instead."""

    def __init__(
        self,
        algorithm: Algorithm,
        labels: Sequence[float],
        base: Source,
        parts: Sequence[Source],
    ) -> None:
        merging = algorithm.merging
        assert isinstance(merging, Merging)
        self.algorithm = algorithm

        def merger(label: float | None) -> Merger:
            made = [Part(_state(one, label) or _ghost(one), one.unit) for one in (base, *parts)]
            return merging.kind(algorithm, made[0], made[1:])

        come = [any(_state(one, label) for one in (base, *parts)) for label in labels]
        self.ghost = merger(None)
        self.classes = [merger(label) if c else None for label, c in zip(labels, come, strict=True)]

    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        assert isinstance(state, States)
        self.ghost.put(state.ghost, rule, run, only)
        for k, merger in enumerate(self.classes):
            if merger is not None:
                state.parts[k] = own = self.algorithm.new_state(state.index)
                merger.put(own, rule, run, only)
        state.reserve()


def _state(one: Source, label: float | None) -> State | None:
    """The state of a class, or None if the part has no row of the class."""
    assert isinstance(one.state, States)
    number = NONE if label is None else one.number(label)
    return one.state.parts[number] if 0 <= number < len(one.state.parts) else None


def _ghost(one: Source) -> State:
    assert isinstance(one.state, States)
    return one.state.ghost
