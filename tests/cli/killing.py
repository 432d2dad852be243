"""Kill commands at random moments: python tests/cli/killing.py COUNT SEED, in an empty folder.

Each command runs in a copy of this process. After every kill the model is one that a run without a
kill could have left, and a file that each run makes anew has the bytes that it had before; after a
last run without a kill there is no lock and no temporary file.
"""

import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from cwtool.parallel import one_blas_thread

one_blas_thread()
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conftest import planted_text  # noqa: E402

from cwtool import cli  # noqa: E402
from cwtool.model import Model  # noqa: E402

SUITE = """
title = "Small"
repeats = 1
folds = 2
[data.made]
make = "words"
rows = 60
features = 50
[method.a]
label = "AROW"
algo = "arow"
[[experiment]]
name = "first"
task = "test"
[[table]]
title = "Error"
metric = "error"
"""
COMMANDS = {
    "train": ["train", "a.svm", "-m", "m.cw", "--passes", "3"],
    "resume": ["train", "b.svm", "--resume", "m.cw", "-m", "m.cw", "--again"],
    "feed": ["feed", "b.svm", "-m", "m.cw", "--keep", "2", "--again", "--accept",
             "--reservoir", "50"],
    "tune": ["tune", "a.svm", "--grid", "r=0.1,1,10", "-j", "1", "-m", "m.cw"],
    "select": ["select-features", "a.svm", "--algo", "l1svm", "--features", "5", "-o", "s.txt",
               "--project", "p"],
    "report": ["report", "m.cw", "-o", "page.html"],
    "predict": ["predict", "b.svm", "-m", "m.cw", "-o", "out.txt"],
    "bench": ["bench", "small.toml", "-o", "out", "-j", "1"],
    "merge": ["merge", "c.cw", "d.cw", "--tail", "b.svm", "-m", "g.cw"],
    "convert": ["convert", "a.svm", "-o", "a.cwrows"],
    "names": ["convert", "t.csv", "-o", "t.svm.gz", "--names", "n.tsv"],
    "cache": ["train", "touched.svm", "--cache", "kept", "-m", "h.cw", "--passes", "2"],
    "shards": ["train", "e.svm", "--shards", "3", "--passes", "2", "--work-dir", "work",
               "-m", "s.cw"],
    "batch": ["train", "e.svm", "-a", "dcd", "--shards", "2", "--work-dir", "work", "-m", "v.cw"],
    "temporary": ["train", "e.svm", "--shards", "2", "-m", "t.cw"],
    "progressive": ["tune", "a.svm", "--by", "progressive", "--grid", "r=0.1,1", "-m", "q.cw"],
    "export": ["export", "c.cw", "--format", "json", "-o", "c.json"],
}  # fmt: skip
# made anew by each run
SAME = ("s.txt", "p/train.5.svm", "g.cw", "a.cwrows", "t.svm.gz", "n.tsv", "h.cw", "s.cw", "t.cw",
        "v.cw", "q.cw", "c.json")  # fmt: skip
KILLS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# a signal right after the start meets no handler yet
GOOD = {0, 130, 143, *(-number for number in KILLS)}


def started(args: list[str]) -> int:
    """The process that runs the command."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            signal.signal(signal.SIGTERM, cli._terminate)
            quiet = os.open("said.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            code = cli.run(args)
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def strays() -> list[str]:
    """Locks and temporary files, and all that is left in folders that runs leave empty."""
    found = [p for p in Path().rglob(".*") if p.suffix in (".tmp", ".lock")]
    return sorted(map(str, [*found, *Path("work").iterdir(), *Path("temp").iterdir()]))


def without_ignored(text: str) -> str:
    """What was said, but for interrupts that Python met where nothing can be raised, as in a fork:
    it prints and ignores them."""
    return re.sub(
        r"Exception ignored in:.*?\n\S*(KeyboardInterrupt|Terminated):? *\n", "", text, flags=re.S
    )


def main(count: int, seed: int) -> None:
    draw, took, codes = random.Random(seed), {}, Counter()
    os.environ["SOURCE_DATE_EPOCH"] = "1800000000"
    Path("temp").mkdir()
    tempfile.tempdir = str(Path("temp").absolute())
    Path("a.svm").write_text(planted_text(1, 400))
    Path("b.svm").write_text(planted_text(2, 300, first=20))
    Path("small.toml").write_text(SUITE)
    for number, name in enumerate("cd", 3):
        Path(f"{name}.svm").write_text(planted_text(number, 300))
        assert ended(started(["train", f"{name}.svm", "-m", f"{name}.cw"])) == 0
    Path("e.svm").write_text(planted_text(6, 1500))  # a head, and the rows of the shards
    Path("t.csv").write_text("y,x,z\n" + "".join(f"{k % 2},{k},name{k}\n" for k in range(500)))
    Path("touched.svm").write_text(planted_text(5, 300))
    for name, args in COMMANDS.items():
        begin = time.monotonic()
        code = ended(started(args))
        assert code == 0, (name, code, Path("said.log").read_text()[-2000:])
        took[name] = time.monotonic() - begin
    whole = {name: Path(name).read_bytes() for name in SAME}
    for k in range(count):
        name = list(COMMANDS)[k % len(COMMANDS)]
        Path("touched.svm").touch()  # so that its rows are cached anew
        child = started(COMMANDS[name])
        time.sleep(draw.uniform(0, 1.2 * took[name]))
        how = draw.choice(KILLS)
        os.kill(child, how)
        code = ended(child)
        assert code in GOOD, (name, code)
        codes[code] += 1
        for model in (Path("m.cw"), Path("g.cw"), *Path().glob("m.cw.[0-9]")):
            assert Model.load(model).rows > 0
        assert whole == {name: Path(name).read_bytes() for name in SAME}, name
    for name, args in COMMANDS.items():
        code = ended(started(args))
        assert code == 0, (name, code, Path("said.log").read_text()[-2000:])
    assert strays() == [], strays()
    said = without_ignored(Path("said.log").read_text())
    assert "Traceback" not in said, said[said.index("Traceback") - 500 :][:3000]
    print(f"{count} kills: {dict(sorted(codes.items()))}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
