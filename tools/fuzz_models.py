"""Give changed model files to every command: python tools/fuzz_models.py --count 20000.

Each mutant is tried in a process of its own. A signal, an exit code of 1, more than 2 seconds of
CPU, or more than 4 times the size of the file and 200 MB of memory are failures; their files are
kept in a folder. The same seed gives the same models.
"""

from __future__ import annotations

import argparse
import io
import os
import pickle
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE), str(HERE / "tests" / "fuzz")]

from cwtool.parallel import one_blas_thread  # noqa: E402

one_blas_thread()

import fuzzed_models as models  # noqa: E402
from model_mutants import mutant  # noqa: E402
from scipy import sparse  # noqa: E402

import cwtool  # noqa: E402
from cwtool import cli  # noqa: E402
from cwtool.errors import CwtoolError, ModelError  # noqa: E402
from cwtool.model import Model  # noqa: E402

SECONDS, ROOM = 2.0, 200 << 20
BATCH = 40  # mutants that a process tries
EXPORTS = ("liblinear", "json", "tsv", "sql", "python", "onnx", "vw")
OUTPUTS = ("label", "score", "variance", "probability")
RESUME = ["train", "MORE", "--resume", "bad.cw", "-m", "new.cw"]
EVALUATE = ["predict", "DATA", "-m", "bad.cw", "--evaluate"]
COMMANDS = {
    "predict": ["predict", "DATA", "-m", "bad.cw", "--output", "all", "-o", "out.txt"],
    "evaluate": [*EVALUATE, "--json"],
    "inspect": ["inspect", "bad.cw", "--top", "5"],
    "inspect-json": ["inspect", "bad.cw", "--json"],
    "weights": ["inspect", "bad.cw", "--weights", "-"],
    "class": ["inspect", "bad.cw", "--class", "1"],
    "resume": ["train", "DATA", "--again", "--resume", "bad.cw", "-m", "new.cw"],
    "report": ["report", "bad.cw", "--text", "-o", "page.html"],
    "feed": ["feed", "MORE", "-m", "bad.cw", "--keep", "0", "--accept"],
    "sampled": ["feed", "MORE", "-m", "bad.cw", "--accept", "--reservoir", "20"],
    "passes": [*RESUME, "--passes", "2"],
    "threshold": [*RESUME, "--threshold", "f1"],
    "shards": [*RESUME, "--shards", "2", "--engine", "inline"],
    "none": ["train", "none.svm", "--resume", "bad.cw", "-m", "new.cw"],
    "merge": ["merge", "bad.cw", "GOOD", "-m", "new.cw"],
    "merged": ["merge", "GOOD", "bad.cw", "-m", "new.cw", "--tail", "MORE"],
    "base": ["merge", "GOOD", "--base", "bad.cw", "-m", "new.cw"],
    "undo": ["feed", "--undo", "-m", "bad.cw"],
    "holdout": [*RESUME, "--holdout", "0.3", "--passes", "2"],
    "validated": [*RESUME, "--validation", "DATA", "--trace", "10"],
    "balanced": [*RESUME, "--class-weight", "balanced", "--require", "error<0.9"],
    "highest": ["predict", "DATA", "-m", "bad.cw", "--top", "3", "--output", "all"],
    "by-f1": [*EVALUATE, "--threshold", "f1", "--validation", "MORE"],
    "by-fpr": [*EVALUATE, "--threshold", "fpr=0.1", "--validation", "MORE"],
    "plot": [*EVALUATE, "--plot", "page.svg"],
    **{name: ["predict", "DATA", "-m", "bad.cw", "--output", name] for name in OUTPUTS},
    **{form: ["export", "bad.cw", "--format", form, "-o", "out.model"] for form in EXPORTS},
}


def tried(name: str, data: bytes, texts: dict[str, str]) -> tuple[int, str]:
    """The exit code of a command on this file, and the last line that it said."""
    for left in Path().glob("bad.cw*"):
        left.unlink()
    Path("bad.cw").write_bytes(data)
    if name == "undo":
        Path("bad.cw.1").write_bytes(data)
    said = io.StringIO()
    if name == "load":
        return loaded()
    args = [texts.get(word, word) for word in COMMANDS[name]]
    Path("new.cw").unlink(missing_ok=True)
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")), redirect_stderr(said):
        code = cli.run(args)
    written = Path("new.cw" if "new.cw" in args else "bad.cw")
    if code == 0:
        Model.load(written)  # what was written, or was read, can be read again
    lines = said.getvalue().splitlines() or [""]
    return code, next((line for line in lines if line.startswith("error")), lines[-1])


def model_labels(found: Any) -> list[float]:
    """The labels of a classifier as numbers."""
    return [label for label in found.model_.labels.values if label is not None]


