"""cwtool feed on planted days: good days pass, damaged ones are refused, and any day can be
undone."""

import gzip
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from cwtool.model import Model
from cwtool.model import file as modelfile

Run = Callable[..., str]


def rows_of(name: str) -> list[str]:
    return Path(name).read_text().splitlines()


def written(name: str, rows: list[str]) -> str:
    Path(name).write_text("".join(row + "\n" for row in rows))
    return name


def flipped(row: str) -> str:
    return ("-1" if row.startswith("+1") else "+1") + row[2:]


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def model(ok: Run, planted: Run) -> bytes:
    """Two days learned."""
    for k in (1, 2):
        ok("feed", planted(f"day{k}.svm", k, 2000), "-m", "m.cw", "--log", "log.jsonl")
    return Path("m.cw").read_bytes()


DAMAGE: dict[str, Callable[[list[str]], list[str]]] = {
    "all labels": lambda rows: [flipped(r) for r in rows],
    "every fifth label": lambda rows: [flipped(r) if k % 5 == 0 else r for k, r in enumerate(rows)],
    "the last labels": lambda rows: rows[:-500] + [flipped(r) for r in rows[-500:]],
    "one class": lambda rows: [r for r in rows if r.startswith("+1")],
    "rows cut off": lambda rows: [
        r if k % 2 else r[: 2 + len(r) // 2].rpartition(" ")[0] for k, r in enumerate(rows)
    ],
    "half of the lines": lambda rows: [
        r if k % 2 else r.replace(":", "", 1) for k, r in enumerate(rows)
    ],
    "no lines": lambda rows: [],
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_days_are_refused(cwtool: Callable, planted: Run, model: bytes, what: str) -> None:
    rows = rows_of(planted("day3.svm", 3, 2000))
    ended = cwtool("feed", written("bad.svm", DAMAGE[what](rows)), "-m", "m.cw", "--json")
    assert ended.code == (3 if "lines" in what else 5), ended.err
    assert Path("m.cw").read_bytes() == model
    assert events(ended.out)[-1]["event"] == "refused"
    if ended.code == 5:
        lines = ended.err.split("bad.svm is refused:")[1].split("\nhint: ")[0].split("\n  ")
        assert " ".join(lines).strip() == events(ended.out)[-1]["why"]
        assert len(lines) > 2, "several reasons have lines of their own"
        assert "m.cw is unchanged" in ended.err
    assert cwtool("feed", "day3.svm", "-m", "m.cw").code == 0, "the day itself is good"
    assert not list(Path().glob(".*")), "no lock or temporary file is left"


def test_hints_name_options_of_feed(cwtool: Callable, model: bytes) -> None:
    for other in (["--algo", "cw"], ["--bias"]):
        ended = cwtool("feed", "day1.svm", "-m", "m.cw", *other)
        assert ended.code == 4
        assert "--model a file that does not exist" in ended.err
        assert "--resume" not in ended.err


def test_a_first_day_with_wrong_labels_at_its_end(cwtool: Callable, planted: Run) -> None:
    rows = rows_of(planted("day1.svm", 1, 3000))
    ended = cwtool("feed", written("bad.svm", DAMAGE["the last labels"](rows)), "-m", "m.cw")
    assert ended.code == 5
    assert "2,501 to 3,000 are predicted wrong, and at most " in ended.err
    assert not Path("m.cw").exists()


def test_accept_learns_what_is_unlike(ok: Run, planted: Run, model: bytes) -> None:
    rows = [flipped(r) for r in rows_of(planted("day3.svm", 3, 300))]
    ok("feed", written("new.svm", rows), "-m", "m.cw", "--accept")
    assert modelfile.load_header(Path("m.cw"))["rows"] == 4300


def test_learning_by_feed_is_training(ok: Run, model: bytes) -> None:
    ok("train", "day1.svm", "day2.svm", "-m", "t.cw")
    fed, trained = (modelfile.load(Path(p))[1] for p in ("m.cw", "t.cw"))
    assert {k: a.tobytes() for k, a in fed.items()} == {k: a.tobytes() for k, a in trained.items()}


def test_known_days_are_skipped(cwtool: Callable, planted: Run, model: bytes) -> None:
    text = Path("day2.svm").read_bytes()
    Path("again.gz").write_bytes(gzip.compress(text))
    for args, stdin in ((["again.gz"], b""), (["-"], text)):
        ended = cwtool("feed", *args, "-m", "m.cw", "--json", stdin=stdin)
        assert ended.code == 0
        assert [e["event"] for e in events(ended.out)] == ["skipped"]
        assert Path("m.cw").read_bytes() == model
    assert cwtool("feed", "again.gz", "-m", "m.cw", "--log", "skips.jsonl", "-q").out == ""
    assert [e["event"] for e in events(Path("skips.jsonl").read_text())] == ["skipped"]
    late = rows_of("day2.svm") + rows_of(planted("late.svm", 9, 400))
    ended = cwtool("feed", written("late.svm", late), "-m", "m.cw")
    assert ended.code == 5
    assert "about 83 % of its rows were learned before" in ended.err
    assert Path("m.cw").read_bytes() == model
    assert cwtool("feed", "late.svm", "-m", "m.cw", "--again").code == 0
    assert modelfile.load_header(Path("m.cw"))["rows"] == 6400


def test_standard_input_is_a_day(ok: Run, planted: Run, model: bytes) -> None:
    text = Path(planted("day3.svm", 3, 300)).read_bytes()
    said = events(ok("feed", "-", "-m", "m.cw", "--json", stdin=text))
    assert [e["event"] for e in said] == ["evaluate", "file", "feed"]
    assert modelfile.load_header(Path("m.cw"))["history"][-1]["files"][0]["name"] == "<stdin>"


def test_conditions_hold_before_and_after(cwtool: Callable, planted: Run, model: bytes) -> None:
    day, check = planted("day3.svm", 3, 300), planted("check.svm", 4, 300)
    args = ["feed", day, "-m", "m.cw", "--validation", check]
    for more, said in (
        (
            ["--require", "error < 0.001"],
            "error < 0.001 is required before learning, but error is 0.",
        ),
        (
            ["--require-after", "auc >= 0.9999"],
            "auc >= 0.9999 is required after learning, but auc is 0.",
        ),
    ):
        ended = cwtool(*args, *more)
        assert ended.code == 5
        assert said in ended.err
        assert Path("m.cw").read_bytes() == model
    assert cwtool(*args, "--require", "auc>0.8", "--require-after", "auc>0.8").code == 0
    ended = cwtool("feed", day, "-m", "m.cw", "--require-after", "auc>0.8")
    assert ended.code == 2


def test_a_model_that_gets_worse_on_other_days_is_refused(
    cwtool: Callable, ok: Run, planted: Run, model: bytes
) -> None:
    ok("feed", planted("day3.svm", 3, 1000), "-m", "m.cw", "--reservoir", 200)
    assert len(rows_of("m.cw.recent")) == 200
    before = Path("m.cw").read_bytes()
    wrong = [flipped(r) for r in rows_of(planted("day4.svm", 4, 4000))]
    args = ["feed", written("bad.svm", wrong), "-m", "m.cw", "--reservoir", 200]
    ended = cwtool(*args, "--days", 0, "--known-share", 1)
    assert ended.code == 5
    assert Path("m.cw").read_bytes() == before
    assert "the new model is in m.cw.rejected-2027-01-15" in ended.err
    assert modelfile.load_header(Path("m.cw.rejected-2027-01-15"))["rows"] == 9000
    assert cwtool(*args, "--days", 0, "--known-share", 1, "--keep", 0).code == 5
    assert not Path("m.cw.rejected-2027-01-15-2").exists()


def test_the_reservoir_holds_recent_rows(ok: Run, planted: Run) -> None:
    for k in range(1, 5):
        args = ["feed", planted(f"day{k}.svm", k, 500), "-m", "m.cw", "--reservoir", 100]
        out = ok(*args)
    assert "rows of other days, after learning  error" in out
    digests = [run["files"][0]["digest"] for run in modelfile.load_header(Path("m.cw"))["history"]]
    found = [row.rpartition(" # ")[2] for row in rows_of("m.cw.recent")]
    assert [found.count(digest) for digest in digests[::-1]] == [50, 25, 12, 12]
    ok("feed", "--undo", "-m", "m.cw")
    found = [row.rpartition(" # ")[2] for row in rows_of("m.cw.recent")]
    assert digests[-1] not in found
    assert digests[-2] in found


def test_old_models_are_kept_and_put_back(cwtool: Callable, ok: Run, planted: Run) -> None:
    seen = []
    for k in range(1, 6):
        ok("feed", planted(f"day{k}.svm", k, 300), "-m", "m.cw", "--keep", 3)
        seen.append(Path("m.cw").read_bytes())
    assert [Path(f"m.cw.{k}").read_bytes() for k in (1, 2, 3)] == seen[-2:-5:-1]
    assert not Path("m.cw.4").exists()
    said = ok("feed", "--undo", "-m", "m.cw")
    assert re.search(r"rows, and not day5\.svm of \d{4}-\d\d-\d\d\n", said)
    assert Path("m.cw").read_bytes() == seen[-2]
    assert Path("m.cw.undone").read_bytes() == seen[-1]
    ok("feed", "--undo", "-m", "m.cw")
    ok("feed", "--undo", "-m", "m.cw")
    assert Path("m.cw").read_bytes() == seen[1]
    ended = cwtool("feed", "--undo", "-m", "m.cw")
    assert ended.code == 4
    assert "no old model" in ended.err
    assert "would be called m.cw.1" in ended.err
    ok("feed", "day3.svm", "-m", "m.cw")
    assert modelfile.load_header(Path("m.cw"))["rows"] == 900, "a day that was undone is new"


@pytest.mark.parametrize("log", ["m.cw", "new.cw", "link"])
def test_a_model_is_no_log(log: str, cwtool: Callable, model: bytes, planted: Run) -> None:
    Path("link").symlink_to("m.cw")
    target = "new.cw" if log == "new.cw" else "m.cw"
    ended = cwtool("feed", planted("day3.svm", 3, 200), "-m", target, "--log", log)
    assert ended.code == 2 and f"{log} is not a log of cwtool" in ended.err
    assert Path("m.cw").read_bytes() == model and not Path("new.cw").exists()


def test_log_lines_say_when_and_what(cwtool: Callable, ok: Run, model: bytes) -> None:
    logged = events(Path("log.jsonl").read_text())
    assert [e["event"] for e in logged] == ["feed", "evaluate", "feed"]
    for e in logged:
        assert e["time"].endswith("Z")
        assert (e["command"], e["model"]) == ("feed", "m.cw")
        assert e["version"]
        assert len(e["digest"]) == 32
    assert [e["file"] for e in logged] == ["day1.svm", "day2.svm", "day2.svm"]
    said = events(ok("predict", "day1.svm", "-m", "m.cw", "--evaluate", "--json"))[0]
    assert said["command"] == "predict"
    assert (said["file"], said["digest"]) == ("day1.svm", logged[0]["digest"])
    history = ok("inspect", "m.cw")
    assert f"{logged[-1]['time'][:10]}  day2.svm: 2,000 rows" in history


COMMANDS = {
    "train": ["a.svm", "-m", "n.cw"],
    "predict": ["a.svm", "-m", "m.cw", "--evaluate"],
    "tune": ["a.svm", "-a", "arow", "--grid", "r=1,2,3", "-j", 1],
    "select-features": ["a.svm", "-a", "l1svm", "--features", 3],
    "inspect": ["m.cw"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_json_lines_of_all_commands(
    ok: Run, planted: Run, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted("a.svm", 1, 200)
    ok("train", "a.svm", "-m", "m.cw")
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = datetime.now(timezone.utc) - timedelta(milliseconds=1)
    said = events(ok(command, *COMMANDS[command], "--json"))
    assert said
    digest = modelfile.load_header(Path("m.cw"))["history"][0]["files"][0]["digest"]
    for e in said:
        at = datetime.fromisoformat(e["time"].replace("Z", "+00:00"))
        assert before <= at <= datetime.now(timezone.utc)
        assert e["command"] == command
        assert e["version"]
        if command != "inspect":
            assert (e["file"], e["digest"]) == ("a.svm", digest)
        if "-m" in COMMANDS[command] or command == "inspect":
            assert e["model"] in ("m.cw", "n.cw")


def test_trained_days_have_dates(ok: Run, planted: Run, cwtool: Callable) -> None:
    ok("train", planted("a.svm", 1, 200), "-m", "m.cw")
    ok("train", "a.svm", "-m", "n.cw")
    assert Path("m.cw").read_bytes() == Path("n.cw").read_bytes()
    assert modelfile.load_header(Path("m.cw"))["history"][0]["time"] == "2027-01-15"


def test_a_time_that_is_none(
    cwtool: Callable, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    ended = cwtool("train", planted("a.svm", 1, 100), "-m", "m.cw")
    assert ended.code == 2
    assert "SOURCE_DATE_EPOCH is 'yesterday'" in ended.err


def test_a_half_life_of_days(ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the dates of runs; a day in two parts equals the day in one."""
    day, length = 1_800_000_000, ["--half-life", "7d"]
    ok("feed", planted("a.svm", 1, 300), "-m", "m.cw", *length)
    ok("feed", planted("b.svm", 2, 100), "-m", "m.cw", *length)
    ok("train", "a.svm", "b.svm", "-m", "t.cw", *length)
    same, want = (Model.load(Path(p)).state.column("precision") for p in ("m.cw", "t.cw"))
    assert same.tobytes() == want.tobytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(day + 7 * 86_400))
    planted("c.svm", 3, 1)
    ok("train", "c.svm", "--resume", "m.cw", "-m", "later.cw")
    later, seen = Model.load(Path("later.cw")).state.column("precision"), want > 0
    assert np.median(later[seen] / want[seen]) == pytest.approx(0.5)


def test_settings_from_a_file(ok: Run, cwtool: Callable, planted: Run) -> None:
    Path("cwtool.toml").write_text(
        '[feed]\nalgo = "scw1"\nmodel = "m.cw"\nkeep = 1\nrequire = ["auc>=0.6"]\n'
    )
    for k in range(1, 4):
        ok("feed", planted(f"day{k}.svm", k, 300))
    assert modelfile.load_header(Path("m.cw"))["algorithm"] == "scw1"
    assert Path("m.cw.1").exists()
    assert not Path("m.cw.2").exists()
    Path("cwtool.toml").unlink()
    ok("feed", planted("day4.svm", 4, 300), "-m", "m.cw")
    assert cwtool("feed", "day4.svm", "-m", "m.cw", "--undo").code == 2


def test_wrong_settings_say_where_they_were_set(
    cwtool: Callable, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ["feed", planted("a.svm", 1, 300), "-m", "m.cw"]
    Path("cwtool.toml").write_text("[feed]\nr = -1\n")
    ended = cwtool(*args)
    assert ended.code == 2
    assert "it must be above 0 (set in cwtool.toml)" in ended.err
    monkeypatch.setenv("CWTOOL_FEED_R", "-2")
    assert "(set by the environment variable CWTOOL_FEED_R)" in cwtool(*args).err
    assert "(set" not in cwtool(*args, "-r", "-3").err


@pytest.mark.parametrize("algo", ["bcw", "knn"])
def test_learners_of_batches(ok: Run, planted: Run, brief: Callable, algo: str) -> None:
    for k in (1, 2, 3):
        ok("feed", planted(f"day{k}.svm", k, 120), "-m", "m.cw", *brief(algo))
    assert modelfile.load_header(Path("m.cw"))["rows"] == 360


def test_several_classes(ok: Run, cwtool: Callable, planted: Run) -> None:
    days = []
    for k in (1, 2, 3):
        parts = [
            rows_of(planted("part", 10 * k + c, 400, first=1 + 40 * c, labels=(f"{c}", f"{c}")))
            for c in range(3)
        ]
        mixed = [row.replace(":-", ":") for rows in zip(*parts, strict=True) for row in rows]
        days.append(written(f"day{k}.svm", mixed))
        if k < 3:
            ok("feed", days[-1], "-m", "m.cw")
    model = Path("m.cw").read_bytes()
    wrong = [f"{(int(row[0]) + 1) % 3}{row[1:]}" for row in rows_of(days[-1])]
    assert cwtool("feed", written("bad.svm", wrong), "-m", "m.cw").code == 5
    assert Path("m.cw").read_bytes() == model
    ok("feed", days[-1], "-m", "m.cw")
