"""What every solver asks of its settings and its steps."""

from supple.errors import SceneError
from supple.solve.inputs import Inputs
from supple.solve.integrator import INTEGRATORS

__all__ = ["check_duration", "check_settings"]


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
