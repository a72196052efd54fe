"""Bodies in a subspace, with forces from a few elements."""
