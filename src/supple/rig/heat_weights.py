"""Skinning weights by heat that spreads from the bones through the volume.

Baran, Popović, "Automatic rigging and animation of 3D characters", 2007, in a volume as in [TMDK15]: every vertex is
heated by its nearest bone, the more the nearer it is, and the temperature that bone b keeps at 1 and all others at 0 is
the weight of b.
"""

import numpy as np
from scipy.sparse import diags_array

from supple.errors import SceneError
from supple.mesh import TetMesh
from supple.rig.bones import warn_outside
from supple.rig.diffusion import laplacian, solve_columns, vertex_volumes
from supple.rig.influences import MOST, Influences
from supple.rig.nearest_bone import nearest_bones
from supple.rig.skeleton import Skeleton

__all__ = ["heat_weights"]

_NEAREST = 1e-4  # of the body's size: distances below it count as this


def heat_weights(mesh: TetMesh, skeleton: Skeleton, heat: float = 10.0, most: int | None = MOST) -> Influences:
    """Influences of the joints on the mesh's vertices, the `most` largest of each.

    Solves (-Δ + c/d²) w_b = c/d² p_b, with d the distance to the nearest bone and p_b the share of b among the nearest.
    c = `heat` has no unit: between bones the weights go over within about d / √c, whatever the size of the body. 10
    comes nearest to the weights the authors' hand was measured with; less inverts fewer tets in a sharp bend. A bone
    outside the body is named in a warning and moves the vertices nearest to it.
    """
    if not (np.isfinite(heat) and heat > 0.0):
        raise SceneError(f"heat = {heat} gives no weights: use a number above 0, such as 10.")
    warn_outside(mesh, skeleton)
    shares, distances = nearest_bones(mesh, skeleton)
    source = vertex_volumes(mesh) * heat / np.maximum(distances, _NEAREST * mesh.size()) ** 2
    temperatures = solve_columns(laplacian(mesh) + diags_array(source), source[:, None] * shares)
    # Obtuse tets let the temperature leave [0, 1] a little
    return Influences.from_dense(np.clip(temperatures, 0.0, 1.0), most)
