"""Built-in bodies, made of signed distances."""

from supple.shape.catalogue import SHAPES, Shape, make_shape
from supple.shape.distance import Field

__all__ = ["SHAPES", "Field", "Shape", "make_shape"]
