"""More than two classes: the ways in which an algorithm of two classes learns several."""
