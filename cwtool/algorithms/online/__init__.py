"""What online learners share: the loop over rows, first-order and second-order rules."""
