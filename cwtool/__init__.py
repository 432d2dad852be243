"""Confidence-weighted online learning on LIBSVM-format data."""

__version__ = "0.1.0"
