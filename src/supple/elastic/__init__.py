"""Body: mesh, materials, mass, damping, pins; energy, force, stiffness on all or on chosen elements."""

from supple.elastic.body import Body, Damping, Stiffening, elastic_energy, elastic_gradient
from supple.elastic.elements import Elements
from supple.elastic.kernels import EXACT, PROJECTED, VISCOUS
from supple.elastic.pins import Pins
from supple.elastic.stiffness import StiffnessMap
from supple.elastic.strain import strain_between

__all__ = [
    "EXACT",
    "PROJECTED",
    "VISCOUS",
    "Body",
    "Damping",
    "Elements",
    "Pins",
    "Stiffening",
    "StiffnessMap",
    "elastic_energy",
    "elastic_gradient",
    "strain_between",
]
