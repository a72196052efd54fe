"""A scene turned into what is simulated: mesh, body, solver, and what acts on them in time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError, SuppleError
from supple.material import Material
from supple.mesh import MeshQuality, Sheet, TetMesh, TriMesh, assess_quality, embed
from supple.method import (
    ArticulatedModel,
    ArticulatedSolver,
    CondensationSolver,
    FullSolver,
    PaperSkippingSolver,
    PoseSpaceModel,
    PoseSpaceSolver,
    ReducedModel,
    ReducedSolver,
    SkinnedSolver,
    SkippingSolver,
    Solver,
    TrainedModel,
)
from supple.scene.attachment import make_anchors
from supple.scene.bodies import place_body, split_bodies
from supple.scene.company import couple, join_stages, seat
from supple.scene.contact import contact_settings, describe_contact, describe_holding
from supple.scene.drive import Drive, HeldPart, Load
from supple.scene.force import Force
from supple.scene.marks import Marks
from supple.scene.material import Model, describe_material, make_material
from supple.scene.obstacle import make_obstacle
from supple.scene.paint import describe_grading, grade_tets, make_marks
from supple.scene.pose_stiffness import describe_stiffness, make_stiffness
from supple.scene.projective import make_shell_body, projective_solver, refuse_unserved, tie_body
from supple.scene.riders import seat_riders
from supple.scene.rig_reduced import refuse_unbuilt
from supple.scene.rigging import Rigging, make_rigging
from supple.scene.schema import Scene
from supple.scene.select import Select, describe_place, select_tets, select_vertices
from supple.scene.source import Source, make_source
from supple.scene.units import UNITS_RULE, to_metres

__all__ = [
    "Built",
    "Stage",
    "add_solver",
    "build_scene",
    "full_solver",
    "join_solvers",
    "place_load",
    "reduced_solver",
    "set_stage",
    "starting_velocity",
]

PLANE_EXTENT = 4.0  #: body sizes to which an endless collider is drawn
FAR_OUTSIDE = 2.0  #: tetrahedra's heights by which a point force may miss the body


@dataclass(frozen=True)
class Stage:
    """A scene and everything made from it but its solver; all in SI units."""

    scene: Scene
    source: Source
    materials: Mapping[str, Material]
    body: Body
    drive: Drive
    velocity: NDArray[np.float64]
    """Velocity [m/s] of every vertex at the start, shape (n, 3)."""
    contact: ContactSettings | None
    """How things touch; None where nothing does."""
    tied: ProjectiveBody | None
    """The body as constraints, for methods that project them."""
    marks: Marks
    """What selections may name."""
    members: Mapping[str, Stage] = field(default_factory=dict, kw_only=True)
    """Of several bodies, each as it would be alone; empty where there is one."""

    @property
    def mesh(self) -> TetMesh:
        """The tetrahedra, or the sheet, that are simulated."""
        return self.body.mesh

    def spans(self) -> dict[str, slice]:
        """Of several bodies the vertices of each, among those of all."""
        ends = np.cumsum([0, *(len(one.mesh.vertices) for one in self.members.values())]).tolist()
        return {name: slice(*pair) for name, pair in zip(self.members, pairwise(ends), strict=True)}

    def collider_surfaces(self) -> dict[str, TriMesh]:
        """Surfaces [m] of the colliders by name, before they are placed; a plane is cut to a few body sizes."""
        extent = PLANE_EXTENT * self.mesh.size()
        return {
            _plain_name(number, obstacle.table.name): obstacle.solid.surface(extent)
            for number, obstacle in enumerate(self.drive.obstacles)
        }

    def contact_key(self) -> str:
        """The settings of contact as text, for fingerprints; empty where nothing touches."""
        table = self.scene.touching()
        return "" if table is None else table.model_dump_json()

    @cached_property
    def quality(self) -> MeshQuality:
        """How well shaped the tetrahedra are."""
        return assess_quality(self.mesh)

    def describe(self) -> list[str]:
        """What will run, line by line: mesh, materials, contact, time, units."""
        scene, time = self.scene, self.scene.time
        bodies = [f"{name}: {line}" for name, one in self.members.items() for line in one._describe_body()]
        return [
            *(bodies or self._describe_body()),
            f"time: {time.frames} x {1e3 / time.fps:.4g} ms ({time.fps:g} frames per second), "
            f"steps of {1e3 * time.step:.4g} ms" + (f", {time.preroll} frames of pre-roll" if time.preroll else ""),
            f'units: "{scene.units}" ({scene.metres:g} m), {scene.up_axis} up. {UNITS_RULE}',
        ]

    def _describe_body(self) -> list[str]:
        """Mesh, materials and contact."""
        scene, mesh = self.scene, self.mesh
        extents = " x ".join(f"{extent:.3g}" for extent in np.subtract(*reversed(mesh.bounds())))
        held = len(self.body.pins.vertices)
        drive, contact = self.drive, self.contact
        return [
            *self.source.notes,
            f"body: {_count_cells(mesh)}, {len(mesh.vertices)} vertices ({held} pinned), "
            f"{extents} m, {self.body.mass.sum():.3g} kg",
            *(f"{name}: {describe_material(material)}" for name, material in self.materials.items()),
            *([describe_grading(*grade_tets(painted, self.marks))] if (painted := scene.material.painted) else []),
            *([] if drive.rigging is None else drive.rigging.describe()),
            *([] if self.body.stiffening is None else [describe_stiffness(self.body.stiffening)]),
            *([] if contact is None else [self._describe_contact(contact)]),
        ]

    def _describe_contact(self, contact: ContactSettings) -> str:
        drive = self.drive
        if self.tied is not None:
            return describe_holding(contact, len(drive.obstacles), "at sampled vertices")
        if self.scene.method.name == "posespace":
            return describe_holding(contact, len(drive.obstacles), "as far as the subspace can")
        return describe_contact(contact, self.body, drive.gravity, len(drive.obstacles))


@dataclass(frozen=True)
class Built(Stage):
    """A scene ready to run."""

    solver: Solver[Any]
    model: TrainedModel | None = None
    """What the solver was trained to be, for a method that is trained."""
    said: tuple[str, ...] = ()
    """What preparing the solver found out."""

    def describe(self) -> list[str]:
        """What will run, line by line: mesh, materials, time, units, solver."""
        return [*super().describe(), *self.said, *self.solver.describe()]


def build_scene(scene: Scene, model: TrainedModel | None = None) -> Built:
    """The objects a scene describes; a reduced method needs its model, which `prepare_scene` finds or trains."""
    return add_solver(set_stage(scene), model)


def set_stage(scene: Scene) -> Stage:
    """What a scene describes, but its solver; a selection without content or a missing file is refused."""
    if scene.body:
        return _set_bodies(scene)
    refuse_unbuilt(scene)
    refuse_unserved(scene)
    metres = scene.metres
    si = to_metres(scene, metres)
    source = make_source(si.mesh, metres, scene.up_axis, si.shell, si.rig_files())
    mesh = source.mesh
    mesh.tet_neighbours()  # refuses tets that overlap, now rather than when a surface is first drawn
    marks = make_marks(si, source, metres)
    rigging = make_rigging(si, source, metres, marks)
    if rigging is not None:
        source = seat_riders(source, rigging.bones)
        marks = replace(marks, skeleton=rigging.posing.actor.skeleton)
    parts = tuple(
        HeldPart(pin, select_vertices(pin.select, mesh, _key("pin", number, pin.name), metres, marks))
        for number, pin in enumerate(si.pin)
    )
    held = [Pins.of(part.vertices, part.pin.axes) for part in parts if part.pin.from_ is None]
    held += [] if rigging is None else [rigging.held.pins]
    body, materials = _make_body(si, marks, Pins.merge(held), metres)
    if si.material.painted:
        body = body.graded(*grade_tets(si.material.painted, marks))
    if rigging is not None:
        stiffness = make_stiffness(si.material.pose, source, rigging, marks, metres)
        body = body if stiffness is None else body.stiffened(stiffness)
    if rigging is not None and si.rig is not None and si.rig.attach is not None:
        rigging = replace(rigging, anchors=make_anchors(si.rig.attach, body, marks))
    tied = tie_body(si, body, next(iter(materials.values())), metres) if scene.method.is_projective else None
    body = body if tied is None else replace(body, mass=tied.mass)
    loads = tuple(
        place_load(force, _key("force", number, force.name), marks, body.mass, metres)
        for number, force in enumerate(si.force)
    )
    obstacles = tuple(
        make_obstacle(table, _key("collider", number, table.name), metres, scene.up_axis)
        for number, table in enumerate(si.collider)
    )
    drive = Drive(body, parts, loads, si.acceleration(), obstacles, rigging, si.volume)
    touching = si.touching()
    contact = None if touching is None else contact_settings(touching, si.collider, marks, metres)
    return Stage(scene, source, materials, body, drive, starting_velocity(body, si, rigging), contact, tied, marks)


def _set_bodies(scene: Scene) -> Stage:
    """The stage of a scene with several bodies."""
    members = {}
    for table, (name, own) in zip(scene.body, split_bodies(scene).items(), strict=True):
        try:
            members[name] = seat(set_stage(own), name, place_body(table, scene.metres))
        except SuppleError as error:
            raise type(error)(f'body "{name}": {error}') from None
    return Stage(**join_stages(scene, members))


def join_solvers(stage: Stage, members: Mapping[str, Built]) -> Built:
    """The stage of several bodies with their solvers, which press on each other."""
    parts = {field.name: getattr(stage, field.name) for field in fields(Stage)}
    said = tuple(f"{name}: {line}" for name, one in members.items() for line in one.said)
    return Built(**{**parts, "members": dict(members)}, solver=couple(stage, members), said=said)


def _count_cells(mesh: TetMesh) -> str:
    return f"a shell of {len(mesh.triangles)} triangles" if isinstance(mesh, Sheet) else f"{len(mesh.tets)} tetrahedra"


def _key(table: str, number: int, name: str | None) -> str:
    """How messages call one of several tables."""
    return f"{table}[{number}]" if name is None else f'{table}[{number}] "{name}"'


def _plain_name(number: int, name: str | None) -> str:
    """A name that every format takes, no other collider's."""
    plain = re.sub(r"\W", "_", name or "collider", flags=re.ASCII)
    return f"{plain}_{number}"


