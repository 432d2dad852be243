"""Work on several items at once in threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import copy_context
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue
    from typing import TypeAlias

    Ended: TypeAlias = SimpleQueue[BaseException | None]  # what a call in a thread raised, or None

T = TypeVar("T")
R = TypeVar("R")


def together(function: Callable[[T], R], items: Iterable[T], jobs: int) -> list[R]:
    """list(map(function, items)), in `jobs` threads, of which this is one. All of them have its
    context, so that np.errstate of NumPy 2 holds in each."""
    waiting = list(items)
    results: dict[int, R] = {}
    todo = iter(enumerate(waiting))

    def work() -> None:
        for k, item in todo:
            results[k] = function(item)

    more = range(min(jobs, len(waiting)) - 1)
    others = [in_thread(work) for _ in more]
    interrupted = False
    try:
        work()
    except BaseException as failure:
        interrupted = not isinstance(failure, Exception)
        raise
    finally:  # after a failure no further item is begun
        waiting.clear()
        for other in () if interrupted else others:  # an interrupt does not wait for the others
            if failed := other.get():
                raise failed
    return [results[k] for k in range(len(results))]


def in_thread(call: Callable[[], None]) -> Ended:
    """Make the call in a thread that has nothing else to do, with the context of this one. When it
    has ended, the queue holds what it raised, or None."""
    return _threads().submit(partial(copy_context().run, call))


def both(first: Callable[[], T], second: Callable[[], R], jobs: int) -> tuple[T, R]:
    """The results of two functions, which run at the same time if `jobs` allows two threads."""
    calls: list[Callable[[], Any]] = [first, second]
    one, other = together(lambda call: call(), calls, jobs)
    return one, other


class _Threads:
    """The threads of `together`. They are kept, because starting threads takes as long as work of
    some milliseconds. They end with the process, which does not wait for them."""

    def __init__(self) -> None:
        from queue import SimpleQueue
        from threading import Semaphore

        self.asked: SimpleQueue[tuple[Ended, Callable[[], None]]] = SimpleQueue()
        self.idle = Semaphore(0)  # counts threads that wait and that no call was promised to

    def submit(self, call: Callable[[], None]) -> Ended:
        """Make the call in a thread that has nothing else to do. When it has ended, the queue holds
        what it raised, or None."""
        from queue import SimpleQueue
        from threading import Thread

        ended: Ended = SimpleQueue()
        self.asked.put((ended, call))
        if not self.idle.acquire(blocking=False):
            Thread(target=self._serve, name="cwtool-path", daemon=True).start()
        return ended

    def _serve(self) -> None:
        while True:
            ended, call = self.asked.get()
            failure = None
            try:
                call()
            except BaseException as raised:
                failure = raised
            del call  # and what it refers to is not kept while the next one is waited for
            self.idle.release()
            ended.put(failure)
            del ended, failure


@cache
def _threads() -> _Threads:
    return _Threads()
