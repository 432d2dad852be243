"""Benchmarks: the experiments of the papers, and comparisons with other programs."""
