"""Few columns out of many: how often each is chosen on subsamples, and what they are worth.

python examples/select_columns.py
"""

import numpy as np
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import resample

from cwtool.estimators import ArowClassifier, L1SVMSelector, SBCWSelector

draw = np.random.default_rng(0)
X = draw.normal(size=(400, 300))
y = X[:, 10] - X[:, 20] + 0.5 * X[:, 30] + 0.3 * draw.normal(size=400) > 0

chosen = np.zeros(300)
for k in range(10):
    rows = resample(np.arange(len(y)), replace=False, n_samples=300, random_state=k, stratify=y)
    chosen += SBCWSelector(features=3).fit(X[rows], y[rows]).get_support()
for column in np.argsort(-chosen)[:4]:
    print(f"column {column}: chosen in {chosen[column]:.0f} of 10 subsamples")

judge = ArowClassifier(passes=3)
selectors = {
    "all columns": None,
    "SBCW": SBCWSelector(features=3),
    "L1SVM": L1SVMSelector(features=3),
    "largest AROW weights": SelectFromModel(ArowClassifier(), max_features=3, threshold=-np.inf),
}
for name, selector in selectors.items():
    steps = [judge] if selector is None else [selector, judge]
    right = cross_val_score(make_pipeline(*steps), X, y, cv=4).mean()
    print(f"{name}: {right:.3f} of rows are right in cross-validation")
