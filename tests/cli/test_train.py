"""cwtool train: its forms, its reports, and what it keeps."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool import __version__, registry
from cwtool.cli.declared import spellings
from cwtool.model import Model
from cwtool.model import file as modelfile
from cwtool.params import declared

Run = Callable[..., Any]


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def header(model: str) -> dict[str, Any]:
    return modelfile.load(Path(model))[0]


def same(a: str, b: str) -> bool:
    return Path(a).read_bytes() == Path(b).read_bytes()


def hard(name: str, planted: Run) -> str:
    """A file whose labels are wrong in one row of four."""
    lines = Path(planted(name, 7, 400)).read_text().splitlines()
    lines[::4] = [{"+": "-", "-": "+"}[line[0]] + line[1:] for line in lines[::4]]
    Path(name).write_text("\n".join(lines))
    return name


# --- reports ------------------------------------------------------------------------------------


def test_plain_report(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 300), "-m", "m.cw")
    assert ended.code == 0
    for words in ("300 rows", "error", "AUC", "precision", "recall", "F1", "rows/s", "features 30"):
        assert words in ended.out
    assert "wrote m.cw" in ended.out
    assert "\x1b" not in ended.out + ended.err
    assert "\r" not in ended.out + ended.err


def test_quiet(cwtool: Run, planted: Run) -> None:
    assert cwtool("train", planted("a.svm", 1, 300), "-m", "m.cw", "-q") == (0, "", "")


def test_json_report(cwtool: Run, planted: Run) -> None:
    files = [planted("a.svm", 1, 300), planted("b.svm", 2, 200)]
    ended = cwtool("train", *files, "-m", "m.cw", "--json")
    first, second, run = events(ended.out)
    assert ended.err == ""
    assert [e["event"] for e in (first, second, run)] == ["file", "file", "train"]
    assert [(e["file"], e["rows"]) for e in (first, second)] == [("a.svm", 300), ("b.svm", 200)]
    wanted = {"error", "auc", "precision", "recall", "f1", "rows", "rows_per_second", "features"}
    assert wanted <= run.keys()
    assert (run["rows"], run["algo"], run["model"]) == (500, "arow", "m.cw")
    assert run["bytes"] == Path("m.cw").stat().st_size
    wrong = 300 * first["error"] + 200 * second["error"]
    assert run["error"] == pytest.approx(wrong / 500, abs=1e-15)


def test_progressive_error_is_that_of_unseen_rows(ok: Run, planted: Run) -> None:
    """Predicting each row with a model of the rows before it gives the reported error."""
    lines = Path(planted("a.svm", 1, 40)).read_text().splitlines()
    Path("head.svm").write_text("\n".join(lines[:2]))
    Path("tail.svm").write_text("\n".join(lines[2:]))
    out = ok("train", "head.svm", "tail.svm", "-m", "m.cw", "--json")
    wrong = 0
    for k in range(2, 40):
        Path("before.svm").write_text("\n".join(lines[:k]))
        ok("train", "before.svm", "-m", "b.cw")
        said = ok("predict", "-", "-m", "b.cw", "-q", stdin=lines[k].encode()).strip()
        wrong += said != lines[k].split()[0]
    assert wrong > 0
    assert events(out)[1]["error"] == wrong / 38


def test_passes_are_reported(ok: Run, planted: Run) -> None:
    found = events(ok("train", planted("a.svm", 1, 200), "--passes", 3, "-m", "m.cw", "--json"))
    assert [e["pass"] for e in found if e["event"] == "pass"] == [2, 3]
    assert found[-1]["rows"] == 200
    assert header("m.cw")["rows"] == 200
    assert header("m.cw")["history"][-1]["passes"] == 3


def test_history_of_runs(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 200), "-m", "m.cw", "--seed", 4)
    ok("train", planted("b.svm", 2, 100), "--resume", "m.cw", "-m", "m.cw")
    first, second = header("m.cw")["history"]
    assert [first["files"][0]["name"], first["rows"], first["seed"]] == ["a.svm", 200, 4]
    assert [second["files"][0]["name"], second["rows"]] == ["b.svm", 100]
    assert first["files"][0]["digest"] != second["files"][0]["digest"]


# --- validation ---------------------------------------------------------------------------------


def validations(out: str) -> dict[int, float]:
    return {e["pass"]: e["error"] for e in events(out) if e["event"] == "validation"}


def test_validation_keeps_the_best_pass(ok: Run, planted: Run) -> None:
    train, check = hard("a.svm", planted), planted("b.svm", 2, 300)
    args = ["train", train, "--algo", "perceptron", "--json"]
    out = ok(*args, "--passes", 8, "--validation", check, "-m", "m.cw")
    errors = validations(out)
    assert list(errors) == list(range(1, 9))
    best = min(errors, key=lambda k: (errors[k], k))
    assert best != 8, "the data of this test must make the last pass a worse one"
    run = events(out)[-1]
    assert (run["best_pass"], run["validation_error"]) == (best, errors[best])
    ok(*args, "--passes", best, "-m", "best.cw")
    mine, alone = (modelfile.load(Path(p))[1] for p in ("m.cw", "best.cw"))
    assert {k: a.tobytes() for k, a in mine.items()} == {k: a.tobytes() for k, a in alone.items()}
    checked = json.loads(ok("predict", check, "-m", "m.cw", "--evaluate", "--json"))
    assert checked["error"] == errors[best]


def test_patience_stops(ok: Run, planted: Run) -> None:
    train, check = hard("a.svm", planted), planted("b.svm", 2, 300)
    args = ["train", train, "-a", "perceptron", "--passes", 30, "--validation", check, "--json"]
    errors = validations(ok(*args, "--patience", 2, "-m", "m.cw"))
    assert len(errors) < 30
    best = min(errors, key=lambda k: (errors[k], k))
    assert len(errors) == best + 2


def test_patience_alone_is_refused(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 9), "--patience", 2, "-m", "m.cw")
    assert ended.code == 2
    assert "--validation or --holdout" in ended.err


def test_patience_with_one_pass_is_refused(cwtool: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 50)
    ended = cwtool("train", a, "-m", "m.cw", "--holdout", 0.5, "--patience", 2)
    assert (ended.code, Path("m.cw").exists()) == (2, False) and "--passes" in ended.err


def test_bad_lines_of_the_validation_file_are_named(cwtool: Run, planted: Run) -> None:
    a, b = planted("a.svm", 1, 50), planted("b.svm", 2, 50)
    Path(b).write_text("+1 3:x\n" + Path(b).read_text())
    ended = cwtool("train", a, "-m", "m.cw", "--validation", b, "--on-bad-line", "skip")
    assert ended.code == 0 and "b.svm: 1 bad line skipped" in ended.err


def test_validation_from_stdin_serves_one_pass(cwtool: Run, ok: Run, planted: Run) -> None:
    a, b = planted("a.svm", 1, 200), planted("b.svm", 2, 200)
    train = ["train", a, "--validation", "-", "-m", "m.cw"]
    ok(*train, stdin=Path(b).read_bytes())
    ended = cwtool(*train, "--passes", 2, stdin=Path(b).read_bytes())
    assert ended.code == 2
    assert "stdin only once" in ended.err


def test_holdout_rows_are_not_learned(ok: Run, planted: Run) -> None:
    out = ok("train", planted("a.svm", 1, 1000), "--holdout", 0.25, "-m", "m.cw", "--json")
    found = {e["event"]: e for e in events(out)}
    assert found["train"]["rows"] + found["validation"]["rows"] == 1000
    assert 200 < found["validation"]["rows"] < 300
    assert header("m.cw")["rows"] == found["train"]["rows"]


def test_holdout_depends_on_the_seed_alone(ok: Run, planted: Run) -> None:
    args = ["train", planted("a.svm", 1, 500), "--holdout", 0.3]
    for seed, model in ((1, "one.cw"), (1, "same.cw"), (2, "other.cw")):
        ok(*args, "--seed", seed, "-m", model)
    assert same("one.cw", "same.cw")
    assert header("one.cw")["rows"] != 500
    assert header("one.cw")["confusion"] != header("other.cw")["confusion"]


def test_holdout_goes_on_with_resume(ok: Run, planted: Run) -> None:
    """Which rows are kept aside depends on all rows met before, not on those learned."""
    a, b = planted("a.svm", 1, 500), planted("b.svm", 2, 500)
    ok("train", a, b, "--holdout", 0.3, "-m", "long.cw")
    ok("train", a, "--holdout", 0.3, "-m", "day1.cw")
    ok("train", b, "--holdout", 0.3, "--resume", "day1.cw", "-m", "day2.cw")
    long, day2 = (modelfile.load(Path(p))[1] for p in ("long.cw", "day2.cw"))
    assert {k: v.tobytes() for k, v in long.items()} == {k: v.tobytes() for k, v in day2.items()}


def test_validation_without_rows(cwtool: Run, planted: Run) -> None:
    Path("empty.svm").touch()
    command = ["train", planted("a.svm", 1, 5), "-m", "m.cw", "--validation", "empty.svm"]
    ended = cwtool(*command)
    assert (ended.code, ended.err) == (3, "error: empty.svm: no rows to validate on\n")


def test_stdin_is_read_once(cwtool: Run) -> None:
    ended = cwtool("train", "-", "--validation", "-", "-m", "m.cw", stdin=b"+1 1:1\n-1 2:1\n")
    assert ended.code == 2
    assert "stdin can be read only once" in ended.err


def test_too_small_a_holdout(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 5), "--holdout", 1e-9, "-m", "m.cw")
    assert ended.code == 3
    assert "raise --holdout" in ended.err


def test_too_large_a_holdout(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 5), "--holdout", 1 - 1e-9, "-m", "m.cw")
    assert ended.code == 3
    assert "lower --holdout" in ended.err
    assert not Path("m.cw").exists()


# --- gates --------------------------------------------------------------------------------------


def test_gate_passed(ok: Run, planted: Run) -> None:
    gates = ["--require", "auc>=0.5", "--require", "error < 0.5", "--require", "rows>=300"]
    ok("train", planted("a.svm", 1, 300), *gates, "-m", "m.cw")
    assert not Path("m.cw.rejected").exists()


@pytest.mark.parametrize("gate", ["auc>=0.9999", "error<1e-9", "f1 > 1", "rows>300"])
def test_gate_failed(gate: str, cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("old.svm", 2, 50), "-m", "m.cw")
    old = Path("m.cw").read_bytes()
    ended = cwtool("train", planted("a.svm", 1, 300), "--require", gate, "-m", "m.cw", "--json")
    assert ended.code == 5
    assert events(ended.out)[-1]["model"] == "m.cw.rejected-2027-01-15"
    assert "m.cw.rejected-2027-01-15" in ended.err
    assert Path("m.cw").read_bytes() == old
    assert header("m.cw.rejected")["rows"] == header("m.cw.rejected-2027-01-15")["rows"] == 300


def test_a_model_that_is_not_written_is_not_called_unchanged(cwtool: Run, planted: Run) -> None:
    """Nor is a metric of several classes simply missing: those of two classes are named."""
    args = [planted("a.svm", 1, 300), "--require", "macro_f1>0", "-m", "m.cw"]
    ended = cwtool("train", *args)
    assert "macro_f1 is not measured; measured are error, auc, " in ended.err
    assert "m.cw was not written" in ended.err
    cwtool("train", *args[:1], "-m", "m.cw")
    assert "m.cw is unchanged" in cwtool("train", *args).err


def test_rejected_models_keep_their_names(
    cwtool: Run, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the same day get numbers; the last seven are kept."""
    args = ["--require", "error<0", "-m", "m.cw"]
    for k in range(1, 12):
        if k == 11:
            monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800100000")
        assert cwtool("train", planted("a.svm", k, 20 + k), *args).code == 5
    found = {p.name: header(p.name)["rows"] for p in Path().glob("m.cw*")}
    first = {f"m.cw.rejected-2027-01-15-{k}": 20 + k for k in range(5, 11)}
    assert found == {**first, "m.cw.rejected-2027-01-16": 31, "m.cw.rejected": 31}


