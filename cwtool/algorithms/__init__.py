"""One small module an algorithm, or a family that shares a kernel."""
