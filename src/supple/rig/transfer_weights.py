"""Skinning weights of a tet mesh from those of the surface that it fills."""

import numpy as np

from supple.errors import SceneError
from supple.mesh import TetMesh, TriMesh
from supple.rig.influences import MOST, Influences
from supple.rig.inside import extend_inside, sample_surface

__all__ = ["transfer_weights"]


def transfer_weights(
    surface: TriMesh, influences: Influences, mesh: TetMesh, joints: int, most: int | None = MOST
) -> Influences:
    """Influences of `joints` joints on the mesh's vertices from those on the vertices of a weighted surface.

    A vertex on the mesh's own surface takes the weights of the nearest point of the given one, interpolated in its
    triangle. Inside, weights are harmonic: of all that meet these they vary least, and they stay in their bounds and
    sum to 1 by themselves.
    """
    if len(influences) != len(surface.vertices):
        raise SceneError(
            f"weights of {len(influences):,} vertices do not fit a surface of {len(surface.vertices):,}: "
            "give the surface they were made for."
        )
    skin = mesh.vertices[mesh.surface_vertices()]
    weights = extend_inside(mesh, sample_surface(surface, influences.dense(joints), skin, mesh.size()))
    # Obtuse tets let harmonic weights leave their bounds a little
    return Influences.from_dense(np.clip(weights, 0.0, 1.0), most)
