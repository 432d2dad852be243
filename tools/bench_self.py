"""Compare the speed of this checkout with another commit: `make bench-self BASE=<commit>`.

The other commit is checked out and built in build/self/<commit>. Both builds then run the same
workloads in alternation, with the same interpreter and libraries. Per workload the ratio of CPU
times new/base is printed twice: of the fastest runs, and as the median over pairs of neighbouring
runs with its quartiles. A workload fails if both are above the limit, because a busy machine
disturbs one of them more easily than both. With valgrind, instruction counts of the hottest kernels
are compared too, which do not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles

from cwtool.bench.measure import CommandFailed, measure

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "self"
LIMIT = 1.05
KERNELS = ("libsvm", "diagonal", "slots")  # where training and predicting spend their time

# what each workload runs; {model} is a file of the build's own, {data} the folder of the data
WORKLOADS = {
    "start": "predict {data}/row.svm -m {data}/base.cw",
    "arow, text": "train --algo arow {data}/text.svm -m {model}",
    "arow, gz": "train --algo arow {data}/text.svm.gz -m {model}",
    "predict": "predict {data}/text.svm -m {data}/base.cw -o {model}",
    "pa1, 5 passes": "train --algo pa1 --passes 5 {data}/words.svm -m {model}",
    "cw-fact": "train --algo cw-fact {data}/words.svm -m {model}",
    "bcw": "train --algo bcw {data}/dense.svm -m {model}",
    "sbcw": "train --algo sbcw {data}/words.svm -m {model}",
    "stsgd, 6 passes": "train --algo stsgd --passes 6 {data}/words.svm -m {model}",
    "dcd": "train --algo dcd --loss hinge {data}/words.svm -m {model}",
}

DATA = """
import gzip, sys
from pathlib import Path
import numpy as np
from cwtool.bench.corpus import libsvm
from cwtool.bench.generators import covtype_like
folder = Path(sys.argv[1])
text = b"".join(libsvm(40_000_000))
(folder / "text.svm").write_bytes(text)
(folder / "text.svm.gz").write_bytes(gzip.compress(text[:12_000_000], 1))
(folder / "row.svm").write_bytes(text[: text.index(b"\\n") + 1])
lines = text[:6_000_000].rpartition(b"\\n")[0].split(b"\\n")
(folder / "words.svm").write_bytes(b"\\n".join(lines) + b"\\n")
rows = covtype_like(1, 60_000)[0]
with (folder / "dense.svm").open("w") as file:
    for i in range(rows.n_rows):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        cells = zip(rows.indices[part].tolist(), rows.values[part].tolist(), strict=True)
        file.write(f"{rows.y[i]} " + " ".join(f"{j + 1}:{v:.5g}" for j, v in cells) + "\\n")
"""


def built(commit: str) -> Path:
    """The folder of the other commit with its kernels compiled."""
    git = ["git", "-C", str(ROOT)]
    sha = subprocess.check_output([*git, "rev-parse", "--short", commit], text=True).strip()
    folder = FOLDER / sha
    if not (folder / "built").exists():
        print(f"building {sha} in {folder.relative_to(ROOT)}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        archive = subprocess.run([*git, "archive", sha], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=folder, check=True)
        (folder / "built").touch()
    return folder


def prepared(base: Path) -> Path:
    """The folder of the data, with a model of the base, which both builds can read."""
    folder = FOLDER / "data"
    if not (folder / "dense.svm").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-c", DATA, str(folder)], check=True)
    train = command(base, "train --algo arow {data}/text.svm.gz -m {data}/base.cw", folder, "")
    subprocess.run(train, check=True, capture_output=True)
    return folder


def command(build: Path, workload: str, data: Path, model: str) -> list[str]:
    """Run a workload with the modules of a build."""
    start = f"import sys; sys.path.insert(0, {str(build)!r}); from cwtool.cli import main; main()"
    return [sys.executable, "-c", start, *workload.format(data=data, model=model).split()]


def ratios(base: list[float], new: list[float]) -> tuple[float, float, float, float]:
    """new/base: of the fastest runs; median and quartiles over the pairs."""
    pairs = [b / a for a, b in zip(base, new, strict=True)]
    low, _, high = quantiles(pairs, n=4) if len(pairs) > 1 else pairs * 3
    return min(new) / min(base), median(pairs), low, high


def duel(builds: dict[str, Path], workload: str, data: Path, rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each build, in alternation."""
    times: dict[str, list[float]] = {name: [] for name in builds}
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for _ in range(rounds):
            for name, build in builds.items():
                model = f"{folder}/{name}"
                times[name].append(measure(command(build, workload, data, model)).cpu)
    return times


def instructions(build: Path, data: Path) -> dict[str, int]:
    """Instructions in each of the kernels when arow learns the compressed text."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        out = f"{folder}/callgrind"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        run = command(build, WORKLOADS["arow, gz"] + " --jobs 1", data, f"{folder}/model")
        subprocess.run([*valgrind, *run], check=True, capture_output=True)
        annotate = ["callgrind_annotate", "--threshold=99.9", "--auto=no", out]
        listing = subprocess.run(annotate, check=True, capture_output=True, text=True).stdout
    found = dict.fromkeys(KERNELS, 0)
    for line in listing.splitlines():
        count = re.match(r"\s*([\d,]+) ", line)
        kernel = re.search(r"\[.*/cwtool_ext/(\w+)\.", line)
        if count and kernel and kernel[1] in found:
            found[kernel[1]] += int(count[1].replace(",", ""))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    builds = {"base": built(given.base), "new": ROOT}
    data = prepared(builds["base"])
    slower = []
    print(f"{'CPU time, new / base':22} fastest   median (quartiles)   base s")
    for name in given.only:
        try:
            times = duel(builds, WORKLOADS[name], data, given.rounds)
        except CommandFailed as failure:
            sys.exit(f"{name}: {failure}")
        best, middle, low, high = ratios(times["base"], times["new"])
        print(
            f"{name:22} {best:7.3f}   {middle:6.3f} ({low:.3f}-{high:.3f})   "
            f"{min(times['base']):7.3f}",
            flush=True,
        )
        if min(best, middle) > LIMIT:
            slower.append(name)
    if shutil.which("valgrind") and shutil.which("callgrind_annotate"):
        counts = {name: instructions(build, data) for name, build in builds.items()}
        for kernel in KERNELS:
            base, new = counts["base"][kernel], counts["new"][kernel]
            if base:
                print(
                    f"{'instructions: ' + kernel:22} {new / base:7.3f}   base {base / 1e6:,.0f} M"
                )
                slower += [kernel] if new / base > LIMIT else []
    else:
        print("valgrind is not installed: no instruction counts", file=sys.stderr)
    if slower:
        sys.exit(f"slower than {given.base} by more than {LIMIT - 1:.0%}: {', '.join(slower)}")


if __name__ == "__main__":
    main()
