"""What a model remembers: the feature index, and the declared columns, arrays and numbers."""

from cwtool.state.index import FeatureIndex
from cwtool.state.layout import Array, Column, Layout, Number
from cwtool.state.state import State

__all__ = ["Array", "Column", "FeatureIndex", "Layout", "Number", "State"]
