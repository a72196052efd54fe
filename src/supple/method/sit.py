"""A body that only contact holds, moved along its load until contact holds it: where its statics can begin."""

import numpy as np
from numpy.typing import NDArray

from supple.contact.detector import Detector
from supple.contact.potential import ContactPotential
from supple.errors import SceneError
from supple.solve.inputs import Inputs

__all__ = ["find_hold"]

FloatArray = NDArray[np.float64]
_HALVINGS = 60
_FLAT = 0.9999  # cosine between normals above which a support is one plane


def find_hold(
    detector: Detector | None, x: FloatArray, net: FloatArray, total: float, reach: float, inputs: Inputs
) -> FloatArray:
    """How far a static body that no pin holds, at x [m], (n, 3), has to move until contact bears its loads [m], (3,).

    Refused where nothing does; `net` [N], (3,), is the sum of the loads, `total` [N] that of their sizes.
    """
    load = float(np.linalg.norm(net))
    if load <= 1e-6 * max(total, 1e-300):
        return np.zeros(3)
    remedy = "add a pin, or use a dynamic integrator"
    if detector is not None and detector.colliders:
        shift = _sit_down(detector, x, net, reach, inputs)
        if shift is not None:
            return shift
        remedy = f"place a collider within {reach:.3g} m where it is pushed to, {remedy}"
    raise SceneError(
        f"nothing holds the body against a net force of {load:.3g} N, so it has no static equilibrium: {remedy}."
    )


def _sit_down(detector: Detector, x: FloatArray, net: FloatArray, reach: float, inputs: Inputs) -> FloatArray | None:
    """The shortest way along the net force [m], (3,), after which contact bears it; None where that is beyond reach."""
    load = float(np.linalg.norm(net))
    way = net / load
    contacts = detector.foresee(x, x + reach * way, inputs)
    potential = ContactPotential(contacts, x, detector.stiffness)

    def bears(shift: float) -> bool:
        return float((potential.gradient(x + shift * way) @ way).sum()) >= load

    if bears(0.0):
        _check_slope(detector, potential, x, net)
        return np.zeros(3)
    if not bears(reach):
        return None
    low, high = 0.0, reach
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if bears(middle) else (middle, high)
    _check_slope(detector, potential, x + high * way, net)
    return np.asarray(high * way)


def _check_slope(detector: Detector, potential: ContactPotential, x: FloatArray, net: FloatArray) -> None:
    """Refuse a load that drives a body at x [m], (n, 3), down a flat support faster than friction can hold it."""
    pressed = potential.contacts.depth(x) > 0.0
    normals = potential.contacts.normal[pressed]
    normal = normals.mean(axis=0) / max(float(np.linalg.norm(normals.mean(axis=0))), 1e-300)
    if (normals @ normal).min(initial=1.0) < _FLAT:
        return  # not one plane: what leans on several may be held by them
    press = -float(net @ normal)
    down = net + press * normal
    slide, friction = float(np.linalg.norm(down)), detector.settings.friction_of(potential.contacts.source[pressed])
    if slide > max(float(friction.max()) * press, 1e-6 * float(np.linalg.norm(net))):
        way = ", ".join(f"{part:.2g}" for part in down / slide)
        raise SceneError(
            f"nothing holds the body along ({way}): down what it lies on it is pulled with {slide:.3g} N, and friction "
            f"{float(friction.max()):g} holds {float(friction.max()) * press:.3g} N, so it has no static equilibrium: "
            f"add a pin, raise friction above {slide / press:.2g}, or use a dynamic integrator."
        )
