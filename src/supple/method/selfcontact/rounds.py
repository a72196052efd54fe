"""A step with contacts of rules: few vertices that are known beforehand, so that Newton's compiled method looks at them
after every iteration.
"""

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.contact.rule_look import Seen
from supple.contact.ruled_detector import RuledDetector
from supple.contact.sets import NO_PAIRS
from supple.linalg.clock import clock_address
from supple.method.outer import CREEP, STATIC_CREEP, Outcome, count_contact
from supple.method.reduced.step import ReducedStep
from supple.method.selfcontact.look import Anchors, Asked, Rub, push_all
from supple.method.selfcontact.newton import View, is_late
from supple.method.selfcontact.places import SLIDES, Places, lead
from supple.method.skinned.balance import SkinnedStep
from supple.method.skinned.state import SkinnedState
from supple.rig import SkinnedRig
from supple.rig.posed_blend import PosedBlend
from supple.solve.stopwatch import Stopwatch
from supple.subspace import Basis, DomainBases
from supple.subspace.vertex_shapes import VertexShapes

__all__ = ["SLIDES", "RuledRounds"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
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
        self._stiffness, self._alpha, self._unit = detector.stiffness, detector.settings.alpha, unit
        self._friction, self._size = detector.settings.friction, size
        count = len(rig.rest)
        blend, (reads, room) = PosedBlend.of(rig, rig.neutral), np.empty((2, count), np.int32)
        self._places = Places(
            blend, blend, np.zeros(basis.rank), self._friction > 0.0, VertexShapes.of(basis, self._shallows.reads()),
            rig.rest, np.full(count, -1, np.int32), reads, np.empty((count, 3, 3)), np.empty((count, 3)),
            np.zeros_like(rig.rest), np.zeros_like(rig.rest), room, np.zeros(1, np.int64),
        )  # fmt: skip

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
            ahead, places = _foresee(step, state, duration), self._begin(step.pose, state)
            vertices, triangle = (np.ascontiguousarray(side) for side in chosen[0].T)
            triangle = lead(ahead, vertices, triangle, self._skin, places)
            spring = often * self._stiffness * chosen[1]
            asked = Asked(vertices, triangle, np.full(len(vertices), -1, np.int32), spring)
            slip = self._size * (CREEP * duration if step.motion.ca else STATIC_CREEP)
            far = _ROUND_OFF * float(np.abs(self._rig.rest).max()) / self._unit
            view = View(
                asked, Anchors.none(len(vertices)), Rub(self._friction, slip, True, True), self._alpha, self._skin,
                self._shallows, places, far, clock_address(), np.zeros(2),
            )  # fmt: skip
        found = solver.settle(view, step.guess, ahead)
        watch.add("contact", float(view.spent[0]))
        watch.add("contact forces", float(view.spent[1]))
        with watch.phase("contact"):
            rows, seen, touch = found.rows, found.seen, found.touch
            known = np.column_stack([asked.vertex[rows], seen.triangle[rows]]) if len(rows) else NO_PAIRS
            push = push_all(found.z, touch)
            touching = self._list(asked, seen, rows, push / often)
        change, size = float(found.change[:2].max()), float(found.change[2])
        settled = not is_late(found.looks, self._friction > 0.0) or change <= max(_NEARLY * size, found.resolution)
        relief = -touch.gather(push, len(found.z))
        return Outcome(places.x, touching, None, known, found.looks, change / max(size, 1e-300), settled), relief

    def _begin(self, pose: FloatArray, state: SkinnedState) -> Places:
        """The places of a step that ends in a pose, of which none is known yet."""
        self._places.clear()
        now = PosedBlend.of(self._rig, pose)
        before = PosedBlend.of(self._rig, state.pose) if self._friction > 0.0 else now
        return self._places._replace(blend=now, before=before, first=state.shapes[0])

    def _list(self, asked: Asked, seen: Seen, rows: IntArray, force: FloatArray) -> Touch | None:
        """What acts of looked at rows, with their forces [N], (k, 3): it penetrates, or holds sideways though open."""
        acting = np.flatnonzero((seen.depth[rows] > 0.0) | force.any(axis=1))
        if not len(acting):
            return None
        rows = rows[acting]
        vertex, depth, normal = asked.vertex[rows], np.maximum(seen.depth[rows], 0.0), seen.normal[rows]
        bearing = np.column_stack([vertex, self._skin.triangles[seen.triangle[rows]]])
        weights = np.column_stack([np.ones(len(rows)), -seen.barycentric[rows]])
        source = np.full(len(rows), SELF, np.int32)
        return Touch(vertex, source, self._places.x[vertex], normal, depth, force[acting], bearing, weights)


def _foresee(step: SkinnedStep, state: SkinnedState, duration: float) -> FloatArray:
    """Coordinates where contacts are looked for first: a step goes on as the last one went.

    Newton's own guess goes on with the acceleration, which lacks what contacts did in the last step, and so goes deep
    into them.
    """
    if not step.motion.ca or not state.spans[0] > 0.0:
        return step.guess
    q = state.shapes[0]
    return np.asarray(q + duration / state.spans[0] * (q - state.former_shapes[0]))
