"""Rules that let a few candidates stand for all: the training problem, trainers, checks."""

from supple.cubature.check import check_rule, frequency_errors
from supple.cubature.dense_problem import DenseProblem
from supple.cubature.domain_rules import join_rules, train_domain_rules
from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import ElementProblem, Stresses
from supple.cubature.greedy import train_greedy
from supple.cubature.importance import train_importance
from supple.cubature.pool import train_pool
from supple.cubature.pose_rules import PoseRules, train_pose_rules
from supple.cubature.poses import Poses
from supple.cubature.problem import Problem, fit_error
from supple.cubature.pursuit import train_pursuit
from supple.cubature.rule import Rule
from supple.cubature.samples import draw_coordinates, mix_coordinates, sample_count
from supple.cubature.shared import SharedRule, train_shared
from supple.cubature.skinned_elements import SkinnedElements
from supple.cubature.snapshots import Snapshots
from supple.cubature.stacked_problem import StackedProblem
from supple.cubature.stiffness_problem import StiffnessProblem, rest_stiffness
from supple.cubature.support import Trainer
from supple.cubature.tied_elements import TiedElements
from supple.cubature.train import train_rule
from supple.cubature.train_skinned import train_particles, train_skinned_rule
from supple.cubature.vertex_problem import vertex_problem

__all__ = [
    "TRAINERS",
    "DenseProblem",
    "ElementMap",
    "ElementProblem",
    "PoseRules",
    "Poses",
    "Problem",
    "Rule",
    "SharedRule",
    "SkinnedElements",
    "Snapshots",
    "StackedProblem",
    "StiffnessProblem",
    "Stresses",
    "TiedElements",
    "Trainer",
    "check_rule",
    "draw_coordinates",
    "fit_error",
    "frequency_errors",
    "join_rules",
    "mix_coordinates",
    "rest_stiffness",
    "sample_count",
    "train_domain_rules",
    "train_greedy",
    "train_importance",
    "train_particles",
    "train_pool",
    "train_pose_rules",
    "train_pursuit",
    "train_rule",
    "train_shared",
    "train_skinned_rule",
    "vertex_problem",
]

#: Trainers by name; the first is the default, the others are the papers' ways.
TRAINERS: dict[str, Trainer] = {
    "pool": train_pool,
    "greedy": train_greedy,
    "pursuit": train_pursuit,
    "importance": train_importance,
}
