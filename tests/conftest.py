"""What the black-box tests share: running cwtool, and small data with planted labels."""

import io
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cwtool.parallel import one_blas_thread

# Tables in small pages: a test would spend most of its time on clearing the huge pages of a table
# of which it uses some rows.
if hasattr(mmap, "MADV_HUGEPAGE"):
    del mmap.MADV_HUGEPAGE

one_blas_thread()  # as the command line does, before NumPy is imported

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from cwtool import cli as command_line  # noqa: E402
from cwtool import registry  # noqa: E402

# One profile for all property tests: none may fail because the machine is slow. A failure prints
# the line that repeats it; CI draws the same examples each time. `make test-slow` draws more.
settings.register_profile(
    "cwtool", deadline=None, derandomize="CI" in os.environ, print_blob=True, max_examples=15
)
settings.load_profile("cwtool")
settings.register_profile("thorough", max_examples=100)

# A shell without job control starts what runs in the background with Ctrl-C ignored, and the
# processes that tests start and interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


class Ended(NamedTuple):
    """How a run of cwtool ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without any configuration from outside."""
    for name in [n for n in os.environ if n.startswith("CWTOOL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")  # so that runs can be compared
    for command in ("TUNE", "BENCH", "SELECT_FEATURES"):  # processes take longer to start than
        monkeypatch.setenv(f"CWTOOL_{command}_JOBS", "1")  # to run; some tests ask for more of them
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cwtool(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Run a command in this process: cwtool("train", "a.svm", "-m", "m.cw", stdin=b"...")."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no test needs to survive a power cut

    def run(*args: object, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = command_line.run([str(a) for a in args])
        return Ended(code, *capsys.readouterr())

    return run


@pytest.fixture
def ok(cwtool: Callable[..., Ended]) -> Callable[..., str]:
    """Run a command that has to succeed; what it printed on stdout."""

    def run(*args: object, stdin: bytes = b"") -> str:
        ended = cwtool(*args, stdin=stdin)
        assert ended.code == 0, ended.err
        return ended.out

    return run


@pytest.fixture
def process(folder: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command as a process of its own, with pipes unless told otherwise."""

    def start(*args: object, **more: Any) -> subprocess.Popen[bytes]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "cwtool", *map(str, args)], **{**pipes, **more}
        )

    return start


@cache
def planted_text(
    seed: int,
    n_rows: int,
    *,
    first: int = 1,
    width: int = 30,
    entries: int = 8,
    labels: tuple[str, str] = ("-1", "+1"),
) -> str:
    """LIBSVM rows over the ids first .. first + width - 1, labelled by a plane that depends on
    the ids alone, with a little noise; the first two rows have one label each."""
    draw = random.Random(seed)
    lines = []
    for k in range(n_rows):
        ids = sorted(draw.sample(range(first, first + width), draw.randint(1, min(entries, width))))
        values = [round(draw.uniform(-2, 2), 3) or 1 for _ in ids]
        score = sum(
            x * ((j * 2654435761 >> 8) % 201 - 100) for j, x in zip(ids, values, strict=True)
        )
        side = k if k < 2 else score + draw.gauss(0, 30) > 0
        lines.append(
            f"{labels[side]} " + " ".join(f"{j}:{x}" for j, x in zip(ids, values, strict=True))
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def planted(folder: Path) -> Callable[..., str]:
    """Write a file of planted rows; its name."""

    def write(name: str, seed: int, n_rows: int, **more: Any) -> str:
        (folder / name).write_text(planted_text(seed, n_rows, **more))
        return name

    return write


@pytest.fixture(scope="session")
def brief() -> Callable[[str], list[str]]:
    """The options of the first variant of an algorithm, which are fast on small data."""

    def options(algo: str) -> list[str]:
        words = ["--algo", algo]
        for name, value in next(iter(registry.algorithm(algo).variants.values())).items():
            option = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{option}" if value else f"--no-{option}")
            else:
                words += [f"--{option}", str(value)]
        return words

    return options


@pytest.fixture
def spare_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that pack many models: none needs to survive a power cut, and the slope, which is
    computed of counts and of the rows that are kept, says nothing that these, which are packed too,
    do not."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    found = 1.0, 0.0, True, 0.0
    monkeypatch.setattr("cwtool.metrics.calibration.Calibration.fit", lambda *_: found)
    monkeypatch.setattr("cwtool.model.few_rows.fitted_to_folds", lambda *_: None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip(f"reads large data sets, which do not ship with cwtool, from {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture
def chromium() -> list[str]:
    """The command of a browser without a window. `.ci/run` installs one; elsewhere a browser is
    much to ask for, and the other tests of a page read its HTML."""
    names = ("chromium", "chromium-browser", "chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("opens the page in a browser: install Chromium to run this test too")
    return [found, "--headless", "--no-sandbox", "--disable-gpu"]
