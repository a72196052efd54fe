"""Which rows of a benchmark a user asked for."""

__all__ = ["is_asked"]


def is_asked(only: str, *names: object) -> bool:
    """Whether every word of `only` is one of a row's names; without words every row is."""
    words = " ".join(str(name) for name in names).split()
    return all(word in words for word in only.split())
