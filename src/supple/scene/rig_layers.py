"""The layers of a scene's rig: blend shapes, bones, deformers, corrections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from supple.errors import SceneError
from supple.mesh.checks import plural
from supple.rig import Bend, BlendShapes, Deformer, PoseSpace, Rig, Skeleton, SkinnedRig, Stack, Twist, Wire
from supple.rig.scaled import Scaled
from supple.rig.scripted import Scripted
from supple.rig.slide import Slide
from supple.rig.stack import Layer
from supple.rig.wire_curve import WireCurve
from supple.scene.actor import Actor
from supple.scene.deformer_table import BlendShapeTable, CorrectionTable, DeformerTable
from supple.scene.posing import Channel, Posing
from supple.scene.rig_code import load_function
from supple.scene.rig_offsets import Canvas, read_offsets, read_positions
from supple.scene.rig_table import RigTable
from supple.shape.curve import Curve

__all__ = ["Layers", "correct", "stack_layers"]

FloatArray = NDArray[np.float64]

DEGREE = float(np.pi / 180.0)


@dataclass(eq=False)
class Layers:
    """What a rig is made of, from the bottom up."""

    rigs: list[Layer] = field(default_factory=list)
    channels: dict[str, Channel] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def add(self, rig: Layer, channels: Mapping[str, Channel], words: str) -> None:
        """One more layer on top."""
        self.rigs.append(rig)
        self.channels.update(channels)
        self.words.append(words)

    def join(self) -> Rig:
        """All of them as one rig."""
        if not self.rigs:
            raise SceneError("the rig has neither bones nor anything else that moves the body: add a deformer.")
        whole: Rig = self.rigs[0]
        for layer in self.rigs[1:]:
            whole = Stack(whole, layer)
        return whole


def stack_layers(
    table: RigTable,
    actor: Actor,
    skin: SkinnedRig | None,
    canvas: Canvas,
    metres: float,
    shapes: Mapping[str, FloatArray],
) -> Layers:
    """The layers over the canvas; `skin` is its skinning by bones, None without; `shapes` came with a character."""
    layers = Layers()
    if table.blend_shape or shapes:
        targets = {**shapes, **_read_targets(table.blend_shape, canvas, metres)}
        layers.add(
            BlendShapes(canvas.points, targets),
            {name: Channel((name,)) for name in targets},
            plural(len(targets), "blend shape"),
        )
    if skin is not None:
        words = f"{plural(len(skin.skeleton), 'bone')}, {skin.mode.replace('_', ' ')} skinning"
        layers.add(skin, {}, words)
        if actor.scales:
            joints = list(actor.scales)
            numbers, weights = _weigh(skin, joints)
            scaled = Scaled(canvas.points, joints, skin.skeleton.heads[numbers], weights)
            layers.add(scaled, {}, plural(len(joints), "scaled joint"))
        if actor.slides:
            joints = list(actor.slides)
            layers.add(Slide(canvas.points, joints, _weigh(skin, joints)[1]), {}, plural(len(joints), "sliding joint"))
    for deformer in table.deformer:
        rig, channels = _make_deformer(deformer, actor, canvas.points, metres)
        layers.add(rig, channels, f"a {deformer.kind}")
    clash = [name for name in layers.channels if skin is not None and name in skin.skeleton.names]
    if clash:
        raise SceneError(f"a joint and a channel are both named '{clash[0]}': give the channel another name.")
    return layers


def _weigh(skin: SkinnedRig, joints: list[str]) -> tuple[list[int], FloatArray]:
    """Numbers of joints, and their weights on all vertices, (n, j)."""
    numbers = [skin.skeleton.number(name) for name in joints]
    return numbers, skin.influences.dense(len(skin.skeleton))[:, numbers]


def correct(tables: list[CorrectionTable], rig: Rig, posing: Posing, canvas: Canvas, metres: float) -> PoseSpace:
    """The rig with the corrections of tables."""
    poses, corrections = [], []
    for table in tables:
        path, pose = Path(table.file), posing.pose(table.pose)
        moved, stored = rig.positions(pose), read_offsets(path, metres)
        if stored is not None and "offsets" not in stored:
            raise SceneError(f"{path} has no array 'offsets': store the correction under that name.")
        given = read_positions(path, metres) if stored is None else stored["offsets"]
        part = canvas.find(len(given), path)
        corrections.append(part.spread(given - part.at(moved) if stored is None else given))
        poses.append(pose)
    return PoseSpace(rig, poses, corrections)


def _read_targets(tables: list[BlendShapeTable], canvas: Canvas, metres: float) -> dict[str, FloatArray]:
    """Positions [m], (n, 3), of the rig's points in every target, by its channel."""
    targets: dict[str, FloatArray] = {}
    for table in tables:
        path = Path(table.file)
        found = read_offsets(path, metres)
        if found is None:
            given = read_positions(path, metres)
            found = {table.name or path.stem: given - canvas.find(len(given), path).at(canvas.points)}
        elif table.name is not None:
            if table.name not in found:
                raise SceneError(f"{path} has no array '{table.name}': it has {', '.join(found)}.")
            found = {table.name: found[table.name]}
        for name, offsets in found.items():
            if name in targets:
                raise SceneError(f"two blend shapes are named '{name}': give one of them another name.")
            targets[name] = canvas.points + canvas.find(len(offsets), path).spread(offsets)
    return targets


