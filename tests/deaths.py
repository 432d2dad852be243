"""Work that ends its process, for tests of engines. Workers import this file by its name."""

import os
import signal
from pathlib import Path

from cwtool.errors import CwtoolError
from cwtool.shards import batch_task
from cwtool.shards.task import Task, perform


def die() -> None:
    """End this process as if it had been killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def double(number: int) -> int:
    return 2 * number


def refuses_three(number: int) -> int:
    if number == 3:
        raise ZeroDivisionError("three")
    return 2 * number


def perform_at_second_try(task: Task) -> CwtoolError | None:
    """The first shard kills the worker that gets it first."""
    tried = Path(task.target + ".tried")
    if task.name == "shard 1 of round 1" and not tried.exists():
        tried.touch()
        die()
    tried.unlink(missing_ok=True)
    return perform(task)


def step_at_second_try(task: batch_task.Task) -> CwtoolError | None:
    """The second shard kills the worker that gets its second step first."""
    tried = Path(task.target + ".tried")
    if task.name == "shard 2, step 2" and not tried.exists():
        tried.touch()
        die()
    tried.unlink(missing_ok=True)
    return batch_task.perform(task)


def perform_never(task: Task) -> CwtoolError | None:
    """The second shard of the first round kills every worker that gets it."""
    if task.name == "shard 2 of round 1":
        die()
    return perform(task)


def perform_and_end_scheduler(task: Task) -> CwtoolError | None:
    """When a shard of the second round is done, the scheduler is killed."""
    found = perform(task)
    if task.name.endswith("round 2"):
        os.kill(int((Path(task.target).parent / "scheduler.pid").read_text()), signal.SIGKILL)
    return found
