"""Rigs: skeletons, skinning, weights, deformers, pose space, motions."""

from supple.rig.bend import Bend
from supple.rig.biharmonic_weights import biharmonic_weights
from supple.rig.black_box import BlackBox
from supple.rig.blend_shapes import BlendShapes
from supple.rig.bone_crossing import BoneCrossings, find_bone_crossings
from supple.rig.deformer import Deformer
from supple.rig.heat_weights import heat_weights
from supple.rig.held import Held, hold_bones
from supple.rig.influences import Influences
from supple.rig.inverse_kinematics import Chain, Reach
from supple.rig.keyframes import keyframes, pose_from
from supple.rig.loop import looped
from supple.rig.motion import Motion
from supple.rig.moved import Moved
from supple.rig.pose_space import PoseSpace
from supple.rig.pose_stiffness import PoseStiffness
from supple.rig.pose_weights import PoseWeights
from supple.rig.preroll import preroll
from supple.rig.retarget import Retargeted, retarget
from supple.rig.rig import Rig
from supple.rig.rigid import check_rigid
from supple.rig.root import Root
from supple.rig.skeleton import Skeleton
from supple.rig.skinning import SkinnedRig
from supple.rig.stack import Stack
from supple.rig.tet_fit import TetFit, fit_tets
from supple.rig.transfer_weights import transfer_weights
from supple.rig.twist import Twist
from supple.rig.wire import Wire

__all__ = [
    "Bend",
    "BlackBox",
    "BlendShapes",
    "BoneCrossings",
    "Chain",
    "Deformer",
    "Held",
    "Influences",
    "Motion",
    "Moved",
    "PoseSpace",
    "PoseStiffness",
    "PoseWeights",
    "Reach",
    "Retargeted",
    "Rig",
    "Root",
    "Skeleton",
    "SkinnedRig",
    "Stack",
    "TetFit",
    "Twist",
    "Wire",
    "biharmonic_weights",
    "check_rigid",
    "find_bone_crossings",
    "fit_tets",
    "heat_weights",
    "hold_bones",
    "keyframes",
    "looped",
    "pose_from",
    "preroll",
    "retarget",
    "transfer_weights",
]
