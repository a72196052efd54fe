"""What every solver asks of its settings and its steps."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from supple.arguments import check_number, check_type, refuse
from supple.constraint import ProjectiveBody
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Pins
from supple.errors import SceneError
from supple.rig import Rig
from supple.solve.inputs import Inputs, Moment
from supple.solve.integrator import ALL_INTEGRATORS, INTEGRATORS

__all__ = ["check_projective", "check_settings", "check_skipping", "check_step", "check_targets", "refuse_other_pins"]


def check_settings(
    body: Body,
    integrator: str,
    tolerance: float,
    contact: ContactSettings | None,
    known: Collection[str] = tuple(INTEGRATORS),
) -> None:
    """Refuse what is no body or contact, an integrator that is not `known` to a method and a tolerance that is none."""
    check_type(body, "body", Body, "a Body", "Use Body.build.")
    _check_contact(contact)
    if integrator not in known:
        where = " in this method" if integrator in ALL_INTEGRATORS else ""
        raise SceneError(f"integrator {integrator!r} is not known{where}: use one of {', '.join(known)}.")
    check_number(tolerance, "tolerance", above=0.0, below=1.0, remedy="1e-4 gives four digits.")


def check_projective(body: ProjectiveBody, time_step: float, contact: ContactSettings | None) -> None:
    """Refuse what is no body of constraints, no length of a step and no contact."""
    check_type(body, "body", ProjectiveBody, "a ProjectiveBody", "Use ProjectiveBody.from_body.")
    check_number(time_step, "time_step", above=0.0, unit="s", remedy="0.01 gives 100 steps a second.")
    _check_contact(contact)


def _check_contact(contact: ContactSettings | None) -> None:
    if contact is not None:
        check_type(contact, "contact", ContactSettings, "ContactSettings", "such as ContactSettings(friction=0.3).")


def check_step(inputs: Inputs, pins: Pins) -> None:
    """Refuse a step that does not go forward, and one whose targets are not those of the pins."""
    check_type(inputs, "inputs", Inputs, "Inputs(begin, end)")
    for name, moment in (("begin", inputs.begin), ("end", inputs.end)):
        check_targets(moment, pins, name)
    if not inputs.duration > 0.0:
        raise SceneError(f"a step of {inputs.duration:g} s makes no sense: its end must come after its beginning.")


def check_targets(moment: Moment, pins: Pins, name: str = "begin") -> None:
    """Refuse a moment whose targets are not one for every pinned vertex."""
    if len(moment.targets) != len(pins.vertices):
        where, want = f"Inputs({name}.targets)", f"{(len(pins.vertices), 3)} [m]"
        refuse(where, f"shape {moment.targets.shape}", want, "Give one target for every pinned vertex.")


def check_skipping(tolerance: float, throttle: float) -> None:
    """Refuse what no step could be skipped by."""
    check_number(tolerance, "tolerance", least=0.0, below=1.0, remedy="It is a relative error.")
    check_number(throttle, "throttle", least=0.0)


def refuse_other_pins(body: Body, rig: Rig, begin: Moment, pose: NDArray[np.float64]) -> None:
    """Refuse pins that do not follow the rig: a subspace about its poses has no coordinates for them."""
    away = np.abs(begin.targets - rig.positions(pose, body.pins.vertices))
    if away.max(initial=0.0) > 1e-6 * body.mesh.size():
        vertex = body.pins.vertices[int(away.max(axis=1).argmax())]
        raise SceneError(
            f"the pin of vertex {vertex} is {away.max():.3g} m from where the rig takes it, which a subspace about "
            "its poses cannot follow: let pins follow the rig, or use the full solver."
        )
