"""A skinned rod that several tests share."""

from functools import cache

import numpy as np

from supple.elastic import Body
from supple.material import Material, StableNeoHookean, StVK
from supple.mesh import TetMesh
from supple.rig import SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import make_character, make_shape

MODES = ["dual_quaternion", "linear"]


@cache
def skinned_rod(mode: str = "dual_quaternion", resolution: int = 8) -> tuple[SkinnedRig, Body]:
    """A capsule with two bones, of two kinds of material that take turns, held along its bones."""
    mesh, skeleton = make_shape("capsule", resolution=resolution), make_character("capsule").skeleton
    mesh = TetMesh.clean(mesh.vertices, mesh.tets, np.arange(len(mesh.tets)) % 2)
    rig = SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices, mode)
    pins = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, skeleton)).pins
    made_of: dict[int, Material] = {0: StableNeoHookean(young=3e4, poisson=0.4), 1: StVK(young=5e4, poisson=0.3)}
    return rig, Body.build(mesh, made_of, pins)


def random_pose(rig: SkinnedRig, rng: np.random.Generator, angle: float = 0.6) -> np.ndarray:
    """A pose of the rig with angles of about `angle` [rad]."""
    return rng.normal(0.0, angle, len(rig.neutral))


def pulled_back_force(rig: SkinnedRig, body: Body, columns: np.ndarray, pose: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(A U)ᵀ times the derivative of the elastic energy, over all elements of the mesh, (r,)."""
    x = rig.push_forward(pose, rig.rest + (columns @ q).reshape(-1, 3))
    A, _ = rig.frames(pose)
    return -np.einsum("vji,vj->vi", A, body.forces(x)).ravel() @ columns
