"""The methods: each a Solver, so that swapping one changes one word of a scene."""

from supple.method.articulated import ArticulatedSolver
from supple.method.articulated_model import ArticulatedModel
from supple.method.articulated_training import make_articulated, train_articulated
from supple.method.choose_spaces import Choice, choose_spaces
from supple.method.condensation import CondensationSolver
from supple.method.condensation_state import CondensedState
from supple.method.coupled import CoupledSolver
from supple.method.coupled_state import CoupledInputs, CoupledState, Member, OwnEvent
from supple.method.coupling import Coupling
from supple.method.follow import follow_poses
from supple.method.full import FullSolver
from supple.method.hyperreduced import HyperReducedSolver
from supple.method.hyperreduced_model import HyperReducedModel, SpaceSizes, prepare_spaces
from supple.method.model import ReducedModel
from supple.method.posespace import PoseSpaceSolver
from supple.method.posespace_model import PoseSpaceModel
from supple.method.posespace_model import assemble as assemble_posespace
from supple.method.projective import ProjectiveSolver, ProjectiveState
from supple.method.reduced import ReducedSolver
from supple.method.reduced_state import ReducedState
from supple.method.skinned import SkinnedSolver
from supple.method.skinned_model import SkinnedModel
from supple.method.skinned_training import train_skinned, train_skinned_rules
from supple.method.skipping import SkippingSolver
from supple.method.skipping_paper import PaperSkippingSolver
from supple.method.skipping_state import SkippingState
from supple.method.solver import Report, Skip, Solver
from supple.method.state import FullState
from supple.method.trained import RuledModel, TrainedModel, count_elements, count_rank

__all__ = [
    "ArticulatedModel",
    "ArticulatedSolver",
    "Choice",
    "CondensationSolver",
    "CondensedState",
    "CoupledInputs",
    "CoupledSolver",
    "CoupledState",
    "Coupling",
    "FullSolver",
    "FullState",
    "HyperReducedModel",
    "HyperReducedSolver",
    "Member",
    "OwnEvent",
    "PaperSkippingSolver",
    "PoseSpaceModel",
    "PoseSpaceSolver",
    "ProjectiveSolver",
    "ProjectiveState",
    "ReducedModel",
    "ReducedSolver",
    "ReducedState",
    "Report",
    "RuledModel",
    "SkinnedModel",
    "SkinnedSolver",
    "Skip",
    "SkippingSolver",
    "SkippingState",
    "Solver",
    "SpaceSizes",
    "TrainedModel",
    "assemble_posespace",
    "choose_spaces",
    "count_elements",
    "count_rank",
    "follow_poses",
    "make_articulated",
    "prepare_spaces",
    "train_articulated",
    "train_skinned",
    "train_skinned_rules",
]
