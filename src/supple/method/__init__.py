"""The methods: each a Solver, so that swapping one changes one word of a scene."""

from supple.method.articulated.model import ArticulatedModel
from supple.method.articulated.solver import ArticulatedSolver
from supple.method.articulated.training import make_articulated, train_articulated
from supple.method.choose_spaces import Choice, choose_spaces
from supple.method.condensation.solver import CondensationSolver
from supple.method.condensation.state import CondensedState
from supple.method.coupled.coupling import Coupling
from supple.method.coupled.solver import CoupledSolver
from supple.method.coupled.state import CoupledInputs, CoupledState, Member, OwnEvent
from supple.method.follow import follow_poses
from supple.method.full.solver import FullSolver
from supple.method.hyperreduced.model import HyperReducedModel, SpaceSizes, prepare_spaces
from supple.method.hyperreduced.solver import HyperReducedSolver
from supple.method.measured import Measured
from supple.method.model import ReducedModel
from supple.method.posespace.model import PoseSpaceModel
from supple.method.posespace.model import assemble as assemble_posespace
from supple.method.posespace.solver import PoseSpaceSolver
from supple.method.projective.solver import ProjectiveSolver, ProjectiveState
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.state import ReducedState
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.method.skinned.training import train_skinned, train_skinned_rules
from supple.method.skipping.paper import PaperSkippingSolver
from supple.method.skipping.solver import SkippingSolver
from supple.method.skipping.state import SkippingState
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
    "Measured",
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
