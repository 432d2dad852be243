"""What a model remembers: the feature index, and the declared columns, arrays and numbers."""

from cwtool.state.index import FeatureIndex
from cwtool.state.layout import PRECISION, Array, Column, Layout, Number
from cwtool.state.state import State

__all__ = ["PRECISION", "Array", "Column", "FeatureIndex", "Layout", "Number", "State"]
