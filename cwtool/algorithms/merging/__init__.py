"""The merge of states that learned different rows: what an algorithm declares of it, and the
rules for each kind of state."""
