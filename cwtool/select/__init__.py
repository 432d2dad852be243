"""Feature selection: choose features, and measure classifiers that use these features alone."""

from cwtool.select.choosing import Selection, SelectOptions, ranked
from cwtool.select.results import Projection, panels, select, table

__all__ = ["Projection", "SelectOptions", "Selection", "panels", "ranked", "select", "table"]