def _assign_materials(marks: Marks, scene: Scene, metres: float) -> tuple[dict[str, Material], NDArray[np.int32]]:
    """Materials by the name of their table, and the number of each tetrahedron's one, shape (m,)."""
    model: Model = "corotational" if scene.method.is_projective else "stable_neo_hookean"
    materials = {"material": make_material(scene.material, model=model)}
    mesh = marks.mesh
    numbers = np.zeros(len(mesh.tets), dtype=np.int32)
    for number, (name, table) in enumerate(scene.material.regions.items(), start=1):
        key = f"material.regions.{name}"
        select = table.select or Select.model_validate({"region": name})
        numbers[select_tets(select, mesh, key, metres, marks)] = number
        materials[key] = make_material(scene.material, table, model=model)
    return materials, numbers


def _make_body(scene: Scene, marks: Marks, pins: Pins, metres: float) -> tuple[Body, dict[str, Material]]:
    """The body and its materials by the name of their table."""
    mesh = marks.mesh
    materials, numbers = _assign_materials(marks, scene, metres)
    if isinstance(mesh, Sheet):
        return make_shell_body(scene, mesh, materials["material"], pins), materials
    damping = Damping(scene.material.damping_mass, scene.material.damping_stiffness)
    if len(materials) == 1:
        return Body.build(mesh, materials["material"], pins, damping), materials
    used = [int(number) for number in np.unique(numbers)]
    by_number = dict(enumerate(materials.values()))
    names = {name: number for number, name in enumerate(materials)}
    body = Body.build(
        replace(mesh, regions=numbers, region_names=names),
        {number: by_number[number] for number in used},
        pins,
        damping,
    )
    return body, {name: material for name, material in materials.items() if names[name] in used}


