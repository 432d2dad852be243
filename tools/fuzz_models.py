"""Give changed model files to every command: python tools/fuzz_models.py --count 20000.

Each mutant is tried in a process of its own. A signal, an exit code of 1, more than 2 seconds of
CPU, or more than 4 times the size of the file and 200 MB of memory are failures; their files are
kept in a folder. The same seed gives the same mutants.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE), str(HERE / "tests" / "fuzz")]

from cwtool.parallel import one_blas_thread  # noqa: E402

one_blas_thread()

import model_mutants as mutants  # noqa: E402

import cwtool  # noqa: E402
from cwtool import cli  # noqa: E402
from cwtool.errors import CwtoolError, ModelError  # noqa: E402
from cwtool.model import Model  # noqa: E402

SECONDS, ROOM = 2.0, 200 << 20
BATCH = 40  # mutants that a process tries
EXPORTS = ("liblinear", "json", "tsv", "sql", "python")
COMMANDS = {
    "predict": ["predict", "DATA", "-m", "bad.cw", "--output", "all", "-o", "out.txt"],
    "evaluate": ["predict", "DATA", "-m", "bad.cw", "--evaluate", "--json"],
    "inspect": ["inspect", "bad.cw", "--top", "5"],
    "inspect-json": ["inspect", "bad.cw", "--json"],
    "weights": ["inspect", "bad.cw", "--weights", "-"],
    "class": ["inspect", "bad.cw", "--class", "1"],
    "resume": ["train", "DATA", "--again", "--resume", "bad.cw", "-m", "new.cw"],
    "report": ["report", "bad.cw", "--text", "-o", "page.html"],
    "feed": ["feed", "MORE", "-m", "bad.cw", "--keep", "0", "--accept"],
    **{form: ["export", "bad.cw", "--format", form, "-o", "out.model"] for form in EXPORTS},
}


def tried(name: str, data: bytes, texts: dict[str, str]) -> tuple[int, str]:
    """The exit code of a command on this file, and the last line that it said."""
    Path("bad.cw").write_bytes(data)
    said = io.StringIO()
    if name == "load":
        try:
            cwtool.load("bad.cw")
        except CwtoolError as failure:
            return failure.exit_code, str(failure)
        return 0, ""
    args = [texts.get(word, word) for word in COMMANDS[name]]
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        code = cli.run(args)
    lines = said.getvalue().splitlines() or [""]
    return code, next((line for line in lines if line.startswith("error")), lines[-1])


def peak() -> int:
    """The most memory since `forget_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def refused(data: bytes) -> bool:
    try:
        Model.from_bytes(data)
    except ModelError:
        return True
    except Exception:
        return False
    return False


def try_all(writing: int, number: int, data: bytes, texts: dict[str, str]) -> None:
    """Try all commands on a file, and tell of each what is wrong."""
    names = ["load", *COMMANDS]
    if refused(data):  # by all commands in the same words
        names = ["load", names[1 + number % len(COMMANDS)]]
    for name in names:
        begin = time.process_time()
        os.write(writing, f"{number} {name} begin\n".encode())
        signal.alarm(30)
        forget_peak()
        before = peak()
        try:
            code, said = tried(name, data, texts)
        except BaseException as failure:
            code, said = 1, repr(failure)
        took, most = time.process_time() - begin, peak() - before
        wrong = ""
        if took > SECONDS:
            wrong = f"{took:.1f} s, exit {code}: {said}"
        elif most > 4 * len(data) + ROOM:
            wrong = f"{most >> 20} MB, exit {code}: {said}"
        elif code not in (0, 4):
            wrong = f"exit {code}: {said}"
        wrong = wrong.encode("ascii", "backslashreplace").decode()[:300]
        os.write(writing, f"{number} {name} end {wrong}\n".encode())


Try = tuple[bytes, dict[str, str]]


def in_children(some: list[Try]) -> list[list[tuple[str, str]]]:
    """Try files in a process of their own, and in another one from the next file on if a signal
    ends it; what is wrong with each, by command."""
    found: list[list[tuple[str, str]]] = [[] for _ in some]
    done = 0
    while done < len(some):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            for number in range(done, len(some)):
                try_all(writing, number, *some[number])
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                number, name, step, *rest = line.rstrip("\n").split(" ", 3)
                done, last = int(number) + 1, name
                if step == "end" and rest and rest[0]:
                    found[int(number)].append((name, rest[0]))
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            found[done - 1].append((last, f"signal {os.WTERMSIG(status)}"))
    return found


def bases(only: str, *, all_: bool, extras: int) -> list[tuple[str, bytes, int]]:
    """Names, bytes and numbers of classes of good models."""
    made = []
    for k, (algo, label, given) in enumerate(mutants.variants(all_=all_)):
        for labels in (2, 4) if algo.startswith(only) else ():
            model = mutants.trained(algo, given, labels, extras + k)
            made.append((f"{algo} {label} {labels} {extras + k}", model.to_bytes(), labels))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all-variants", action="store_true")
    parser.add_argument("--only", default="", help="algorithms whose names begin so")
    parser.add_argument("--keep", default="fuzz-out", help="folder for files that fail")
    parser.add_argument("--soft", action="store_true", help="list exit codes other than 0 and 4")
    options = parser.parse_args()
    kept = Path(options.keep).resolve()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.fsync = lambda _: None  # type: ignore[assignment]
        made = bases(options.only, all_=options.all_variants, extras=options.seed)
        for labels in (2, 4):
            Path(f"data{labels}.svm").write_text(mutants.rows_of(2, 30, labels)[1])
            Path(f"more{labels}.svm").write_text(mutants.rows_of(3, 30, labels, first=5)[1])

        def given(labels: int) -> dict[str, str]:
            return {"DATA": f"data{labels}.svm", "MORE": f"more{labels}.svm"}

        for name in [*COMMANDS, "load"]:  # imports what they need
            tried(name, made[0][1], given(made[0][2]))
        begin = time.monotonic()
        for start in range(0, options.count, BATCH):
            batch = []
            for k in range(start, min(options.count, start + BATCH)):
                _, data, labels = made[k % len(made)]
                how, changed = mutants.mutant(options.seed * 1_000_003 + k, data)
                batch.append((k, how, changed, given(labels)))
            tries = [(changed, texts) for _, _, changed, texts in batch]
            for (k, how, changed, _), wrongs in zip(batch, in_children(tries), strict=True):
                found["mutants"] += 1
                for command, wrong in wrongs:
                    soft = wrong.startswith(("exit 2", "exit 3", "exit 5", "exit 75"))
                    found["soft" if soft else "failed"] += 1
                    seed = options.seed * 1_000_003 + k
                    if not soft or options.soft:
                        name = made[k % len(made)][0]
                        print(f"{seed} {name!r} {how} {command}: {wrong}", flush=True)
                    if not soft:
                        kept.mkdir(exist_ok=True)
                        (kept / f"{seed}.cw").write_bytes(changed)
        print(f"{dict(found)} in {time.monotonic() - begin:.0f} s")
        os.chdir(HERE)
    sys.exit(found["failed"] > 0)


if __name__ == "__main__":
    main()
