"""The bodies of a scene brought together: one mesh to record and draw, one solver that couples theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.contact.between import BetweenBodies
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness
from supple.elastic.joined import join_bodies
from supple.errors import SceneError
from supple.io import RenderMesh
from supple.mesh import Sheet, TetMesh
from supple.mesh.joined import join_embeddings, join_surfaces, join_tets
from supple.method import CoupledSolver, Coupling, Member, ProjectiveSolver
from supple.scene.contact import ContactTable
from supple.scene.joint_drive import JointDrive
from supple.scene.schema import Scene
from supple.scene.source import Source
from supple.scene.units import to_metres
from supple.solve import Placement

if TYPE_CHECKING:
    from supple.scene.stage import Built, Stage

__all__ = ["couple", "join_stages", "seat"]


def seat(stage: Stage, name: str, place: Placement) -> Stage:
    """The stage of a body with its frame put somewhere in the world, whose gravity and colliders it sees from there."""
    if isinstance(stage.mesh, Sheet):
        raise SceneError(f'body "{name}" is a [shell], which cannot stand beside other bodies: run it alone.')
    drive = stage.drive
    gravity = None if drive.gravity is None else np.asarray(drive.gravity) @ place.rotation
    return replace(
        stage, drive=replace(drive, frame=place, gravity=None if gravity is None else tuple(gravity.tolist()))
    )


def join_stages(scene: Scene, members: Mapping[str, Stage]) -> dict[str, Any]:
    """What a stage holds, of all bodies together."""
    si = to_metres(scene, scene.metres)
    meshes = {name: _place_mesh(one) for name, one in members.items()}
    mesh = join_tets(meshes)
    body = join_bodies([one.body for one in members.values()], mesh)
    stages = list(members.values())
    drives = tuple(one.drive for one in stages)
    obstacles = drives[0].obstacles
    touching = si.touching()
    contact = _settings(touching or ContactTable()) if touching or any(one.contact for one in stages) else None
    source = Source(mesh, _join_drawn(members, meshes), tuple(note for one in stages for note in one.source.notes))
    return {
        "scene": scene,
        "source": source,
        "materials": {f"{name} {key}": made for name, one in members.items() for key, made in one.materials.items()},
        "body": body,
        "drive": JointDrive(body, (), (), si.acceleration(), obstacles, drives=drives),
        "velocity": np.concatenate([_frame(one).turn(one.velocity) for one in stages]),
        "contact": contact,
        "tied": None,
        "marks": stages[0].marks,
        "members": dict(members),
    }


def couple(stage: Stage, members: Mapping[str, Built]) -> CoupledSolver:
    """One solver of bodies that have their own; they press on each other where the scene's [contact] lets them."""
    found, spans = [], stage.spans()
    for name, one in members.items():
        rigging = one.drive.rigging
        controls = 0 if rigging is None else len(rigging.rig.controls)
        found.append(Member(name, one.solver, one.body, _frame(one), spans[name], controls))
    table = to_metres(stage.scene, stage.scene.metres).touching()
    if table is None or not table.bodies:
        return CoupledSolver(found)
    for member in found:
        if isinstance(member.solver, ProjectiveSolver):  # with which forces do not settle
            raise SceneError(
                f'body "{member.name}" has the method projective, which cannot press on other bodies: use '
                "hyperreduced or full, or set contact.bodies = false."
            )
    between = BetweenBodies(stage.mesh, [one.vertices for one in found], table.thickness)
    stiffness = table.stiffness or max(default_stiffness(one.body) for one in found)
    return CoupledSolver(found, Coupling(found, between, stiffness, table.friction, stage.scene.time.integrator))


def _frame(stage: Stage) -> Placement:
    return stage.drive.frame or Placement.still()


def _place_mesh(stage: Stage) -> TetMesh:
    return replace(stage.mesh, vertices=_frame(stage).move(stage.mesh.vertices))


def _join_drawn(members: Mapping[str, Stage], meshes: Mapping[str, TetMesh]) -> RenderMesh | None:
    """The drawn surfaces of all bodies, where one has a surface that is not its tetrahedra's own."""
    if all(one.source.render is None for one in members.values()):
        return None
    drawn = {name: one.source.render or RenderMesh.build(one.mesh, one.mesh.surface()) for name, one in members.items()}
    surfaces = {
        name: replace(one.surface, vertices=_frame(members[name]).move(one.surface.vertices))
        for name, one in drawn.items()
    }
    return RenderMesh(join_surfaces(surfaces), join_embeddings({k: one.embedding for k, one in drawn.items()}, meshes))


def _settings(table: ContactTable) -> ContactSettings:
    """What is said of contact of the whole scene; of what bodies do with themselves, their own settings tell."""
    return ContactSettings(table.bodies, friction=table.friction, thickness=table.thickness, ccd=table.ccd)
