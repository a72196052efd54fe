"""Does a model fit a body?"""

import numpy as np

from supple.elastic import Body
from supple.errors import SceneError
from supple.linalg.rigid import rigid_modes
from supple.method.model import ReducedModel

__all__ = ["refuse_unfit"]


def refuse_unfit(body: Body, model: ReducedModel) -> None:
    """Refuse a model of another mesh, without elements, or pins that leave a body free that its basis does not."""
    rows, members = len(model.basis.columns), model.rule.members
    if rows != 3 * len(body.mass) or (len(members) and members.max() >= len(body.mesh.tets)):
        raise SceneError(
            f"the model is of a body with {rows // 3} vertices where this one has {len(body.mass)}: train again."
        )
    held = rigid_modes(body.mesh.vertices).reshape(-1, 3, 6)[body.pins.vertices][body.pins.held]
    if len(held) and np.linalg.matrix_rank(held) < 6:
        raise SceneError(
            "the pins leave the body free to move as a whole, which no subspace of displacements holds: pin three "
            "vertices that are not in a line, or none, or use the full solver."
        )
    if not len(members):
        raise SceneError("the model's rule has no elements, so nothing would resist: train again.")
