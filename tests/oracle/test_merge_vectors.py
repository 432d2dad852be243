"""The merge of states against frozen vectors."""

import json
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from cwtool.algorithms.merging import merged_factors
from cwtool.algorithms.merging.base import INC, NAT, SUM, Merging, Part, Rule
from cwtool.data.rows import Rows
from cwtool.merging import Merged, merge
from cwtool.model import Model
from cwtool.run import Run
from cwtool.state import State

VECTORS = json.loads((Path(__file__).parent / "vectors" / "scale-out" / "merge.json").read_text())


def rows_of(listed: list[Any]) -> Rows:
    return Rows.from_lists([row for _, row in listed], [int(y > 0) for y, _ in listed])


def model_of(algo: str, columns: dict[str, Any], **params: Any) -> Model:
    """A model with these columns."""
    model = Model.new(algo, params)
    model.labels.negative, model.labels.positive = -1.0, 1.0
    slots = model.state.slots_of(np.array(columns["ids"], dtype=np.int32))
    for name, values in columns.items():
        if name != "ids":
            model.state.column(name)[slots] = values
    return model


def by(rule: Rule, base: Model, parts: list[Model], jobs: int = 1) -> State:
    """The state that a rule gives."""
    merging, state = base.algorithm.merging, base.algorithm.new_state()
    assert isinstance(merging, Merging)
    merger = merging.kind(base.algorithm, Part(base.state), [Part(m.state) for m in parts])
    merger.put(state, rule, Run(jobs=jobs))
    return state


def columns_of(state: State, like: dict[str, Any]) -> dict[str, Any]:
    """The columns of a state, by the names of some vectors."""
    ids, slots = state.index.ids_and_slots()
    return {k: ids.tolist() if k == "ids" else state.column(k)[slots].tolist() for k in like}


def diagonal(case: dict[str, Any], columns: dict[str, Any]) -> Model:
    params = dict(case["params"])
    if "phi" in params:
        params = {"eta": NormalDist().cdf(params["phi"])}
    return model_of(case["rule"], columns, prior=1.0, **params)


CASES = pytest.mark.parametrize("case", VECTORS["diag"], ids=lambda case: case["rule"])


@CASES
def test_diagonal_merges_agree_to_the_bit(case: dict[str, Any]) -> None:
    base, parts = diagonal(case, case["base"]), [diagonal(case, p) for p in case["parts"]]
    assert columns_of(by(INC, base, parts), case["inc"]) == case["inc"]
    for rule in NAT.values():
        want = case["nat"][str(rule.exponent)]
        assert columns_of(by(rule, base, parts), want) == want


def chosen(case: dict[str, Any], parts: list[Model], base: Model) -> Merged:
    return merge(parts, base, lambda labels: [rows_of(tail) for tail in case["tails"]])


@CASES
def test_the_choice_and_the_tail(case: dict[str, Any]) -> None:
    base, parts = diagonal(case, case["base"]), [diagonal(case, p) for p in case["parts"]]
    found = chosen(case, parts, base)
    np.testing.assert_allclose(list(found.losses.values()), case["losses"], rtol=1e-12)
    names = {e: NAT[t].name for t, e in zip(NAT, (0.0, 0.25, 0.5, 0.75, 1.0), strict=True)}
    assert found.chosen == ("inc" if case["chosen"] is None else names[case["chosen"]])
    ids, slots = found.model.index.ids_and_slots()
    assert ids.tolist() == case["after"]["ids"]
    for name in ("mean", "precision"):
        have = found.model.state.column(name)[slots]
        np.testing.assert_allclose(have, case["after"][name], rtol=1e-12)


@CASES
def test_parts_that_were_learned_here(case: dict[str, Any]) -> None:
    """Base and parts from the rows themselves."""
    base = diagonal(case, {"ids": []})
    base.learn(rows_of(case["head"]), Run())
    parts = []
    for shard in case["shards"]:
        parts.append(base.copy())
        parts[-1].learn(rows_of(shard), Run())
    found = columns_of(chosen(case, parts, base).model.state, case["after"])
    for name in ("ids", "mean", "precision"):
        np.testing.assert_allclose(found[name], case["after"][name], rtol=1e-12)


