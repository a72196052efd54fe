"""What training leaves behind, for a body of any kind."""

from supple.method.articulated_model import ArticulatedModel
from supple.method.model import ReducedModel
from supple.method.skinned_model import SkinnedModel

__all__ = ["TrainedModel"]

TrainedModel = ReducedModel | SkinnedModel | ArticulatedModel
