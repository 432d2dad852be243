"""The parts of stabilized truncated gradient descent (stsgd): its passes, stages, rates and
state."""
