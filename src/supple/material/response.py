"""What a material must answer at one point, and how those answers become compiled loops.

F is the deformation gradient as nine floats in row order, m the material's three moduli.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from supple.linalg.compiled import compile_copy

__all__ = ["Response", "specialise"]

PointFunction = Callable[..., Any]


class Response(NamedTuple):
    """The compiled point functions of one material."""

    name: str
    psi: PointFunction
    """psi(F, m): energy density [J/m³]."""
    stress: PointFunction
    """stress(F, m): first Piola–Kirchhoff stress [Pa], nine floats."""
    frame: PointFunction
    """frame(F): rotations U, V and stretches s in whose axes the Hessian takes the form of `spectrum`."""
    spectrum: PointFunction
    """spectrum(s, m): the Hessian in that frame: stretch block (six floats), twist and flip eigenvalues
    (three floats each; entry k belongs to the plane perpendicular to axis k)."""
    curvature: PointFunction
    """curvature(F, A, B, m): second derivative of the stress along A and B, nine floats."""


def specialise(
    template: Callable[..., Any], response: Response, variant: str = "", **options: Any
) -> Callable[..., Any]:
    """A compiled copy of a loop written against the names psi, stress, frame, spectrum, curvature."""
    return compile_copy(template, f"{response.name}_{variant}", response._asdict(), **options)
