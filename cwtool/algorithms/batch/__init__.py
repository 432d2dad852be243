"""What batch learners share: their base classes, the forms of their precision matrix, and
their solvers: dual coordinate ascent, Newton's method, the curvature of the loss."""
