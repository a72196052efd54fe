"""Subspace condensation [TMDK15]: full space exactly where it is needed."""
