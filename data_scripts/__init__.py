"""Public data sets: fetched, verified, and written as LIBSVM text; see fetch.py."""
