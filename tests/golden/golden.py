"""Data, runs and comparisons of golden cases, used by freeze.py, which writes the golden files, and
test_golden.py, which compares the present build with them.

Only the command line and files are used, so that the inside of cwtool may change freely.
"""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import Any

from conftest import planted_text

HERE = Path(__file__).parent
CASES = HERE / "cases.json"  # training from nothing
CONTINUED = HERE / "continued.json"  # going on from the files of models/
MODELS = HERE / "models"

# Relative to the largest magnitude of the compared column. Only for cases that are not exact: their
# results pass through BLAS, LAPACK or libm (exp, log, pow, cos), whose last bits depend on the
# processor and on the library. Probabilities pass through exp in every case.
TOLERANCE = 1e-9
WEIGHTS = 8  # features in a sample
ROWS = 4  # predicted rows in a sample

Run = Callable[..., str]  # runs a command that has to succeed and returns its stdout
Result = dict[str, Any]


def stored(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def text_of(recipe: dict[str, Any]) -> str:
    """The LIBSVM text of a data file; its recipe holds the arguments of planted_text."""
    return planted_text(**{k: v for k, v in recipe.items() if k != "sha256"})


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def write_data(data: dict[str, Any], words: list[str], folder: Path) -> None:
    """Write the data files that occur among these words of a command."""
    for name in words:
        if name in data:
            (folder / name).write_text(text_of(data[name]))


def run_case(run: Run, case: dict[str, Any], data: dict[str, Any], folder: Path) -> Result:
    """Train from nothing, then predict and inspect."""
    write_data(data, [*case["train"], case["predict"]], folder)
    run("train", *case["train"], "-m", "m.cw", "-q")
    return results(run, "m.cw", case)


def run_continued(run: Run, case: dict[str, Any], data: dict[str, Any], folder: Path) -> Result:
    """Predict and inspect with a stored model, go on from it, and do so again."""
    write_data(data, [case["then"], case["predict"]], folder)
    shutil.copy(MODELS / case["model"], folder / "old.cw")
    before = results(run, "old.cw", case)
    run("train", "--resume", "old.cw", case["then"], "-m", "m.cw", "-q")
    return {"before": before, "after": results(run, "m.cw", case)}


def results(run: Run, model: str, case: dict[str, Any]) -> Result:
    """What the golden files hold of a model."""
    tables = ["--weights", "weights.tsv"] if case["linear"] else []
    described = json.loads(run("inspect", model, "--json", "--top", "1000", *tables))
    progressive = described["progressive"]
    weights = from_tsv(Path("weights.tsv").read_text()) if tables else from_json(described)
    # version 0.1 called every score of at least 0 positive
    command = ("predict", case["predict"], "-m", model, "--evaluate", "--threshold", "0", "--json")
    evaluated = json.loads(run(*command, "--output", "all", "-o", "rows.jsonl"))
    return {
        "progressive": {k: progressive[k] for k in ("rows", "error", "auc")},
        # the AUC of version 0.1 was that of a histogram of scores
        "evaluated": {"error": evaluated["error"], "auc": evaluated["auc_about"]},
        "weights": summary(weights, WEIGHTS, 2),
        "predictions": predictions(Path("rows.jsonl").read_text()),
    }


def from_tsv(text: str) -> dict[str, list[float | None]]:
    """id -> weight and variance; a line for an intercept belongs to no feature."""
    found = {}
    for line in text.splitlines():
        key, *values = line.split("\t")
        if key != "intercept":
            found[key] = [number(v) for v in values]
    return found


def from_json(described: dict[str, Any]) -> dict[str, list[float | None]]:
    """id -> absolute weight or importance, for models that are not linear in the features."""
    found: dict[str, list[float | None]] = {}
    for row in described["top"]:
        found[row["feature"]] = [abs(row["weight"] if "weight" in row else row["importance"])]
    for row in described.get("interactions", []):
        found[row["interaction"]] = [row["importance"]]
    return found


def number(text: str) -> float | None:
    value = float(text)
    return None if isnan(value) else value


def by_id(item: tuple[str, Any]) -> tuple[list[int], str]:
    key = item[0]
    factors = key.split("*")
    return [int(f) for f in factors] if all(f.isdigit() for f in factors) else [], key


def summary(table: dict[str, list[Any]], size: int, hashed: int) -> Result:
    """The number of rows, evenly spaced ones of them, and a digest over the first `hashed` columns
    of all of them."""
    rows = sorted(table.items(), key=by_id)
    step = max(1, (len(rows) - 1) // max(1, size - 1))
    lines = ["\t".join([key, *map(repr, values[:hashed])]) for key, values in rows]
    return {
        "count": len(rows),
        "sample": dict(rows[::step][:size]),
        "sha256": digest("\n".join(lines)),
    }


def predictions(text: str) -> Result:
    """By number of the row: score, variance and, outside of the digest, probability. The label is
    that of the score and needs no place."""
    table = {}
    for n, line in enumerate(text.splitlines(), 1):
        row = json.loads(line)
        table[str(n)] = [row["score"], row["variance"], round(row["probability"], 12)]
    return summary(table, ROWS, 2)


def differences(want: Result, got: Result, *, exact: bool) -> list[str]:
    """What differs, in words."""
    found = []
    for part in ("progressive", "evaluated"):
        for key, value in want[part].items():
            tolerance = 0.0 if exact or value is None else TOLERANCE
            found += compared(f"{part} {key}", value, got[part][key], tolerance)
    found += compared_tables(
        want["weights"], got["weights"], "feature", ("weight", "variance"), exact
    )
    found += compared_tables(
        want["predictions"],
        got["predictions"],
        "row",
        ("score", "variance", "probability"),
        exact,
    )
    for part in ("weights", "predictions"):
        if exact and want[part]["sha256"] != got[part]["sha256"]:
            found.append(f"{part}: the digest over all {want[part]['count']} of them")
    return found


def compared_tables(
    want: Result, got: Result, what: str, columns: tuple[str, ...], exact: bool
) -> list[str]:
    if want["count"] != got["count"]:
        return [f"{got['count']} instead of {want['count']} {what}s"]
    found = []
    for k, column in enumerate(columns):
        present = {key: row[k] for key, row in want["sample"].items() if k < len(row)}
        largest = max((abs(v) for v in present.values() if v is not None), default=0.0)
        tolerance = 0.0 if exact else TOLERANCE * largest
        if column == "probability":
            tolerance = TOLERANCE
        for key, value in present.items():
            if key not in got["sample"]:
                found.append(f"{column} of {what} {key}: missing")
            else:
                name = f"{column} of {what} {key}"
                found += compared(name, value, got["sample"][key][k], tolerance)
    return found


def compared(name: str, want: Any, got: Any, tolerance: float) -> list[str]:
    if want is None or got is None or tolerance == 0:
        same = repr(want) == repr(got)  # by bits: 0.0 is not -0.0
    else:
        same = abs(want - got) <= tolerance
    return [] if same else [f"{name}: {got!r} instead of {want!r}"]
