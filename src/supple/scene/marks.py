"""What a selection may name besides places: bones, groups of polygons, paints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.mesh import TetMesh, TriMesh
from supple.rig import Skeleton
from supple.rig.nearest_bone import nearest_bones

__all__ = ["Marks", "Paint"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Paint:
    """A painted number for every part of a mesh."""

    vertices: FloatArray  #: shape (n,)
    tets: FloatArray  #: shape (m,)


@dataclass(frozen=True, eq=False)
class Marks:
    """Names that a mesh has: those of its bones, of its surface's groups, of what is painted on it."""

    mesh: TetMesh
    skeleton: Skeleton | None = None
    surface: TriMesh | None = None
    """The drawn surface [m] at rest, where it is not the tetrahedra's own."""
    paints: Mapping[str, Paint] = field(default_factory=dict)

    @cached_property
    def _shares(self) -> FloatArray:
        """What every bone has of each vertex, (n, j)."""
        assert self.skeleton is not None
        return nearest_bones(self.mesh, self.skeleton)[0]

    def _bone(self, bone: str, key: str) -> int:
        names = () if self.skeleton is None else self.skeleton.names
        if not names:
            raise SceneError(f"{key} names the bone '{bone}', and the body has no bones: add a [rig] that has some.")
        return names.index(_known(bone, names, f"{key} names the bone", "the rig"))

    def bone_vertices(self, bone: str, key: str) -> NDArray[np.bool_]:
        """Which vertices are nearer to a bone than to any other, (n,)."""
        number = self._bone(bone, key)
        return np.asarray(self._shares.argmax(axis=1) == number)

    def bone_tets(self, bone: str, key: str) -> NDArray[np.bool_]:
        """Which tets are nearer to a bone than to any other, (m,)."""
        number = self._bone(bone, key)
        return np.asarray(self._shares[self.mesh.tets].mean(axis=1).argmax(axis=1) == number)

    def group_vertices(self, group: str, key: str) -> NDArray[np.bool_]:
        """Which vertices lie on the surface where the nearest polygon of the drawn one is in a group, (n,)."""
        skin = self.mesh.surface_vertices()
        chosen = np.zeros(len(self.mesh.vertices), np.bool_)
        chosen[skin] = self._in_group(group, key, self.mesh.vertices[skin])
        return chosen

    def group_tets(self, group: str, key: str) -> NDArray[np.bool_]:
        """Which tets have a polygon of a group as the nearest of the drawn surface, (m,)."""
        return self._in_group(group, key, self.mesh.vertices[self.mesh.tets].mean(axis=1))

    def _in_group(self, group: str, key: str, points: FloatArray) -> NDArray[np.bool_]:
        import igl

        surface = self.surface
        if surface is None or surface.groups is None:
            raise SceneError(
                f"{key} names the group '{group}', and the drawn surface has none: name groups in an OBJ, or meshes in "
                "a glTF or USD file."
            )
        _known(group, surface.group_names, f"{key} names the group", "the drawn surface")
        tree, triangles = igl.AABB(), surface.triangles.astype(np.int64)
        tree.init(surface.vertices, triangles)
        nearest = np.asarray(tree.squared_distance(surface.vertices, triangles, points)[1])
        return np.asarray(surface.groups[_polygons(surface)[nearest]] == surface.group_names.index(group))

    def paint(self, name: str, key: str) -> Paint:
        """A paint by its name."""
        if not self.paints:
            raise SceneError(f"{key} names the paint '{name}', and the scene has none: add a [[paint]] of that name.")
        return self.paints[_known(name, tuple(self.paints), f"{key} names the paint", "the scene")]


def _polygons(surface: TriMesh) -> NDArray[np.int64]:
    """The polygon that each triangle is cut from, (k,)."""
    if surface.face_counts is None:
        return np.arange(len(surface.triangles))
    return np.searchsorted(np.cumsum(surface.face_counts), surface.triangle_corners()[:, 0], side="right")


def _known(name: str, names: Iterable[str], who: str, where: str) -> str:
    """The name, if it is one of those there are."""
    have = list(names)
    if name in have:
        return name
    near = get_close_matches(name, have, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(have)}."
    raise SceneError(f"{who} '{name}', which {where} does not have: {hint}")
