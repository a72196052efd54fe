"""Repairs of tets, each a small step that tells what it changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError
from supple.mesh.check_tets import unusable_tets
from supple.mesh.checks import drop_unused, plural
from supple.mesh.manifold import cut_pinches
from supple.mesh.soup import TetSoup
from supple.mesh.tetmesh import flat_tets, tet_volumes
from supple.mesh.weld import weld_points

__all__ = ["repair_tets"]

Step = Callable[[TetSoup], tuple[TetSoup, str]]  # the repaired tets, and what changed ("" if nothing)


def repair_tets(soup: TetSoup) -> tuple[TetSoup, list[str]]:
    """The tets with all repairs made, and what each changed; MeshError when nothing is left."""
    changes = []
    for step in STEPS:
        soup, change = step(soup)
        if not len(soup.tets):
            raise MeshError(f"no tet is left after the repair that {change}; mesh the shape again.")
        changes += [change] if change else []
    return soup, changes


def drop_unusable(soup: TetSoup) -> tuple[TetSoup, str]:
    """Without tets whose corners are not there or not finite; such vertices are put at the origin, unused."""
    bad = unusable_tets(soup)
    return soup.keep(
        ~bad
    ).settled(), f"dropped {plural(int(bad.sum()), 'tet')} with corners that are not there" if bad.any() else ""


def weld_vertices(soup: TetSoup) -> tuple[TetSoup, str]:
    """With vertices at one place made one."""
    points, place = weld_points(soup.vertices)
    before = len(np.unique(soup.tets))
    welded = replace(soup, vertices=points, tets=place[soup.tets])
    gone = before - len(np.unique(welded.tets))
    return welded, f"made {plural(gone, 'vertex', 'vertices')} one with others at the same place" if gone else ""


def drop_flat(soup: TetSoup) -> tuple[TetSoup, str]:
    """Without tets of no volume."""
    flat = flat_tets(soup.vertices, soup.tets, tet_volumes(soup.vertices, soup.tets))
    return soup.keep(~flat), f"dropped {plural(int(flat.sum()), 'tet')} without volume" if flat.any() else ""


def turn_inverted(soup: TetSoup) -> tuple[TetSoup, str]:
    """With all tets wound the right way."""
    inverted = tet_volumes(soup.vertices, soup.tets) < 0
    tets = np.where(inverted[:, None], soup.tets[:, [0, 1, 3, 2]], soup.tets)
    change = f"turned round {plural(int(inverted.sum()), 'inverted tet')}" if inverted.any() else ""
    return replace(soup, tets=np.ascontiguousarray(tets)), change


def drop_copies(soup: TetSoup) -> tuple[TetSoup, str]:
    """Without tets that are there before."""
    first = np.unique(np.sort(soup.tets, axis=1), axis=0, return_index=True)[1]
    keep = np.zeros(len(soup.tets), dtype=bool)
    keep[first] = True
    return soup.keep(keep), f"dropped {plural(int((~keep).sum()), 'tet')} given twice" if not keep.all() else ""


def cut_hanging(soup: TetSoup) -> tuple[TetSoup, str]:
    """Without the smaller groups of tets that hang on the rest by an edge or a vertex."""
    try:
        left, removed = cut_pinches(soup.vertices, soup.tets)
    except MeshError:  # tets overlap, and what hangs on what cannot be told
        return soup, ""
    keep = np.isin(_as_items(soup.tets), _as_items(left))
    return soup.keep(keep), f"dropped {plural(removed, 'tet')} that hung on by an edge or a vertex" if removed else ""


def _as_items(tets: NDArray[np.int32]) -> NDArray[np.void]:
    """Every row as one item that can be compared."""
    rows = np.ascontiguousarray(tets, dtype=np.int32)
    return rows.view(np.dtype((np.void, 16))).reshape(-1)


def drop_idle(soup: TetSoup) -> tuple[TetSoup, str]:
    """Without vertices that no tet uses."""
    points, tets, dropped = drop_unused(soup.vertices, soup.tets)
    note = f"dropped {plural(dropped, 'vertex', 'vertices')} that no tet uses" if dropped else ""
    return replace(soup, vertices=points, tets=tets), note


STEPS: tuple[Step, ...] = (
    drop_unusable,
    weld_vertices,
    drop_flat,
    turn_inverted,
    drop_copies,
    cut_hanging,
    drop_idle,
)
