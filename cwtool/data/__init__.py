"""Bytes become rows: sources, the LIBSVM reader, labels, batches, the spool."""