def loaded() -> tuple[int, str]:
    """The same for a classifier of Python that is loaded, predicts and learns."""
    try:
        found = cwtool.load("bad.cw")
        shape = 3, max(4, found.n_features_in_)
        rows = sparse.csr_array(([1.0, -2.0], ([0, 2], [0, 3])), shape=shape)
        found.predict(rows)
        if len(found.classes_) > 1:
            found.predict_proba(rows)
        found.get_params()
        whole = all(label == label // 1 and abs(label) < 2**53 for label in model_labels(found))
        if hasattr(found, "partial_fit") and whole:  # scikit-learn refuses other labels
            found.partial_fit(rows, found.classes_[[0, -1, 0]])
        # scikit-learn sends estimators to worker processes as pickles; this one is made here and
        # holds the bytes of a model file, which are checked as such when they are read
        pickle.loads(pickle.dumps(found)).predict(rows)
    except CwtoolError as failure:
        return failure.exit_code, str(failure)
    return 0, ""


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


def try_all(writing: int, number: int, data: bytes, good: bytes, texts: dict[str, str]) -> None:
    """Try all commands on a file, and tell of each what is wrong. An exit code other than 0 and 4
    is right only if the command ends so with the file before it was changed."""
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
        elif code not in (0, 4) and (code in (1, 130) or tried(name, good, texts)[0] != code):
            wrong = f"exit {code}: {said}"
        wrong = wrong.encode("ascii", "backslashreplace").decode()[:300]
        os.write(writing, f"{number} {name} end {wrong}\n".encode())


Base = tuple[str, bytes, int]
Try = tuple[bytes, bytes, dict[str, str]]  # changed file, the file before, texts of commands


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


def bases(only: str, *, all_: bool, extras: int) -> list[Base]:
    """Names, bytes and numbers of classes of good models."""
    made = [found for found in models.others() if found[0].startswith(only)]
    for k, (algo, label, given) in enumerate(models.variants(all_=all_)):
        for labels in (2, 4) if algo.startswith(only) else ():
            model = models.trained(algo, given, labels, extras + k)
            made.append((f"{algo} {label} {labels} {extras + k}", model.to_bytes(), labels))
    return made


def write_files(made: list[Base]) -> None:
    """The data of commands, and the models that changed ones are merged with."""
    Path("none.svm").touch()
    for labels in (2, 4):
        Path(f"data{labels}.svm").write_text(models.rows_of(2, 30, labels)[1])
        Path(f"more{labels}.svm").write_text(models.rows_of(3, 30, labels, first=5)[1])
    for k, (_, data, _) in enumerate(made):
        Path(f"good{k}.cw").write_bytes(data)


def given(k: int, labels: int) -> dict[str, str]:
    """What the words of COMMANDS stand for, of the model of this number."""
    return {"DATA": f"data{labels}.svm", "MORE": f"more{labels}.svm", "GOOD": f"good{k}.cw"}


def report(found: Counter[str], where: str, wrongs: list[tuple[str, str]], *, soft: bool) -> bool:
    """Count and print what is wrong with a file; whether it is more than an exit code."""
    failed = False
    for command, wrong in wrongs:
        is_soft = wrong.startswith(("exit 2", "exit 3", "exit 5", "exit 7"))
        found["soft" if is_soft else "failed"] += 1
        failed = failed or not is_soft
        if soft or not is_soft:
            print(f"{where} {command}: {wrong}", flush=True)
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all-variants", action="store_true")
    parser.add_argument("--only", default="", help="models whose names begin so")
    parser.add_argument("--keep", default="fuzz-out", help="folder for files that fail")
    parser.add_argument("--soft", action="store_true", help="list exit codes other than 0 and 4")
    options = parser.parse_args()
    kept = Path(options.keep).resolve()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.fsync = lambda _: None  # type: ignore[assignment]
        made = bases(options.only, all_=options.all_variants, extras=options.seed)
        write_files(made)
        for name in [*COMMANDS, "load"]:  # imports what they need
            tried(name, made[0][1], given(0, made[0][2]))
        begin, every = time.monotonic(), [data for _, data, _ in made]
        for start in range(0, options.count, BATCH):
            seeds = range(start, min(options.count, start + BATCH))
            seeds = [options.seed * 1_000_003 + k for k in seeds]
            batch = [(seed, *mutant(seed, every[seed % len(made)], every)) for seed in seeds]
            tries = [
                (changed, every[k := seed % len(made)], given(k, made[k][2]))
                for seed, _, changed in batch
            ]
            for (seed, how, changed), wrongs in zip(batch, in_children(tries), strict=True):
                found["mutants"] += 1
                where = f"{seed} {made[seed % len(made)][0]!r} {how}"
                if report(found, where, wrongs, soft=options.soft):
                    kept.mkdir(exist_ok=True)
                    (kept / f"{seed}.cw").write_bytes(changed)
        print(f"{dict(found)} in {time.monotonic() - begin:.0f} s")
        os.chdir(HERE)
    sys.exit(found["failed"] > 0)


if __name__ == "__main__":
    main()
