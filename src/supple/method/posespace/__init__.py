"""Flesh in a subspace of poses [XB16]."""
