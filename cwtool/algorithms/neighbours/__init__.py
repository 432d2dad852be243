"""The search for nearest neighbours (knn), and the sparse metric that is learned for it
(sdist)."""
