"""A feed, day by day: score the new rows, then learn them. The model file is one of the command
line: `cwtool inspect daily.cw` shows it, and `cwtool train --resume daily.cw` continues it.

python examples/daily_partial_fit.py MODEL DAY [DAY ...]
"""

import sys
from pathlib import Path

import cwtool
from cwtool.estimators import ArowClassifier

WIDTH = 100_000  # columns: more than the feed will ever have

if len(sys.argv) < 3:
    sys.exit(__doc__)
path, *days = sys.argv[1:]
model = cwtool.load(path) if Path(path).exists() else ArowClassifier(class_weight="balanced")
for day in days:
    X, y = cwtool.read_libsvm(day, n_features=WIDTH)
    if hasattr(model, "classes_"):
        print(f"{day}: {model.score(X, y):.3f} of {len(y):,} rows are right before learning them")
        unsure = model.decision_variance(X).argmax()
        print(f"{day}: row {unsure + 1} has the features that the model knows least")
    model.partial_fit(X, y, classes=[-1, 1])
model.save(path)
print(f"{path}: {model.model_.rows:,} rows learned, {model.model_.index.count:,} features")
