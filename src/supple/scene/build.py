"""A scene turned into what is simulated: mesh, body, and what acts on them in time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError, SuppleError
from supple.material import Material
from supple.mesh import Sheet, embed
from supple.method import TrainedModel
from supple.scene.attachment import make_anchors
from supple.scene.bodies import place_body, split_bodies
from supple.scene.company import join_stages, seat
from supple.scene.contact import contact_settings
from supple.scene.drive import Drive, HeldPart, Load
from supple.scene.force import Force
from supple.scene.marks import Marks
from supple.scene.material import Model, make_material
from supple.scene.obstacle import make_obstacle
from supple.scene.paint import grade_tets, make_marks
from supple.scene.pose_stiffness import make_stiffness
from supple.scene.projective import make_shell_body, refuse_unserved, tie_body
from supple.scene.riders import seat_riders
from supple.scene.rig_reduced import refuse_unbuilt
from supple.scene.rigging import Rigging, make_rigging
from supple.scene.schema import Scene
from supple.scene.select import Select, describe_place, select_tets, select_vertices
from supple.scene.solvers import add_solver
from supple.scene.source import make_source
from supple.scene.stage import Built, Stage
from supple.scene.units import to_metres

__all__ = ["build_scene", "place_load", "set_stage", "starting_velocity"]

FAR_OUTSIDE = 2.0  #: tetrahedra's heights by which a point force may miss the body


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


def _key(table: str, number: int, name: str | None) -> str:
    """How messages call one of several tables."""
    return f"{table}[{number}]" if name is None else f'{table}[{number}] "{name}"'


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
