"""What is wrong with tets, each kind counted, located and explained."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supple.mesh.adjacency import TET_FACES, label_rows, match_tet_faces
from supple.mesh.checks import plural
from supple.mesh.flaw import Flaw, locate
from supple.mesh.quality import SLIVER, mean_ratios
from supple.mesh.self_crossing import crossing_pairs
from supple.mesh.soup import TetSoup
from supple.mesh.tetmesh import TetMesh, flat_tets, tet_volumes
from supple.mesh.trimesh import TriMesh
from supple.mesh.weld import weld_points

__all__ = ["check_tets", "unusable_tets"]

REFUSED = "the file is refused"
MESH_AGAIN = "mesh the shape again"


def unusable_tets(soup: TetSoup) -> NDArray[np.bool_]:
    """Tets with a corner that is not there or not at a finite place, shape (m,)."""
    finite = np.isfinite(soup.vertices).all(axis=1)
    inside = (soup.tets >= 0) & (soup.tets < len(soup.vertices))
    usable = inside & np.append(finite, False)[np.where(inside, soup.tets, -1)]
    bad: NDArray[np.bool_] = ~usable.all(axis=1)
    return bad


def check_tets(soup: TetSoup) -> list[Flaw]:
    """Everything that is wrong with the tets, in the order in which repairs go; what cannot be seen is left out."""
    found = [*_check_numbers(soup)]
    sound = soup.keep(~unusable_tets(soup))
    if not len(sound.tets):
        return found
    found += [*_check_shapes(sound), *_check_twice(sound), *_check_vertices(soup, sound)]
    sound = sound.settled()
    volumes = tet_volumes(sound.vertices, sound.tets)
    solid = ~flat_tets(sound.vertices, sound.tets, volumes)
    if solid.any():
        mesh = TetMesh.clean(sound.vertices, sound.tets[solid])
        found += [*_check_joints(mesh), *_check_quality(sound.keep(solid))]
    return found


def _check_numbers(soup: TetSoup) -> Iterator[Flaw]:
    lost = np.flatnonzero(~np.isfinite(soup.vertices).all(axis=1))
    if lost.size:
        where = tuple(lost[:5].tolist())
        what = f"{plural(len(lost), 'vertex is', 'vertices are')} not at a finite place"
        yield Flaw(
            "non-finite vertices", "error", len(lost), where, (), what, REFUSED, "--fix drops the tets that use them"
        )
    outside = ((soup.tets < 0) | (soup.tets >= len(soup.vertices))).any(axis=1)
    if outside.any():
        count = int(outside.sum())
        what = f"{plural(count, 'tet uses', 'tets use')} vertices beyond the {len(soup.vertices):,} there are"
        place = locate(soup.vertices, soup.tets, np.flatnonzero(outside))
        yield Flaw("indices out of range", "error", count, *place, what, REFUSED, "--fix drops these tets")


def _check_shapes(soup: TetSoup) -> Iterator[Flaw]:
    volumes = tet_volumes(soup.vertices, soup.tets)
    flat = flat_tets(soup.vertices, soup.tets, volumes)
    if flat.any():
        place = locate(soup.vertices, soup.tets, np.flatnonzero(flat))
        what = f"{plural(int(flat.sum()), 'tet has', 'tets have')} no volume"
        yield Flaw("degenerate tets", "error", int(flat.sum()), *place, what, REFUSED, "--fix drops them")
    inverted = (volumes < 0) & ~flat
    if inverted.any():
        count, whole = int(inverted.sum()), bool(inverted.all())
        place = locate(soup.vertices, soup.tets, np.flatnonzero(inverted))
        kind = "winding of all tets" if whole else "mixed winding"
        what = f"{'all ' if whole else ''}{plural(count, 'tet is', 'tets are')} wound the other way round"
        then = "they are turned round when the file is read, and behave like the others"
        yield Flaw(kind, "note" if whole else "warning", count, *place, what, then, "--fix turns them in the file")


def _check_twice(soup: TetSoup) -> Iterator[Flaw]:
    _, first = np.unique(np.sort(soup.tets, axis=1), axis=0, return_index=True)
    twice = np.ones(len(soup.tets), dtype=bool)
    twice[first] = False
    if twice.any():
        place = locate(soup.vertices, soup.tets, np.flatnonzero(twice))
        what = f"{plural(int(twice.sum()), 'tet is', 'tets are')} there twice"
        then = "the copies are dropped when the file is read"
        yield Flaw("duplicate tets", "warning", int(twice.sum()), *place, what, then, "--fix drops them in the file")


def _check_vertices(whole: TetSoup, soup: TetSoup) -> Iterator[Flaw]:
    used = np.zeros(len(soup.vertices), dtype=bool)
    used[soup.tets] = True
    idle = np.flatnonzero(~used & np.isfinite(soup.vertices).all(axis=1))
    if idle.size and not unusable_tets(whole).any():
        hint = ", perhaps because the file counts from 1" if idle.tolist() == [0] else ""
        place = locate(soup.vertices, np.arange(len(soup.vertices))[:, None], idle)
        what = f"{plural(len(idle), 'vertex is', 'vertices are')} used by no tet{hint}"
        then = "they are dropped when the file is read, so that numbers of later vertices change"
        yield Flaw("unused vertices", "note", len(idle), *place, what, then, "--fix drops them in the file")
    points = soup.vertices[used]
    place_of = weld_points(points)[1]
    extra = len(points) - (int(place_of.max()) + 1)
    if extra:
        copies = np.flatnonzero(used)[~_firsts(place_of)]
        place = locate(soup.vertices, np.arange(len(soup.vertices))[:, None], copies)
        what = f"{plural(extra, 'vertex lies', 'vertices lie')} exactly where another does"
        then = "the body comes apart there, as nothing joins them"
        yield Flaw("duplicate vertices", "warning", extra, *place, what, then, "--fix makes them one")


def _firsts(labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    first = np.zeros(len(labels), dtype=bool)
    first[np.unique(labels, return_index=True)[1]] = True
    return first


def _check_joints(mesh: TetMesh) -> Iterator[Flaw]:
    labels = label_rows(mesh.tets[:, TET_FACES].reshape(-1, 3), len(mesh.vertices))
    _, group, uses = np.unique(labels, return_inverse=True, return_counts=True)
    crowded = (uses[group] > 2).reshape(-1, 4).any(axis=1)
    if crowded.any():
        place = locate(mesh.vertices, mesh.tets, np.flatnonzero(crowded))
        what = f"{plural(int(crowded.sum()), 'tet has', 'tets have')} a face that three or more share"
        yield Flaw("overlapping tets", "error", int(crowded.sum()), *place, what, "the run stops", MESH_AGAIN)
        return
    parts, counts = np.unique(mesh.components(), return_counts=True)
    if len(parts) > 1:
        sizes = ", ".join(f"{count:,}" for count in sorted(counts.tolist(), reverse=True)[:5])
        what = f"the tets fall into {len(parts)} parts of {sizes}{', ...' if len(parts) > 5 else ''} vertices"
        then = "each part moves by itself and falls if nothing holds it"
        yield Flaw("several components", "note", len(parts), (), (), what, then, "pin each part, or join the mesh")
    yield from _check_boundary(mesh)


def _check_boundary(mesh: TetMesh) -> Iterator[Flaw]:
    owner, face = np.nonzero(match_tet_faces(mesh.tets, len(mesh.vertices)) < 0)
    surface = TriMesh(mesh.vertices, mesh.tets[owner[:, None], TET_FACES[face]])
    edges = surface.crowded_edges()
    pinched = np.setdiff1d(surface.pinched_vertices(), edges)
    for cells, noun, nouns in ((edges, "edge", "edges"), (pinched[:, None], "vertex", "vertices")):
        if count := len(cells):
            near = locate(mesh.vertices, cells, np.arange(count))[1]
            where = tuple(int(corners[0]) for corners in cells[:5])
            what = f"at {plural(count, noun, nouns)} parts of the body hang together by that alone"
            then = "contact and drawing go wrong there"
            kind = "non-manifold edges" if noun == "edge" else "pinched vertices"
            yield Flaw(kind, "warning", count, where, near, what, then, "--fix drops the smaller group of tets there")
    pairs = crossing_pairs(surface.vertices, surface.triangles)
    if len(pairs):
        place = locate(surface.vertices, surface.triangles, pairs[:, 0])
        what = f"{plural(len(pairs), 'pair')} of surface triangles run through each other"
        then = "self-contact pushes them apart with a jerk, or holds them together"
        yield Flaw("self-intersections", "warning", len(pairs), *place, what, then, MESH_AGAIN)


def _check_quality(soup: TetSoup) -> Iterator[Flaw]:
    ratios = mean_ratios(soup.vertices, soup.tets)
    order = np.argsort(ratios, kind="stable")
    slivers = int((ratios < SLIVER).sum())
    if slivers:
        place = locate(soup.vertices, soup.tets, order[:slivers])
        noun = plural(slivers, "tet is a sliver", "tets are slivers")
        what = f"{noun}, the worst with a mean ratio of {ratios[order[0]]:.2g}"
        then = "they bend too stiffly and make steps harder to solve"
        yield Flaw(
            "slivers", "warning" if slivers > 0.01 * len(ratios) else "note", slivers, *place, what, then, MESH_AGAIN
        )
