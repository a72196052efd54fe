"""What a condensed body is set up with: who moves its subspace, and the oracles that see what has to be full."""

from typing import Literal

from supple.elastic import Body
from supple.errors import SceneError
from supple.method.articulated.model import ArticulatedModel
from supple.method.condensation.carried import CarriedSteps
from supple.method.condensation.error import ErrorOracle
from supple.method.condensation.free import FreeSteps
from supple.method.condensation.oracle import ContactOracle, MotionOracle, Oracle, SettledOracle, Union
from supple.method.condensation.region import Ground
from supple.method.condensation.skinned import SkinnedSteps
from supple.method.condensation.subspace import Steps
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.rig import SkinnedRig

__all__ = ["Releasing", "Seeing", "make_oracle", "make_steps"]

Releasing = Literal["settled", "frames", "motion"]
Seeing = Literal["contact", "error"]
_POP = 2e-4  # sizes of the body by which a vertex may jump as it returns to the subspace
_STRAYS = 0.3  # share of the accuracy by which it may, where that is more
_SLOW, _STEADY = 1e-2, 1e-1  # sizes of the body a second, and a second squared, below which the paper's patches return


def make_oracle(
    ground: Ground, kind: Seeing, release: Releasing, radius: float, accuracy: float, edge: float
) -> Oracle:
    """What sees where full space is needed, about what touches within a radius [m], and what says when it returns."""
    size = ground.body.mesh.size()
    sees: Oracle = ContactOracle(ground, radius)
    if kind == "error":
        sees = ErrorOracle(ground, accuracy, radius, edge)
    if release == "frames":
        return sees
    holds: Oracle = SettledOracle(_POP * size, _STRAYS * accuracy)
    if release == "motion":
        holds = MotionOracle(_SLOW * size, _STEADY * size)
    return Union([sees, holds])


def make_steps(
    body: Body,
    model: ReducedModel | SkinnedModel | ArticulatedModel,
    rig: SkinnedRig | None,
    integrator: str,
    tolerance: float,
) -> Steps:
    """What moves the coordinates."""
    if isinstance(model, ReducedModel):
        if rig is not None:
            raise SceneError("the body has a rig and the model is of a body without one: train again.")
        solver = ReducedSolver(body, model, integrator=integrator, tolerance=tolerance)
        return CarriedSteps(solver, integrator) if len(body.pins.vertices) else FreeSteps(solver, integrator)
    if rig is None:
        raise SceneError("the model is of a body with a rig: give the rig, or train again.")
    skinned = SkinnedSolver(body, rig, model, integrator=integrator, tolerance=tolerance)
    return SkinnedSteps(body, rig, model, skinned, integrator)
