"""Whether a step says where all its colliders stand."""

from supple.errors import SceneError
from supple.solve.inputs import Inputs

__all__ = ["check_placed"]


def check_placed(inputs: Inputs, count: int) -> None:
    """Refuse a step of which a moment does not place `count` colliders."""
    for moment in (inputs.begin, inputs.end):
        if len(moment.colliders) != count:
            raise SceneError(
                f"the moment {moment.time:g} s places {len(moment.colliders)} colliders where there are {count}: give "
                "one placement for each."
            )
