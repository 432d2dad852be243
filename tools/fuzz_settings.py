"""Train and use models with random settings on small files: tools/fuzz_settings.py --count 2000.

Each command is a process of its own. A signal, an exit code that is no sentence about the command,
the data or the model, a warning of NumPy, a model file that cannot be read again and more than 60
seconds of CPU time are failures, which are printed. The same seed gives the same commands.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE), str(HERE / "tests" / "fuzz")]

from cwtool.parallel import one_blas_thread  # noqa: E402

one_blas_thread()

from random_settings import fault, trial  # noqa: E402

from cwtool import cli, registry  # noqa: E402

SECONDS = 60


def ended(command: list[str]) -> tuple[int, str]:
    """The exit code of a command, or minus the signal that ended it, and what it said on stderr."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(writing, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.stderr = os.fdopen(2, "w", buffering=1)
        os._exit(cli.run(command))
    os.close(writing)
    with os.fdopen(reading, errors="replace") as lines:
        said = lines.read()
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), said


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="models to train")
    parser.add_argument("--seed", type=int, default=1_000_000, help="the first seed")
    options = parser.parse_args()
    for name in registry.names():
        registry.algorithm(name)  # imported once, for all processes
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed in range(options.seed, options.seed + options.count):
            for left in Path().glob("*.*"):
                left.unlink()
            train, others = trial(seed, Path())
            for command in (train, *others):
                code, said = ended(command)
                found[f"exit {code}"] += 1
                if wrong := fault(code, said):
                    found["failed"] += 1
                    print(f"seed {seed}: {wrong}: cwtool {' '.join(command)}\n{said}", flush=True)
                if command is train and code:
                    break
        os.chdir(HERE)
    print(dict(found))
    sys.exit(found["failed"] > 0)


if __name__ == "__main__":
    main()
