"""Where contacts with colliders are looked for: at the vertices that may meet one soon, and nowhere else.

What a subspace does to a vertex is bounded by few numbers, whatever moves beside it (method/condensation/anchors.py).
Vertices that were so far from all colliders that neither these nor the body can have closed the gap since are not even
placed. The bound is taken anew when it is used up, so that most steps cost nothing per vertex of the surface.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from supple.contact.detector import Detector
from supple.contact.places import Places
from supple.method.condensation.anchors import Anchor
from supple.method.condensation.moment import StanceMoment
from supple.method.condensation.region import Ground
from supple.method.condensation.skinned import SkinnedStance
from supple.method.condensation.state import CondensedState
from supple.method.condensation.subspace import Stance
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
    _known: dict[str, tuple[IntArray, NDArray[np.intp], NDArray[np.intp]]] = field(default_factory=dict)

    def place(self, follow: Callable[[IntArray], FloatArray], full: IntArray, x: FloatArray) -> FloatArray:
        """A field over the list, (c, 3): of full vertices as given, of others as the subspace has it."""
        out = follow(self.vertices)
        if len(full) and len(out):
            where, own = self._find(full)
            out[where] = x[own]
        return out

    def place_at(self, stance: Stance, q: FloatArray, full: IntArray, x: FloatArray) -> FloatArray:
        """Positions over the list [m], (c, 3); where the list is of all vertices they are made as they are asked for,
        for looks for contacts of a body with itself ask for few."""
        if self.bound is not None:
            return self.place(partial(stance.place, q), full, x)
        moment = StanceMoment.of(stance, q, self.vertices)
        make = partial(_overlay, partial(stance.place, q), full=full, x=x)
        return Places(len(self.vertices), make, moment, full).as_array()

    def _find(self, full: IntArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places of full vertices in the list, and in their own; the last ones are kept, for they often stay."""
        known = self._known.get("full")
        if known is None or known[0] is not full:
            where = np.minimum(np.searchsorted(self.vertices, full), len(self.vertices) - 1)
            own = np.flatnonzero(self.vertices[where] == full)
            self._known["full"] = known = full, where[own], own
        return known[1], known[2]


def _overlay(follow: Callable[[IntArray], FloatArray], vertices: IntArray, full: IntArray, x: FloatArray) -> FloatArray:
    """A field over some vertices, (c, 3): of full ones as given, of others as the subspace has it."""
    if not len(full) or not len(vertices):
        return follow(vertices)
    where = np.minimum(np.searchsorted(full, vertices), len(full) - 1)
    own, out = full[where] == vertices, np.empty((len(vertices), 3))
    out[own] = x[where[own]]
    if not own.all():
        out[~own] = follow(vertices[~own])
    return out


@dataclass(frozen=True, eq=False)
class Bound:
    """The moment in which distances were measured, and how far all may move from there."""

    stance: Stance
    q: FloatArray
    anchor: Anchor
    """Of the surface."""
    placements: tuple[Placement, ...]
    reach: FloatArray
    """Of what the anchor measures, (c,)."""
    shift: float
    """Of colliders [m]."""

    def holds(self, stance: Stance, q: FloatArray, more: FloatArray | float = 0.0) -> bool:
        """Whether a moment is near enough, and as much `more`."""
        return bool((self.anchor.measure(stance, q) + more <= self.reach).all())

    @property
    def lasts(self) -> bool:
        """Whether it is good for more than the step it was made for."""
        return bool(np.isfinite(self.reach).all())


