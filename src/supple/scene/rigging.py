"""A scene's rig: bones in the body, what follows them exactly, and where they go."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Pins
from supple.errors import SceneError
from supple.mesh import TetMesh
from supple.rig import Held, Moved, SkinnedRig, find_bone_crossings, hold_bones
from supple.scene.actor import make_actor, naming
from supple.scene.motion_table import MotionTable
from supple.scene.rig_motion import Course, plan_course
from supple.scene.rig_table import RigTable
from supple.scene.schema import Scene
from supple.scene.select import Select, select_vertices
from supple.scene.skin_weights import find_weights
from supple.scene.source import Source

__all__ = ["Rigging", "make_rigging"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rigging:
    """What drives a body by poses."""

    rig: SkinnedRig
    rest: Literal["neutral", "posed"]
    """What flesh springs back to."""
    held: Held
    """What follows the rig exactly."""
    course: Course
    lines: tuple[str, ...]
    """The rig in words."""

    def rest_body(self, body: Body, time: float) -> Body:
        """The body with the rest shape that its energy at a time [s] is measured against."""
        return body if self.rest == "neutral" else body.posed(self.rig.positions(self.course.pose(time)))

    def velocities(self, time: float) -> FloatArray:
        """How fast the rig moves every vertex as a run begins at a time [s], [m/s], (n, 3): from rest in a pre-roll."""
        if time < 0.0:
            return np.zeros_like(self.rig.rest)
        return Moved(self.rig, self.course.motion).velocities(time)

    def hastened(self, speed: float) -> Rigging:
        """The rig going through its motion `speed` times as fast."""
        return replace(self, course=self.course.hastened(speed, self.rig.skeleton))

    def digest(self) -> str:
        """Fingerprint of bones, weights, what is held and where it goes."""
        rig, motion, lead = self.rig, self.course.motion, self.course.lead
        words = [rig.mode, self.rest, rig.controls, motion.between]
        arrays: list[NDArray[Any]] = [rig.skeleton.parents, rig.skeleton.heads]
        arrays += [rig.influences.joints, rig.influences.weights, self.held.pins.vertices, motion.times, motion.poses]
        arrays += [array for array in (motion.gain, None if lead is None else lead.times) if array is not None]
        found = hashlib.sha256(json.dumps(words).encode())
        for array in arrays:
            found.update(array.tobytes())
        return found.hexdigest()

    def describe(self) -> list[str]:
        """Rig and motion, line by line."""
        return [*self.lines, *self.course.lines]

    def facts(self) -> dict[str, Any]:
        """Rig and motion by name, as JSON has it."""
        motion = self.course.motion
        return {
            "joints": list(self.rig.skeleton.names),
            "skinning": self.rig.mode,
            "rest": self.rest,
            "held_vertices": len(self.held.pins.vertices),
            "motion_seconds": motion.end,
            "motion_loops": motion.gain is not None,
            "report": list(self.course.lines[1:]),
        }


def make_rigging(scene: Scene, source: Source, metres: float) -> Rigging | None:
    """The rig of a scene whose lengths are in metres, and None without one; `metres` is the size of one scene unit."""
    table, mesh = scene.rig, source.mesh
    if table is None:
        return None
    actor = make_actor(table, scene.mesh, metres, scene.up_axis)
    with naming("rig"):
        influences = find_weights(table.weights, source, actor.skeleton)
        rig = SkinnedRig(actor.skeleton, influences, mesh.vertices, table.skinning)
        held = _hold(table, mesh, rig, metres)
    lead = scene.time.preroll / scene.time.fps
    course = plan_course(scene.motion or MotionTable(), actor, scene.up_axis, lead)
    where = " along them" if table.hold == "bones" else ""
    line = (
        f"rig: {len(actor.skeleton)} bones, {table.skinning.replace('_', ' ')} skinning, "
        f"{len(held.pins.vertices)} vertices held{where}; flesh springs back to its {table.rest} shape"
    )
    return Rigging(rig, table.rest, held, course, (line, *influences.notes))


def _hold(table: RigTable, mesh: TetMesh, rig: SkinnedRig, metres: float) -> Held:
    """What follows the rig exactly."""
    if isinstance(table.hold, Select):
        return Held(rig, Pins.of(select_vertices(table.hold, mesh, "hold", metres)))
    if table.hold == "none":
        return Held(rig, Pins.none())
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, rig.skeleton))
    if not len(held.pins.vertices):
        raise SceneError(
            'no bone runs through the body, so hold = "bones" holds nothing: bring skeleton and mesh to the same '
            "place and units, or select what to hold."
        )
    return held
