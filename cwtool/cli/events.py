"""The events that commands print with --json and append to logs: their names, keys and meanings.

The reference page of events is made from this file, and a test compares it with what is printed.
"""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    type: str
    meaning: str


class Event(NamedTuple):
    meaning: str
    commands: str
    keys: tuple[str, ...]


ABOUT = """\
With `--json`, commands print one JSON object per line on stdout; `feed --log FILE` appends the same
objects to a file. The key `event` says what a line is about. A key is there where it makes sense:
metrics of two classes have AUC, for example, and those of several classes have macro F1. Shares
are between 0 and 1. A metric that cannot be computed is null. New keys and events may be added in
later versions; the meaning of a key does not change. `inspect --json`, `algorithms --json` and
`predict --json` print objects without the key `event`: a description of the model, the list of
algorithms, and an object for each row with the columns of `--output`."""

STAMP = ("time", "command", "version", "model", "file", "digest")
METRICS = (
    "rows", "weight", "error", "auc", "precision", "recall", "f1", "average_precision", "base_rate",
    "confusion", "macro_f1", "weighted_f1", "balanced_error", "per_class", "classes", "unpredicted",
)  # fmt: skip
JUDGED = ("log_loss", "ece")
TRAINED = ("algo", "files", "labels", "seed", "features", "passes", "seconds", "bytes", "warnings")
DEALT = (
    "shards", "rounds", "chosen", "tail_error", "head", "tail_rows", "growth", "bytes_sent", "gap",
)  # fmt: skip

