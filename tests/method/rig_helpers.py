"""Skinned bodies that several tests share."""

from functools import cache

import numpy as np

from supple.elastic import Body, Damping
from supple.material import StableNeoHookean
from supple.rig import Held, Rig, SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import Character, make_character, make_shape
from supple.solve import Force, Inputs, Moment


@cache
def skinned(shape: str, resolution: int, mode: str = "dual_quaternion") -> tuple[Character, SkinnedRig, Held, Body]:
    """A built-in character of soft flesh whose bones are held."""
    mesh, character = make_shape(shape, resolution=resolution), make_character(shape)
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices, mode)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, character.skeleton))
    damping = Damping(stiffness=0.02)
    return character, rig, held, Body.build(mesh, StableNeoHookean(young=3e4, poisson=0.4), held.pins, damping)


def moment(time: float, held: Held, pose: np.ndarray, *forces: Force) -> Moment:
    """The pins where the rig puts them."""
    return Moment(time, held.targets(pose), forces, pose=pose)


def pose_step(held: Held, begin: np.ndarray, end: np.ndarray, *forces: Force) -> Inputs:
    """A second from one pose to another."""
    return Inputs(moment(0.0, held, begin, *forces), moment(1.0, held, end, *forces))


def shifted(rig: Rig, shift: np.ndarray) -> np.ndarray:
    """The neutral pose of a skeleton, moved by `shift` [m]."""
    pose = rig.neutral.copy()
    pose[:3] = shift
    return pose
