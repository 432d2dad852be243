"""Questions to the shards of a batch: those of several classes at once.

A question takes about a millisecond, whatever it asks for, because it goes through files; and each
of some thousand classes may have several. `Asks.together` calls a function for each class. A call
has a thread of its own and stops at each of its questions. When all calls have stopped or ended,
their questions are asked at once, and the calls go on, one after the other. So no two of them run
at the same time, and the results are those of calls one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from cwtool.algorithms.shards.steps import Arrays, Step
from cwtool.threads import in_thread

T = TypeVar("T")
R = TypeVar("R")

MOST = 32  # calls at once
ROOM = 1 << 20  # numbers of questions and answers at once


class Question(NamedTuple):
    """A step that the shards run, with arrays for each shard and arrays common to all shards. A
    question with `alone` is not joined with those of other calls but answered at once."""

    step: Step
    given: Sequence[Arrays]
    common: Arrays
    alone: bool


class Asks(ABC):
    """The shards of a batch, which answer questions."""

    @abstractmethod
    def answers(self, questions: Sequence[Question]) -> list[list[Arrays]]:
        """For each question the results of the shards, in their order."""

    def ask(
        self,
        step: Step,
        given: Sequence[Arrays],
        common: Arrays | None = None,
        *,
        alone: bool = False,
    ) -> list[Arrays]:
        """Let each shard run this step with its own arrays and with those common to all shards.
        Returns the results in the order of the shards."""
        question, call = Question(step, given, common or {}, alone), _CALL.get()
        return self.answers([question])[0] if call is None else call.ask(question)

    def together(self, function: Callable[[T], R], items: Iterable[T], size: int) -> list[R]:
        """list(map(function, items)); several calls ask at once if a question and its answer, of
        about `size` numbers, are small."""
        waiting, n = list(items), min(MOST, ROOM // max(size, 1))
        if n < 2 or len(waiting) < 2 or _CALL.get() is not None:
            return list(map(function, waiting))
        found: list[R] = []
        for k in range(0, len(waiting), n):
            found += self._at_once([Call(partial(function, one)) for one in waiting[k : k + n]])
        return found

    def _at_once(self, calls: Sequence[Call[R]]) -> list[R]:
        try:
            for call in calls:
                call.begin()
                self._ask_alone(call)
            while asking := [call for call in calls if call.question is not None]:
                found = self.answers([call.question for call in asking if call.question])
                for call, answer in zip(asking, found, strict=True):
                    call.go_on(answer)
                    self._ask_alone(call)
            return [call.result for call in calls]
        finally:
            for call in calls:
                call.leave()

    def _ask_alone(self, call: Call[Any]) -> None:
        while call.question is not None and call.question.alone:
            call.go_on(self.answers([call.question])[0])


class Left(BaseException):
    """Ends a call whose question is not answered, because another call has failed."""


class Call(Generic[R]):
    """A call in a thread of its own. `question` is what it waits to be answered, or None."""

    result: R

    def __init__(self, function: Callable[[], R]) -> None:
        self.function, self.errors = function, np.geterr()  # NumPy 1 has them for each thread
        self.question: Question | None = None
        self._answers: SimpleQueue[list[Arrays] | None] = SimpleQueue()
        self._told: SimpleQueue[Question | BaseException | None] = SimpleQueue()

    def begin(self) -> None:
        """Run to the first question, or to the end."""
        in_thread(self._run)
        self._wait()

    def go_on(self, answer: list[Arrays]) -> None:
        """Run with the answer to the next question, or to the end."""
        self.question = None
        self._answers.put(answer)
        self._wait()

    def leave(self) -> None:
        """End the call if it waits for an answer."""
        if self.question is not None:
            self.question = None
            self._answers.put(None)
            self._told.get()

    def ask(self, question: Question) -> list[Arrays]:
        """The answer to a question of this call, in its thread."""
        self._told.put(question)
        answer = self._answers.get()
        if answer is None:
            raise Left
        return answer

    def _wait(self) -> None:
        told = self._told.get()
        if isinstance(told, BaseException):
            raise told
        self.question = told

    def _run(self) -> None:
        _CALL.set(self)
        failure = None
        try:
            with np.errstate(**self.errors):
                self.result = self.function()
        except BaseException as raised:
            failure = raised
        self._told.put(failure)


_CALL: ContextVar[Call[Any] | None] = ContextVar("call", default=None)  # of this thread


def packed(parts: Sequence[Arrays]) -> Arrays:
    """The arrays of several questions or answers, under the names number.name."""
    return {f"{k}.{name}": array for k, part in enumerate(parts) for name, array in part.items()}


def apart(arrays: Arrays, n: int) -> list[Arrays]:
    """What `packed` made of n parts, in parts again."""
    parts: list[Arrays] = [{} for _ in range(n)]
    for key, array in arrays.items():
        number, _, name = key.partition(".")
        parts[int(number)][name] = array
    return parts
