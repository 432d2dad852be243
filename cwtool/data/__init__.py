"""Bytes become blocks: sources, the LIBSVM reader, labels, transforms, the spool."""

from cwtool.data.block import Block
from cwtool.data.parse import Reading
from cwtool.data.pipeline import ReadOptions, read_blocks

__all__ = ["Block", "ReadOptions", "Reading", "read_blocks"]
