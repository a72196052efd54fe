"""What training leaves behind, for a body of any kind."""

from supple.method.articulated.model import ArticulatedModel
from supple.method.model import ReducedModel
from supple.method.posespace.model import PoseSpaceModel
from supple.method.skinned.model import SkinnedModel

__all__ = ["RuledModel", "TrainedModel", "count_elements", "count_rank"]

RuledModel = ReducedModel | SkinnedModel | ArticulatedModel
"""What is made from snapshots: one subspace, and one rule for its forces."""
TrainedModel = RuledModel | PoseSpaceModel


def count_rank(model: TrainedModel) -> int:
    """Coordinates of a model, those of all domains together."""
    return model.rank if isinstance(model, PoseSpaceModel) else model.basis.rank


def count_elements(model: TrainedModel) -> int:
    """Elements that its forces are taken from."""
    return len(model.elements) if isinstance(model, PoseSpaceModel) else model.rule.size
