"""A scene's rig: what moves the body by poses, what follows it exactly, and where it goes."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Pins
from supple.errors import SceneError, SuppleWarning
from supple.io import load_surface
from supple.mesh import TetMesh
from supple.mesh.checks import plural
from supple.rig import Held, Moved, Rig, Skeleton, SkinnedRig, find_bone_crossings, hold_bones
from supple.rig.part import RigPart
from supple.rig.shepard import Shepard
from supple.scene.actor import Actor, make_actor, naming
from supple.scene.attachment import describe_attachment
from supple.scene.joint_ranges import JointRanges
from supple.scene.kept import recall
from supple.scene.marks import Marks
from supple.scene.motion_table import MotionTable
from supple.scene.posing import Posing
from supple.scene.rig_fit import Fitting
from supple.scene.rig_layers import correct, stack_layers
from supple.scene.rig_motion import Course, plan_course
from supple.scene.rig_offsets import Canvas
from supple.scene.rig_table import RigTable
from supple.scene.schema import Scene
from supple.scene.select import Select, select_vertices
from supple.scene.skin_weights import find_surface_weights, find_weights
from supple.scene.source import Source
from supple.solve.pull import Anchors

__all__ = ["Rigging", "make_rigging"]

FloatArray = NDArray[np.float64]

WATCHED = 64  #: poses of a run at which tetrahedra are looked at
SAMPLES = 5  #: poses by which a rig that is no skin is known again


@dataclass(frozen=True, eq=False)
class Rigging:
    """What drives a body by poses."""

    rig: Rig
    rest: Literal["neutral", "posed"]
    """What flesh springs back to."""
    held: Held
    """What follows the rig exactly."""
    course: Course
    posing: Posing
    lines: tuple[str, ...]
    """The rig in words."""
    bones: SkinnedRig | None = None
    """What of it skinning by bones does, under all else."""
    anchors: Anchors | None = None
    """Springs that tie flesh to it."""

    @property
    def skin(self) -> SkinnedRig:
        """The rig, where it is skinning and nothing else: what subspaces about a pose rest on."""
        if not isinstance(self.rig, SkinnedRig):
            raise SceneError("rig: only bones alone can be followed in a subspace: remove deformers and shapes.")
        return self.rig

    @property
    def ranges(self) -> JointRanges:
        """How far its joints may turn."""
        return JointRanges.of(self.posing.actor, self.course.motion.controls)

    def rest_body(self, body: Body, pose: FloatArray) -> Body:
        """The body with the rest shape that its energy in a pose, (p,), is measured against."""
        if self.rest == "neutral":
            return body
        return body.posed(self.rig.positions(pose), pose=pose)

    def velocities(self, time: float) -> FloatArray:
        """How fast the rig moves every vertex as a run begins at a time [s], [m/s], (n, 3): from rest in a pre-roll."""
        if time < 0.0:
            return np.zeros_like(self.rig.rest)
        return Moved(self.rig, self.course.motion).velocities(time)

    def hastened(self, speed: float) -> Rigging:
        """The rig going through its motion `speed` times as fast."""
        return replace(self, course=self.course.hastened(speed, self.rig))

    def digest(self) -> str:
        """Fingerprint of bones, weights, what is held and where it goes."""
        rig, motion, lead = self.rig, self.course.motion, self.course.lead
        words: list[Any] = [self.rest, rig.controls, motion.between]
        arrays: list[NDArray[Any]] = [self.held.pins.vertices, motion.times, motion.poses]
        if isinstance(rig, SkinnedRig):
            words.insert(0, rig.mode)
            arrays += [rig.skeleton.parents, rig.skeleton.heads, rig.influences.joints, rig.influences.weights]
        else:  # known by what it does
            arrays += [rig.positions(motion.at(time)) for time in np.linspace(motion.begin, motion.end, SAMPLES)]
        arrays += [array for array in (motion.gain, None if lead is None else lead.times) if array is not None]
        arrays += [] if self.anchors is None else [self.anchors.vertices, self.anchors.stiffness]
        found = hashlib.sha256(json.dumps(words).encode())
        for array in arrays:
            found.update(array.tobytes())
        return found.hexdigest()

    def describe(self) -> list[str]:
        """Rig and motion, line by line."""
        tied = [] if self.anchors is None else [describe_attachment(self.anchors)]
        return [*self.lines, *tied, *self.course.lines]

    def facts(self) -> dict[str, Any]:
        """Rig and motion by name, as JSON has it."""
        motion, actor = self.course.motion, self.posing.actor
        joints = actor.skeleton.names if actor.is_boned and actor.skeleton is not None else ()
        return {
            "joints": list(joints),
            "channels": list(self.posing.channels),
            "skinning": self.rig.mode if isinstance(self.rig, SkinnedRig) else None,
            "rest": self.rest,
            "held_vertices": len(self.held.pins.vertices),
            "motion_seconds": motion.end,
            "motion_loops": motion.gain is not None,
            "report": list(self.course.lines[1:]),
        }


def make_rigging(scene: Scene, source: Source, metres: float, marks: Marks | None = None) -> Rigging | None:
    """The rig of a scene whose lengths are in metres, and None without one; `metres` is the size of one scene unit."""
    table, mesh = scene.rig, source.mesh
    if table is None:
        return None
    clip = None if scene.motion is None else scene.motion.clip
    actor = make_actor(table, scene.mesh, metres, scene.up_axis, source.figure, clip)
    with naming("rig"):
        canvas, skin = _make_canvas(table, actor, source, metres)
        layers = stack_layers(table, actor, skin, canvas, metres, _find_shapes(table, actor, source))
        rig = layers.join()
        posing = Posing(actor, rig, layers.channels)
        if table.correction:
            rig = correct(table.correction, rig, posing, canvas, metres)
            layers.words.append(plural(len(table.correction), "correction"))
        _refuse_neutral(table, rig)
    lead = scene.time.preroll / scene.time.fps
    course = plan_course(scene.motion or MotionTable(), posing, scene.up_axis, lead)
    notes = () if skin is None else skin.influences.notes
    with naming("rig"):
        if table.rest == "posed":
            rig, fitted = _fit(scene, table, rig, posing, course, mesh)
            notes = (*notes, *fitted)
        named = replace(marks or Marks(mesh), skeleton=actor.skeleton)
        held = _hold(table, mesh, rig, actor.skeleton, metres, named)
        if source.figure is not None and table.hold == "bones":
            held, said = _hold_pieces(held, mesh)
            notes = (*notes, *said)
    where = " along bones" if table.hold == "bones" else ""
    line = (
        f"rig: {', '.join(layers.words)}, {len(held.pins.vertices)} vertices held{where}; flesh springs back to its "
        f"{table.rest} shape"
    )
    bones = skin if table.surface is None else None
    return Rigging(rig, table.rest, held, course, posing, (line, *notes), bones)


def _make_canvas(table: RigTable, actor: Actor, source: Source, metres: float) -> tuple[Canvas, SkinnedRig | None]:
    """The points that have the rig, and how bones move them, if there are any."""
    points = source.mesh.vertices
    surface = None
    if table.surface is not None:
        loaded = load_surface(Path(table.surface))
        surface = loaded.moved(loaded.vertices * metres)
        points = surface.vertices
    canvas = Canvas(points, source)
    if actor.skeleton is None or not actor.is_boned:
        return canvas, None
    if surface is None:
        influences = find_weights(table.weights, source, actor.skeleton)
    else:
        influences = find_surface_weights(table.weights, source, surface, actor.skeleton)
    return canvas, SkinnedRig(actor.skeleton, influences, points, table.skinning)


def _find_shapes(table: RigTable, actor: Actor, source: Source) -> dict[str, FloatArray]:
    """Blend shapes that a character's clip mixes in, carried into its body [m], (n, 3) each."""
    if source.figure is None or not actor.shares:
        return {}
    if table.rest == "neutral" or table.surface is not None or not actor.is_boned:
        warnings.warn(
            f"the clip mixes blend shapes ({', '.join(actor.shares)}), which are left out: set rig.rest to "
            '"posed", so that flesh springs back to them.',
            SuppleWarning,
            stacklevel=3,
        )
        return {}
    return {name: shape for name, shape in source.figure.shapes(source.mesh).items() if name in actor.shares}


