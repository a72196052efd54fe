"""What bases of poses are compared with: others of the same poses that are cheaper to have, and worse ([XB16] 9).

Each makes of the bases of poses other ones of the same poses, so that the same solver steps them.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.subspace.alignment import rotate_columns
from supple.subspace.pca import check_rank, principal_columns
from supple.subspace.pose_bases import PoseBases
from supple.subspace.vertex_turns import measure_turns

__all__ = ["fix_basis", "pool_bases", "warp_basis"]

FloatArray = NDArray[np.float64]


def warp_basis(body: Body, bases: PoseBases, pose: int) -> PoseBases:
    """The basis of one pose, carried to the others by the turns of the flesh (Fig. 4a)."""
    turns = np.array([measure_turns(body, shape) for shape in bases.rest])
    back = rotate_columns(bases.columns[pose], turns[pose].transpose(0, 2, 1))
    return _alter(bases, np.array([rotate_columns(back, turn) for turn in turns]))


def fix_basis(bases: PoseBases, pose: int) -> PoseBases:
    """The basis of one pose in all of them, as it stands in space (Fig. 4b)."""
    return _alter(bases, np.repeat(bases.columns[pose : pose + 1], len(bases.poses), axis=0))


def pool_bases(bases: PoseBases, rank: int) -> PoseBases:
    """One basis for all poses: the principal components of all their bases (Fig. 14)."""
    together = np.concatenate(list(bases.columns), axis=1)
    columns, _ = principal_columns(together, np.repeat(bases.mass, 3), rank)
    check_rank(rank, columns, f"the bases of {len(bases.poses)} poses")
    return _alter(bases, np.repeat(columns[None], len(bases.poses), axis=0))


def _alter(bases: PoseBases, columns: FloatArray) -> PoseBases:
    return replace(bases, columns=columns, alignment="world", turns=None, angles=None, between=None, owners=None)