def test_gate_on_the_validation(cwtool: Run, planted: Run) -> None:
    """With rows kept aside, they decide."""
    good, bad = planted("a.svm", 1, 1000), planted("b.svm", 2, 300, labels=("+1", "-1"))
    gate = ["--require", "error<0.5", "-m", "m.cw"]
    assert cwtool("train", good, *gate).code == 0
    assert cwtool("train", good, "--validation", bad, *gate).code == 5
    gate[1] = "auc>0.5"
    assert cwtool("train", good, *gate).code == 0
    assert cwtool("train", good, "--validation", bad, *gate).code == 5


@pytest.mark.parametrize(
    "gate", ["auc", "auc=0.9", "speed>3", "auc>=high", "error<1e-3e", "f1>1.2.3", "f1>."]
)
def test_gate_that_is_none(gate: str, cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 9), "--require", gate, "-m", "m.cw")
    assert ended.code == 2
    assert "auc>=0.97" in ended.err
    assert "Traceback" not in ended.err


# --- resuming -----------------------------------------------------------------------------------


def test_learned_files_are_skipped(cwtool: Run, ok: Run, planted: Run) -> None:
    a, b = planted("a.svm", 1, 200), planted("b.svm", 2, 100)
    ok("train", a, "-m", "m.cw")
    Path("renamed.svm").write_bytes(Path(a).read_bytes())
    old = Path("m.cw").read_bytes()
    ended = cwtool("train", "--resume", "m.cw", "renamed.svm", "-m", "m.cw")
    assert ended.code == 0
    assert "renamed.svm was learned before (as a.svm)" in ended.err
    assert Path("m.cw").read_bytes() == old
    ended = cwtool("train", "--resume", "m.cw", a, b, "-m", "m.cw")
    assert "a.svm was learned before" in ended.err
    assert header("m.cw")["rows"] == 300
    ended = cwtool("train", "--resume", "m.cw", a, "--again", "-m", "m.cw")
    assert (ended.code, "before" in ended.err) == (0, False)
    assert header("m.cw")["rows"] == 500


