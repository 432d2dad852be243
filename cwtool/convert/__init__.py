"""Rows of other kinds of files as LIBSVM text, and the other way round."""
