"""Where contacts with colliders are looked for: at the vertices that may meet one soon, and nowhere else.

What the subspace moves is bounded: |U_i (q - q₀)| <= |U_i| |q - q₀|. Vertices that were so far from all colliders that
neither these nor the body can have closed the gap since are not even placed. The bound is taken anew when it is used
up, so that most steps cost nothing per vertex of the surface.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.contact.detector import Detector
from supple.method.condensation_region import Ground
from supple.method.condensation_state import CondensedState
from supple.method.condensation_still import StillSubspace
from supple.method.condensation_subspace import Stance
from supple.method.outer import ContactLoop
from supple.solve.inputs import Inputs
from supple.solve.placement import Placement

__all__ = ["Lookout", "Outrun", "Watched"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_BAND = 0.04  # sizes of the body that its vertices, and that colliders, may move before all are looked at again
_AHEAD = 4.0  # steps of the same, where that is more


class Outrun(Exception):
    """The body has moved farther than it was watched for: the step begins again, with all of it in sight."""


@dataclass(frozen=True, eq=False)
class Watched:
    """The vertices that a step's contacts are among, by their places in a short list."""

    vertices: IntArray
    """Ascending, (c,)."""
    free: NDArray[np.intp]
    """Places of those that pins do not hold wholly."""
    bound: "Bound | None" = None
    """How long the list is good for; None: for ever."""

    def place(self, follow: Callable[[IntArray], FloatArray], full: IntArray, x: FloatArray) -> FloatArray:
        """A field over the list, (c, 3): of full vertices as given, of others as the subspace has it."""
        out = follow(self.vertices)
        if len(full) and len(out):
            where = np.minimum(np.searchsorted(self.vertices, full), len(self.vertices) - 1)
            own = self.vertices[where] == full
            out[where[own]] = x[own]
        return out


@dataclass(frozen=True, eq=False)
class Bound:
    """The moment in which distances were measured, and how far all may move from there."""

    q: FloatArray
    placements: tuple[Placement, ...]
    reach: float
    """Of |q - q₀|."""
    shift: float
    """Of colliders [m]."""

    def holds(self, q: FloatArray, more: float = 0.0) -> bool:
        """Whether coordinates are near enough, and as much `more`."""
        return float(np.linalg.norm(q - self.q)) + more <= self.reach

    @property
    def lasts(self) -> bool:
        """Whether it is good for more than the step it was made for."""
        return bool(np.isfinite(self.reach))


class Lookout:
    """Says what to watch in every step."""

    def __init__(self, loop: ContactLoop, ground: Ground, is_static: bool) -> None:
        self.loop, self._ground, self._whole = loop, ground, loop.detector
        body, surface = ground.body, ground.body.mesh.surface_vertices()
        self._surface, self._size, self._centre = surface, body.mesh.size(), body.mesh.vertices.mean(axis=0)
        self._held = np.zeros(len(body.mass), np.bool_)
        self._held[body.pins.vertices[body.pins.held.all(axis=1)]] = True
        self._outside = np.zeros(len(body.mass), np.bool_)
        self._outside[surface] = True
        # A body may meet itself anywhere; equilibria may lie far apart
        self._sees_all = loop.detector.settings.self_contact
        self._bounded = not is_static and not self._sees_all
        self._seen = np.zeros(len(body.mass), np.bool_)  # those that are watched now
        self._lengths = np.zeros(0)
        self._watched: Watched | None = None

    def begin(self, state: CondensedState, inputs: Inputs, *, anew: bool = False) -> Watched:
        """What to watch in a step; `anew`: all, whatever was known."""
        stance = self._ground.subspace.stance(state.below)
        if not (self._bounded and isinstance(stance, StillSubspace)):
            if self._watched is None or self._watched.bound is not None:
                everything = np.arange(len(self._held), dtype=np.int32)
                self._watched = self._watch(everything if self._sees_all else self._surface, None)
            return self._watched
        speed = inputs.duration * float(np.linalg.norm(state.q[1]))
        known = self._watched
        if anew or known is None or not self._serves(known, state, inputs, speed):
            known = self._watched = self._look(state, stance, inputs, speed, anew)
        return known

    def check(self, watched: Watched, stance: Stance, q: FloatArray, full: IntArray, x: FloatArray) -> None:
        """Refuse an end of a step, full vertices at x [m], (f, 3), that others than the watched may meet colliders
        in."""
        bound = watched.bound
        if bound is None or not bound.lasts:
            return
        if not isinstance(stance, StillSubspace) or not bound.holds(q):
            raise Outrun
        others = full[self._outside[full] & ~self._seen[full]]
        if len(others):
            away = np.linalg.norm(x[np.searchsorted(full, others)] - stance.place(bound.q, others), axis=1)
            if (away > bound.reach * self._lengths[np.searchsorted(self._surface, others)]).any():
                raise Outrun

    def _serves(self, known: Watched, state: CondensedState, inputs: Inputs, speed: float) -> bool:
        """Whether what was watched is enough for a step in which coordinates go on at a speed, |q̇| times its
        duration."""
        bound = known.bound
        if bound is None or not bound.lasts or not bound.holds(state.q[0], speed):
            return False
        begin, end = inputs.begin.colliders, inputs.end.colliders
        gone = [_far_apart(*two, self._centre, self._size) for two in ((bound.placements, begin), (begin, end))]
        return sum(gone) <= bound.shift and bool((self._seen[state.full] | ~self._outside[state.full]).all())

    def _look(self, state: CondensedState, stance: StillSubspace, inputs: Inputs, speed: float, anew: bool) -> Watched:
        """Measure all distances."""
        if not len(self._lengths):
            rows = stance.rows(self._surface)
            self._lengths = np.linalg.norm(rows, ord=2, axis=(1, 2))
        band, q = _BAND * self._size, state.q[0]
        ends = _far_apart(inputs.begin.colliders, inputs.end.colliders, self._centre, self._size)
        reach = max(band / max(float(self._lengths.max(initial=0.0)), 1e-300), _AHEAD * speed)
        if anew:  # as far as the body can be thrown in a step
            reach = np.inf
        shift = max(band, _AHEAD * ends)
        if not np.isfinite(reach):
            return self._watch(self._surface, Bound(q, inputs.begin.colliders, np.inf, shift))
        margin = reach * self._lengths + shift + self._whole.edge
        near = self._whole.find_near(stance.place(q, self._surface), inputs.begin.colliders, margin)
        full = state.full[self._outside[state.full]]
        return self._watch(np.union1d(near, full), Bound(q, inputs.begin.colliders, reach, shift))

    def _watch(self, vertices: IntArray, bound: Bound | None) -> Watched:
        detector: Detector = self._whole
        if not self._sees_all:
            detector, vertices = self._whole.narrowed(vertices.astype(np.int32))
        self.loop.look_at(detector, self._ground.mass[vertices])
        self._seen[:] = False
        self._seen[vertices] = True
        return Watched(vertices, np.flatnonzero(~self._held[vertices]), bound)


def _far_apart(one: Sequence[Placement], other: Sequence[Placement], centre: FloatArray, size: float) -> float:
    """How much nearer to a body of a size [m] about a centre a collider can have come between two placements [m]."""
    far = 0.0
    for a, b in zip(one, other, strict=True):
        arm = float(np.linalg.norm(centre - a.translation)) + size
        turned = arm * float(np.linalg.norm(a.rotation - b.rotation))
        far = max(far, float(np.linalg.norm(a.translation - b.translation)) + turned)
    return far