def _make_deformer(
    table: DeformerTable, actor: Actor, points: FloatArray, metres: float
) -> tuple[Deformer, dict[str, Channel]]:
    """A deformer of the points [m], (n, 3), and what keys call its controls."""
    if table.kind == "function":
        return _make_function(table, points, metres)
    if table.kind == "wire":
        return _make_wire(table, actor, points, metres)
    if table.kind == "twist":
        twist = Twist(points, table.start or (), table.end or (), table.channel)
        return twist, {table.channel: Channel(twist.controls, DEGREE)}
    if table.start is not None:
        bend = Bend(points, table.start, table.end or (), table.about or (), table.channel)
        return bend, {table.channel: Channel(bend.controls, DEGREE)}
    if not actor.arcs or actor.skeleton is None:
        raise SceneError("a bend needs to know what to bend: give start, end and about.")
    arc, skeleton = next(iter(actor.arcs.values())), actor.skeleton
    bend = Bend(points, arc.start, arc.end, arc.about, table.channel)
    return bend, {table.channel: Channel(bend.controls, DEGREE, lambda pose: np.array([arc.angle(skeleton, pose)]))}


def _make_wire(
    table: DeformerTable, actor: Actor, points: FloatArray, metres: float
) -> tuple[Wire, dict[str, Channel]]:
    if table.points is None and not actor.curves:
        raise SceneError("a wire needs to know where it runs: give its points.")
    own = table.points is not None
    curves = {table.channel: np.array(table.points)} if own else {n: c.points for n, c in actor.curves.items()}
    samples = np.concatenate([WireCurve(name, course).samples for name, course in curves.items()])
    inner = table.inner
    if inner is None:  # as much as outer allows, else all of the body
        inner = float(KDTree(samples).query(points)[0].max()) if table.outer is None else 0.0
    wire = Wire(points, curves, inner, 2.0 * inner if table.outer is None else table.outer)
    channels: dict[str, Channel] = {}
    for name, course in curves.items():
        controls = [tuple(f"{name}.{k}.t{axis}" for axis in "xyz") for k in range(len(course))]
        follow = None
        if not own and actor.skeleton is not None:
            follow = _Follower(actor.curves[name], actor.skeleton)
        channels[name] = Channel(tuple(control for three in controls for control in three), metres, follow)
        channels |= {f"{name}.{k}": Channel(three, metres) for k, three in enumerate(controls)}
    return wire, channels


@dataclass(frozen=True, eq=False)
class _Follower:
    """Displacements [m], (3 c,), of a curve's points that bones carry."""

    curve: Curve
    skeleton: Skeleton

    def __call__(self, pose: FloatArray) -> FloatArray:
        return (self.curve.posed(self.skeleton, pose) - self.curve.points).ravel()


def _make_function(table: DeformerTable, points: FloatArray, metres: float) -> tuple[Scripted, dict[str, Channel]]:
    function = load_function(Path(table.file or ""), table.function or "")

    def in_metres(given: FloatArray, values: FloatArray) -> FloatArray:
        return metres * np.asarray(function(given / metres, values), np.float64)

    in_metres.__name__ = table.function or ""
    controls = table.controls or []
    return Scripted(points, in_metres, controls), {control: Channel((control,)) for control in controls}
