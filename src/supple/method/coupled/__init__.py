"""Several bodies, each with a method of its own, in one step."""
