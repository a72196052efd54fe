"""The browser viewer: scenes played live, pulled at and recorded; files looked at."""

from supple.view.player import Player, Shown
from supple.view.take import Take

__all__ = ["Player", "Shown", "Take"]
