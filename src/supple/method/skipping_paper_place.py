"""Where displacements put a body: beside its rest shape, or before skinning ([KJ09] section 5, the head)."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_problem import ElementProblem
from supple.cubature.problem import Problem
from supple.cubature.skinned_elements import SkinnedElements
from supple.cubature.skinned_problem import RecordedForces, recorded_problem
from supple.cubature.snapshots import Snapshots
from supple.elastic import Body
from supple.method.reduced_loads import STILL
from supple.method.reduced_newton import CONVERGED, Scratch, minimise_whole
from supple.method.skipping_model import Arrival, Learned, LearnedModel
from supple.rig import SkinnedRig
from supple.subspace import Basis

__all__ = ["Answers", "Model", "Place", "PlainPlace", "SkinnedPlace"]

FloatArray = NDArray[np.float64]
Answers = NDArray[np.float32]
_ITERATIONS = 50
_NOTHING = np.zeros((0, 0))


class Model(Protocol):
    """Steps in a learned subspace, in one pose."""

    def positions(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Of all or of chosen vertices [m], (k, 3)."""

    def project(self, x: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        """Coordinates of a motion (n, 3) each, (3, r)."""

    def elastic(self, q: FloatArray) -> float:
        """Size of the elastic force on the coordinates."""

    def step(self, motion: FloatArray, load: FloatArray, h: float, elastic: float) -> Arrival | None:
        """A step of h [s] under forces on the vertices `load` [N], (n, 3); None where Newton's method fails."""


class Place(Protocol):
    """What coordinates mean to a body; poses are (p,), or (0,) where it has no rig."""

    def displacement(self, x: FloatArray, pose: FloatArray) -> FloatArray:
        """u [m], (n, 3), of positions x [m]."""

    def record(self, u: FloatArray, pose: FloatArray) -> Answers:
        """What every element answers to u [m], (n, 3), in a pose, (m, d, 1): no later basis changes it."""

    def problem(self, basis: Basis, answers: Answers) -> Problem:
        """The training of these answers, (m, d, k)."""

    def model(self, learned: Learned, pose: FloatArray) -> Model:
        """Steps to a pose."""


class PlainPlace:
    """x = X + u."""

    def __init__(self, body: Body, integrator: str, tolerance: float) -> None:
        """`tolerance` is Newton's."""
        self._body, self._integrator, self._tolerance = body, integrator, tolerance
        self._made: tuple[Learned, LearnedModel] | None = None

    def displacement(self, x: FloatArray, pose: FloatArray) -> FloatArray:
        return np.asarray(x - self._body.mesh.vertices)

    def record(self, u: FloatArray, pose: FloatArray) -> Answers:
        return Snapshots.record(self._body, u.reshape(-1, 1)).stresses

    def problem(self, basis: Basis, answers: Answers) -> Problem:
        return ElementProblem(self._body, basis, Snapshots(np.zeros((0, answers.shape[2])), answers))

    def model(self, learned: Learned, pose: FloatArray) -> Model:
        """The last one is kept."""
        if self._made is None or self._made[0] is not learned:
            self._made = learned, LearnedModel(self._body, learned, self._integrator, self._tolerance)
        return self._made[1]


class SkinnedPlace:
    """x = φ(p, X + u), of static bodies."""

    def __init__(self, body: Body, rig: SkinnedRig, tolerance: float) -> None:
        """`tolerance` is Newton's."""
        self._body, self._rig, self._tolerance = body, rig, tolerance
        self._made: tuple[Learned, _SkinnedParts] | None = None

    def displacement(self, x: FloatArray, pose: FloatArray) -> FloatArray:
        u = self._rig.pull_back(pose, x) - self._rig.rest
        u[self._body.pins.vertices] = np.where(self._body.pins.held, 0.0, u[self._body.pins.vertices])
        return u

    def record(self, u: FloatArray, pose: FloatArray) -> Answers:
        return RecordedForces.of(self._body, self._rig, u, pose).forces

    def problem(self, basis: Basis, answers: Answers) -> Problem:
        return recorded_problem(self._body, basis, RecordedForces(answers))

    def model(self, learned: Learned, pose: FloatArray) -> Model:
        """What does not depend on the pose is kept."""
        if self._made is None or self._made[0] is not learned:
            self._made = learned, _SkinnedParts(self._body, self._rig, learned)
        return _SkinnedModel(self._rig, self._made[1], pose, self._tolerance)


class _SkinnedParts:
    """What models of all poses share."""

    def __init__(self, body: Body, rig: SkinnedRig, learned: Learned) -> None:
        rule, self.basis, self.stiffness = learned.rule, learned.basis, learned.stiffness
        self.elements = SkinnedElements.build(body, rig, learned.basis.columns, rule.members, rule.weights)
        self.scratch = Scratch.of(self.elements.elements, learned.basis.rank)
        size = np.sqrt(learned.basis.importance.max() * body.mass.sum()) * body.mesh.size()
        self.floor = 1e-13 * learned.stiffness * float(size)  # forces of a strain of 1e-13


class _SkinnedModel:
    """Equilibria in one pose: forces are pulled back by the skinning, Uᵀ Aᵀ f."""

    def __init__(self, rig: SkinnedRig, parts: _SkinnedParts, pose: FloatArray, tolerance: float) -> None:
        self._rig, self._parts, self._pose, self._tolerance = rig, parts, pose, tolerance

    def positions(self, q: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        rest = self._rig.rest if vertices is None else self._rig.rest[vertices]
        return self._rig.push_forward(self._pose, rest + self._parts.basis.lift(q, vertices), vertices)

    def project(self, x: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        out = np.zeros((3, self._parts.basis.rank))
        out[0] = self._parts.basis.project(self._rig.pull_back(self._pose, x) - self._rig.rest)
        return out

    def elastic(self, q: FloatArray) -> float:
        return self._parts.stiffness * float(np.linalg.norm(self._parts.elements.pose(self._pose).force(q)))

    def step(self, motion: FloatArray, load: FloatArray, h: float, elastic: float) -> Arrival | None:
        parts, q = self._parts, motion[0]
        elements = parts.elements.pose(self._pose)
        if parts.stiffness != 1.0:
            elements = elements.with_stiffness(parts.stiffness)
        A, _ = self._rig.frames(self._pose)
        pull = parts.basis.columns.T @ np.einsum("kji,kj->ki", A, load).ravel()
        settings = np.array((self._tolerance, elastic + np.linalg.norm(pull), parts.floor, _ITERATIONS))
        given = (0.0, _NOTHING, pull), q.copy(), q.copy(), settings
        z, iterations, _, residual, elastic, status = minimise_whole(
            elements, elements.rest, parts.scratch, STILL, given
        )
        if status != CONVERGED or not np.isfinite(z).all():
            return None
        end = np.zeros_like(motion)
        end[0] = z
        return Arrival(end, iterations, residual, elastic, np.zeros_like(z))
