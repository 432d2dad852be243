"""Kernels: arrays and numbers in, arrays changed in place, numbers out."""
