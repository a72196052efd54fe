"""Whether a surface crossed anything on its way through a step.

Penalty contact pushes back only after something is inside: by itself it promises nothing. This check looks at a step
that is done, every vertex moving on a straight line, and finds what crossed what. It repairs nothing. Steps that
are found clear from a clear start are free of crossings, within round-off, for the straight motion and for colliders
as their surfaces are drawn (round ones as polyhedra, turning ones along chords).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.contacts import SELF
from supple.contact.swept import Pair, SweptSurfaces, may_meet, sweep
from supple.errors import MissingExtra
from supple.solve.placement import Placement

__all__ = ["Crossing", "check_step", "import_ipctk"]

FloatArray = NDArray[np.float64]
_STRIDE = 4.0  # mean edges that a surface moves at once: longer ways are cut, or all boxes would meet all others
_MOST_PARTS = 200
_ITERATIONS = 1_000  # of one root search: they hold memory; what is not told apart by then, to about 1e-4, meets


@dataclass(frozen=True)
class Crossing:
    """A vertex and a triangle, or two edges, that met during a step."""

    source: int
    """Number of the collider, or SELF."""
    vertices: tuple[int, ...]
    """Of the body: one for a vertex, two for an edge, three for a triangle."""
    others: tuple[int, ...]
    """What these met: three, two or one vertices of the body if the source is SELF, else of the collider's surface."""
    time: float
    """Share of the step, from 0 to 1."""
    place: tuple[float, float, float]
    """Where the body's vertices are then, on average [m]."""


def check_step(
    triangles: NDArray[np.int32],
    x_begin: FloatArray,
    x_end: FloatArray,
    colliders: Sequence[Collider] = (),
    begin: Sequence[Placement] = (),
    end: Sequence[Placement] = (),
    itself: bool = True,
) -> tuple[Crossing, ...]:
    """What the surface of a body met on its way from x_begin to x_end [m], (n, 3), in the order of times.

    It may meet colliders, moving from their placements at `begin` to those at `end`, and `itself`. With contact at no
    thickness every touch is a crossing; with some, only what presses deeper than it. What touched or crossed something
    as the step began is reported only where it leaves a collider by the far side. Needs the extra `contact`.
    """
    ipctk = import_ipctk("the check for crossings")
    swept = sweep(triangles, x_begin, x_end, colliders, begin, end)
    mesh = _collision_mesh(ipctk, swept, itself)
    tangled = _find_tangled(ipctk, mesh, swept)
    parts = swept.count_parts(_STRIDE, _MOST_PARTS)
    times: dict[Pair, float] = {}
    for part in range(parts):
        start, stop = swept.at(part / parts), swept.at((part + 1) / parts)
        for pair in _find_pairs(ipctk, mesh, swept, start, stop):
            if pair in times or swept.is_excused(pair, tangled):
                continue
            share = _find_impact(ipctk, pair, start, stop, swept.nothing)
            if share is not None:
                times[pair] = (part + share) / parts
    return tuple(_describe(swept, pair, time) for pair, time in sorted(times.items(), key=lambda item: item[::-1]))


def import_ipctk(purpose: str) -> Any:
    """The package ipctk, which comes with the extra `contact`."""
    try:
        import ipctk
    except ImportError:
        raise MissingExtra("ipctk", "contact", purpose) from None
    return ipctk


def _collision_mesh(ipctk: Any, swept: SweptSurfaces, itself: bool) -> Any:
    mesh = ipctk.CollisionMesh(swept.at(0.0), swept.edges, swept.faces)
    body = int((swept.owner == SELF).sum())
    mesh.can_collide = ipctk.make_static_obstacle_filter(body)
    if not itself:
        mesh.can_collide = mesh.can_collide & ipctk.make_vertex_patches_filter(swept.owner - SELF)
    return mesh


def _find_tangled(ipctk: Any, mesh: Any, swept: SweptSurfaces) -> NDArray[np.bool_]:
    """Vertices of edges and triangles that cross each other as the step begins, (v,)."""
    tangled = np.zeros(len(swept.owner), dtype=bool)
    start = swept.at(0.0)
    if not ipctk.has_intersections(mesh, start, broad_phase=ipctk.LBVH()):
        return tangled
    broad = ipctk.LBVH()
    broad.can_vertices_collide = mesh.can_collide
    broad.build(start, swept.edges, swept.faces)
    for pair in broad.detect_edge_face_candidates():
        edge, face = swept.edges[pair.edge_id], swept.faces[pair.face_id]
        if not set(edge) & set(face) and ipctk.is_edge_intersecting_triangle(*start[edge], *start[face]):
            tangled[edge] = tangled[face] = True
    return tangled


def _find_pairs(ipctk: Any, mesh: Any, swept: SweptSurfaces, start: FloatArray, stop: FloatArray) -> list[Pair]:
    """Features that may meet between two positions [m], (v, 3)."""
    candidates = ipctk.Candidates()
    candidates.build(mesh, start, stop, broad_phase=ipctk.LBVH())
    points = np.array([(c.vertex_id, c.face_id) for c in candidates.fv_candidates], dtype=np.int32).reshape(-1, 2)
    sides = np.array([(c.edge0_id, c.edge1_id) for c in candidates.ee_candidates], dtype=np.int32).reshape(-1, 2)
    pairs: list[Pair] = []
    for corners, split in (
        (np.column_stack([points[:, 0], swept.faces[points[:, 1]]]), 1),
        (swept.edges[sides].reshape(-1, 4), 2),
    ):
        close = corners[may_meet(start[corners], stop[corners], split)]
        pairs += [(tuple(row[:split]), tuple(row[split:])) for row in close.tolist()]
    return pairs


def _find_impact(ipctk: Any, pair: Pair, start: FloatArray, stop: FloatArray, nothing: float) -> float | None:
    """Share of the way at which two features meet, if they do; if they touch from the start they do not meet."""
    corners = list(pair[0] + pair[1])
    is_point = len(pair[0]) == 1
    distance = ipctk.point_triangle_distance if is_point else ipctk.edge_edge_distance
    if distance(*start[corners]) < nothing**2:  # the search for a root would not end
        return None
    narrow = ipctk.TightInclusionCCD(max_iterations=_ITERATIONS)
    search = narrow.point_triangle_ccd if is_point else narrow.edge_edge_ccd
    meets, share = search(*start[corners], *stop[corners])
    return float(share) if meets else None


def _describe(swept: SweptSurfaces, pair: Pair, time: float) -> Crossing:
    source, (vertices, others) = swept.name(pair)
    body = pair[0] if swept.owner[pair[0][0]] == SELF else pair[1]
    x, y, z = swept.at(time)[list(body)].mean(axis=0).tolist()
    return Crossing(source, vertices, others, time, (x, y, z))
