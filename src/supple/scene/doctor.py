"""Checks made before long work starts; each finding is one sentence that ends with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.scene.body_checks import (
    check_elements,
    check_materials,
    check_poisson,
    check_scale,
    check_self_weight,
    check_time_step,
)
from supple.scene.build import set_stage
from supple.scene.defaults import open_scene
from supple.scene.finding import ORDER, Finding
from supple.scene.overlap import check_between, check_overlap, check_rest_overlap, check_sinking
from supple.scene.permission import make_permit
from supple.scene.prescribed_checks import check_prescribed
from supple.scene.projective_checks import check_contact_keys, check_spaces
from supple.scene.record import probe_outputs
from supple.scene.rig_checks import check_held, check_posed_rest, check_ranges, check_start, check_time
from supple.scene.rig_code import run_no_code
from supple.scene.stage import Stage

__all__ = ["Finding", "diagnose", "examine"]


def diagnose(stage: Stage) -> list[Finding]:
    """Everything the checks find in a scene, errors first."""
    if stage.members:
        found = [*_diagnose_bodies(stage), *check_between(stage)]
        return sorted(found, key=lambda finding: ORDER[finding.severity])
    checks = (
        check_scale,
        check_materials,
        check_poisson,
        check_self_weight,
        check_time_step,
        check_elements,
        check_supports,
        check_pins,
        check_motion,
        check_overlap,
        check_prescribed,
        check_rest_overlap,
        check_sinking,
        check_held,
        check_time,
        check_start,
        check_posed_rest,
        check_ranges,
        check_contact_keys,
        check_spaces,
    )
    found = [finding for check in checks for finding in check(stage)]
    return sorted(found, key=lambda finding: ORDER[finding.severity])


def _diagnose_bodies(stage: Stage) -> Iterator[Finding]:
    """What is found in each body; that nothing holds it is no matter where others may."""
    for name, one in stage.members.items():
        for finding in diagnose(one):
            if (finding.severity, finding.check) != ("note", "motion"):
                yield replace(finding, text=f'body "{name}": {finding.text}')


def examine(source: str | Path, changes: Mapping[str, Any] | None = None) -> list[Finding]:
    """Everything worth knowing about a scene file, or about a mesh run with defaults, before it runs.

    Nothing of a scene's Python files is run.
    """
    scene = open_scene(source, changes)
    found: list[Finding] = []
    permit = make_permit(scene, Path(source), False)
    try:
        probe_outputs([Path(name) for name in scene.output.files])
        for name in (*scene.output.files, scene.method.save, scene.training.cache):
            if name is not None:
                permit.keep_inside(Path(name))
    except OutputError as error:
        found.append(Finding("error", "output", str(error)))
    with run_no_code() as left_out:
        found += diagnose(set_stage(scene))
    for code in left_out:
        found.append(Finding("note", "code", f"{code} was not run, so what it does is not checked."))
    return sorted(found, key=lambda finding: ORDER[finding.severity])


def _who(loose: int, parts: int) -> str:
    return "it" if parts == 1 else f"{loose or 'one'} of its {parts} parts"


def check_supports(stage: Stage) -> Iterator[Finding]:
    """Parts that nothing holds."""
    labels = stage.mesh.components()
    parts = int(labels.max()) + 1
    loose = parts - len(np.unique(labels[stage.body.pins.vertices]))
    if stage.drive.obstacles:  # which may hold what no pin does
        return
    if stage.scene.time.integrator == "static":
        if loose or not _holds_rigid_motion(stage, labels):
            yield Finding(
                "error",
                "supports",
                f'integrator = "static" needs every part of the body held, but {_who(loose, parts)} can still '
                "move as a whole: pin at least three vertices of each part that are not in a line.",
            )
        return
    if loose and loose < parts and stage.contact is not None and stage.contact.self_contact:
        yield Finding(
            "note",
            "supports",
            f"the mesh has {parts} separate parts and {loose} of them are held by no pin, only by contact with the "
            "others: pin them, or join the mesh, if they are not meant to be loose.",
        )
    elif loose and loose < parts:
        yield Finding(
            "warning",
            "supports",
            f"the mesh has {parts} separate parts and {loose} of them are held by no pin, so they fly "
            "freely: pin them, or join the mesh.",
        )
    elif parts > 1 and loose:
        yield Finding(
            "note",
            "supports",
            f"the mesh falls into {parts} separate parts: join them if they belong together.",
        )


def check_pins(stage: Stage) -> Iterator[Finding]:
    """Pins that hold everything, or never."""
    end = stage.scene.time.frames / stage.scene.time.fps
    for number, part in enumerate(stage.drive.parts):
        key = f"pin[{number}]"
        if len(part.vertices) == len(stage.mesh.vertices) and part.pin.axes == "xyz":
            yield Finding("warning", "pins", f"{key} holds the whole body, so nothing deforms: select a part of it.")
        if part.pin.from_ is not None and part.pin.from_ >= end:
            yield Finding(
                "warning",
                "pins",
                f"{key} takes hold at {part.pin.from_:g} s but the run ends at {end:g} s: lower from.",
            )


def check_motion(stage: Stage) -> Iterator[Finding]:
    """A scene in which nothing happens, or in which the body falls out of sight."""
    scene = stage.scene
    started = any(scene.start.velocity) or any(scene.start.spin)
    pulled = stage.drive.gravity is not None and any(stage.drive.gravity)
    if not (stage.drive.moves or started or pulled or stage.drive.loads or scene.training.load):
        yield Finding(
            "warning",
            "motion",
            "no gravity, no force, no moving pin and no rig acts on the body, so it stands still: add one of them.",
        )
    held = stage.drive.parts or len(stage.body.pins.vertices)
    if pulled and not held and not stage.drive.obstacles and scene.time.integrator != "static":
        seconds = scene.time.frames / scene.time.fps
        drop = 0.5 * float(np.linalg.norm(stage.drive.gravity or 0.0)) * seconds**2
        yield Finding(
            "note",
            "motion",
            f"nothing holds the body: it falls {drop:.3g} m in {seconds:.3g} s; add a [[pin]], or set gravity = false.",
        )


def _holds_rigid_motion(stage: Stage, labels: NDArray[np.int32]) -> bool:
    """Whether the pins stop every part from moving as a rigid body."""
    pins = stage.body.pins
    for label in range(int(labels.max()) + 1):
        own = labels[pins.vertices] == label
        points = stage.mesh.vertices[pins.vertices[own]]
        points = (points - points.mean(axis=0)) / stage.mesh.size()
        rows = [
            np.concatenate([np.eye(3)[axis], np.cross(point, np.eye(3)[axis])])
            for point, held in zip(points, pins.held[own], strict=True)
            for axis in np.flatnonzero(held)
        ]
        if not rows or np.linalg.matrix_rank(np.asarray(rows), tol=1e-6) < 6:
            return False
    return True
