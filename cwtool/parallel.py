"""Work on several items at once, in processes of this machine or elsewhere."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cwtool import memory
from cwtool.errors import CwtoolError, UsageError
from cwtool.records import dataclass

if TYPE_CHECKING:
    from threading import Thread

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def one_blas_thread() -> None:
    """Make BLAS use one thread in this process and its children; called before NumPy is imported.
    The last bits of BLAS depend on the number of its threads, and `jobs` must change no result."""
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ[f"{library}_NUM_THREADS"] = "1"


@dataclass(frozen=True)
class Outcome:
    """What came of one piece of work: a result, or the reason why there is none."""

    result: dict[str, Any] = field(default_factory=dict)
    failure: str = ""


KILLED = Outcome(failure="its process was killed, perhaps because memory ran out")


def attempt(work: Callable[[], dict[str, Any]]) -> Outcome:
    """Do the work; whatever it raises is the reason of a failure."""
    try:
        return Outcome(work())
    except CwtoolError as failure:
        return Outcome(failure=str(failure))
    except Exception as failure:  # a bug, or no memory: other work goes on
        return Outcome(failure=f"{type(failure).__name__}: {failure}")


class WorkerDied(Exception):
    """A process ended in the middle of its work."""


def _begin(limit: int, processes: int, reading: int, unpacking: int, parent: int) -> None:
    """Ctrl-C reaches all processes of a terminal; the one that started the others handles it. The
    memory is shared by all of them."""
    import signal
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory.BOUNDS.limit, memory.BOUNDS.processes = limit, processes
    memory.BOUNDS.reading, memory.BOUNDS.unpacking = reading, unpacking
    Thread(target=_end_after, args=[parent], name="cwtool-parent", daemon=True).start()


def _end_after(parent: int) -> None:
    """End this process when the one that started it was killed, and could not end it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def in_processes(function: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """Like map(function, items) in `jobs` processes; results in the order they are ready."""
    items = list(items)
    if jobs <= 1 or not items:
        yield from map(function, items)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    warnings.filterwarnings("ignore", ".* have been cancelled", UserWarning, "joblib")
    # as long as it is equal, processes are used again
    bounds = memory.BOUNDS
    shared = (bounds.limit, jobs, bounds.reading, bounds.unpacking, os.getpid())
    pool = Parallel(
        jobs, batch_size=1, return_as="generator_unordered", initializer=_begin, initargs=shared
    )
    try:
        yield from pool(delayed(function)(item) for item in items)
    except BrokenProcessPool:
        raise WorkerDied from None


def surviving(
    function: Callable[[T], R], items: Sequence[T], jobs: int, killed: Callable[[T], R]
) -> Iterator[tuple[int, R]]:
    """The number of each item and function(item), worked out in `jobs` processes, in the order
    they are ready. After a process has died, every item that is left gets a process of its own;
    killed(item) takes the place of the result of an item whose process dies."""
    left = dict(enumerate(items))
    try:
        for number, result in in_processes(partial(_numbered, function), left.items(), jobs):
            del left[number]
            yield number, result
    except WorkerDied:
        for number, item in left.items():
            try:
                (result,) = in_processes(function, [item], 2)
            except WorkerDied:
                result = killed(item)
            yield number, result


def _numbered(function: Callable[[T], R], pair: tuple[int, T]) -> tuple[int, R]:
    return pair[0], function(pair[1])


ENGINES = ("local", "inline", "loky", "dask")


@dataclass(frozen=True)
class EngineOptions:
    """Where work on independent items is done. It changes speed, never a result."""

    name: str = ""  # one of ENGINES; empty: dask with a scheduler, else local
    jobs: int = 1  # processes on this machine
    scheduler: str = ""  # address of a Dask scheduler; empty: a local cluster

    @property
    def kind(self) -> str:
        """The engine by its own name; local is the better one of inline and loky."""
        name = self.name or ("dask" if self.scheduler else "local")
        if name == "local":
            return "loky" if self.jobs > 1 else "inline"
        return name


class Engine(Protocol):
    """Applies a function to items, in this process or in others."""

    def prepare(self, function: Callable[[int], object]) -> None:
        """Start worker processes, which takes time, while this process continues. Worker processes
        call this function and so import its module."""

    def each(
        self, function: Callable[[T], R], items: Sequence[T], killed: Callable[[T], R]
    ) -> Iterator[tuple[int, R]]:
        """The number of each item and function(item), in the order they are ready; killed(item)
        takes the place of a result where the item ends its process again and again."""


class Local:
    """Processes of this machine, or with one job this process."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.starting: Thread | None = None

    def prepare(self, function: Callable[[int], object]) -> None:
        from threading import Thread

        if self.jobs > 1:
            self.starting = Thread(target=self._start, args=[function], name="cwtool-start")
            self.starting.start()

    def _start(self, function: Callable[[int], object]) -> None:
        with suppress(WorkerDied):  # the next call that needs the processes raises it
            list(in_processes(function, range(self.jobs), self.jobs))

    def each(
        self, function: Callable[[T], R], items: Sequence[T], killed: Callable[[T], R]
    ) -> Iterator[tuple[int, R]]:
        if self.starting is not None:
            self.starting.join()
        return surviving(function, items, self.jobs, killed)


class Threads:
    """Threads of this process. They start at once and share the data, and help where the work is
    done by kernels, which let go of the interpreter."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def prepare(self, function: Callable[[int], object]) -> None:
        """Do nothing: threads take no time to start."""

    def each(
        self, function: Callable[[T], R], items: Sequence[T], killed: Callable[[T], R]
    ) -> Iterator[tuple[int, R]]:
        from concurrent.futures import ThreadPoolExecutor, as_completed

        pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="cwtool-item")
        before, memory.BOUNDS.threads = memory.BOUNDS.threads, self.jobs
        try:
            tasks = {pool.submit(function, item): number for number, item in enumerate(items)}
            for task in as_completed(tasks):
                yield tasks[task], task.result()
        finally:
            memory.BOUNDS.threads = before
            pool.shutdown(wait=False, cancel_futures=True)


def check(options: EngineOptions) -> None:
    """Refuse options that contradict one another."""
    if options.scheduler and options.kind != "dask":
        raise UsageError(f"`scheduler` is for `engine=dask`, not for {options.kind}")


@contextmanager
def opened(options: EngineOptions, *, in_kernels: bool = False) -> Iterator[Engine]:
    """The engine that the options name; the local one has threads where the work is done
    `in_kernels`."""
    check(options)
    if in_kernels and options.name in ("", "local") and options.kind == "loky":
        yield Threads(options.jobs)
        return
    if options.kind == "dask":
        from cwtool.cluster import connected

        with connected(options.scheduler, options.jobs) as engine:
            yield engine
    else:
        yield Local(1 if options.kind == "inline" else max(options.jobs, 2))
