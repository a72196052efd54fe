"""Who plays a motion: a skeleton in the body, with the poses and the motion that came with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from supple.errors import ArgumentError, SceneError, SuppleWarning
from supple.io.bone_file import BONE_SUFFIXES
from supple.io.bvh import load_bvh
from supple.rig import Motion, Skeleton
from supple.rig.hinged import hinge_motion
from supple.scene.figure import Figure
from supple.scene.mesh_table import MeshTable
from supple.scene.rig_table import RigTable
from supple.scene.source import Y_UP_TO_Z_UP
from supple.shape import SHAPES, Character, make_character
from supple.shape.arc import Arc
from supple.shape.curve import Curve

__all__ = ["REST", "Actor", "make_actor", "naming"]

FloatArray = NDArray[np.float64]

REST = "rest"  #: the pose that every rig has
Y_UP = np.eye(3)
SLACK = 0.005  #: share of a body's size by which a bone may miss its place before it is worth a word
STILL = 1e-4  #: share by which a joint that slides less is taken to stay


@dataclass(frozen=True, eq=False)
class Actor:
    """A skeleton, and what is known about it."""

    skeleton: Skeleton | None = None
    is_boned: bool = False
    """Whether its bones move the body."""
    poses: Mapping[str, FloatArray] = field(default_factory=lambda: {REST: np.zeros(0)})
    """Poses of the skeleton by name, (p,) each; "rest" is always there."""
    motion: Motion | None = None
    """Its own motion."""
    axes: Mapping[str, FloatArray] = field(default_factory=dict)
    """By joint, in columns, the axes about which its angles turn it, (3, 3)."""
    ranges: Mapping[str, FloatArray] = field(default_factory=dict)
    """By joint, lowest and highest angle about each axis [degrees], (3, 2), where they are known."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """Wires that came with the shape."""
    arcs: Mapping[str, Arc] = field(default_factory=dict)
    """Bends that came with the shape."""
    shares: Mapping[str, FloatArray] = field(default_factory=dict)
    """Of blend shapes, at the keys of its motion, (k,), by their names."""
    slides: Mapping[str, FloatArray] = field(default_factory=dict)
    """How far joints slide at the keys of its motion [m], (k, 3), by their names."""
    scales: Mapping[str, FloatArray] = field(default_factory=dict)
    """What joints do there beside turning, (k, 9), by their names: the rows of A - R."""

    def pose(self, name: str) -> FloatArray:
        """A pose by its name, (p,)."""
        if name not in self.poses:
            near = get_close_matches(name, self.poses, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.poses)}."
            raise SceneError(f"there is no pose '{name}': {hint}")
        return self.poses[name]

    def turn(self, joint: str, degrees: tuple[float, float, float]) -> Rotation:
        """How angles about its axes, the first turning first, turn a joint."""
        return Rotation.from_rotvec(self.axes[joint] @ Rotation.from_euler("xyz", degrees, degrees=True).as_rotvec())


@contextmanager
def naming(table: str) -> Iterator[None]:
    """Errors of a scene that arise here begin with the name of the table they are about."""
    try:
        yield
    except (SceneError, ArgumentError) as error:
        raise SceneError(f"{table}: {error}") from None


def make_actor(
    table: RigTable,
    mesh: MeshTable,
    metres: float,
    up_axis: str,
    figure: Figure | None = None,
    clip: str | None = None,
) -> Actor:
    """The skeleton of a file, in units of `metres`, or that of the built-in shape whose size is in metres.

    A figure has its own, and moves by one of its clips.
    """
    if clip is not None and figure is None:
        raise SceneError("motion: clip is one of a rigged character's: name its meshes in mesh.parts, or remove it.")
    with naming("rig"):
        if figure is not None and (table.skeleton is None or Path(table.skeleton).suffix.lower() in BONE_SUFFIXES):
            return _cast(figure, clip, table)
        if mesh.shape is None:
            return _read_actor(table, mesh.file or "", metres)
        if table.skeleton is not None:
            raise SceneError(f"the shape '{mesh.shape}' has bones of its own: remove skeleton, or give a mesh file.")
        shape = SHAPES.get(mesh.shape)
        if shape is not None and shape.animate is None and not table.bones and _has_layers(table):
            return Actor()
        actor = _play(make_character(mesh.shape, **mesh.size), Y_UP if up_axis == "y" else np.array(Y_UP_TO_Z_UP))
        return replace(actor, is_boned=table.bones is not False)


def _has_layers(table: RigTable) -> bool:
    return bool(table.deformer or table.blend_shape)


def _read_actor(table: RigTable, file: str, metres: float) -> Actor:
    """The skeleton of a file, if the table names one."""
    if table.skeleton is None:
        if _has_layers(table) and not table.bones:
            return Actor()
        raise SceneError(f"{file} brings no bones: name a BVH file as skeleton, or use a built-in shape.")
    skeleton, motion = load_bvh(Path(table.skeleton), scale=metres)
    axes = dict.fromkeys(skeleton.names, np.eye(3))
    return Actor(skeleton, table.bones is not False, {REST: skeleton.neutral}, motion, axes)


def _cast(figure: Figure, name: str | None, table: RigTable) -> Actor:
    """The skeleton of a character's file, moving by a clip."""
    character, is_boned = figure.character, table.bones is not False
    skeleton = character.skeleton
    if skeleton is None:
        raise SceneError(f"{character.file} brings no bones: name a BVH file as skeleton, or remove [rig].")
    clip = character.clip(name)
    axes = dict.fromkeys(skeleton.names, np.eye(3))
    if clip is None:
        return Actor(skeleton, is_boned, {REST: skeleton.neutral}, None, axes)
    hinged = hinge_motion(skeleton, clip.times, clip.turns, clip.shifts)
    used = np.zeros(len(skeleton), np.bool_)
    used[slice(None) if figure.influences is None else figure.influences.joints] = True
    size = float(np.ptp(figure.body.vertices, axis=0).max())
    posed = table.rest == "posed"
    far = np.linalg.norm(hinged.slides, axis=2).max(axis=0) > STILL * size
    grown = np.abs(hinged.scales).max(axis=(0, 2, 3)) > STILL
    grown &= posed and table.skinning == "linear"
    slides = {skeleton.names[k]: hinged.slides[:, k] for k in np.flatnonzero(used & far) if posed}
    scales = {skeleton.names[k]: hinged.scales[:, k].reshape(-1, 9) for k in np.flatnonzero(used & grown)}
    misses = np.where(used & ~grown, hinged.stretch if posed else hinged.misses, 0.0)
    worst = int(np.argmax(misses))
    if misses[worst] > SLACK * size:
        remedy = (
            ' They are scaled with rig.skinning = "linear".'
            if posed
            else ' Joints slide and are scaled with rig.rest = "posed".'
        )
        warnings.warn(
            f"clip '{clip.name}' stretches bones or pulls them from their joints, which is left out: they keep their "
            f"length, and '{skeleton.names[worst]}' comes to lie {misses[worst]:.3g} m from where it was.{remedy}",
            SuppleWarning,
            stacklevel=4,
        )
    rest = {REST: skeleton.neutral}
    return Actor(
        skeleton, is_boned, rest, hinged.motion, axes, shares=figure.shares(clip), slides=slides, scales=scales
    )


def _play(character: Character, stand: FloatArray) -> Actor:
    """A built-in shape's character, stood up by a rotation (3, 3)."""

    def turned(vectors: ArrayLike) -> FloatArray:  # a pose is nothing but vectors
        given = np.asarray(vectors, np.float64)
        return np.asarray((given.reshape(-1, 3) @ stand.T).reshape(given.shape))

    def turned_arc(arc: Arc) -> Arc:
        start, end, about = ((float(x), float(y), float(z)) for x, y, z in turned([arc.start, arc.end, arc.about]))
        return Arc(start, end, about, arc.shares)

    bones, motion = character.skeleton, character.motion
    gain = None if motion.gain is None else turned(motion.gain)
    return Actor(
        Skeleton.of(bones.names, bones.parents, turned(bones.heads), turned(bones.tails)),
        True,
        {name: turned(pose) for name, pose in character.poses.items()},
        replace(motion, poses=turned(motion.poses), gain=gain),
        {bone.name: stand @ bone.axes for bone in character.bones},
        {bone.name: bone.ranges for bone in character.bones},
        {name: Curve(turned(curve.points), curve.bones) for name, curve in character.curves.items()},
        {name: turned_arc(arc) for name, arc in character.arcs.items()},
    )