KEYS = {
    "time": Key("text", "Time of the event, UTC."),
    "command": Key("text", "The command that was run."),
    "version": Key("text", "Version of cwtool."),
    "model": Key("text", "The model file."),
    "file": Key("text", "The data file, or several, separated by commas."),
    "digest": Key("text", "Fingerprint of the decompressed text of the file."),
    "rows": Key("whole number", "Number of rows."),
    "weight": Key(
        "number or list",
        "Total row weight, if rows have weights; of chosen features, their weights.",
    ),
    "error": Key("number", "Share of the rows that were predicted wrong."),
    "auc": Key("number", "Area under the ROC curve."),
    "precision": Key("number", "Share of the rows predicted positive that are positive."),
    "recall": Key("number", "Share of the positive rows that are predicted positive."),
    "f1": Key("number", "Harmonic mean of precision and recall."),
    "average_precision": Key("number", "Area under the curve of precision against recall."),
    "base_rate": Key("number", "Share of the rows that are positive."),
    "confusion": Key("object or list", "Rows by actual and predicted class."),
    "macro_f1": Key("number", "Mean F1 of the classes."),
    "weighted_f1": Key("number", "Mean F1 of the classes, weighted by their rows."),
    "balanced_error": Key("number", "1 - the mean recall of the classes."),
    "per_class": Key("list", "Precision, recall, F1 and rows of each class."),
    "classes": Key("list", "The labels, in the order of `confusion`."),
    "unpredicted": Key("list", "Rows of each class that came before the model had any class."),
    "log_loss": Key("number", "Mean negative logarithm of the probability of the actual class."),
    "ece": Key("number", "Expected calibration error of the probabilities."),
    "brier": Key("number", "Mean squared error of the probabilities."),
    "auc_about": Key("number", "AUC from a histogram of scores, as training reports it."),
    "recall_at_fpr": Key("object", "Recall by the false positive rate that is allowed."),
    "precision_at": Key(
        "object", "Precision of the rows with the highest scores, by their number."
    ),
    "bins": Key("list", "For 15 bins of probabilities: weight, sum of probabilities, positives."),
    "positive": Key("text", "The label of the positive class."),
    "learned_before": Key("list", "Files that the model has learned before."),
    "known_share": Key(
        "number", "Share of the rows that the model has learned before, as sampled."
    ),
    "unknown_entries": Key("whole number", "Entries of features that the model has never seen."),
    "unknown_share": Key("number", "Share of unknown entries among all entries."),
    "new_class_rows": Key("whole number", "Rows with labels that the model has not learned."),
    "bad_lines": Key("whole number", "Lines that were skipped by --on-bad-line skip."),
    "qids": Key("whole number", "Rows with a qid, which is ignored."),
    "pass": Key("whole number", "The number of the pass, from 1."),
    "nonzero_weights": Key("whole number", "Weights that are not zero."),
    "validation_error": Key("number", "Error on the held-out rows."),
    "algo": Key("text", "The algorithm."),
    "files": Key("list", "The files that were learned."),
    "labels": Key("list", "The labels of two classes: negative, then positive."),
    "seed": Key("whole number", "The seed of the random number generator."),
    "features": Key("whole number", "Number of features seen, or that were chosen."),
    "passes": Key("whole number", "Number of passes."),
    "best_pass": Key("whole number", "The pass whose model was kept."),
    "seconds": Key("number or object", "Time of the run; of a round, that of its parts."),
    "rows_per_second": Key("number", "Speed of the run."),
    "bytes": Key("whole number", "Size of the model file; of a round, bytes that were sent."),
    "bytes_before": Key("whole number", "Size of the model file before the day."),
    "warnings": Key("list", "The warnings of the run, as text."),
    "threshold": Key("number", "Lowest score that is predicted positive."),
    "operating_point": Key("text", "The setting of `--threshold`, such as f1."),
    "at_threshold": Key("object", "The metrics at that threshold."),
    "fitted": Key("object", "Metrics of a first batch once it was learned."),
    "day": Key("object", "Figures of the day that later days are compared with."),
    "evaluated": Key("object", "Metrics of the day by the model before it learned the day."),
    "total_rows": Key("whole number", "Rows that the model has learned in all."),
    "why": Key("text", "Why the day was refused."),
    "forgotten": Key(
        "list", "Files that the restored model has not learned, with the time when they were."
    ),
    "undone": Key("text", "The file that the replaced model was moved to."),
    "params": Key("object", "The parameters of the combination."),
    "rung": Key("whole number", "With `--halving`, the number of the rung, counted from 1."),
    "by": Key("text", "How combinations are evaluated: folds, time or progressive."),
    "metric": Key("text", "The metric that decides."),
    "failure": Key("text", "Reason why the combination could not be evaluated."),
    "error_sd": Key("number", "Standard deviation of the error over the folds."),
    "auc_sd": Key("number", "That of the AUC."),
    "f1_sd": Key("number", "That of F1."),
    "macro_f1_sd": Key("number", "That of macro F1."),
    "balanced_error_sd": Key("number", "Standard deviation of the balanced error."),
    "log_loss_sd": Key("number", "That of the log loss."),
    "selected": Key("list", "The chosen features, the most useful first."),
    "score": Key("list", "Their scores."),
    "weights": Key("list", "Their weights by class."),
    "confidence": Key("list", "The confidence of their weights."),
    "group": Key("list", "The round in which each was chosen."),
    "interactions": Key("list", "Products of columns that the model uses."),
    "density_shares": Key("list", "Chosen features by how frequent they are."),
    "test_error": Key("number", "Error of these weights on --test rows."),
    "refit_error": Key("number", "Error of an SVM fitted to these features."),
    "test_metrics": Key("object", "Error, AUC, F1 and balanced error of these weights on --test."),
    "refit_metrics": Key("object", "The same metrics of an SVM fitted to these features."),
    "class": Key("text", "The class that the features were chosen for."),
    "frequency": Key("list", "How often each is chosen on subsamples."),
    "stability": Key("number", "Cohen's kappa of the choices on subsamples."),
    "merged": Key("list", "The models that were merged."),
    "base": Key("text", "The model that all of them continue."),
    "chosen": Key("text or list", "The rule of the merge, or those of all rounds."),
    "losses": Key("object", "The loss on the tail by rule."),
    "tail_rows": Key("whole number", "Rows of the tail."),
    "tail_error": Key("number", "Error on the tail before it was learned."),
    "shards": Key("whole number", "Number of shards."),
    "rounds": Key("whole number", "Number of rounds of the shards."),
    "round": Key("whole number", "The number of the round, counted from 1."),
    "step": Key("text", "The step that the shards of a batch computed."),
    "features_sent": Key("whole number", "Features in the results of the shards."),
    "head": Key("whole number", "Bytes of the head."),
    "growth": Key("number", "Ratio of the data up to the end of successive rounds."),
    "bytes_sent": Key("whole number", "Bytes that were sent in all rounds of a batch."),
    "gap": Key("number", "The relative duality gap at which dcd stops."),
    "out": Key("text", "The file that was written."),
    "new_names": Key("whole number", "Names of features that got an id."),
    "suite": Key("text", "The suite of the measurement."),
}

