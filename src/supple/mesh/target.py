"""Meet a wanted number of tets by choosing the lattice spacing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from supple.errors import MeshError
from supple.mesh.tetmesh import TetMesh

__all__ = ["MissedShape", "search_spacing"]

_CLOSE, _GOOD, _PROMISED = 0.04, 0.08, 0.10  # miss accepted at once, after three tries, and at all
_TRIES = 7  # spacings tried for every shift of the lattice
_COARSE = (12, 24, 48)  # cells along the longest side of the first trial; more if that misses the shape
_LAST = 96
_ENOUGH = 8_000  # tets that make a trial reliable

#: Shifts of the lattice in cells: on a symmetric shape the count jumps, and a shifted lattice fills the gap.
_SHIFTS = ((0.0, 0.0, 0.0), (0.25, 0.25, 0.25), (0.5, 0.0, 0.0), (0.1, 0.2, 0.3))

MeshAt = Callable[[float, tuple[float, float, float]], TetMesh]


class MissedShape(MeshError):
    """No point of the lattice lies inside the shape."""


def search_spacing(mesh_at: MeshAt, longest: float, elements: int) -> TetMesh:
    """The mesh with about `elements` tets, or the nearest found, from `mesh_at(spacing [m], shift)`.

    The count follows a / h^3 + b / h^2 (volume and surface), so coarse trials and one correction mostly do.
    """
    first, best = _predict_spacing(mesh_at, longest, elements)

    def miss(mesh: TetMesh) -> float:
        return abs(len(mesh.tets) / elements - 1)

    for shift in _SHIFTS:
        ratios: dict[float, float] = {}
        spacing = first
        for tries in range(_TRIES):
            mesh = _try(mesh_at, spacing, shift)
            ratios[spacing] = (len(mesh.tets) if mesh else 0.1) / elements
            best = min(best, mesh or best, key=miss)
            if miss(best) <= (_CLOSE if tries < 3 else _GOOD):
                return best
            spacing = _next_spacing(ratios)
        if miss(best) <= _PROMISED:
            return best
    note = f"{elements:,} tets were asked for; the nearest mesh of this shape has {len(best.tets):,}"
    return replace(best, notes=(*best.notes, note))


def _predict_spacing(mesh_at: MeshAt, longest: float, elements: int) -> tuple[float, TetMesh]:
    """Spacing [m] predicted from coarse trials, and the last of these."""
    for cells in _COARSE:
        spacing = longest / cells
        coarse = _try(mesh_at, spacing, _SHIFTS[0])
        if coarse is not None:
            break
    else:
        spacing = longest / _LAST
        coarse = mesh_at(spacing, _SHIFTS[0])  # if this misses too, the user hears of it
    if elements > 2 * _ENOUGH > 2 * len(coarse.tets):  # too coarse to know the surface well: look closer
        spacing = _extrapolate(coarse, spacing, _ENOUGH)
        coarse = mesh_at(spacing, _SHIFTS[0])
    return _extrapolate(coarse, spacing, elements), coarse


def _try(mesh_at: MeshAt, spacing: float, shift: tuple[float, float, float]) -> TetMesh | None:
    """The mesh, or None where the lattice is so coarse that it misses the shape."""
    try:
        return mesh_at(spacing, shift)
    except MissedShape:
        return None


def _extrapolate(coarse: TetMesh, spacing: float, elements: int) -> float:
    """Spacing [m] for `elements` tets, from the volume and the surplus of surface tets of another mesh."""
    bulk = 12 * float(coarse.volumes().sum())  # twelve tets fill a cell
    skin = max(len(coarse.tets) - bulk / spacing**3, 0.0) * spacing**2
    guess = float(np.cbrt(bulk / elements))
    for _ in range(30):  # fixed point of elements = bulk / h^3 + skin / h^2
        guess = float(np.cbrt((bulk + skin * guess) / elements))
    return guess


def _next_spacing(ratios: dict[float, float]) -> float:
    """Between the nearest spacings on both sides of the target, or by the cube law from the nearest."""
    fine = [h for h, ratio in ratios.items() if ratio > 1]
    coarse = [h for h, ratio in ratios.items() if ratio <= 1]
    if fine and coarse and max(fine) < min(coarse):
        low, high = max(fine), min(coarse)
        a, b = np.log(ratios[low]), np.log(ratios[high])
        return float(low * (high / low) ** np.clip(a / (a - b), 0.2, 0.8))
    nearest = min(ratios, key=lambda h: abs(np.log(ratios[h])))
    spread = 1 + 0.01 * len(ratios)  # counts jump with the lattice: never try the same spacing twice
    return float(nearest * np.cbrt(ratios[nearest]) * (spread if ratios[nearest] > 1 else 1 / spread))