def place_load(force: Force, key: str, marks: Marks, mass: NDArray[np.float64], metres: float) -> Load:
    """A force with the vertices it acts on; a region's total is shared out by mass."""
    mesh = marks.mesh
    if force.kind == "gravity":
        return Load(force, np.empty(0, dtype=np.int32), np.empty(0))
    if force.kind == "point" and isinstance(mesh, Sheet):
        nearest = np.argmin(np.linalg.norm(mesh.vertices - np.asarray(force.at), axis=1))
        return Load(force, np.array([nearest], np.int32), np.ones(1))
    if force.kind == "point":
        place = embed(mesh, np.asarray([force.at]))
        if place.weights.min() < -FAR_OUTSIDE:
            at = ", ".join(f"{value / metres:.4g}" for value in force.at or ())
            raise SceneError(f"{key} pushes at ({at}), far outside: {describe_place(mesh, metres)}; move `at` onto it.")
        return Load(force, place.corners[0], place.weights[0])
    chosen = select_vertices(force.select or Select.model_validate("all"), mesh, key, metres, marks)
    share = mass[chosen] if force.kind == "body" else mass[chosen] / mass[chosen].sum()
    return Load(force, chosen, share)


def starting_velocity(body: Body, scene: Scene, rigging: Rigging | None) -> NDArray[np.float64]:
    """Velocity [m/s] of every vertex at the start of a scene in metres, shape (n, 3): its own and the rig's."""
    rest, start, time = body.mesh.vertices, scene.start, scene.time
    centre = body.mass @ rest / body.mass.sum()
    velocity: NDArray[np.float64] = np.cross(start.spin, rest - centre) + start.velocity
    velocity[body.pins.vertices] = np.where(body.pins.held, 0.0, velocity[body.pins.vertices])
    if rigging is not None and time.integrator != "static":
        velocity += rigging.velocities(-time.preroll / time.fps)
    return velocity


