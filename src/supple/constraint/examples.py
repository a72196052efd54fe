"""Tetrahedra drawn to blends of example shapes, each element by itself (Bouaziz et al. 2014, after Martin et al. 2011).

The set of an element are the turned blends Q (1 + Σ c_k (E_k - 1)), E_k the stretch of the element in example k, c_k
not negative and not above 1 in sum. The nearest one is found by turns: the rotation for given shares, the shares for a
given rotation, these by exchanging between two examples at a time. Each turn comes nearer; the last is nearest locally.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.constraint.checks import each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.elastic.kernels import read, write
from supple.errors import MeshError
from supple.linalg.small import add, inner, matmul, matmul_nt, point, scale, signed_svd

__all__ = ["ExampleShapes"]

FloatArray = NDArray[np.float64]
_TURNS, _STILL = 60, 1e-20  # at most; square of the change of a blend that ends them


@point
def _exchange(t, l, count, shares, gap):
    """Move shares between every two of the rest shape and the examples to come nearest; the gap that is left."""
    for i in range(count):
        for j in range(i + 1, count + 1):
            # Example `count` is the rest shape, whose difference from itself is zero
            step = read(t, PARAMETERS + 9 * i, l)
            if j < count:
                step = add(step, scale(-1.0, read(t, PARAMETERS + 9 * j, l)))
            square = inner(step, step)
            if square > 0.0:
                move = min(max(inner(step, gap) / square, -t[shares + i, l]), t[shares + j, l])
                t[shares + i, l] += move
                t[shares + j, l] -= move
                gap = add(gap, scale(-move, step))
    return gap


@point
def example(t, l):
    F = read(t, VALUE, l)
    count = (t.shape[0] - PARAMETERS) // 18
    shares = PARAMETERS + 9 * count
    for k in range(count):
        t[shares + k, l] = 0.0
    t[shares + count, l] = 1.0
    blend = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    Q = blend
    for _ in range(_TURNS):
        U, _, V = signed_svd(matmul(blend, F))
        Q = matmul_nt(U, V)
        local = matmul_nt(F, Q)
        gap = _exchange(t, l, count, shares, add(local, scale(-1.0, blend)))
        step = add(add(local, scale(-1.0, gap)), scale(-1.0, blend))
        blend = add(blend, step)
        if inner(step, step) < _STILL:
            break
    P = matmul(blend, Q)
    gap = add(F, scale(-1.0, P))
    write(t, PROJECTION, l, P)
    t[DISTANCE, l] = inner(gap, gap)


@dataclass(frozen=True, eq=False)
class ExampleShapes(Constraint):
    """Nothing resists the way from the rest shape to the examples and between these; away from it 2μ does."""

    kind: ClassVar = "example shapes"
    lane: ClassVar = example
    width: ClassVar = 4

    @classmethod
    def build(cls, stencils: Stencils, examples: Sequence[FloatArray], mu: ArrayLike) -> "ExampleShapes":
        """Tets (constraint/gradients.py) of shear modulus μ [Pa] with the positions [m], (n, 3), of each example."""
        mu = each(mu, len(stencils), "ExampleShapes.build(mu)", "Pa")
        if not examples:
            raise MeshError("example shapes need at least one example: give its positions, one for each vertex.")
        stretches = []
        for number, given in enumerate(examples):
            positions = as_floats(
                given, f"ExampleShapes.build(examples[{number}])", ("n", 3), unit="m", error=MeshError
            )
            if len(positions) <= int(stencils.vertices.max()):
                raise MeshError(f"example {number} does not give every vertex a position: export it again.")
            F = stencils.values(positions)
            U, s, _ = np.linalg.svd(F)  # values are transposed: the stretch stands on their left
            s[:, 2] *= np.sign(np.linalg.det(F))
            stretches.append(np.einsum("eij,ej,ekj->ike", U, s, U) - np.eye(3)[:, :, None])
        parameters = np.concatenate([stretch.reshape(9, -1) for stretch in stretches])
        return cls(stencils, 2.0 * mu * stencils.measure, parameters)
