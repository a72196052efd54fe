"""Why a condensed step begins again, otherwise than it did."""

__all__ = ["Crowded", "Overlap", "Turned"]


class Overlap(Exception):
    """A region has reached what contact rules look at: the step begins again, without those."""


class Turned(Exception):
    """A free body has turned otherwise than foreseen: the step begins again from there."""


class Crowded(Exception):
    """A region takes more work than the whole body: the step is the full solver's."""
