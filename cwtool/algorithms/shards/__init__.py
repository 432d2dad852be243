"""Batch solvers over rows that lie in shards: steps that are asked of all shards, CoCoA+, and
columns, curvature and subproblems that are sums over the shards."""
