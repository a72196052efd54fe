"""Bases: modes, derivatives, PCA, growth and shrinkage."""

from supple.linalg.rigid import fit_rigid
from supple.subspace.basis import Basis
from supple.subspace.body_frame import BodyFrame
from supple.subspace.bone_owners import bone_domains, bone_owners
from supple.subspace.carried import carried_fields
from supple.subspace.derivatives import force_curvature, modal_basis, modal_derivatives
from supple.subspace.domain_bases import DomainBases
from supple.subspace.domains import Domains
from supple.subspace.energy import diagonalise
from supple.subspace.growth import empty_basis, grow, shrink
from supple.subspace.interface import Interface
from supple.subspace.modes import linear_modes
from supple.subspace.pca import principal_basis
from supple.subspace.pose_bases import PoseBases
from supple.subspace.pose_choice import choose_poses
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.restriction import Restriction, region_weights
from supple.subspace.rigid_fit import pin_frame
from supple.subspace.rigid_motion import remove_rigid

__all__ = [
    "Basis",
    "BodyFrame",
    "DomainBases",
    "Domains",
    "Interface",
    "PoseBases",
    "RestStiffness",
    "Restriction",
    "bone_domains",
    "bone_owners",
    "build_pose_bases",
    "carried_fields",
    "choose_poses",
    "diagonalise",
    "empty_basis",
    "fit_rigid",
    "force_curvature",
    "grow",
    "linear_modes",
    "modal_basis",
    "modal_derivatives",
    "pin_frame",
    "principal_basis",
    "pull_back_all",
    "pulled_back_basis",
    "region_weights",
    "remove_rigid",
    "shrink",
]