def test_first_order_merges_with_averages() -> None:
    case = VECTORS["first_order"]

    def model(columns: dict[str, Any], rounds: int) -> Model:
        found = model_of("pa1", columns, average=True, C=case["C"])
        found.state.numbers["rounds"] = rounds
        return found

    base = model(case["base"], case["rounds0"])
    parts = [model(p, t) for p, t in zip(case["parts"], case["rounds"], strict=True)]
    assert [merged["exponent"] for merged in case["merged"]] == [r.exponent for r in SUM.values()]
    for rule, merged in zip(SUM.values(), case["merged"], strict=True):
        state = by(rule, base, parts)
        assert state.numbers["rounds"] == merged["rounds"]
        ids, slots = state.index.ids_and_slots()
        assert ids.tolist() == case["ids"]
        assert state.column("weight")[slots].tolist() == merged["weight"]
        np.testing.assert_allclose(state.column("debt")[slots], merged["debt"], rtol=1e-13)


@pytest.mark.parametrize("algo", ["narow", "sop"])
def test_natural_columns(algo: str) -> None:
    case = VECTORS["natural"]
    theta = {"narow": "theta", "sop": "sum"}[algo]

    def model(columns: dict[str, Any]) -> Model:
        return model_of(algo, {theta if k == "theta" else k: v for k, v in columns.items()})

    base, parts = model(case["base"]), [model(p) for p in case["parts"]]
    for rule in NAT.values():
        want = case["merged"][str(rule.exponent)]
        state = by(rule, base, parts)
        have = columns_of(state, {theta: 0, "precision": 0})
        np.testing.assert_allclose(have[theta], want["theta"], rtol=1e-14)
        assert have["precision"] == want["precision"]


def test_full_covariances() -> None:
    case = VECTORS["full"]

    def model(mean: list[float], sigma: list[list[float]]) -> Model:
        ids = list(range(len(mean)))
        found = model_of("arow", {"ids": ids, "mean": mean}, covariance="full")
        found.state.squares["sigma"] = np.array(sigma)
        return found

    base = model(case["mean0"], case["sigma0"])
    parts = [model(**part) for part in case["parts"]]
    for rule in NAT.values():
        want, state = case["merged"][str(rule.exponent)], by(rule, base, parts)
        np.testing.assert_allclose(state.column("mean")[:4], want["mean"], rtol=case["tolerance"])
        np.testing.assert_allclose(
            state.squares["sigma"], want["sigma"], rtol=case["tolerance"], atol=1e-12
        )


def factored(part: dict[str, Any], rank: int) -> Model:
    """A model whose covariance is D + R R' alone."""
    n = len(part["mean"])
    model = model_of("cw-fact", {"ids": list(range(n)), "row": range(1, n + 1)}, rank=rank)
    rows = np.zeros((n + 1, rank + 3))
    rows[1:, 0], rows[1:, 2], rows[1:, 3:] = part["mean"], part["d"], part["R"]
    model.state.lists["rows"].fill(rows)
    model.state.arrays["counts"] = np.array([rank, rank, n, 0])
    covariance: Any = model.algorithm
    learner: Any = covariance.covariance.learner(model.state)
    learner.settle()
    covariance.covariance.keep(model.state, learner)
    return model


def test_factored_covariances() -> None:
    case = VECTORS["factored"]
    base = factored(case["base"], case["rank"])
    parts = [factored(part, case["rank"]) for part in case["parts"]]
    for rule in (INC, *list(NAT.values())[1:]):
        want = case["merged"]["None" if rule == INC else str(rule.exponent)]
        rows = by(rule, base, parts).lists["rows"].rows[1:7]
        R = rows[:, 3:]
        np.testing.assert_allclose(rows[:, 0], want["mean"], rtol=case["tolerance"])
        np.testing.assert_allclose(rows[:, 2], want["d"], rtol=case["tolerance"])
        np.testing.assert_allclose(R @ R.T, want["RRt"], rtol=case["tolerance"], atol=1e-12)


def test_threads_change_no_bit_of_factored_covariances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged_factors, "RANGE", 2)
    case = VECTORS["factored"]
    base = factored(case["base"], case["rank"])
    parts = [factored(part, case["rank"]) for part in case["parts"]]
    one, three = (by(INC, base, parts, jobs).lists["rows"].rows[:7].tobytes() for jobs in (1, 3))
    assert one == three
