"""A model trained in Python, served by ONNX: the same labels, scores and probabilities.

pip install 'cwtool[sklearn,onnx]' onnxruntime
python examples/export_onnx.py
"""

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.datasets import load_iris

from cwtool.estimators import SCWClassifier
from cwtool.export.writing import export

X, species = load_iris(return_X_y=True)
y = load_iris().target_names[species]
model = SCWClassifier(fit_intercept=True, passes=10).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "iris.onnx"
    export(model.model_, "onnx", path)
    session = onnxruntime.InferenceSession(path)
label, score, probability = session.run(["label", "score", "probability"], {"X": X})

scores = np.abs(score - model.decision_function(X)).max()
shares = np.abs(probability - model.predict_proba(X)).max()
print(f"labels that differ: {(label != model.predict(X)).sum()}")
print(f"largest difference of scores: {scores:.1e}")
print(f"largest difference of probabilities: {shares:.1e}")