def add_solver(stage: Stage, model: TrainedModel | None = None) -> Built:
    """The stage with the solver that `[method]` and `[time]` name."""
    if stage.members:
        scenes = split_bodies(stage.scene)
        members = {name: add_solver(replace(one, scene=scenes[name])) for name, one in stage.members.items()}
        return join_solvers(stage, members)
    parts = {field.name: getattr(stage, field.name) for field in fields(Stage)}
    if stage.scene.method.name == "full":
        return Built(**parts, solver=full_solver(stage))
    if stage.tied is not None and stage.scene.method.is_projective:
        drive = stage.drive
        solver, said = projective_solver(stage.scene, stage.tied, drive.colliders, stage.contact, drive.forces(0.0))
        return Built(**parts, solver=solver, said=tuple(said))
    if stage.scene.method.name == "skipping":
        return Built(**parts, solver=skipping_solver(stage, model), model=model)
    if model is None:
        raise SceneError(
            f'method.name = "{stage.scene.method.name}" needs a trained model: give one, or use prepare_scene(), which '
            "finds or trains it."
        )
    return Built(**parts, solver=reduced_solver(stage, model), model=model)


def full_solver(stage: Stage) -> FullSolver:
    """The full-space solver of a scene, whatever method it names."""
    time, method, rigging = stage.scene.time, stage.scene.method, stage.drive.rigging
    return FullSolver(
        stage.body,
        integrator=time.integrator,
        tolerance=method.residual,
        linear_solver=method.linear_solver,
        max_iterations=method.max_iterations,
        time_step=time.step,
        colliders=stage.drive.colliders,
        contact=stage.contact,
        rig=None if rigging is None else rigging.rig,
        rest="neutral" if rigging is None else rigging.rest,
        anchors=None if rigging is None else rigging.anchors,
    )


def skipping_solver(stage: Stage, model: TrainedModel | None = None) -> SkippingSolver | PaperSkippingSolver:
    """The solver of a scene that takes full steps only where it must; a model is what it begins with."""
    time, method = stage.scene.time, stage.scene.method
    settings: dict[str, Any] = {
        "integrator": time.integrator,
        "throttle": method.throttle,
        "newton_tolerance": method.residual,
        "linear_solver": method.linear_solver,
        "max_iterations": method.max_iterations,
        "time_step": time.step,
        "colliders": stage.drive.colliders,
        "contact": stage.contact,
        "rig": None if stage.drive.rigging is None else stage.drive.rigging.skin,
    }
    if method.max_rank is not None:
        settings["max_rank"] = method.max_rank
    if method.estimator == "paper":
        if model is not None or method.save is not None:
            key = "save" if model is None else "model"
            raise SceneError(f'method.{key} is not for estimator = "paper", which learns every run anew: remove it.')
        return PaperSkippingSolver(stage.body, tolerance=method.tolerance, discard=method.discard, **settings)
    if (stage.drive.rigging is not None and method.save is not None) or not isinstance(model, ReducedModel | None):
        raise SceneError("what is learned of a body with a [rig] is not kept yet: remove method.save and method.model.")
    return SkippingSolver(stage.body, tolerance=method.accuracy, model=model, **settings)


def reduced_solver(stage: Stage, model: TrainedModel) -> Solver[Any]:
    """The solver of a scene in a trained subspace."""
    rigging, method = stage.drive.rigging, stage.scene.method
    common: dict[str, Any] = {"integrator": stage.scene.time.integrator, "tolerance": method.residual}
    touched: dict[str, Any] = {"colliders": stage.drive.colliders, "contact": stage.contact}
    if method.max_iterations is not None:
        common["max_iterations"] = method.max_iterations
    if method.name == "condensation":
        if isinstance(model, PoseSpaceModel):
            raise SceneError(
                "condensation needs a subspace of the neutral body, and the model is of posed ones: train again."
            )
        names = ("radius", "weights", "release", "oracle", "accuracy")
        own: dict[str, Any] = {name: getattr(method, name) for name in names}
        rig = None if rigging is None else rigging.skin
        return CondensationSolver(stage.body, model, rig=rig, **touched, **common, **own)
    if not isinstance(model, ReducedModel):
        if rigging is None:
            raise SceneError("the model is of a body with a rig and the scene has no [rig]: train again.")
        if isinstance(model, PoseSpaceModel):
            return PoseSpaceSolver(stage.body, rigging.rig, model, **touched, **common)
        if isinstance(model, ArticulatedModel):
            return ArticulatedSolver(stage.body, rigging.skin, model, **touched, **common)
        return SkinnedSolver(stage.body, rigging.skin, model, **touched, **common)
    if rigging is not None:
        raise SceneError("the scene has a [rig] and the model is of a body without one: train again.")
    return ReducedSolver(stage.body, model, **touched, **common)
