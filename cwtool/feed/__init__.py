"""A feed, day by day."""
