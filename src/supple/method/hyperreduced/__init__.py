"""Projective dynamics in subspaces [BEH18]."""
