"""Modal derivatives: how modes change as the body deforms along them (Barbič, James 2005).

ψ_ij = -K⁻¹ (H : φ_i) φ_j with H the second derivative of the internal force, taken from the material itself.
"""

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.subspace.basis import Basis
from supple.subspace.pca import check_rank, principal_columns
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["count_modes", "force_curvature", "modal_basis", "modal_derivatives", "weigh_columns"]

FloatArray = NDArray[np.float64]

_SURPLUS = 1.8  # modes and derivatives for every column they are compressed to


def count_modes(rank: int) -> int:
    """How many modes, with all their derivatives, make a basis of a rank."""
    modes = 1
    while modes * (modes + 3) < 2.0 * _SURPLUS * rank:
        modes += 1
    return modes


def force_curvature(body: Body, x: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """(H : a) b, the second derivative of the internal force along two displacements a, b (n, 3) [N/m²], (n, 3)."""
    total = np.zeros_like(x)
    for part in body.parts:
        A, B = (part.deformation(u) for u in (a, b))  # linear in the positions, so this is B_e u
        change = part.material.curvature(part.deformation(x), A, B) * part.volume[:, None, None]
        corners = change @ part.inverse.T.reshape(-1, 3, 3).transpose(0, 2, 1)  # column k belongs to vertex k + 1
        for k in range(3):
            np.add.at(total, part.tets[k + 1], corners[:, :, k])
            np.add.at(total, part.tets[0], -corners[:, :, k])
    return total


def modal_derivatives(body: Body, modes: Basis, *, x: FloatArray | None = None) -> FloatArray:
    """ψ_ij for all i <= j in lexicographic order, (3 n, r (r + 1) / 2)."""
    stiffness = RestStiffness(body, x)
    fields = modes.columns.reshape(-1, 3, modes.rank)
    found = []
    for i, j in combinations_with_replacement(range(modes.rank), 2):
        force = force_curvature(body, stiffness.x, fields[:, :, i], fields[:, :, j])
        found.append(stiffness.spread(-stiffness.solve(stiffness.map.unknowns(force))))
    return np.stack(found, axis=1)


def weigh_columns(modes: Basis, derivatives: FloatArray) -> FloatArray:
    """Modes and derivatives side by side, each as large as it is easily excited: by λ_1 / λ_i and λ_1² / (λ_i λ_j)."""
    values = modes.importance
    pairs = list(combinations_with_replacement(range(modes.rank), 2))
    sizes = np.sqrt(np.einsum("ik,i,ik->k", derivatives, modes.metric, derivatives))
    unit = float(np.median(sizes[sizes > 0.0])) if (sizes > 0.0).any() else 1.0
    weights = np.array([values[0] ** 2 / (values[i] * values[j]) for i, j in pairs])
    return np.column_stack([modes.columns * (values[0] / values), derivatives / unit * weights])


def modal_basis(body: Body, modes: Basis, rank: int, *, x: FloatArray | None = None) -> Basis:
    """Modes and their derivatives compressed to `rank` mass-orthonormal columns."""
    derivatives = modal_derivatives(body, modes, x=x)
    columns, singular = principal_columns(weigh_columns(modes, derivatives), modes.metric, rank)
    source = f"{modes.rank} modes and {derivatives.shape[1]} derivatives"
    check_rank(rank, columns, source)
    return Basis(columns, body.mass, source, singular)