class Lookout:
    """Says what to watch in every step."""

    def __init__(self, loop: ContactLoop, ground: Ground) -> None:
        self.loop, self._ground, self._whole = loop, ground, loop.detector
        body, surface = ground.body, ground.body.mesh.surface_vertices()
        self._surface, self._size, self._centre = surface, body.mesh.size(), body.mesh.vertices.mean(axis=0)
        self._held = np.zeros(len(body.mass), np.bool_)
        self._held[body.pins.vertices[body.pins.held.all(axis=1)]] = True
        self._outside = np.zeros(len(body.mass), np.bool_)
        self._outside[surface] = True
        self._sees_all = loop.detector.settings.self_contact  # a body may meet itself anywhere
        self._seen = np.zeros(len(body.mass), np.bool_)  # those that are watched now
        self._watched: Watched | None = None
        self._last: tuple[Stance, FloatArray] | None = None
        self._strides: dict[int, FloatArray] = {}

    def begin(self, state: CondensedState, inputs: Inputs, *, anew: bool = False) -> Watched:
        """What to watch in a step; `anew`: all, whatever was known."""
        if self._sees_all:
            if self._watched is None:
                self._watched = self._watch(np.arange(len(self._held), dtype=np.int32), None)
            return self._watched
        subspace = self._ground.subspace
        now = subspace.stance(state.below), subspace.coordinates(state.below)
        known, self._last = self._watched, now
        if anew or known is None or not self._serves(known, state, *now, inputs):
            known = self._watched = self._look(state, *now, inputs, anew)
        return known

    def check(self, watched: Watched, stance: Stance, q: FloatArray, full: IntArray, x: FloatArray) -> None:
        """Refuse an end of a step, full vertices at x [m], (f, 3), that others than the watched may meet colliders
        in."""
        bound = watched.bound
        if bound is None:
            return
        if self._last is not None:
            gone = bound.anchor.measure(stance, q)
            self._strides[len(gone)] = np.abs(gone - bound.anchor.measure(*self._last))
        if not bound.lasts:
            return
        if not bound.holds(stance, q):
            raise Outrun
        others = full[self._outside[full] & ~self._seen[full]]
        if len(others):
            away = np.linalg.norm(x[np.searchsorted(full, others)] - bound.stance.place(bound.q, others), axis=1)
            if (away > bound.anchor.lengths[np.searchsorted(self._surface, others)] @ bound.reach).any():
                raise Outrun

    def _serves(self, known: Watched, state: CondensedState, stance: Stance, q: FloatArray, inputs: Inputs) -> bool:
        """Whether what was watched is enough for a step in which coordinates go as far as in the last, and bones where
        they are told to."""
        bound = known.bound
        if bound is None or not bound.lasts or not bound.holds(stance, q, self._foresee(bound.anchor, stance, q)):
            return False
        if (pose := inputs.end.pose) is not None and not bound.holds(_posed(stance, pose), q):
            return False
        begin, end = inputs.begin.colliders, inputs.end.colliders
        gone = [_far_apart(*two, self._centre, self._size) for two in ((bound.placements, begin), (begin, end))]
        return sum(gone) <= bound.shift and bool((self._seen[state.full] | ~self._outside[state.full]).all())

    def _foresee(self, anchor: Anchor, stance: Stance, q: FloatArray) -> FloatArray | float:
        """What the last step added to what an anchor measures."""
        return self._strides.get(anchor.lengths.shape[1], 0.0)

    def _look(self, state: CondensedState, stance: Stance, q: FloatArray, inputs: Inputs, anew: bool) -> Watched:
        """Measure all distances."""
        anchor, placed = stance.anchor(q, self._surface), inputs.begin.colliders
        band = _BAND * self._size
        ends = _far_apart(placed, inputs.end.colliders, self._centre, self._size)
        ahead = anchor.measure(stance, q) + self._foresee(anchor, stance, q)
        if (pose := inputs.end.pose) is not None:
            ahead = np.maximum(ahead, anchor.measure(_posed(stance, pose), q))
        reach = np.maximum(band / np.maximum(anchor.lengths.max(axis=0, initial=0.0), 1e-300), _AHEAD * ahead)
        if anew:  # as far as the body can be thrown in a step
            reach = np.full_like(reach, np.inf)
        shift = max(band, _AHEAD * ends)
        if not np.isfinite(reach).all():
            return self._watch(self._surface, Bound(stance, q, anchor, placed, np.full_like(reach, np.inf), shift))
        margin = anchor.lengths @ reach + shift + self._whole.edge
        near = self._whole.find_near(stance.place(q, self._surface), placed, margin)
        full = state.full[self._outside[state.full]]
        return self._watch(np.union1d(near, full), Bound(stance, q, anchor, placed, reach, shift))

    def _watch(self, vertices: IntArray, bound: Bound | None) -> Watched:
        detector: Detector = self._whole
        if not self._sees_all:
            detector, vertices = self._whole.narrowed(vertices.astype(np.int32))
        self.loop.look_at(detector, self._ground.mass[vertices])
        self._seen[:] = False
        self._seen[vertices] = True
        return Watched(vertices, np.flatnonzero(~self._held[vertices]), bound)


def _posed(stance: Stance, pose: FloatArray) -> Stance:
    """The stance that bones take in another pose."""
    return replace(stance, pose=np.asarray(pose)) if isinstance(stance, SkinnedStance) else stance


def _far_apart(one: Sequence[Placement], other: Sequence[Placement], centre: FloatArray, size: float) -> float:
    """How much nearer to a body of a size [m] about a centre a collider can have come between two placements [m]."""
    far = 0.0
    for a, b in zip(one, other, strict=True):
        arm = float(np.linalg.norm(centre - a.translation)) + size
        turned = arm * float(np.linalg.norm(a.rotation - b.rotation))
        far = max(far, float(np.linalg.norm(a.translation - b.translation)) + turned)
    return far
