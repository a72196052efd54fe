"""Where full space is cheaper than a region and its border: such steps are the full solver's.

By counted work, never by a clock. A Newton iteration asks for exact tets, once more for those whose share of the rule
is taken away, and for products with every coordinate and cluster, of which it factorises a dense matrix; one of full
space asks for every tet, and its linear solver takes longer the larger the body is, and longest at rest, where no
inertia helps.
"""

import numpy as np
from numpy.typing import NDArray

from supple.method.condensation.region import Ground, Region
from supple.method.condensation.state import CondensedState

__all__ = ["Crowd"]

# Measured on a figure between walls, 20,781 tets and 212 coordinates: where work by this count is 0.9 of full space's
# it takes as long, where it is 1.12 to 1.16, 0.7 to 1.2 times as long, for Newton's method takes fewer iterations;
# where it is 1.4 to 1.9, two to four times. Equilibria of a hand and of a pat, 27 % of 20,000 tets, take 0.6 times as
# long as full space, those of a Yeti of 17,247 tets and 592 coordinates, 3 % full, 0.2 times where the count is 0.5.
_ROWS = 45.0  # tets that take as long as a dense unknown
_DENSE = 25e3  # cubes of dense unknowns that take as long as a tet
_LARGE = 2e4  # tets from which on the full solver's iterations grow, by their cube root
_REST = 4.0  # times as much that the full solver takes at rest
_SMALL = 5000  # tets below which steps take few milliseconds either way
_MOST = 1.25  # of the full solver's work that a region may take
_AGAIN = 0.9  # of it, that a region must stay below to be taken again
_ASKED = 8  # steps after which a body that is full is asked whether it must be: asking takes a tenth of a step


class Crowd:
    """Weighs regions against the whole body."""

    def __init__(self, ground: Ground, *, is_static: bool) -> None:
        self._ground = ground
        tets = len(ground.body.mesh.tets)
        self._whole = tets * np.cbrt(max(tets / _LARGE, 1.0)) * (_REST if is_static else 1.0)

    def weigh(self, region: Region) -> float:
        """Work of an iteration in a region, by that in full space."""
        taken = 0 if region.whole else len(region.tets) - len(region.filled)
        dense = self._ground.rank + 6 * region.clusters.count
        return float((len(region.tets) + taken + _ROWS * dense + dense**3 / _DENSE) / self._whole)

    def forbids(self, region: Region) -> bool:
        """Whether a step in it had better be the full solver's."""
        return len(self._ground.body.mesh.tets) >= _SMALL and self.weigh(region) > _MOST

    def rests(self, state: CondensedState) -> bool:
        """Whether a body that is full is not asked in this step."""
        large = len(self._ground.body.mesh.tets) >= _SMALL
        return large and len(state.full) == self._ground.most and state.steps % _ASKED > 0

    def stays(self, state: CondensedState, held: NDArray[np.bool_]) -> bool:
        """Whether a body that is full goes on so, although only some vertices must be, (f,)."""
        if len(state.full) < self._ground.most or not held.any():
            return False
        return bool(held.all()) or self.weigh(self._ground.cut(state.full[held])) > _AGAIN

    def fill(self, state: CondensedState) -> CondensedState:
        """The state with all vertices full that no pin holds."""
        full = np.flatnonzero(self._ground.movable).astype(np.int32)
        idle = np.ones(len(full), np.int32)
        idle[np.searchsorted(full, state.full)] = state.idle
        motion = np.array([state.place(self._ground, full, level) for level in range(3)])
        return state._replace(full=full, motion=motion, idle=idle)