def test_a_file_given_twice_is_learned_once(cwtool: Run, ok: Run, planted: Run) -> None:
    a, b = planted("a.svm", 1, 50), planted("b.svm", 2, 50)
    ended = cwtool("train", a, b, a, "-m", "m.cw")
    assert ended.code == 0 and "a.svm is given twice and is skipped" in ended.err
    ok("train", a, b, "-m", "once.cw")
    assert same("m.cw", "once.cw")
    ok("train", a, b, a, "-m", "again.cw", "--again")
    assert header("again.cw")["rows"] == 150


def test_a_changed_file_is_new(ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 200)
    ok("train", a, "-m", "m.cw")
    Path(a).write_text(Path(a).read_text() + "+1 1:1\n")
    ok("train", "--resume", "m.cw", a, "-m", "m.cw")
    assert header("m.cw")["rows"] == 401


def test_new_training_does_not_skip(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 200), "-m", "m.cw")
    ok("train", "a.svm", "-m", "m.cw")
    assert header("m.cw")["rows"] == 200


def test_resume_to_another_place(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 200), "-a", "cw", "--eta", 0.8, "-m", "old.cw")
    old = Path("old.cw").read_bytes()
    ok("train", "--resume", "old.cw", planted("b.svm", 2, 100), "-m", "new.cw")
    assert Path("old.cw").read_bytes() == old
    assert header("new.cw")["algorithm"] == "cw"
    assert header("new.cw")["params"]["eta"] == 0.8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--algo", "pa"], "model of arow, not of pa"),
        (["--r", "5"], "--r"),
        (["--normalize", "l2"], "--normalize none"),
        (["--zero-based"], "--zero-based"),
        (["--hash-bits", "8"], "--hash-bits"),
        (["--bias"], "--bias"),
        (["--covariance", "full"], "--covariance diag"),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else "",
)
def test_resume_contradicted(
    options: list[str], words: str, cwtool: Run, ok: Run, planted: Run
) -> None:
    a, b = planted("a.svm", 1, 50), planted("b.svm", 2, 50)
    ok("train", a, "-m", "m.cw")
    old = Path("m.cw").read_bytes()
    ended = cwtool("train", "--resume", "m.cw", b, *options, "-m", "m.cw")
    assert ended.code == 4
    assert words in ended.err
    assert Path("m.cw").read_bytes() == old


