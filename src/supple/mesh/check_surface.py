"""What is wrong with a surface, each kind counted, located and explained."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supple.mesh.adjacency import label_rows
from supple.mesh.checks import plural
from supple.mesh.flaw import Flaw, locate
from supple.mesh.orient import flips_to_agree
from supple.mesh.self_crossing import crossing_pairs
from supple.mesh.soup import PolygonSoup
from supple.mesh.trimesh import TriMesh
from supple.mesh.weld import weld_points

__all__ = ["border_loops", "check_surface", "repeated_polygons", "thin_polygons", "unusable_polygons"]

REFUSED = "the file is refused"
FLAT = 1e-12  # of the square of the longest side: a polygon with less area is a line
STUFFED = "filling it with tets does not mind"


def unusable_polygons(soup: PolygonSoup) -> NDArray[np.bool_]:
    """Polygons with a corner that is not there or not at a finite place, shape (p,)."""
    finite = np.isfinite(soup.vertices).all(axis=1)
    inside = (soup.indices >= 0) & (soup.indices < len(soup.vertices))
    return soup.any_corner(~(inside & np.append(finite, False)[np.where(inside, soup.indices, -1)]))


def thin_polygons(soup: PolygonSoup) -> NDArray[np.bool_]:
    """Polygons of fewer than three different corners or without area, shape (p,)."""
    triangles, owner = soup.triangles()
    corners = soup.vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    whole = np.stack([np.bincount(owner, weights=axis, minlength=len(soup.counts)) for axis in areas.T], axis=1)
    sides = np.square(corners - np.roll(corners, 1, axis=1)).sum(axis=2).max(axis=1, initial=0.0)
    longest = np.zeros(len(soup.counts))
    np.maximum.at(longest, owner, sides)
    thin: NDArray[np.bool_] = ~(np.linalg.norm(whole, axis=1) > FLAT * longest)
    return thin


def repeated_polygons(soup: PolygonSoup) -> NDArray[np.bool_]:
    """Polygons whose corners, in any order, are those of an earlier one, shape (p,)."""
    repeated = np.zeros(len(soup.counts), dtype=bool)
    starts = np.cumsum(soup.counts, dtype=np.int64) - soup.counts
    for size in np.unique(soup.counts).tolist():
        same = np.flatnonzero(soup.counts == size)
        rows = np.sort(soup.indices[starts[same][:, None] + np.arange(size)], axis=1)
        first = np.unique(rows, axis=0, return_index=True)[1]
        copies = np.ones(len(same), dtype=bool)
        copies[first] = False
        repeated[same[copies]] = True
    return repeated


def border_loops(triangles: NDArray[np.int32]) -> list[list[int]]:
    """Closed walks along the edges that one triangle alone has, each turned so that a lid over it faces outward."""
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    labels = label_rows(edges, int(triangles.max(initial=0)) + 1)
    _, group, uses = np.unique(labels, return_inverse=True, return_counts=True)
    following: dict[int, list[int]] = {}
    for a, b in edges[uses[group] == 1].tolist():
        following.setdefault(b, []).append(a)
    loops = []
    while following:
        start = min(following)
        loop, at = [start], following[start].pop()
        while at != start and following.get(at):
            loop.append(at)
            at = following[at].pop()
        following = {vertex: ways for vertex, ways in following.items() if ways}
        if at == start and len(loop) > 2:
            loops.append(loop)
    return loops


def check_surface(soup: PolygonSoup) -> list[Flaw]:
    """Everything that is wrong with the surface, in the order in which repairs go; what cannot be seen is left out."""
    found = [*_check_numbers(soup)]
    sound = soup.keep(~unusable_polygons(soup))
    if not len(sound.counts):
        return found
    found += [*_check_polygons(sound), *_check_vertices(soup, sound)]
    kept = sound.settled().keep(~thin_polygons(sound))
    kept = kept.keep(~repeated_polygons(kept))
    if len(kept.counts):
        points, place = weld_points(kept.vertices)
        triangles, owner = kept.triangles()
        found += [*_check_joints(TriMesh.clean(points, place[triangles]), owner)]
    return found


def _check_numbers(soup: PolygonSoup) -> Iterator[Flaw]:
    lost = np.flatnonzero(~np.isfinite(soup.vertices).all(axis=1))
    if lost.size:
        what = f"{plural(len(lost), 'vertex is', 'vertices are')} not at a finite place"
        fix = "--fix drops the faces that use them"
        yield Flaw("non-finite vertices", "error", len(lost), tuple(lost[:5].tolist()), (), what, REFUSED, fix)
    outside = soup.any_corner((soup.indices < 0) | (soup.indices >= len(soup.vertices)))
    if outside.any():
        count = int(outside.sum())
        what = f"{plural(count, 'face uses', 'faces use')} vertices beyond the {len(soup.vertices):,} there are"
        place = _place(soup, np.flatnonzero(outside))
        yield Flaw("indices out of range", "error", count, *place, what, REFUSED, "--fix drops these faces")


def _place(
    soup: PolygonSoup, numbers: NDArray[np.integer]
) -> tuple[tuple[int, ...], tuple[tuple[float, float, float], ...]]:
    starts = np.cumsum(soup.counts, dtype=np.int64) - soup.counts
    first = numbers[:5]
    cells = [soup.indices[starts[number] : starts[number] + soup.counts[number]] for number in first]
    near = locate(soup.vertices, cells, np.arange(len(cells)))[1]
    return tuple(int(number) for number in first), near


def _check_polygons(soup: PolygonSoup) -> Iterator[Flaw]:
    thin, twice = thin_polygons(soup), repeated_polygons(soup)
    if thin.any():
        what = f"{plural(int(thin.sum()), 'face has', 'faces have')} no area"
        then = f"they are drawn as lines and a [shell] is refused; {STUFFED}"
        place = _place(soup, np.flatnonzero(thin))
        yield Flaw("degenerate faces", "warning", int(thin.sum()), *place, what, then, "--fix drops them")
    twice &= ~thin
    if twice.any():
        what = f"{plural(int(twice.sum()), 'face is', 'faces are')} there twice"
        then = "edges there have more than two faces, so that inside and outside are not clear"
        place = _place(soup, np.flatnonzero(twice))
        yield Flaw("duplicate faces", "warning", int(twice.sum()), *place, what, then, "--fix drops the copies")


def _check_vertices(whole: PolygonSoup, soup: PolygonSoup) -> Iterator[Flaw]:
    used = np.zeros(len(soup.vertices), dtype=bool)
    used[soup.indices] = True
    idle = np.flatnonzero(~used & np.isfinite(soup.vertices).all(axis=1))
    single = np.arange(len(soup.vertices))[:, None]
    if idle.size and not unusable_polygons(whole).any():
        hint = ", perhaps because the file counts from 1" if idle.tolist() == [0] else ""
        what = f"{plural(len(idle), 'vertex is', 'vertices are')} used by no face{hint}"
        then = "they are dropped when the file is read, so that numbers of later vertices change"
        place = locate(soup.vertices, single, idle)
        yield Flaw("unused vertices", "note", len(idle), *place, what, then, "--fix drops them in the file")
    numbers = np.flatnonzero(used)
    labels = weld_points(soup.vertices[used])[1]
    copies = np.ones(len(numbers), dtype=bool)
    copies[np.unique(labels, return_index=True)[1]] = False
    if copies.any():
        count = int(copies.sum())
        what = f"{plural(count, 'vertex lies', 'vertices lie')} exactly where another does"
        then = f"the surface is open along that seam, as a [shell] and to a collider; {STUFFED}"
        place = locate(soup.vertices, single, numbers[copies])
        yield Flaw("duplicate vertices", "warning", count, *place, what, then, "--fix makes them one")


def _check_joints(surface: TriMesh, owner: NDArray[np.int64]) -> Iterator[Flaw]:
    parts = np.unique(surface.components())
    if len(parts) > 1:
        what = f"the surface falls into {len(parts)} parts"
        then = "filled with tets, parts that do not overlap stay apart, and small ones are dropped"
        yield Flaw("several components", "note", len(parts), (), (), what, then, "pick groups, or join them")
    flips = flips_to_agree(surface)
    # A face beside a hole that faces the wrong way must not hide it
    loops = border_loops(np.where(flips[:, None], surface.triangles[:, ::-1], surface.triangles))
    if loops:
        order = sorted(loops, key=len, reverse=True)
        near = locate(surface.vertices, [np.array(loop) for loop in order], np.arange(len(order)))[1]
        what = f"{plural(len(loops), 'hole')}, the largest of {len(order[0])} edges"
        then = "a collider is refused; filled with tets, each gets a smooth lid"
        where = tuple(loop[0] for loop in order[:5])
        yield Flaw("holes", "warning", len(loops), where, near, what, then, "--fix closes them with flat lids")
    edges = surface.crowded_edges()
    if len(edges):
        near = locate(surface.vertices, edges, np.arange(len(edges)))[1]
        what = f"{plural(len(edges), 'edge has', 'edges have')} more than two faces"
        then = f"inside and outside are not clear there; {STUFFED}, a collider may"
        where = tuple(int(edge[0]) for edge in edges[:5])
        yield Flaw("non-manifold edges", "warning", len(edges), where, near, what, then, "remesh the surface")
    yield from _check_sides(surface, flips)
    pairs = crossing_pairs(surface.vertices, surface.triangles)
    if len(pairs):
        place = locate(surface.vertices, surface.triangles, pairs[:, 0])
        what = f"{plural(len(pairs), 'pair')} of triangles run through each other"
        then = f"{STUFFED}; a conforming mesher and a [shell] with contact do"
        yield Flaw("self-intersections", "warning", len(pairs), *place, what, then, "fill it with  supple mesh")


def _check_sides(surface: TriMesh, flips: NDArray[np.bool_]) -> Iterator[Flaw]:
    turned = int(flips.sum())
    if 0 < turned < len(flips):
        place = locate(surface.vertices, surface.triangles, np.flatnonzero(flips))
        what = f"{plural(turned, 'triangle faces', 'triangles face')} another way than the rest"
        then = "filling turns them round; drawn, and as a [shell], they stay as they are"
        yield Flaw("mixed winding", "warning", turned, *place, what, then, "--fix turns them round")
    elif turned:
        what = "the whole surface faces inward"
        then = "filling turns it round; drawn, it is dark, and as a collider it is inside out"
        yield Flaw("inward orientation", "warning", turned, (), (), what, then, "--fix turns it round")
