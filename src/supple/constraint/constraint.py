"""What every constraint of projective dynamics answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from supple.constraint.kernels import Loops, loops
from supple.constraint.stencils import Stencils

__all__ = ["Constraint"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Constraint:
    """e constraints of one type: the triplets {λ, S, p} of Eqs. (4) and (5) of [BEH18].

    Each stores the energy λ/2 |S x - p(S x)|², p the nearest point of its set.
    """

    kind: ClassVar[str]
    """The type's name in a user's words."""
    lane: ClassVar[Callable[..., Any]]
    """The compiled projection of one lane of a block (constraint/kernels.py)."""
    warm_lane: ClassVar[Callable[..., Any] | None] = None
    """A faster one that goes on from the quaternion found before."""
    single_lane: ClassVar[Callable[..., Any] | None] = None
    """A faster one in single precision, without the energy; it remembers where `warm_lane` does."""
    width: ClassVar[int] = 0
    """Vertices of a stencil, 0 where that differs from mesh to mesh."""
    guided: ClassVar[bool] = False
    """Whether the projection looks at the normal of a stencil's first three vertices."""
    bounded: ClassVar[bool] = True
    """Whether λ SᵀS bounds the curvature of the energy, so that no global step can raise the objective."""

    stencils: Stencils
    weight: FloatArray
    """λ, with the element's measure in it [J for a value without unit, J/m² for a length], (e,)."""
    parameters: FloatArray
    """What tells the sets of two elements apart, (k, e)."""

    def project(self, values: FloatArray, members: NDArray[np.integer] | None = None) -> FloatArray:
        """The nearest points of the constraint sets to values S x, (m, p, 3), of all or of chosen elements."""
        return self._nearest(values.reshape(len(values), 3 * self.stencils.rows), members)[0]

    def distances(self, values: FloatArray) -> FloatArray:
        """The energies over λ/2 of values S x, (e, p, 3): squared distances from the sets, (e,)."""
        return self._nearest(values.reshape(len(values), -1), None)[1]

    def distances_of(self, values: FloatArray, members: NDArray[np.integer]) -> FloatArray:
        """The energies over λ/2 of chosen elements, (m,), from values S x, (m p, 3); guided ones have two more rows,
        edges of the triangle whose normal they look at."""
        count, rows = len(members), self.stencils.rows
        if not self.guided:
            return self._nearest(values.reshape(count, 3 * rows), members)[1]
        values = values.reshape(count, rows + 2, 3)
        normals = np.cross(values[:, rows], values[:, rows + 1])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        normals /= np.where(lengths > 0.0, lengths, 1.0)
        return self._nearest(np.concatenate([values[:, :rows].reshape(count, -1), normals], axis=1), members)[1]

    def project_at(self, x: FloatArray, members: NDArray[np.integer] | None = None) -> FloatArray:
        """The projections at positions x [m], (n, 3)."""
        return self._nearest(self._seen(x, members), members)[0]

    def rest(self, rest: FloatArray) -> FloatArray:
        """The projections at the rest shape [m], (n, 3): (e, p, 3), from which Appendix C builds their subspace."""
        return self.project_at(rest)

    def energy(self, x: FloatArray) -> float:
        """Energy [J] at positions x [m], (n, 3)."""
        return 0.5 * float(self.weight @ self._nearest(self._seen(x), None)[1])

    def forces(self, x: FloatArray) -> FloatArray:
        """Forces on the vertices [N], (n, 3): -λ Sᵀ(S x - p); that p moves too counts nothing at a nearest point."""
        return -self.stencils.gather(self.weight, self.stencils.values(x) - self.project_at(x), len(x))

    def inflated(self, factor: float) -> Self:
        """The same constraints with the target volume, where they have one, that many times the one they were made
        with."""
        return self

    def find_lane(self, *, warm: bool) -> Callable[..., Any]:
        """The compiled projection of one lane, the one that remembers if asked for and there is one."""
        remembering = type(self).warm_lane
        return remembering if warm and remembering is not None else type(self).lane

    def loops(self, *, warm: bool = False, parallel: bool = False) -> Loops:
        """The compiled loops over elements; `warm` ones remember."""
        lane = self.find_lane(warm=warm)
        return loops(lane, self.stencils.rows, self.width, guided=self.guided, parallel=parallel)

    def _seen(self, x: FloatArray, members: NDArray[np.integer] | None = None) -> FloatArray:
        """What the projections look at, at positions x [m]: (m, 3 p), and the normals of guided ones."""
        values = self.stencils.values(x, members)
        flat = values.reshape(len(values), 3 * self.stencils.rows)
        if not self.guided:
            return flat
        a, b, c = (x[corner] for corner in self.stencils.vertices[slice(None) if members is None else members, :3].T)
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.concatenate([flat, normals / np.where(lengths > 0.0, lengths, 1.0)], axis=1)

    def _nearest(self, seen: FloatArray, members: NDArray[np.integer] | None) -> tuple[FloatArray, FloatArray]:
        """Projections (m, p, 3) and the energies over λ/2, (m,)."""
        parameters = self.parameters if members is None else self.parameters[:, members]
        out, distance = np.empty((len(seen), 3 * self.stencils.rows)), np.empty(len(seen))
        self.loops().project(np.ascontiguousarray(seen, np.float64), np.ascontiguousarray(parameters), out, distance)
        return out.reshape(len(seen), self.stencils.rows, 3), distance
