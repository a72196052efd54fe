"""What every solver asks of its settings and its steps."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError
from supple.rig import Rig
from supple.solve.inputs import Inputs, Moment
from supple.solve.integrator import INTEGRATORS

__all__ = ["check_duration", "check_settings", "check_skipping", "refuse_other_pins"]


def check_settings(integrator: str, tolerance: float) -> None:
    """Refuse an integrator that is not known and a tolerance that is none."""
    if integrator not in INTEGRATORS:
        raise SceneError(f"integrator {integrator!r} is not known: use one of {', '.join(INTEGRATORS)}.")
    if not 0.0 < tolerance < 1.0:
        raise SceneError(f"tolerance = {tolerance:g} must lie between 0 and 1: 1e-4 gives four digits.")


def check_duration(inputs: Inputs) -> None:
    """Refuse a step that does not go forward."""
    if not inputs.duration > 0.0:
        raise SceneError(f"a step of {inputs.duration:g} s makes no sense: its end must come after its beginning.")


def check_skipping(tolerance: float, throttle: float) -> None:
    """Refuse what no step could be skipped by."""
    if not (np.isfinite(tolerance) and 0.0 <= tolerance < 1.0):
        raise SceneError(f"a tolerance of {tolerance:g} is no relative error: give one from 0 to below 1.")
    if not (np.isfinite(throttle) and throttle >= 0.0):
        raise SceneError(f"a throttle of {throttle:g} makes no sense: give a number from 0 on.")


def refuse_other_pins(body: Body, rig: Rig, begin: Moment, pose: NDArray[np.float64]) -> None:
    """Refuse pins that do not follow the rig: a subspace about its poses has no coordinates for them."""
    away = np.abs(begin.targets - rig.positions(pose, body.pins.vertices))
    if away.max(initial=0.0) > 1e-6 * body.mesh.size():
        vertex = body.pins.vertices[int(away.max(axis=1).argmax())]
        raise SceneError(
            f"the pin of vertex {vertex} is {away.max():.3g} m from where the rig takes it, which a subspace about "
            "its poses cannot follow: let pins follow the rig, or use the full solver."
        )
