"""Work on a Dask cluster: a scheduler that is given by its address, or processes of this machine.

Items are submitted one by one, each under a key of its own. joblib's backend for Dask is not used:
it waits without end for an item that ends its worker each time.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import uuid4

from cwtool.errors import UnavailableError, UsageError

T = TypeVar("T")
R = TypeVar("R")

CONNECT = 10  # seconds that a scheduler has to answer
WORKERS = 60  # seconds that a first worker has to come
PACKAGES = ("dask", "distributed")  # besides `versions`, also of the scheduler


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "`engine=dask` needs the package distributed, which is not installed",
            "install it: pip install 'cwtool[cluster]'",
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return distributed


@contextmanager
def connected(scheduler: str, jobs: int) -> Iterator[Cluster]:
    """A cluster with this address, or without one a cluster of `jobs` processes that ends with the
    block."""
    distributed = _distributed()
    local = None
    try:
        if not scheduler:
            local = distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # any free port: the usual one may be taken
                silence_logs=logging.CRITICAL,
            )
        client = _client(distributed, local.scheduler_address if local else scheduler)
        try:
            _check_versions(client)
            yield Cluster(client)
        finally:
            client.close(timeout=2)
    finally:
        if local is not None:
            local.close(timeout=10)


def _client(distributed: Any, address: str) -> Any:
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as failure:
        raise UnavailableError(
            f"no Dask scheduler answers at {address}: {failure}",
            "start one with the command dask scheduler, or leave out `scheduler`",
        ) from None
    try:
        client.wait_for_workers(1, timeout=WORKERS)
    except (TimeoutError, OSError):
        client.close(timeout=2)
        raise UnavailableError(
            f"the Dask scheduler at {address} has no workers",
            f"start some on the machines that see the files: dask worker {address}",
        ) from None
    return client


def versions() -> dict[str, str]:
    """What the bits of a result depend on, in this process."""
    import numpy as np

    import cwtool

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cwtool": cwtool.__version__,
    }


def _check_versions(client: Any) -> None:
    """Refuse workers with other versions: their results could have other bits."""
    found = client.get_versions()
    own = {name: found["client"]["packages"][name] for name in PACKAGES} | versions()
    told = {"the scheduler": found["scheduler"], **found["workers"]}
    places = {
        place: {name: machine["packages"].get(name) for name in PACKAGES} if machine else {}
        for place, machine in told.items()
    }
    for place, theirs in client.run(versions, on_error="return").items():
        # a worker that cannot import this module gives the error; one may have joined meanwhile
        theirs = theirs if isinstance(theirs, dict) else {"cwtool": None}
        places[place] = places.get(place, {}) | theirs
    wrong = [
        f"{name} {theirs[name] or 'missing'} at {place}, {own[name]} here"
        for place, theirs in places.items()
        for name in theirs
        if theirs[name] != own[name]
    ]
    if wrong:
        raise UsageError(
            f"the versions of the cluster are not those of this machine: {'; '.join(wrong)}",
            "install the same versions everywhere",
        )


class Cluster:
    """An engine on a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def prepare(self, function: Callable[[int], object]) -> None:
        """Workers have been started, and have imported cwtool to tell its version."""

    def each(
        self, function: Callable[[T], R], items: Sequence[T], killed: Callable[[T], R]
    ) -> Iterator[tuple[int, R]]:
        """The number of each item and function(item), in the order they are ready."""
        distributed = _distributed()
        run = uuid4().hex[:12]
        futures = {
            self.client.submit(function, item, key=f"cwtool-{run}-{k}", pure=False, retries=0): k
            for k, item in enumerate(items)
        }
        try:
            for future in distributed.as_completed(
                futures, loop=self.client.loop, raise_errors=False
            ):
                number = futures[future]
                if future.status == "error":
                    failure = future.exception()
                    if not isinstance(failure, distributed.KilledWorker):
                        raise failure
                    result: R = killed(items[number])
                else:
                    result = self._result(future)
                yield number, result
        finally:
            for future in futures:
                future.release()

    def _result(self, future: Any) -> Any:
        """The result of a finished item; the scheduler may be gone, and the future with it."""
        from concurrent.futures import CancelledError

        try:
            return future.result()
        except (CancelledError, OSError) as failure:
            raise UnavailableError(
                f"the connection to the Dask scheduler was lost ({type(failure).__name__})",
                "start the cluster again and repeat the command; with `work_dir` it goes on from "
                "what is finished",
            ) from None
