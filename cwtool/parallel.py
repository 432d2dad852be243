"""Work on several items at once. Nothing else knows about workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

T = TypeVar("T")
R = TypeVar("R")

# results that may wait; with 2, workers on few cores stood idle in turn with the consumer
AHEAD = 6


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def together(function: Callable[[T], R], items: Iterable[T], jobs: int) -> list[R]:
    """list(map(function, items)), in `jobs` threads, of which this is one."""
    waiting = list(items)
    results: dict[int, R] = {}
    todo = iter(enumerate(waiting))

    def work() -> None:
        for k, item in todo:
            results[k] = function(item)

    others = [_threads().submit(work) for _ in range(min(jobs, len(waiting)) - 1)]
    try:
        work()
    finally:  # after a failure nothing is begun
        waiting.clear()
        for other in others:
            other.result()
    return [results[k] for k in range(len(results))]


@cache
def _threads() -> Executor:
    """They stay: to start threads for some milliseconds of work costs as much."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(64, cores()), thread_name_prefix="cwtool-path")


def ahead(function: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """Like map(function, items), with `jobs` threads working ahead of the consumer.

    The order is kept, at most jobs + AHEAD results wait, and `items` is drawn in a thread of its
    own, so that reading, `function` and the consumer overlap wherever they let go of the
    interpreter.
    """
    if jobs <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import Future, ThreadPoolExecutor
    from queue import SimpleQueue
    from threading import Semaphore, Thread

    waiting: SimpleQueue[Future[R] | BaseException | None] = SimpleQueue()
    room = Semaphore(jobs + AHEAD)
    stopped = False
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="cwtool-parse")

    def feed() -> None:
        try:
            for item in items:
                room.acquire()
                if stopped:
                    return
                waiting.put(pool.submit(function, item))
            waiting.put(None)
        except BaseException as failure:  # handed to the consumer, which raises it
            waiting.put(failure)

    Thread(target=feed, name="cwtool-read", daemon=True).start()
    try:
        while (task := waiting.get()) is not None:
            if isinstance(task, BaseException):
                raise task
            result = task.result()
            room.release()
            yield result
            del result, task
    finally:
        stopped = True
        room.release()
        pool.shutdown(wait=False, cancel_futures=True)


class WorkerDied(Exception):
    """A process ended in the middle of its work."""


def _deaf() -> None:
    """Ctrl-C is for the one who started the work."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def in_processes(function: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """Like map(function, items) in `jobs` processes; results in the order they are ready."""
    items = list(items)
    if jobs <= 1 or not items:
        yield from map(function, items)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    pool = Parallel(jobs, batch_size=1, return_as="generator_unordered", initializer=_deaf)
    try:
        yield from pool(delayed(function)(item) for item in items)
    except BrokenProcessPool:
        raise WorkerDied from None
