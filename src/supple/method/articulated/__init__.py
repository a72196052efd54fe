"""A subspace for every bone, tied by springs."""
