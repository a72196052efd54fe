"""The rounds of contact of a step by rules: solve with the rule's contacts frozen, look again, until that changes
nothing. As those of method/outer.py, for few vertices that are known beforehand, so that a round is two compiled calls.
"""

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import SELF
from supple.contact.detector import Detector
from supple.contact.result import Touch
from supple.contact.rule_look import Seen, Skin, list_reads, slide_on
from supple.contact.sets import NO_PAIRS
from supple.method.outer import CREEP, STATIC_CREEP, Outcome, count_contact
from supple.method.placed_contacts import PlacedContacts
from supple.method.reduced_step import ReducedStep
from supple.method.ruled_look import Anchors, Asked, Rub, compare, look_again, push_all
from supple.method.skinned_balance import SkinnedStep
from supple.method.skinned_state import SkinnedState
from supple.rig import SkinnedRig
from supple.solve.stopwatch import Stopwatch
from supple.subspace.vertex_shapes import VertexShapes, lift_vertices

__all__ = ["SLIDES", "RuledRounds"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
SLIDES = 12  #: triangles that a vertex may be led over as a step begins
_MOST_ROUNDS = 9
_HOLDS = 3  # rounds after which a vertex stays at its triangle where it may
_SETTLED = 1e-3  # share of what contacts do to the coordinates by which a new look may still change it
_LAGGED = 5e-2  # the same of friction, whose normal forces are those of the round before
_NEARLY = 0.05  # the same, where points and normals of contacts would not come to rest
_ROUND_OFF = 4e-16  # share of positions by which gaps cannot be told apart


class RuledRounds:
    """Looks at vertices that rules name, on a body at x = A (X + U q) + t."""

    def __init__(self, rig: SkinnedRig, shapes: VertexShapes, detector: Detector, unit: float, size: float) -> None:
        """`unit`: a force of 1 N on one vertex, in the coordinates of a complete basis, is 1 over this; the diagonal of
        the body is `size` [m]."""
        self._rig, self._shapes, self._skin = rig, shapes, Skin.of(detector.own)
        self._stiffness, self._alpha, self._unit = detector.stiffness, detector.settings.alpha, unit
        self._friction, self._size = detector.settings.friction, size
        self._x, self._before, count = np.zeros_like(rig.rest), np.zeros_like(rig.rest), len(rig.rest)
        self._slots, self._room = np.full(count, -1, np.int32), np.empty(count, np.int32)
        self._reads = np.zeros(0, np.int32)

    def settle(
        self,
        solver: ReducedStep[SkinnedStep],
        state: SkinnedState,
        chosen: tuple[IntArray, FloatArray],
        duration: float,
        watch: Stopwatch,
    ) -> tuple[Outcome, FloatArray]:
        """Solve a step of `duration` [s] with the contacts of pairs, (m, 2), each counting by its weight, (m,), and
        what these do to the coordinates in the end, (r,)."""
        step, z = solver.step, solver.step.begin
        often = count_contact(step.motion, duration)
        with watch.phase("contact"):
            ahead = _foresee(step, state, duration)
            asked = self._lead(step.pose, ahead, chosen[0], often * self._stiffness * chosen[1])
            anchors, rub = Anchors.none(len(asked.vertex)), self._begin(step, state, duration)
            seen, rows, touch = self._look(ahead, asked, anchors, rub, False)
            far = _ROUND_OFF * float(np.abs(self._rig.rest).max()) / self._unit
        rubs, rub = bool(touch.limit.any()), rub._replace(rests=False)
        size, change, count, settled, push = 0.0, 0.0, 0, False, np.zeros(z.size)
        while not settled and count < _MOST_ROUNDS:
            # From sticking to sliding the way is short, but not back
            guess = z if count or rubs else step.guess
            rough, count = count == 0 and len(rows) > 0, count + 1
            noise = far * float(np.linalg.norm(touch.along + touch.across + 2.0 / rub.slip * touch.limit))
            contacts = touch if len(rows) else None
            resolution = solver.solve(z, guess, contacts, size, noise, rough=rough, resume=count > 1)
            z, last = solver.z, touch
            with watch.phase("contact"):
                seen, rows, touch = self._look(z, asked, anchors, rub, count >= _HOLDS)
                change, rubbed, size, push = compare(z, last, touch)
            settled = not rough and change <= max(_SETTLED * size, resolution)
            settled &= rubbed <= max(_LAGGED * size, resolution)
        with watch.phase("contact"):
            known = np.column_stack([asked.vertex[rows], seen.triangle[rows]]) if len(rows) else NO_PAIRS
            touching = self._list(asked, seen, rows, push_all(z, touch) / often)
        change = max(change, rubbed)
        settled = settled or change <= max(_NEARLY * size, resolution)
        return Outcome(self._x, touching, None, known, count, change / max(size, 1e-300), settled), push

    def _begin(self, step: SkinnedStep, state: SkinnedState, duration: float) -> Rub:
        """What friction follows: where the body is as the step begins."""
        if self._friction > 0.0:
            A, t = self._rig.frames(state.pose, self._reads)
            lift_vertices(self._reads, self._shapes, state.shapes[0], self._rig.rest, A, t, self._before)
        slip = self._size * (CREEP * duration if step.motion.ca else STATIC_CREEP)
        return Rub(self._friction, slip, self._before, True)

    def _lead(self, pose: FloatArray, q: FloatArray, pairs: IntArray, spring: FloatArray) -> Asked:
        """Lead vertices to the triangles that they are at in a pose, at coordinates q."""
        self._slots[self._reads] = -1
        vertices, triangle = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        parts = [np.zeros(0, np.int32)]
        frames = [(np.zeros((0, 3, 3)), np.zeros((0, 3)))]
        count = 0
        for slide in range(SLIDES + 1):
            new = list_reads(vertices, triangle, self._skin, self._slots, self._room, count)
            if len(new):
                A, t = self._rig.frames(pose, new)
                lift_vertices(new, self._shapes, q, self._rig.rest, A, t, self._x)
                parts.append(new)
                frames.append((A, t))
                count += len(new)
            now = slide_on(vertices, triangle, self._x, self._skin)
            if slide == SLIDES or np.array_equal(now, triangle):
                break
            triangle = now
        self._reads = np.concatenate(parts)
        A, t = (np.concatenate(some) for some in zip(*frames, strict=True))
        return Asked(vertices, triangle, spring, self._reads, A, t)

    def _look(
        self, q: FloatArray, asked: Asked, anchors: Anchors, rub: Rub, holds: bool
    ) -> tuple[Seen, IntArray, PlacedContacts]:
        found: tuple[Seen, IntArray, PlacedContacts] = look_again(
            q, asked, anchors, holds, self._alpha, rub, self._skin, self._slots, self._shapes, self._x
        )
        return found

    def _list(self, asked: Asked, seen: Seen, rows: IntArray, force: FloatArray) -> Touch | None:
        """What penetrates of looked at rows, on which forces act [N], (k, 3)."""
        deep = np.flatnonzero(seen.depth[rows] > 0.0)
        if not len(deep):
            return None
        rows = rows[deep]
        vertex, depth, normal = asked.vertex[rows], seen.depth[rows], seen.normal[rows]
        bearing = np.column_stack([vertex, self._skin.triangles[seen.triangle[rows]]])
        weights = np.column_stack([np.ones(len(rows)), -seen.barycentric[rows]])
        source = np.full(len(rows), SELF, np.int32)
        return Touch(vertex, source, self._x[vertex], normal, depth, force[deep], bearing, weights)


def _foresee(step: SkinnedStep, state: SkinnedState, duration: float) -> FloatArray:
    """Coordinates where contacts are looked for first: a step goes on as the last one went.

    Newton's own guess goes on with the acceleration, which lacks what contacts did in the last step, and so goes deep
    into them.
    """
    if not step.motion.ca or not state.spans[0] > 0.0:
        return step.guess
    q = state.shapes[0]
    return np.asarray(q + duration / state.spans[0] * (q - state.former_shapes[0]))
