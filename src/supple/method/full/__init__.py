"""Full space: the reference that all other methods are measured against."""
