"""Whether colliders are colliders, and a step says where all of them stand."""

from collections.abc import Sequence

from supple.arguments import check_type
from supple.contact.collider import Collider
from supple.errors import SceneError
from supple.solve.inputs import Inputs

__all__ = ["check_placed", "list_colliders"]


def list_colliders(colliders: Sequence[Collider]) -> tuple[Collider, ...]:
    """The colliders, each of them checked."""
    check_type(colliders, "colliders", (list, tuple), "a list of colliders")
    for number, one in enumerate(colliders):
        check_type(one, f"colliders[{number}]", Collider, "one such as Plane() or MeshCollider(surface)")
    return tuple(colliders)


def check_placed(inputs: Inputs, count: int) -> None:
    """Refuse a step of which a moment does not place `count` colliders."""
    for moment in (inputs.begin, inputs.end):
        if len(moment.colliders) != count:
            raise SceneError(
                f"the moment {moment.time:g} s places {len(moment.colliders)} colliders where there are {count}: give "
                "one placement for each."
            )
