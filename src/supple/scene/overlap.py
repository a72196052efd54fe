"""What overlaps before the run: the body with colliders, and with itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.contact.between import BetweenBodies
from supple.contact.self_contact import SelfContact, Touching
from supple.contact.touch import overlaps
from supple.mesh import TetMesh
from supple.scene.contact import sinking_depth
from supple.scene.finding import Finding
from supple.scene.stage import Stage

__all__ = ["check_between", "check_overlap", "check_rest_overlap", "check_sinking", "point_text"]

FloatArray = NDArray[np.float64]
DEEP = 0.5  #: mean edges of the surface: what starts deeper is crushed or thrown out
SHALLOW = 0.02  #: mean edges below which nobody sees it
ON_FACE = 1e-9  #: how far outside a tetrahedron, as a share of it, a point still counts as in it
SUNK = 0.25  #: mean edges that a body may sink in under its own weight


def check_overlap(stage: Stage) -> Iterator[Finding]:
    """Colliders in which the body starts."""
    if stage.contact is None or not stage.drive.obstacles:
        return
    time, edge, thickness = stage.scene.time, stage.mesh.surface().mean_edge(), stage.contact.thickness
    start = stage.drive.moment(-time.preroll / time.fps)
    x, pins = stage.drive.place(start), stage.body.pins
    loose = np.setdiff1d(stage.mesh.surface_vertices(), pins.vertices[pins.held.all(axis=1)])
    for found in overlaps(stage.drive.colliders, start.colliders, x, loose, SHALLOW * edge - thickness):
        depth, unit = found.depth + thickness, stage.scene.metres
        inside, remedy = "inside", ""
        if thickness > 0.0:
            inside, remedy = "inside or within contact.thickness", ", or lower contact.thickness"
        yield Finding(
            "error" if depth > DEEP * edge else "warning",
            "overlap",
            f"{stage.drive.obstacles[found.collider].key} overlaps the body where it starts: {len(found.vertices)} "
            f"vertices are {inside}, the deepest {depth / unit:.4g} deep at {point_text(found.place / unit)} in scene "
            f"units; move the collider by {point_text(-depth / unit * found.normal)}, or the body the other "
            f"way{remedy}.",
        )


def check_between(stage: Stage) -> Iterator[Finding]:
    """Bodies that start in each other."""
    if stage.contact is None or not stage.contact.self_contact:
        return
    names, spans = list(stage.members), list(stage.spans().values())
    ends = [span.stop for span in spans]
    between = BetweenBodies(stage.mesh, spans)
    time, unit = stage.scene.time, stage.scene.metres
    x = stage.drive.place(stage.drive.moment(-time.preroll / time.fps))
    found = between.look(x)
    depth, owners = found.depth(x), np.searchsorted(ends, found.vertices[:, :2], side="right")
    for pair in np.unique(np.sort(owners, axis=1), axis=0):
        rows = np.flatnonzero((np.sort(owners, axis=1) == pair).all(axis=1) & (depth > SHALLOW * between.edge))
        if len(rows):
            worst = rows[depth[rows].argmax()]
            away = depth[worst] / unit * found.normal[worst]
            yield Finding(
                "error" if depth[worst] > DEEP * between.edge else "warning",
                "overlap",
                f'bodies "{names[pair[0]]}" and "{names[pair[1]]}" overlap where they start: {len(rows)} vertices are '
                f"inside the other, the deepest {depth[worst] / unit:.4g} deep at "
                f"{point_text(x[found.vertices[worst, 0]] / unit)} in scene units; move "
                f'"{names[owners[worst, 0]]}" by {point_text(away)}, or set contact.bodies = false.',
            )


def check_rest_overlap(stage: Stage) -> Iterator[Finding]:
    """A body that overlaps itself as it is: what contact pushes apart, elasticity pulls together."""
    if stage.contact is None or not stage.contact.self_contact:
        return
    surface, unit = stage.mesh.surface(), stage.scene.metres
    numbers = stage.mesh.surface_vertices()[surface.triangles]
    depth = SHALLOW * surface.mean_edge()
    points = surface.vertices[surface.triangles].mean(axis=1) - depth * surface.face_normals()
    inside = _find_covered(surface.vertices, surface.triangles, points)
    if stage.contact.ignored and inside.any():
        inside[inside] = ~_are_ignored(stage.mesh, stage.contact.ignored, numbers[inside], points[inside])
    if inside.any():
        covered = surface.vertices[surface.triangles[inside]].reshape(-1, 3) / unit
        found = _touch_at_rest(stage, thickness=0.0)
        deep = f", up to {found.depth.max() / unit:.4g} deep" if len(found) else ""
        yield Finding(
            "error",
            "overlap",
            f"the body overlaps itself at rest: {int(inside.sum())} triangles of its surface are inside it{deep}, "
            f"between {point_text(covered.min(axis=0))} and {point_text(covered.max(axis=0))} in scene units; part "
            "them in the mesh, name the parts in contact.ignore, or set contact.self = false.",
        )
    elif stage.contact.thickness > 0.0:
        yield from _check_thickness(stage, stage.contact.thickness, surface.mean_edge())


def _check_thickness(stage: Stage, thickness: float, edge: float) -> Iterator[Finding]:
    """A thickness that already touches at rest, or that reaches beyond what it should find."""
    found, unit = _touch_at_rest(stage, thickness), stage.scene.metres
    if len(found):
        worst = int(found.depth.argmax())
        yield Finding(
            "warning",
            "overlap",
            f"contact.thickness = {thickness / unit:.4g} pushes the body apart at rest: {len(found)} vertices are "
            f"nearer than that to other parts of it, by up to {found.depth[worst] / unit:.4g} at "
            f"{point_text(stage.mesh.vertices[found.vertex[worst]] / unit)} in scene units; lower it, or name the "
            "parts in contact.ignore.",
        )
    if thickness > edge:
        yield Finding(
            "warning",
            "contact",
            f"contact.thickness = {thickness / unit:.4g} is more than the surface's mean edge, {edge / unit:.4g}: "
            "folds that narrow push themselves open, and looking for contacts takes longer; lower it.",
        )


def _touch_at_rest(stage: Stage, thickness: float) -> Touching:
    ignored = () if stage.contact is None else stage.contact.ignored
    return SelfContact(stage.mesh, thickness=thickness, ignored=ignored).find(stage.mesh.vertices)


def _find_covered(vertices: FloatArray, triangles: NDArray[np.int32], points: FloatArray) -> NDArray[np.bool_]:
    """Which of the points just below triangles [m], (k, 3) each, are in the body more than once, (k,)."""
    import igl

    winding = igl.FastWindingNumberBVH()
    winding.init(np.ascontiguousarray(vertices), triangles.astype(np.int64))
    return np.asarray(winding.winding_number(np.ascontiguousarray(points)) > 1.5)


def _are_ignored(
    mesh: TetMesh,
    pairs: Sequence[tuple[NDArray[np.integer], NDArray[np.integer]]],
    triangles: NDArray[np.int32],
    points: FloatArray,
) -> NDArray[np.bool_]:
    """Which triangles, (k, 3), are in one part of a pair and all that covers the points below them in the other."""
    corners = mesh.vertices[mesh.tets]
    low, high = corners.min(axis=1), corners.max(axis=1)
    ignored = np.zeros(len(triangles), np.bool_)
    for k, (own, point) in enumerate(zip(triangles, points, strict=True)):
        boxed = mesh.tets[((low <= point) & (high >= point)).all(axis=1)]
        covers = _find_covers(mesh, boxed[~np.isin(boxed, own).any(axis=1)], point)
        ignored[k] = len(covers) and any(
            np.isin(own, one).all() and np.isin(covers, other).any(axis=1).all()
            for pair in pairs
            for one, other in (pair, pair[::-1])
        )
    return ignored


def _find_covers(mesh: TetMesh, tets: NDArray[np.int32], point: FloatArray) -> NDArray[np.int32]:
    """Those of the tetrahedra, (k, 4), that hold a point [m]."""
    origin, *ends = np.moveaxis(mesh.vertices[tets], 1, 0)
    edges = np.stack([end - origin for end in ends], axis=2)
    local = np.linalg.solve(edges, (point - origin)[:, :, None])[:, :, 0]
    return np.asarray(tets[(local.min(axis=1) >= -ON_FACE) & (local.sum(axis=1) <= 1.0 + ON_FACE)])


def check_sinking(stage: Stage) -> Iterator[Finding]:
    """A contact stiffness so low that the body sinks into what it lies on."""
    if stage.contact is None or stage.drive.gravity is None or not stage.drive.obstacles or stage.tied is not None:
        return
    depth, edge = sinking_depth(stage.contact, stage.body, stage.drive.gravity), stage.mesh.surface().mean_edge()
    if depth > SUNK * edge:
        yield Finding(
            "warning",
            "contact",
            f"under its own weight the body sinks {depth:.3g} m into a flat floor, where its edges are {edge:.3g} m "
            "long: raise contact.stiffness, or leave it out.",
        )


def point_text(values: FloatArray) -> str:
    """A point as messages write it."""
    return f"({', '.join(f'{value + 0.0:.4g}' for value in values)})"  # without a minus before zero
