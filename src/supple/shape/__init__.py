"""Built-in bodies, made of signed distances, with skeletons, poses and motions."""

from supple.shape.bone import Bone
from supple.shape.catalogue import SHAPES, Shape, make_character, make_shape
from supple.shape.character import Character
from supple.shape.cross import bend_cross
from supple.shape.curve import Curve
from supple.shape.distance import Field

__all__ = ["SHAPES", "Bone", "Character", "Curve", "Field", "Shape", "bend_cross", "make_character", "make_shape"]