def _refuse_neutral(table: RigTable, rig: Rig) -> None:
    """Refuse flesh that springs back to its neutral shape under a rig that cannot be undone."""
    if table.rest == "posed":
        return
    if not isinstance(rig, SkinnedRig) or table.surface is not None:
        raise SceneError(
            'rest = "neutral" needs a rig of bones alone, whose skinning has a Jacobian: set rest = "posed", or remove '
            "deformers, blend shapes, corrections and surface."
        )
    if table.fit:
        raise SceneError('fit is about the rest shapes of rest = "posed": set that, or remove fit.')


def _fit(
    scene: Scene, table: RigTable, rig: Rig, posing: Posing, course: Course, mesh: TetMesh
) -> tuple[Rig, list[str]]:
    """The rig over the tetrahedra, fitted where that is asked for or needed, and what was done in words."""
    lines = []
    skin: Rig = RigPart(rig, mesh.surface_vertices()) if table.surface is None else rig
    if table.surface is not None:
        lines.append(f"a surface of {len(rig.rest):,} vertices has the rig; tetrahedra follow it")
        rig = Shepard(rig, mesh.vertices)
    if table.fit is False:
        return rig, lines
    fitting = Fitting(mesh, rig, skin)
    frames = np.arange(-scene.time.preroll, scene.time.frames + 1)
    times = [float(frame) / scene.time.fps for frame in frames[:: 1 + len(frames) // WATCHED]]
    poses = [course.pose(time) for time in times]
    given = [posing.pose(one) for one in table.fit] if isinstance(table.fit, list) else []
    chosen = not given and (bool(table.fit) or table.surface is not None)

    def fit() -> dict[str, NDArray[Any]]:
        for number, pose in enumerate(given):
            fitting.add(pose, f"fit[{number}]")
        if chosen:
            fitting.choose(poses, times)
        fitting.unfold(poses, times)
        return fitting.arrays()

    seen = [one.positions(pose) for one in (rig, skin) for pose in poses[:: 1 + len(poses) // SAMPLES]]
    kept = recall(
        "fitted", [rig.controls, chosen], [mesh.vertices, mesh.tets, np.array(given), np.array(poses), *seen], fit
    )
    fitted = fitting.taking(kept)
    count = len(kept["poses"])
    if count:
        lines.append(f"tetrahedra are fitted to the rig's surface in {plural(count, 'pose')}{kept.words}")
    return fitted, lines + kept["notes"].tolist()


def _hold_pieces(held: Held, mesh: TetMesh) -> tuple[Held, list[str]]:
    """The same with pieces of a character that no bone runs through, such as buttons, which would fall otherwise."""
    piece = mesh.components()
    loose = ~np.isin(piece, piece[held.pins.vertices])
    if not loose.any():
        return held, []
    count = len(np.unique(piece[loose]))
    note = f"{plural(count, 'piece')} of the body that no bone runs through: held by the skeleton altogether"
    return Held(held.rig, Pins.merge([held.pins, Pins.of(np.flatnonzero(loose))])), [note]


def _hold(table: RigTable, mesh: TetMesh, rig: Rig, skeleton: Skeleton | None, metres: float, marks: Marks) -> Held:
    """What follows the rig exactly."""
    if isinstance(table.hold, Select):
        return Held(rig, Pins.of(select_vertices(table.hold, mesh, "hold", metres, marks)))
    if table.hold == "none":
        return Held(rig, Pins.none())
    if skeleton is None:
        raise SceneError(
            'there are no bones to hold the body by: select what follows the rig exactly, as in hold = "min x 10%", or '
            'set hold = "none".'
        )
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, skeleton))
    if not len(held.pins.vertices):
        raise SceneError(
            'no bone runs through the body, so hold = "bones" holds nothing: bring skeleton and mesh to the same '
            "place and units, or select what to hold."
        )
    return held
