"""Bases: modes, derivatives, PCA, growth and shrinkage."""

from supple.subspace.basis import Basis
from supple.subspace.derivatives import force_curvature, modal_basis, modal_derivatives
from supple.subspace.energy import diagonalise
from supple.subspace.growth import empty_basis, grow, shrink
from supple.subspace.modes import linear_modes
from supple.subspace.pca import principal_basis
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.restriction import Restriction, region_weights

__all__ = [
    "Basis",
    "RestStiffness",
    "Restriction",
    "diagonalise",
    "empty_basis",
    "force_curvature",
    "grow",
    "linear_modes",
    "modal_basis",
    "modal_derivatives",
    "principal_basis",
    "region_weights",
    "shrink",
]