def test_resume_with_the_same_options(ok: Run, planted: Run) -> None:
    options = ["--algo", "arow", "--r", "0.2", "--bias", "--normalize", "l2", "--hash-bits", "8"]
    ok("train", planted("a.svm", 1, 50), *options, "-m", "m.cw")
    ok("train", planted("b.svm", 2, 50), *options, "--resume", "m.cw", "-m", "m.cw")
    assert header("m.cw")["rows"] == 100


def test_resume_with_other_labels(cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    b = planted("b.svm", 2, 50, labels=("0", "1"))
    ended = cwtool("train", "--resume", "m.cw", b, "-m", "m.cw")
    assert ended.code == 3
    assert "b.svm:1: label 0 is a third class" in ended.err
    assert "sed 's/^0 /-1 /' b.svm" in ended.err


def test_labels_that_no_history_confirms(cwtool: Run, ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    model = Model.load(Path("m.cw"))
    model.labels.positive = 7.0
    for run in model.history:
        del run["labels"]
    model.save(Path("m.cw"))
    train = ["train", "--resume", "m.cw", "-m", "n.cw"]
    for args in (train, ["predict", "-m", "m.cw", "--evaluate"], ["feed", "-m", "m.cw"]):
        ended = cwtool(*args, planted("b.svm", 2, 50))
        assert ended.code == 4
        assert "m.cw has the labels -1 and 7, which no history confirms, and b.svm:" in ended.err
        assert "restore the model from a copy" in ended.err


def test_missing_old_model(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", "--resume", "none.cw", planted("a.svm", 1, 50), "-m", "m.cw")
    assert ended.code == 4
    assert "none.cw: no such model" in ended.err
    assert not Path("m.cw").exists()


# --- options of algorithms ----------------------------------------------------------------------


def section(text: str, title: str) -> str:
    """The lines under a title of a help text."""
    rest = text.split(title, 1)[1].split("\n", 1)[1]
    return rest.split("\n\n", 1)[0]


@pytest.mark.parametrize("name", registry.names())
def test_help_lists_the_options_of_the_algorithm(name: str, ok: Run) -> None:
    own = declared(registry.algorithm(name).Params)
    for args in (["--algo", name, "--help"], ["--help", f"--algo={name}"], [f"-a{name}", "-h"]):
        shown = section(ok("train", *args), f"Options of {name}")
        words = [
            line.split()[0].strip(",") for line in shown.splitlines() if line.startswith("  -")
        ]
        assert words == [spellings(p)[0] for p in own]
    for param in own:
        assert spellings(param)[0] in shown


def test_help_lists_options_only(ok: Run) -> None:
    assert "DATA" not in section(ok("train", "--help"), "Options:")


def test_option_of_another_algorithm_names_its_owners(cwtool: Run, planted: Run) -> None:
    """Each option with two algorithms that do not have it, so that each algorithm comes often."""
    a, names = planted("a.svm", 1, 9), registry.names()
    options: dict[str, set[str]] = {}
    switches = set()
    for name in names:
        for param in declared(registry.algorithm(name).Params):
            for long in [s for s in spellings(param) if s.startswith("--")]:
                options.setdefault(long, set()).add(name)
                switches |= {long} if param.kind is bool else set()
    for both in ("--engine", "--growth"):  # that of the command, where no algorithm has it
        del options[both]
    for k, (long, owners) in enumerate(options.items()):
        strangers = [name for name in names if name not in owners]
        for name in {strangers[k % len(strangers)], strangers[(7 * k + 3) % len(strangers)]}:
            value = [] if long in switches else ["1"]
            ended = cwtool("train", "--algo", name, a, long, *value, "-m", "m.cw")
            assert ended.code == 2
            found = ended.err.split("is an option of ")[1].split(";")[0].split(", ")
            assert set(found) == owners
            assert f"the algorithm here is {name}" in ended.err


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("arrow", "arow"), ("scw", "scw"), ("perseptron", "perceptron"), ("AROW", "arow")],
)
def test_unknown_algorithm_suggests(wrong: str, right: str, cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", "--algo", wrong, planted("a.svm", 1, 9), "-m", "m.cw")
    assert ended.code == 2
    assert f"there is no algorithm '{wrong}'" in ended.err
    assert right in ended.err.split("did you mean")[1]


def test_unknown_algorithm_lists(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", "--algo", "zzz", planted("a.svm", 1, 9), "-m", "m.cw")
    assert all(name in ended.err for name in registry.names())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--r", "0"], "above 0"),
        (["--r", "nan"], "above 0"),
        (["--r", "x"], "a number"),
        (["--prior", "-1"], "auto, or above 0"),
        (["--floor", "2"], "at most 0.999999"),
        (["--covariance", "some"], "one of diag, full"),
        (["--passes", "0"], "--passes"),
        (["--holdout", "1"], "--holdout"),
        (["--hash-bits", "31"], "--hash-bits"),
        (["--block-size", "1000"], "--block-size"),
        (["--jobs", "0"], "--jobs"),
        (["--seed", "-1"], "--seed"),
        (["--no-such-option"], "No such option"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_values_out_of_range(options: list[str], words: str, cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 9), *options, "-m", "m.cw")
    assert ended.code == 2
    assert words in ended.err
    assert not Path("m.cw").exists()


def test_parameters_are_kept_in_the_model(ok: Run, planted: Run) -> None:
    ok("train", planted("a.svm", 1, 50), "-a", "scw1", "-C", 2, "--eta", 0.7, "-m", "m.cw")
    kept = header("m.cw")["params"]
    assert (kept["C"], kept["eta"], kept["covariance"]) == (2.0, 0.7, "diag")


def test_parameters_matter(ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 50)
    ok("train", a, "-m", "usual.cw")
    for number, option in enumerate((["--r", "7"], ["--prior", "1"], ["--projection", "l2"])):
        ok("train", a, *option, "-m", f"{number}.cw")
        mine, usual = (modelfile.load(Path(p))[1] for p in (f"{number}.cw", "usual.cw"))
        assert mine["feature.mean"].tolist() != usual["feature.mean"].tolist()


def test_bias_before_the_data(ok: Run, planted: Run) -> None:
    ok("train", "--bias", planted("a.svm", 1, 50), "-m", "m.cw")
    assert 2**31 - 1 in modelfile.load(Path("m.cw"))[1]["ids"]


def test_rows_of_any_scale_give_the_same_predictions(ok: Run, planted: Run) -> None:
    """The prior follows the scale of the rows: values times 2^20 change nothing."""
    lines = [line.split() for line in Path(planted("a.svm", 1, 300)).read_text().splitlines()]
    for name, factor in (("small.svm", 1.0), ("large.svm", 2.0**20)):
        rows = [
            " ".join([y, *(f"{j}:{float(x) * factor!r}" for j, x in (c.split(":") for c in row))])
            for y, *row in lines
        ]
        Path(name).write_text("\n".join(rows))
        ok("train", name, "-m", name + ".cw")
    small, large = (
        [float(x) for x in ok("predict", n, "-m", n + ".cw", "--output", "score").split()]
        for n in ("small.svm", "large.svm")
    )
    assert large == pytest.approx(small, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("limit", [[], ["--max-memory", "1MB"]])
@pytest.mark.parametrize("algo", ["arow", "narow", "sop"])
def test_full_covariance_that_does_not_fit(
    algo: str, limit: list[str], cwtool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not limit:
        monkeypatch.setattr("cwtool.memory.available", lambda: 1 << 20)
    Path("a.svm").write_text("+1 " + " ".join(f"{j}:1" for j in range(1, 1001)) + "\n-1 1:1\n")
    ended = cwtool("train", "a.svm", "-a", algo, "--covariance", "full", *limit, "-m", "m.cw")
    assert ended.code == 2
    assert "1,000 features needs 16 MB" in ended.err
    assert "--covariance diag" in ended.err
    assert not Path("m.cw").exists()


# --- settings -----------------------------------------------------------------------------------


def test_config_and_variables(ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Command line before variable before file before default."""
    a = planted("a.svm", 1, 50)

    def r(*args: object) -> float:
        ok(*args)
        return float(header("m.cw")["params"]["r"])

    train = ["train", a, "-m", "m.cw"]
    assert r(*train) == 0.1
    Path("other.toml").write_text("[train]\nr = 3.0\n")
    assert r("--config", "other.toml", *train) == 3
    Path("cwtool.toml").write_text("[train]\nr = 2.0\n")
    assert r(*train) == 2
    assert r("--config", "other.toml", *train) == 3
    monkeypatch.setenv("CWTOOL_TRAIN_R", "5")
    assert r(*train) == 5
    assert r(*train, "--r", "7") == 7


def test_config_names_the_algorithm(ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cwtool.toml").write_text('[train]\nalgo = "scw2"\nC = 0.5\nmax-bad-lines = 3\n')
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    assert (header("m.cw")["algorithm"], header("m.cw")["params"]["C"]) == ("scw2", 0.5)
    monkeypatch.setenv("CWTOOL_TRAIN_ALGO", "pa1")
    ok("train", "a.svm", "-m", "m.cw")
    assert header("m.cw")["algorithm"] == "pa1"
    ok("train", "a.svm", "-m", "m.cw", "--algo", "nherd")
    assert header("m.cw")["algorithm"] == "nherd"


def test_config_names_the_model_to_go_on_from(cwtool: Run, ok: Run, planted: Run) -> None:
    """Its algorithm decides which options there are."""
    ok("train", planted("a.svm", 1, 50), "--algo", "perceptron", "-m", "old.cw")
    Path("cwtool.toml").write_text('[train]\nresume = "old.cw"\n')
    ended = cwtool("train", planted("b.svm", 2, 50), "-m", "m.cw", "--r", "2")
    assert ended.code == 2
    assert "the algorithm here is perceptron" in ended.err
    ok("train", "b.svm", "-m", "m.cw", "--no-average")


def test_model_from_a_variable(ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWTOOL_TRAIN_MODEL", "v.cw")
    ok("train", planted("a.svm", 1, 50))
    assert Path("v.cw").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[train\n", "cwtool.toml"),
        ("[train]\nr = -1\n", "above 0"),
        ("[train]\nr = 'x'\n", "a number"),
        ("[train]\npases = 3\n", "cwtool.toml: train has no option --pases; did you mean passes?"),
        ("[trian]\nr = 1\n", "cwtool.toml: [trian] is not a command; did you mean train?"),
        ("r = 1\n", "cwtool.toml: r stands before the first section"),
        ("[train]\npasses = 'many'\n", "'many' is not a whole number (set in cwtool.toml)"),
        ("\n" * (1 << 20 | 1), "longer than 1 MiB"),
    ],
)
def test_bad_config(text: str, words: str, cwtool: Run, planted: Run) -> None:
    Path("cwtool.toml").write_text(text)
    ended = cwtool("train", planted("a.svm", 1, 9), "-m", "m.cw")
    assert ended.code == 2
    assert words in ended.err


def test_config_for_several_algorithms_and_commands(ok: Run, planted: Run) -> None:
    """What belongs to another algorithm waits for it; options are named as on the command line."""
    Path("cwtool.toml").write_text("[train]\nC = 0.5\njson = true\n[predict]\nevaluate = true\n")
    assert ok("train", planted("a.svm", 1, 50), "-m", "m.cw").startswith('{"event"')
    assert ok("predict", "a.svm", "-m", "m.cw").startswith("error")
    ok("train", "a.svm", "-a", "scw1", "-m", "m.cw")
    assert header("m.cw")["params"]["C"] == 0.5


@pytest.mark.parametrize("value", ["'rows > 60'", "['rows > 60']"])
def test_a_single_value_of_an_option_that_can_be_repeated(
    value: str, cwtool: Run, planted: Run
) -> None:
    Path("cwtool.toml").write_text(f"[train]\nrequire = {value}\n")
    ended = cwtool("train", planted("a.svm", 1, 50), "-m", "m.cw")
    assert ended.code == 5 and "rows > 60 is required" in ended.err


def test_missing_config(cwtool: Run, planted: Run) -> None:
    ended = cwtool("--config", "none.toml", "train", planted("a.svm", 1, 9), "-m", "m.cw")
    assert ended.code == 2
    assert "none.toml" in ended.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str, ok: Run) -> None:
    script = ok("completion", shell)
    assert "_CWTOOL_COMPLETE" in script
    assert f"{shell}_complete" in script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("cwtool train da", "file,da"),
        ("cwtool predict da", "file,da"),
        ("cwtool train --validation da", "file,da"),
        ("cwtool train --algo bcw --kap", "plain,--kappa"),
    ],
)
def test_completion(words: str, offered: str, ok: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CWTOOL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert ok() == offered + "\n"


def test_version_help_and_unknown_command(cwtool: Run) -> None:
    assert cwtool("--version") == (0, f"cwtool, version {__version__}\n", "")
    shown = cwtool("--help")
    assert shown.code == 0
    assert all(name in shown.out for name in ("train", "predict", "inspect", "completion"))
    ended = cwtool("trian")
    assert "there is no command 'trian'; did you mean train?" in ended.err
    ended = cwtool("help", "train")
    assert "there is no command 'help'; cwtool COMMAND --help describes a command" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--epochs", "5"], "the algorithm here is arow; --passes sets the number of"),
        (["--epoch", "5"], "there is no option --epoch; --passes sets the number of passes"),
        (["--passes", "five"], "'five' is not a whole number"),
        (["--holdout", "half"], "'half' is not a number"),
        (["--algo", "scw"], "did you mean scw1 or scw2?"),
        (["--algo", "arwo"], "did you mean arow?"),
    ],
)
def test_words_that_are_not_known(words: list[str], said: str, cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 9), "-m", "m.cw", *words)
    assert ended.code == 2 and said in ended.err


def test_no_data_and_no_model(cwtool: Run, planted: Run) -> None:
    assert cwtool("train", "-m", "m.cw").code == 2
    assert cwtool("train", planted("a.svm", 1, 9)).code == 2


def test_what_is_not_a_model_is_not_replaced(cwtool: Run, planted: Run) -> None:
    data = Path(planted("a.svm", 1, 50))
    before = data.read_bytes()
    ended = cwtool("train", "a.svm", "-m", "a.svm")
    assert ended.code == 4
    assert "one of the data files" in ended.err
    Path("notes.txt").write_text("precious")
    ended = cwtool("train", "a.svm", "-m", "notes.txt")
    assert ended.code == 4
    assert "not a cwtool model" in ended.err
    assert (data.read_bytes(), Path("notes.txt").read_text()) == (before, "precious")


def test_algorithm_among_grouped_short_options(ok: Run, planted: Run) -> None:
    ok("train", "-qa", "scw1", "--eta", 0.8, planted("a.svm", 1, 50), "-m", "m.cw")
    assert header("m.cw")["algorithm"] == "scw1"


def test_a_slot_that_does_not_fit(cwtool: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 250)
    ended = cwtool("train", "-a", "dcd", a, "-m", "m.cw", "--max-memory", "20kB")
    assert (ended.code, Path("m.cw").exists()) == (2, False)
    assert "a batch of 250 rows" in ended.err and "--batch-rows" in ended.err


@pytest.mark.parametrize("algo", ["dcd", "knn"])
def test_rows_of_a_first_slot_are_judged_once_learned(algo: str, ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 300)
    said = ok("train", "-a", algo, a, "-m", "m.cw")
    assert "on the learned rows error" in said and "progressive" not in said
    (found,) = (e for e in events(ok("train", "-a", algo, a, "-m", "m.cw", "--json"))
                if e["event"] == "train")  # fmt: skip
    assert found["fitted"]["error"] < found["error"]
    said = ok("train", planted("b.svm", 2, 300), "--resume", "m.cw", "-m", "m.cw")
    assert "progressive" in said and "on the learned rows" not in said


def test_slots_are_reported(ok: Run, planted: Run) -> None:
    a = planted("a.svm", 1, 250)
    for algo in ("bcw", "dcd"):
        out = ok("train", a, "-a", algo, "--slot-rows", "100", "-m", f"{algo}.cw", "--json")
        batches = [e for e in map(json.loads, out.splitlines()) if e["event"] == "batch"]
        assert [e["rows"] for e in batches] == [100, 100, 50]
        assert batches[0]["auc"] == 0.5  # predicted by an empty model
        assert batches[1]["auc"] > 0.7
        assert json.loads(ok("inspect", f"{algo}.cw", "--json"))["calibration"] != 1


@pytest.mark.parametrize("algo", ["tg", "stsgd", "arow"])
def test_the_curve_of_error_and_weights(algo: str, ok: Run, planted: Run) -> None:
    """Points where they were asked for, and the model is the same without them."""
    a, b = planted("a.svm", 1, 2500), planted("b.svm", 2, 1100)
    command = ["train", "-a", algo, a, b, "--passes", "2", "--holdout", "0.1"]
    ok(*command, "-m", "plain.cw")
    said = events(ok(*command, "--trace", "1000", "-m", "traced.cw", "--json"))
    curve = [e for e in said if e["event"] == "trace"]
    assert [(e["pass"], e["rows"]) for e in curve[:4]] == [
        (1, 1000),
        (1, 2000),
        (1, 3000),
        (1, 3600),
    ]
    learned = sum(e["rows"] for e in said if e["event"] == "file")
    assert (curve[4]["pass"], curve[4]["rows"], len(curve)) == (2, 3600 + learned, 5)
    assert all(0 <= e["error"] < 0.5 and 0 <= e["validation_error"] < 0.5 for e in curve)
    assert all(e["nonzero_weights"] > 0 for e in curve)
    assert Path("plain.cw").read_bytes() == Path("traced.cw").read_bytes()
    lines = ok("train", "-a", algo, a, "-m", "text.cw", "--trace", "2000").splitlines()
    assert [line.split("  ")[:2] for line in lines[:2]] == [
        ["pass 1", "2,000 rows"],
        ["pass 1", "2,500 rows"],
    ]
    assert lines[0].endswith(" weights")


def test_stsgd_says_when_rows_were_too_few(cwtool: Any, planted: Run) -> None:
    a = planted("a.svm", 1, 300)
    ended = cwtool("train", "-a", "stsgd", a, "-m", "a.cw")
    assert (ended.code, "takes 500 rows, and there were 300" in ended.err) == (0, True)
    assert "--passes 6" in ended.err
    assert "--passes" not in cwtool("train", "-a", "stsgd", a, "-m", "a.cw", "--passes", "2").err
    assert "--passes" not in cwtool("train", "-a", "tg", a, "-m", "a.cw").err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--bias"], "was trained without --bias and cannot be continued with --bias"),
        (
            ["--hash-bits", "5"],
            "trained without --hash-bits and cannot be continued with --hash-bi",
        ),
        (["--r", "5"], "was trained with --r 0.1 and cannot be continued with --r 5.0"),
    ],
)
def test_going_on_with_other_options_is_told_in_words(
    option: list[str], words: str, cwtool: Run, ok: Run, planted: Run
) -> None:
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    ended = cwtool("train", planted("b.svm", 2, 50), "--resume", "m.cw", "-m", "m.cw", *option)
    assert ended.code == 4
    assert words in ended.err
