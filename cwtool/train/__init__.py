"""Training: learn, judge, save and report."""