EVENTS = {
    "file": Event(
        "A file was learned; metrics are progressive.", "train, tune and feed",
        (*STAMP, *METRICS, "fitted", "bad_lines"),
    ),
    "batch": Event(
        "A batch was learned.", "train, tune and feed, with batch learners",
        (*STAMP, *METRICS),
    ),
    "pass": Event(
        "A pass over the rows has ended, from the second on.", "train",
        (*STAMP, "pass", "error", "nonzero_weights"),
    ),
    "trace": Event(
        "The report of `--trace`.", "train",
        (*STAMP, "pass", "rows", "error", "validation_error", "nonzero_weights"),
    ),
    "validation": Event(
        "Held-out or validation rows were predicted.", "train and feed",
        (*STAMP, "pass", *METRICS, *JUDGED, "new_class_rows"),
    ),
    "train": Event(
        "The model was trained and saved; metrics are progressive.", "train and tune",
        (*STAMP, *TRAINED, *METRICS, "best_pass", "validation_error", "rows_per_second",
         "operating_point", "threshold", "at_threshold", "fitted", *DEALT),
    ),
    "round": Event(
        "A round of the shards has ended, and its result was merged.",
        "train and feed, with `--shards`",
        (*STAMP, "round", "rows", "shards", "step", "features_sent", "bytes", "chosen",
         "tail_error", "seconds"),
    ),
    "skipped": Event("A file was learned before and is skipped.", "train and feed", STAMP),
    "evaluate": Event(
        "Rows were predicted and compared with their labels.", "predict --evaluate and feed",
        (*STAMP, *METRICS, *JUDGED, "brier", "auc_about", "recall_at_fpr", "precision_at", "bins",
         "positive", "learned_before", "known_share", "unknown_entries", "unknown_share",
         "new_class_rows", "bad_lines", "qids", "threshold", "operating_point", "day", "warnings"),
    ),
    "feed": Event(
        "A day was learned and the model replaced.", "feed",
        (*STAMP, *TRAINED, *METRICS, "day", "known_share", "evaluated", "bytes_before",
         "total_rows", *DEALT),
    ),
    "refused": Event("A day was refused; the model is unchanged.", "feed", (*STAMP, "why")),
    "undo": Event(
        "The model before the last day was restored.", "feed --undo",
        (*STAMP, "forgotten", "rows", "undone"),
    ),
    "point": Event(
        "A combination of parameters was evaluated; with `--halving`, in one rung.", "tune",
        (*STAMP, "rung", "rows", "params", "metric", "error", "error_sd", "auc", "auc_sd", "f1",
         "f1_sd", "macro_f1", "macro_f1_sd", "balanced_error", "balanced_error_sd", "log_loss",
         "log_loss_sd", "failure"),
    ),
    "winner": Event(
        "The best combination.", "tune", (*STAMP, "algo", "by", "metric", "params", "warnings")
    ),
    "select": Event(
        "Features were chosen.", "select-features",
        (*STAMP, "algo", "features", "selected", "score", "weight", "weights", "confidence",
         "group", "interactions", "density_shares", "test_error", "refit_error",
         "test_metrics", "refit_metrics", "seconds", "class", "classes", "frequency", "stability",
         "warnings"),
    ),
    "merge": Event(
        "Models were merged.", "merge",
        (*STAMP, "algo", "files", "seed", "passes", "rows", "error", "features", "merged", "base",
         "chosen", "losses", "tail_rows", "tail_error", "seconds", "bytes", "warnings"),
    ),
    "convert": Event(
        "A file was converted.", "convert", (*STAMP, "out", "rows", "bad_lines", "new_names")
    ),
    "cell": Event(
        "A measurement of a suite; the other keys are the columns of its CSV file.", "bench",
        (*STAMP, "suite"),
    ),
}  # fmt: skip

PARTS = {
    "files[]": {
        "name": "The name of the file.",
        "digest": "Its fingerprint.",
        "rows": "Its number of rows.",
        "nnz": "Its number of entries.",
    },
    "confusion": {
        "tp, fp, tn, fn": "With two classes: true and false positives, true and false negatives. "
        "With several classes it is a list of rows of numbers, one row for each actual class."
    },
    "per_class[]": {
        "label": "The label of the class.",
        "precision, recall, f1": "As above, for this class against the others.",
        "support": "Number of rows of the class.",
    },
    "day": {
        "rows, error, auc, base_rate, classes, entries": "Rows, error, AUC, share of the positive "
        "class, number of classes, and mean number of entries of a row.",
        "windows, median, worst, spread": "Number of windows of 500 rows, and the median, the "
        "greatest and the standard deviation of their errors.",
        "worst_row, worst_rows": "First row of the worst window, and its number of rows.",
    },
}
