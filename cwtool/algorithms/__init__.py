"""The algorithms: one module for each, or for a family of algorithms that share a kernel. The
folders hold what they are made of."""
