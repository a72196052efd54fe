"""Why a step failed, in one sentence a user can act on."""

import numpy as np

from supple.elastic import Body
from supple.solve.inputs import Inputs
from supple.solve.newton import NewtonFailure

__all__ = ["diagnose"]


def diagnose(body: Body, failure: NewtonFailure, inputs: Inputs, static: bool) -> str:
    """Time, worst element, the term that dominates there and the likely cause."""
    jacobians = body.jacobians(failure.x)
    worst = int(np.argmin(np.where(np.isfinite(jacobians), jacobians, -np.inf)))
    corners = body.mesh.tets[worst]
    sizes = {name: float(np.linalg.norm(values[corners])) for name, values in failure.terms.items()}
    term = max(sizes, key=lambda name: sizes[name] if np.isfinite(sizes[name]) else np.inf)
    where = ", ".join(f"{c:.3g}" for c in body.mesh.vertices[corners].mean(axis=0))
    return (
        f"the step from {inputs.begin.time:.6g} s to {inputs.end.time:.6g} s failed at every size tried: "
        f"{failure.reason} (residual {failure.residual:.2g}); the worst element is tet {worst} at rest near "
        f"({where}) m with volume ratio {jacobians[worst]:.3g}, where the {term} dominates; "
        f"{_remedy(term, float(jacobians[worst]), static, bool(len(body.pins.vertices)))}."
    )


def _remedy(term: str, jacobian: float, static: bool, pinned: bool) -> str:
    if not np.isfinite(jacobian):
        return "positions are not finite: check pin targets and forces for huge values"
    if term == "grab":
        return "the grab pulls too hard: lower its stiffness"
    if static and not pinned:
        return "no pin holds it, so it may slide or roll away: add a pin, more friction, or use a dynamic integrator"
    if term == "external force":
        return "the load is too large for this stiffness: lower the force or raise young"
    if term in ("contact", "friction"):
        return "contact crushes the body there: use more substeps, slower colliders or a lower contact stiffness"
    if jacobian < 0.1:
        pins = "pins that move far in one step crush it: use more substeps or slower pins"
        return pins if not static else "apply the load over several frames, or use stable_neo_hookean"
    return "use more substeps, a looser tolerance, or more max_iterations"
