"""Work on several items at once."""

import os
import subprocess
import sys
from contextvars import ContextVar
from threading import Barrier, Event, current_thread, main_thread

import pytest

from cwtool import memory
from cwtool.errors import DataError
from cwtool.parallel import (
    EngineOptions,
    Local,
    Outcome,
    Threads,
    WorkerDied,
    attempt,
    in_processes,
    opened,
    surviving,
)
from cwtool.threads import both, together


def test_together_keeps_the_order() -> None:
    for jobs in (1, 3):
        assert together(lambda k: k * k, range(20), jobs) == [k * k for k in range(20)]


def test_together_is_at_the_same_time() -> None:
    """Each waits for the other; one after the other, none would ever go on."""
    both = Barrier(2, timeout=60)

    def meet(k: int) -> str:
        both.wait()
        return current_thread().name

    assert len(set(together(meet, range(2), 2))) == 2


def test_both_are_at_the_same_time_if_there_are_two_threads() -> None:
    barrier = Barrier(2, timeout=60)
    assert both(barrier.wait, barrier.wait, 2) in ((0, 1), (1, 0))
    names = both(lambda: current_thread().name, lambda: current_thread().name, 1)
    assert names == (current_thread().name,) * 2


def test_together_passes_failures_on() -> None:
    with pytest.raises(ZeroDivisionError):
        together(lambda k: 1 // k, [1, 0], 2)


def test_together_begins_nothing_after_a_failure() -> None:
    begun = []

    def fail(k: int) -> None:
        begun.append(k)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together(fail, range(1000), 2)
    assert len(begun) <= 2


def test_an_interrupt_does_not_wait_for_other_threads() -> None:
    """The other thread goes on only after `together` has ended."""
    begun, ended = Event(), Event()

    def work(k: int) -> None:
        if current_thread() is main_thread():
            assert begun.wait(60)
            raise KeyboardInterrupt
        begun.set()
        assert ended.wait(60)

    with pytest.raises(KeyboardInterrupt):
        together(work, range(2), 2)
    ended.set()


def test_the_process_does_not_wait_for_threads_of_an_interrupted_call() -> None:
    text = (
        "from threading import Event, current_thread, main_thread\n"
        "from cwtool.threads import together\n"
        "begun = Event()\n"
        "def work(k):\n"
        "    if current_thread() is main_thread():\n"
        "        begun.wait()\n"
        "        raise KeyboardInterrupt\n"
        "    begun.set()\n"
        "    Event().wait()\n"
        "try:\n"
        "    together(work, range(2), 2)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"interrupted\n", b"")


def test_together_within_together() -> None:
    def inner(k: int) -> list[int]:
        return together(lambda j: k * j, range(5), 3)

    assert together(inner, range(100), 3) == [[k * j for j in range(5)] for k in range(100)]


def test_attempts() -> None:
    def fail(kind: type[Exception]) -> dict[str, int]:
        raise kind("so")

    assert attempt(lambda: {"a": 1}) == Outcome({"a": 1})
    assert attempt(lambda: fail(DataError)) == Outcome(failure="so")
    assert attempt(lambda: fail(ZeroDivisionError)) == Outcome(failure="ZeroDivisionError: so")
    with pytest.raises(KeyboardInterrupt):
        attempt(lambda: fail(KeyboardInterrupt))


def die(k: int) -> int:
    if k == 1:
        os._exit(9)
    return 10 * k


def test_the_end_of_a_process_is_noticed() -> None:
    with pytest.raises(WorkerDied):
        list(in_processes(die, range(3), 2))


def test_the_end_of_a_process_is_survived() -> None:
    found = dict(surviving(die, [2, 1, 3], 2, lambda k: -k))
    assert found == {0: 20, 1: -1, 2: 30}


def test_failures_are_passed_on() -> None:
    with pytest.raises(ZeroDivisionError):
        list(surviving(lambda k: 1 // k, [1, 0], 1, lambda k: k))


def process(number: int) -> int:
    return os.getpid()


def test_processes_are_used_again() -> None:
    """They take longer to start than a short item does."""
    engine = Local(2)
    engine.prepare(process)
    found = [{pid for _, pid in engine.each(process, range(4), process)} for _ in range(3)]
    assert len(set.union(*found)) <= 2
    assert os.getpid() not in set.union(*found)


def test_threads_work_at_the_same_time() -> None:
    both = Barrier(2, timeout=60)

    def meet(k: int) -> int:
        if k < 2:
            both.wait()
        return k * k

    with opened(EngineOptions(jobs=2), in_kernels=True) as engine:
        assert isinstance(engine, Threads)
        assert dict(engine.each(meet, range(9), lambda k: -1)) == {k: k * k for k in range(9)}


def test_threads_share_the_memory() -> None:
    seen = Threads(3).each(lambda k: memory.BOUNDS.threads, range(5), lambda k: -1)
    assert {found for _, found in seen} == {3}
    assert memory.BOUNDS.threads == 1


@pytest.mark.parametrize(
    ("options", "in_kernels"),
    [(EngineOptions(jobs=2), False), (EngineOptions("loky", 2), True), (EngineOptions(), True)],
)
def test_processes_unless_threads_help(options: EngineOptions, in_kernels: bool) -> None:
    with opened(options, in_kernels=in_kernels) as engine:
        assert isinstance(engine, Local)


def test_together_has_the_context_of_its_caller() -> None:
    told = ContextVar("told", default=0)
    told.set(7)
    both = Barrier(2)

    def found(_: int) -> int:
        both.wait(60)  # so that each thread has one
        return told.get()

    assert together(found, range(2), 2) == [7, 7]
