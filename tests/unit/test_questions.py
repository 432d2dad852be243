"""Calls that ask the shards together: the results are those of calls one by one."""

import threading

import numpy as np
import pytest

from cwtool.algorithms.shards.questions import MOST, ROOM, Asks


def double(algorithm, shard, given):
    return {"x": 2 * given["x"]}


def triple(algorithm, shard, given):
    return {"x": 3 * given["x"]}


class Two(Asks):
    """Two shards; `groups` has the number of questions that were asked at once."""

    def __init__(self):
        self.groups = []

    def answers(self, questions):
        self.groups.append(len(questions))
        return [[q.step(None, None, q.common | own) for own in q.given] for q in questions]

    def sum(self, step, x, **more):
        parts = self.ask(step, [{}, {}], {"x": np.array([x])}, **more)
        return sum(int(part["x"][0]) for part in parts)


def collatz(shards):
    """A call that asks as often as its number says, and each time what the last answer says."""

    def call(n):
        x = 1
        for k in range(n):
            x = shards.sum(double if k % 2 else triple, x) % 1000
        return n, x

    return call


def test_the_results_are_those_of_calls_one_by_one():
    shards, alone = Two(), Two()
    items = [3, 0, 5, 1, 5]
    assert shards.together(collatz(shards), items, 1) == list(map(collatz(alone), items))
    assert shards.groups == [4, 3, 3, 2, 2]
    assert alone.groups == [1] * sum(items)


@pytest.mark.parametrize(("size", "most"), [(1, MOST), (ROOM // 3, 3), (ROOM, 1), (2 * ROOM, 1)])
def test_large_questions_are_not_asked_at_once(size, most):
    shards = Two()
    shards.together(collatz(shards), [1] * (MOST + 3), size)
    assert max(shards.groups) == most
    assert sum(shards.groups) == MOST + 3


def test_what_is_asked_alone_is_answered_before_another_call_goes_on():
    shards, found = Two(), {}

    def call(n):
        if "common" not in found:
            found["common"] = shards.sum(double, 7, alone=True)
        return shards.sum(triple, n) + found["common"]

    assert shards.together(call, [1, 2, 3], 1) == [34, 40, 46]
    assert shards.groups == [1, 3]


def test_a_call_that_fails_ends_the_others():
    shards, ended = Two(), []

    def call(n):
        try:
            shards.sum(double, n)
            if n == 2:
                raise ValueError("two")
            shards.sum(double, n)
        finally:
            ended.append(n)

    with pytest.raises(ValueError, match="two"):
        shards.together(call, [1, 2, 3], 1)
    assert sorted(ended) == [1, 2, 3]
    assert shards.groups == [3]


def test_calls_have_the_floating_point_errors_of_the_caller():
    shards = Two()

    def call(n):
        return np.geterr()["over"], threading.current_thread() is threading.main_thread()

    with np.errstate(over="raise"):
        assert shards.together(call, [1, 2], 1) == [("raise", False)] * 2
