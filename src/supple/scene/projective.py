"""Scenes under projective dynamics: what they cannot have, how their body is tied, and their solvers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from supple.constraint import ProjectiveBody, TetVolume, tet_stencils
from supple.contact.collider import Collider
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError, SuppleWarning
from supple.material import Corotational, Material
from supple.mesh import Sheet, TriMesh
from supple.method import HyperReducedSolver, ProjectiveSolver, Solver, SpaceSizes, choose_spaces, prepare_spaces
from supple.scene.method_table import MethodTable
from supple.scene.schema import Scene
from supple.scene.tie_table import list_ties
from supple.solve import Force

__all__ = ["make_shell_body", "projective_solver", "refuse_unserved", "tie_body"]

STIFF_VOLUME = 10.0  #: bulk moduli of the material with which a volume is aimed at


def refuse_unserved(scene: Scene) -> None:
    """Refuse what the scene's method cannot serve, with the key at fault and what to do."""
    own = scene.method.is_projective
    for reason in _list_unserved(scene) if own else _list_projective(scene):
        other = "full" if own else "projective"
        raise SceneError(f'method.name = "{scene.method.name}" does not know {reason}, or use method.name = "{other}".')


def _list_unserved(scene: Scene) -> Iterator[str]:
    if scene.rig is not None:
        yield "a [rig], which carries the rest shape along: remove it"
    if scene.time.integrator != "implicit_euler":
        yield f'time.integrator = "{scene.time.integrator}": use "implicit_euler"'
    if scene.shell is None:
        return
    for table in ("skin", "volume", "strain", "examples"):
        if getattr(scene, table) is not None:
            raise SceneError(f"[{table}] needs tetrahedra and a [shell] has none: remove one of them.")
    if scene.material.regions or (scene.material.model or "corotational") != "corotational":
        key = "regions" if scene.material.regions else "model"
        raise SceneError(
            f"material.{key} has no meaning for a [shell], which is of one co-rotational layer: remove it."
        )
    if scene.contact is not None and "self_" in scene.contact.model_fields_set and scene.contact.self_:
        raise SceneError("contact.self = true needs a body with an inside and a [shell] has none: set it to false.")


def _list_projective(scene: Scene) -> Iterator[str]:
    for table in scene.own_ties():
        yield f"{table}: remove it"
    if scene.contact is not None and scene.contact.restitution > 0.0:
        yield "contact.restitution: remove it"


def make_shell_body(scene: Scene, sheet: Sheet, material: Material, pins: Pins) -> Body:
    """A body without tets whose vertices have the mass of a shell; the scene is in metres."""
    assert scene.shell is not None
    mass = scene.shell.make(material).mass(TriMesh(sheet.vertices, sheet.triangles))
    return Body(sheet, (), mass, pins, Damping(scene.material.damping_mass, scene.material.damping_stiffness))


def tie_body(scene: Scene, body: Body, material: Material, metres: float) -> ProjectiveBody:
    """A body as constraints, as the tables of a scene in metres say; files are in units of `metres`."""
    ties = list_ties(scene.spring, scene.strain, scene.examples, body, material, metres)
    return _tie_cells(scene, body, material).tied(*ties)


def _tie_cells(scene: Scene, body: Body, material: Material) -> ProjectiveBody:
    """Its tetrahedra or triangles alone."""
    if scene.shell is not None:
        surface = TriMesh(body.mesh.vertices, body.mesh.surface_triangles())
        return ProjectiveBody.shell(surface, scene.shell.make(material), body.pins, body.damping)
    skin = None if scene.skin is None else scene.skin.make(material)
    own = not all(isinstance(part.material, Corotational) for part in body.parts)
    tied = ProjectiveBody.from_body(body, skin, own_materials=own)
    if scene.volume is None:
        return tied
    bulk = scene.volume.bulk or STIFF_VOLUME * (material.lam + 2.0 / 3.0 * material.mu)
    return tied.tied(TetVolume.build(tet_stencils(body.mesh), bulk, scene.volume.limits))


def projective_solver(
    scene: Scene,
    body: ProjectiveBody,
    colliders: Sequence[Collider],
    contact: ContactSettings | None,
    forces: tuple[Force, ...],
) -> tuple[Solver[Any], list[str]]:
    """The solver that the scene names, and what was measured to choose its spaces."""
    method, said = scene.method, list[str]()
    common: dict[str, Any] = {"time_step": scene.time.step, "colliders": colliders, "contact": contact}
    keys = ("iterations", "max_iterations", "convergence")
    stopping = {key: getattr(method, key) for key in keys if getattr(method, key) is not None}
    common |= stopping if method.candidates is None else {**stopping, "candidates": method.candidates}
    if method.name == "projective":
        return ProjectiveSolver(body, tolerance=method.tolerance or 0.0, history=method.history, **common), said
    if body.damping.stiffness > 0.0:
        warnings.warn(
            f"material.damping_stiffness = {body.damping.stiffness:g} s resists the turning of elements in "
            "hyper-reduced steps, so bodies that bend move too slowly: use material.damping_mass, or method.name = "
            '"projective".',
            SuppleWarning,
            stacklevel=3,
        )
    sizes = _space_sizes(method)
    if method.tolerance is None:
        return HyperReducedSolver(body, prepare_spaces(body, sizes), **common), said
    choice = choose_spaces(
        body,
        method.tolerance,
        sizes=sizes,
        forces=forces,
        time_step=scene.time.step,
        **stopping,
    )
    said.append(choice.describe())
    if choice.error > method.tolerance:
        warnings.warn(
            f"{choice.describe()} where method.tolerance = {method.tolerance:g} was asked for: raise the tolerance, or "
            'use method.name = "projective".',
            SuppleWarning,
            stacklevel=3,
        )
    return HyperReducedSolver(body, choice.model, **common), said


def _space_sizes(method: MethodTable) -> SpaceSizes:
    """The sizes that the table gives, the usual ones else."""
    given = {field.name: getattr(method, field.name, None) for field in fields(SpaceSizes)}
    return SpaceSizes(**{name: value for name, value in given.items() if value is not None})
