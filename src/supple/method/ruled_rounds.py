"""A step with contacts of rules: few vertices that are known beforehand, so that Newton's compiled method looks at them
after every iteration. What is read around them is placed here.
"""

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.contact.rule_look import Seen, list_reads, slide_on
from supple.contact.ruled_detector import RuledDetector
from supple.contact.sets import NO_PAIRS
from supple.linalg.clock import clock_address
from supple.method.outer import CREEP, STATIC_CREEP, Outcome, count_contact
from supple.method.reduced_step import ReducedStep
from supple.method.ruled_look import Anchors, Asked, Rub, push_all
from supple.method.ruled_newton import View, is_late
from supple.method.skinned_balance import SkinnedStep
from supple.method.skinned_state import SkinnedState
from supple.rig import SkinnedRig
from supple.solve.stopwatch import Stopwatch
from supple.subspace import Basis, DomainBases
from supple.subspace.vertex_shapes import VertexShapes, lift_vertices

__all__ = ["SLIDES", "RuledRounds"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_WALKS = 12  # times that looks of a step may ask for more positions
_KEPT = 10  # vertices that walks asked for in earlier steps, for each one that a step looks at
SLIDES = 12  #: triangles that a vertex may be led over as a step begins
_NEARLY = 0.05  # share of what contacts do by which a new look may change it where points would not come to rest
_ROUND_OFF = 4e-16  # share of positions by which gaps cannot be told apart


class RuledRounds:
    """Looks at vertices that rules name, on a body at x = A (X + U q) + t."""

    def __init__(
        self, rig: SkinnedRig, basis: Basis | DomainBases, detector: RuledDetector, unit: float, size: float
    ) -> None:
        """`unit`: a force of 1 N on one vertex, in the coordinates of a complete basis, is 1 over this; the diagonal of
        the body is `size` [m]."""
        self._rig, self._skin, self._shallows = rig, detector.skin, detector.shallows
        self._shapes = VertexShapes.of(basis, self._shallows.reads())
        self._stiffness, self._alpha, self._unit = detector.stiffness, detector.settings.alpha, unit
        self._friction, self._size = detector.settings.friction, size
        self._x, self._before, count = np.zeros_like(rig.rest), np.zeros_like(rig.rest), len(rig.rest)
        self._slots, self._room = np.full(count, -1, np.int32), np.empty(count, np.int32)
        self._reads = self._walked = np.zeros(0, np.int32)

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
        step = solver.step
        often = count_contact(step.motion, duration)
        with watch.phase("contact"):
            ahead = _foresee(step, state, duration)
            asked = self._lead(step.pose, ahead, chosen[0], often * self._stiffness * chosen[1])
            anchors, rub = Anchors.none(len(asked.vertex)), self._begin(step, state, duration)
        far = _ROUND_OFF * float(np.abs(self._rig.rest).max()) / self._unit
        z, looks, patience = step.guess, 0, _WALKS
        while True:
            view = View(
                asked, anchors, rub, self._alpha, self._skin, self._shallows, self._slots, self._room, self._shapes,
                self._x, far, clock_address(), np.zeros(1),
            )  # fmt: skip
            found = solver.settle(view, z, ahead, looks, patient=patience > 0)
            watch.add("contact", float(view.spent[0]))
            if not len(found.wanted) or not patience:
                break
            patience -= 1
            with watch.phase("contact"):
                asked = self._read_on(asked, found.wanted)
            z, looks = found.z, found.looks
            ahead = z if looks else ahead
        with watch.phase("contact"):
            rows, seen, touch = found.rows, found.seen, found.touch
            known = np.column_stack([asked.vertex[rows], seen.triangle[rows]]) if len(rows) else NO_PAIRS
            push = push_all(found.z, touch)
            touching = self._list(asked, seen, rows, push / often)
        change, size = float(found.change[:2].max()), float(found.change[2])
        settled = not is_late(found.looks, self._friction > 0.0) or change <= max(_NEARLY * size, found.resolution)
        relief = -touch.gather(push, len(z))
        return Outcome(self._x, touching, None, known, found.looks, change / max(size, 1e-300), settled), relief

    def _begin(self, step: SkinnedStep, state: SkinnedState, duration: float) -> Rub:
        """What friction follows: where the body is as the step begins."""
        self._from = state
        self._place_begin(self._reads)
        slip = self._size * (CREEP * duration if step.motion.ca else STATIC_CREEP)
        return Rub(self._friction, slip, self._before, True, True)

    def _place_begin(self, vertices: IntArray) -> None:
        if self._friction > 0.0:
            A, t = self._rig.frames(self._from.pose, vertices)
            lift_vertices(vertices, self._shapes, self._from.shapes[0], self._rig.rest, A, t, self._before)

    def _lead(self, pose: FloatArray, q: FloatArray, pairs: IntArray, spring: FloatArray) -> Asked:
        """Lead vertices to the triangles that they are at in a pose, at coordinates q."""
        self._slots[self._reads], self._pose = -1, pose
        vertices, triangle = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        if len(self._walked) > _KEPT * len(vertices):
            self._walked = np.zeros(0, np.int32)
        count = len(self._walked)
        self._slots[self._walked] = np.arange(count)
        parts, frames = [self._walked], [self._place(pose, q, self._walked)]
        for slide in range(SLIDES + 1):
            new = list_reads(vertices, triangle, self._skin, self._slots, self._room, count)
            if len(new):
                parts.append(new)
                frames.append(self._place(pose, q, new))
                count += len(new)
            now = slide_on(vertices, triangle, self._x, self._skin)
            if slide == SLIDES or np.array_equal(now, triangle):
                break
            triangle = now
        self._reads = np.concatenate(parts)
        A, t = (np.concatenate(some) for some in zip(*frames, strict=True))
        return Asked(vertices, triangle, np.full(len(vertices), -1, np.int32), spring, self._reads, A, t)

    def _place(self, pose: FloatArray, q: FloatArray, vertices: IntArray) -> tuple[FloatArray, FloatArray]:
        """Put vertices where they are in a pose at coordinates q; their frames."""
        A, t = self._rig.frames(pose, vertices)
        lift_vertices(vertices, self._shapes, q, self._rig.rest, A, t, self._x)
        return A, t

    def _read_on(self, asked: Asked, wanted: IntArray) -> Asked:
        """Read more vertices from now on, in the steps to come as well: a walk goes where the last one went."""
        self._walked = np.concatenate([self._walked, wanted])
        A, t = self._rig.frames(self._pose, wanted)
        self._reads = np.concatenate([asked.reads, wanted])
        self._place_begin(wanted)
        return asked._replace(reads=self._reads, A=np.concatenate([asked.A, A]), t=np.concatenate([asked.t, t]))

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
