"""Subspaces below a skin: flesh that moves before its bones do."""
