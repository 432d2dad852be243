"""Metrics, probabilities and thresholds, counted row by row."""
