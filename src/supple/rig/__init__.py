"""Rigs: skeletons, skinning, weights, deformers, pose space, motions."""

from supple.rig.biharmonic_weights import biharmonic_weights
from supple.rig.heat_weights import heat_weights
from supple.rig.influences import Influences
from supple.rig.keyframes import keyframes, pose_from
from supple.rig.loop import looped
from supple.rig.motion import Motion
from supple.rig.moved import Moved
from supple.rig.preroll import preroll
from supple.rig.retarget import Retargeted, retarget
from supple.rig.rig import Rig
from supple.rig.rigid import check_rigid
from supple.rig.skeleton import Skeleton
from supple.rig.skinning import SkinnedRig
from supple.rig.transfer_weights import transfer_weights

__all__ = [
    "Influences",
    "Motion",
    "Moved",
    "Retargeted",
    "Rig",
    "Skeleton",
    "SkinnedRig",
    "biharmonic_weights",
    "check_rigid",
    "heat_weights",
    "keyframes",
    "looped",
    "pose_from",
    "preroll",
    "retarget",
    "transfer_weights",
]
