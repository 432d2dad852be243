"""What the batch learners that select features are made of: groups of features for sbcw and
fgm, and the path of l1-regularized solutions for l1svm and spar-dca."""
