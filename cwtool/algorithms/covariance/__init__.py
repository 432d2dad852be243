"""The forms in which second-order learners keep the covariance of their weights, its prior,
and how it is forgotten."""
