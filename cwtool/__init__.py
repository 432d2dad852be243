"""Confidence-weighted online learning on LIBSVM-format data."""

__version__ = "0.2.0.dev0"
