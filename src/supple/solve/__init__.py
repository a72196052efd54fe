"""Newton, static, implicit Euler, Newmark: what every method steps with."""

from supple.solve.events import (
    AddPin,
    Event,
    Grab,
    Move,
    MoveCollider,
    Release,
    RemovePin,
    SetGravity,
    SetPose,
    SetScene,
    SetStiffness,
    SetThrottle,
    SetVolume,
    event_from_dict,
    event_to_dict,
)
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce
from supple.solve.inputs import Inputs, Moment
from supple.solve.integrator import INTEGRATORS
from supple.solve.linear import LINEAR_SOLVERS
from supple.solve.placement import Placement

__all__ = [
    "INTEGRATORS",
    "LINEAR_SOLVERS",
    "AddPin",
    "Event",
    "Force",
    "Grab",
    "Gravity",
    "Inputs",
    "Moment",
    "Move",
    "MoveCollider",
    "NodalForce",
    "PassingForce",
    "Placement",
    "Release",
    "RemovePin",
    "SetGravity",
    "SetPose",
    "SetScene",
    "SetStiffness",
    "SetThrottle",
    "SetVolume",
    "event_from_dict",
    "event_to_dict",
]
