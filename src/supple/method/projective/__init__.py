"""Projective dynamics: every vertex an unknown."""
