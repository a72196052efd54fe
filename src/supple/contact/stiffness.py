"""How stiff contacts are where nobody says: as stiff as the flesh behind them, and a little more."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.material import Material

__all__ = ["default_stiffness", "estimate_depth"]

#: Contacts against the elements behind them. A pressure p sinks a contact by p/k, a tenth of what it compresses one
#: layer of elements by; much more would only slow Newton's method, which sees contacts open and close.
TIMES_STIFFER = 10.0


def default_stiffness(body: Body) -> float:
    """k [Pa/m]: 10 E / edge, with Young's modulus of the stiffest tet and the mean edge at the surface."""
    outside = body.mesh.surface_tets()
    young = max(
        _young(part.material) * float(part.stiffness[np.isin(part.ids, outside)].max(initial=0.0))
        for part in body.parts
    )
    return TIMES_STIFFER * young / body.mesh.surface().mean_edge()


def estimate_depth(body: Body, stiffness: float, acceleration: NDArray[np.float64]) -> float:
    """How deep the body sinks into a flat floor under its own weight [m], for k [Pa/m] and gravity [m/s²], (3,).

    Its weight over k times its shadow on the floor; less of it touches at first, so corners sink deeper.
    """
    size = float(np.linalg.norm(acceleration))
    if size == 0.0:
        return 0.0
    surface = body.mesh.surface()
    shadow = 0.5 * float(surface.areas() @ np.abs(surface.face_normals() @ acceleration)) / size
    return float(body.mass.sum()) * size / (stiffness * shadow)


def _young(material: Material) -> float:
    """Young's modulus at rest [Pa]."""
    mu, lam = material.mu, material.lam
    return mu * (3.0 * lam + 2.0 * mu) / (lam + mu)
