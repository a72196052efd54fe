"""A body that a rig drives, as the full solver sees it.

`rest = "neutral"`: x = φ(p, X + u) with the energy measured against X is a change of coordinates. The end of a step is
the same without the rig, which only tells where to begin looking for it.
`rest = "posed"`: Φ(p) is the rest shape of all elements at the end of a step (Eq. (4) of [XB16]), and damping resists
motion relative to the rig.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError
from supple.method.rig_carry import RigCarry
from supple.method.rigged_inputs import RiggedInputs
from supple.rig import Held, Rig
from supple.solve.inputs import Inputs, Moment

__all__ = ["Rest", "RiggedBody"]

FloatArray = NDArray[np.float64]
Rest = Literal["neutral", "posed"]

_SAME = 1e-6  # of the body's size: how far the rig's rest may be from the body's, and a pin from the rig it follows


class RiggedBody:
    """A body and the rig that poses it."""

    def __init__(self, body: Body, rig: Rig, rest: Rest) -> None:
        if rest not in get_args(Rest):
            raise SceneError(f"rest = {rest!r} is not known: use one of {', '.join(get_args(Rest))}.")
        vertices, self._resolution = body.mesh.vertices, _SAME * body.mesh.size()
        if rig.rest.shape != vertices.shape:
            raise SceneError(
                f"the rig moves {len(rig.rest):,} vertices and the body has {len(vertices):,}: make the rig for them."
            )
        away = float(np.abs(rig.rest - vertices).max())
        if not away <= self._resolution:
            raise SceneError(
                f"the rig's rest is up to {away:.3g} m away from the body's: make the rig for the body's vertices."
            )
        self.body, self.rig = body, rig
        self.is_posed = rest == "posed"
        self._held = Held(rig, body.pins)
        self._last: tuple[bytes, Body] | None = None

    def place(self, moment: Moment) -> FloatArray:
        """Where the rig puts the body [m], (n, 3)."""
        pose = _pose(moment)
        return self.body.mesh.vertices.copy() if self._is_neutral(pose) else self.rig.positions(pose)

    def at(self, moment: Moment) -> Body:
        """The body with the rest shape of a moment; the last one is kept, because a step asks for it again."""
        pose = _pose(moment)
        if not self.is_posed or self._is_neutral(pose):
            return self.body
        key = pose.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self.body.posed(self.rig.positions(pose), self._name(pose, moment.time), pose)
        return self._last[1]

    def carry(self, inputs: Inputs) -> RigCarry | None:
        """How the rig takes the body along in a step, None where it stands still."""
        begin, end = _pose(inputs.begin), _pose(inputs.end)
        return None if np.array_equal(begin, end) else RigCarry.between(self.rig, begin, end)

    def follow(self, inputs: Inputs) -> RiggedInputs:
        """The same step, with halves in which pins follow the rig."""
        return RiggedInputs(inputs.begin, inputs.end, inputs.events, held=self._held, resolution=self._resolution)

    def describe(self) -> str:
        """The rig and what it means, in a line."""
        meaning = "whose pose is the rest shape" if self.is_posed else "with the rest shape of the neutral pose"
        return f"a rig of {len(self.rig.controls)} controls, {meaning}"

    def _is_neutral(self, pose: FloatArray) -> bool:
        return np.array_equal(pose, self.rig.neutral)

    def _name(self, pose: FloatArray, time: float) -> str:
        """A pose in a user's words: its time and what it changes most."""
        most = int(np.argmax(np.abs(pose - self.rig.neutral)))
        return f"the pose of {time:.6g} s ('{self.rig.controls[most]}' at {pose[most]:.3g})"


def _pose(moment: Moment) -> FloatArray:
    if moment.pose is None:
        raise SceneError(f"the moment {moment.time:.6g} s of a body with a rig has no pose: give one at every moment.")
    return np.asarray(moment.pose, np.float64)
