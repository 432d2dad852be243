"""The algorithms: one module for each, or for a family of algorithms that share a kernel."""
