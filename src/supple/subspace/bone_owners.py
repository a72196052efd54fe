"""Which bone a tet belongs to, the one with the most weight in it; and the domains that follow from that."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.elastic import Body
from supple.errors import MeshError, SuppleWarning
from supple.mesh import TetMesh
from supple.rig.influences import Influences
from supple.rig.skeleton import Skeleton
from supple.subspace.domains import Domains

__all__ = ["bone_domains", "bone_owners"]

_NAMED = 5  # most bones that a warning lists


def bone_domains(body: Body, skeleton: Skeleton, influences: Influences) -> Domains:
    """A body cut into one domain for each bone that has flesh; bones that have none are named in a warning.

    A single tet is no domain: it goes to a neighbour's.
    """
    owners = _give_away_single(bone_owners(influences, body.mesh.tets), body.mesh)
    used, numbers = np.unique(owners, return_inverse=True)
    bare = [name for joint, name in enumerate(skeleton.names) if joint not in used]
    if bare:
        named = ", ".join(f"'{name}'" for name in bare[:_NAMED])
        more = f" and {len(bare) - _NAMED} more" if len(bare) > _NAMED else ""
        warnings.warn(
            f"no flesh belongs to {named}{more} of {len(skeleton)} bones, so they get no domain: mesh finer where they "
            "should have one.",
            SuppleWarning,
            stacklevel=2,
        )
    return Domains.of(body, numbers, [skeleton.names[joint] for joint in used])


def bone_owners(influences: Influences, tets: NDArray[np.integer]) -> NDArray[np.int64]:
    """Number of the joint with the largest mean weight over the corners of each tet, (m,); ties go to the lowest."""
    if len(influences) <= int(tets.max(initial=-1)):
        raise MeshError(
            f"the weights of {len(influences):,} vertices do not serve tets whose vertices go up to {tets.max()}: "
            "give weights of this mesh."
        )
    joints, weights = influences.joints, influences.weights
    width = joints.shape[1]
    table = csr_array(
        (weights.ravel(), joints.ravel().astype(np.int64), np.arange(0, joints.size + 1, width)),
        shape=(len(influences), int(joints.max()) + 1),
    )
    corners = csr_array((np.ones(tets.size), tets.ravel().astype(np.int64), np.arange(0, tets.size + 1, 4)))
    corners.resize(len(tets), len(influences))
    sums = csr_array(corners @ table)
    sums.sum_duplicates()  # joints in ascending order, so that ties have one answer
    return np.asarray(sums.argmax(axis=1), np.int64).ravel()


def _give_away_single(owners: NDArray[np.int64], mesh: TetMesh) -> NDArray[np.int64]:
    """Owners (m,) where the tet of a bone that has only one went to the bone of a tet it shares a face with."""
    owners, neighbours = owners.copy(), mesh.tet_neighbours()
    for joint in np.flatnonzero(np.bincount(owners) == 1):
        tet = int(np.argmax(owners == joint))
        beside = neighbours[tet][neighbours[tet] >= 0]
        if beside.size:
            owners[tet] = owners[beside[0]]
    return owners
