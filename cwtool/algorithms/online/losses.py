"""The losses of gradient descent, by the numbers that kernels know them by."""

from __future__ import annotations

LOSSES = {"hinge": 0, "logistic": 1}
