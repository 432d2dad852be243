"""Random Fourier features and the Markov chains that sample them (rff-markov)."""
