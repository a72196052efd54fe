"""Repairs of a surface, each a small step that tells what it changed; polygons and texture coordinates are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError
from supple.mesh.check_surface import border_loops, repeated_polygons, thin_polygons, unusable_polygons
from supple.mesh.checks import drop_unused, plural
from supple.mesh.orient import flips_to_agree
from supple.mesh.soup import PolygonSoup
from supple.mesh.trimesh import TriMesh, proper_triangles
from supple.mesh.weld import weld_points

__all__ = ["repair_surface"]

Step = Callable[[PolygonSoup], tuple[PolygonSoup, str]]  # the repaired surface, and what changed ("" if nothing)
LIDS = "lids"  # the group of faces that close holes, where there are groups


def repair_surface(soup: PolygonSoup) -> tuple[PolygonSoup, list[str]]:
    """The surface with all repairs made, and what each changed; MeshError when nothing is left."""
    changes = []
    for step in STEPS:
        soup, change = step(soup)
        if not len(soup.counts):
            raise MeshError(f"no face is left after the repair that {change}; export the surface again.")
        changes += [change] if change else []
    return soup, changes


def drop_unusable(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """Without faces whose corners are not there or not finite; such vertices are put at the origin, unused."""
    bad = unusable_polygons(soup)
    return soup.keep(
        ~bad
    ).settled(), f"dropped {plural(int(bad.sum()), 'face')} with corners that are not there" if bad.any() else ""


def weld_vertices(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """With vertices at one place made one; texture coordinates belong to corners and stay."""
    points, place = weld_points(soup.vertices)
    welded = replace(soup, vertices=points, indices=place[soup.indices])
    gone = len(np.unique(soup.indices)) - len(np.unique(welded.indices))
    return welded, f"made {plural(gone, 'vertex', 'vertices')} one with others at the same place" if gone else ""


def drop_thin(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """Without faces of no area."""
    thin = thin_polygons(soup)
    return soup.keep(~thin), f"dropped {plural(int(thin.sum()), 'face')} without area" if thin.any() else ""


def drop_copies(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """Without faces that are there before."""
    twice = repeated_polygons(soup)
    return soup.keep(~twice), f"dropped {plural(int(twice.sum()), 'face')} given twice" if twice.any() else ""


def agree(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """With neighbouring faces facing the same way, and the whole facing outward."""
    triangles, owner = soup.triangles()
    proper = proper_triangles(triangles)
    flips = flips_to_agree(TriMesh(soup.vertices, triangles[proper]))
    votes = np.bincount(owner[proper], weights=np.where(flips, 1.0, -1.0), minlength=len(soup.counts))
    turned = votes > 0
    note = f"turned round {plural(int(turned.sum()), 'face')} that faced the wrong way" if turned.any() else ""
    return soup.turn(turned), note


def close_holes(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """With a triangle in every hole of three edges, and a fan about the middle in every larger one."""
    triangles, _ = soup.triangles()
    loops = border_loops(triangles[proper_triangles(triangles)])
    if not loops:
        return soup, ""
    middles: list[NDArray[np.float64]] = []
    lids: list[list[int]] = []
    for loop in loops:
        if len(loop) == 3:
            lids.append(loop)
            continue
        middle = len(soup.vertices) + len(middles)
        middles.append(soup.vertices[loop].mean(axis=0))
        lids += [[a, b, middle] for a, b in zip(loop, [*loop[1:], loop[0]], strict=True)]
    corners = np.array(lids, dtype=np.int32)
    vertices = np.concatenate([soup.vertices, np.reshape(middles, (-1, 3))])
    lidded = replace(
        soup,
        vertices=vertices,
        counts=np.append(soup.counts, np.full(len(lids), 3, np.int32)),
        indices=np.append(soup.indices, corners.reshape(-1)),
        uv=None if soup.uv is None else np.concatenate([soup.uv, np.zeros((corners.size, 2))]),
    )
    if soup.groups is not None:
        groups = np.append(soup.groups, np.full(len(lids), len(soup.group_names), np.int32))
        lidded = replace(lidded, groups=groups, group_names=(*soup.group_names, LIDS))
    return lidded, f"closed {plural(len(loops), 'hole')} with {plural(len(lids), 'triangle')}"


def drop_idle(soup: PolygonSoup) -> tuple[PolygonSoup, str]:
    """Without vertices that no face uses."""
    points, column, dropped = drop_unused(soup.vertices, soup.indices[:, None])
    note = f"dropped {plural(dropped, 'vertex', 'vertices')} that no face uses" if dropped else ""
    return replace(soup, vertices=points, indices=column[:, 0]), note


STEPS: tuple[Step, ...] = (
    drop_unusable,
    weld_vertices,
    drop_thin,
    drop_copies,
    agree,
    close_holes,
    agree,
    drop_idle,
)
