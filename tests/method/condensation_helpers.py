"""Bodies, regions and steps that several tests of condensation share."""

from dataclasses import replace

import numpy as np
from reduced_helpers import modal_model

from supple.cubature import Rule
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import Body
from supple.method.condensation.footing import Footing
from supple.method.condensation.potential import Condensed
from supple.method.condensation.region import Ground, Region
from supple.method.condensation.share import Share
from supple.method.condensation.terms import Weights
from supple.method.model import ReducedModel
from supple.solve.increment import Motion
from supple.solve.integrator import implicit_euler, static


def random_rule(body: Body, size: int, seed: int = 0) -> Rule:
    """A few elements with weights that add up to the number of all."""
    rng = np.random.default_rng(seed)
    members = np.sort(rng.choice(len(body.mesh.tets), size, replace=False))
    weights = rng.uniform(0.5, 1.5, size)
    return Rule(members, weights * len(body.mesh.tets) / weights.sum(), 0.0)


def sparse_model(body: Body, rank: int = 6, size: int = 12) -> ReducedModel:
    """Modes and a rule that is no more than a guess."""
    return replace(modal_model(body, rank), rule=random_rule(body, size))


def tip(ground: Ground, count: int) -> np.ndarray:
    """The movable vertices with the largest x, ascending."""
    movable = np.flatnonzero(ground.movable)
    return np.sort(movable[np.argsort(-ground.rest[movable, 0], kind="stable")[:count]])


def make_step(
    region: Region, model: ReducedModel, *, h: float | None = 0.01, weights: Weights = "subtract", damping: float = 0.0
) -> tuple[Condensed, np.ndarray]:
    """A step from a random state nearby, static without h, and z to look at."""
    ground, rng = region.ground, np.random.default_rng(3)
    footing = Footing(region, ground.subspace.stance(None))
    q = 0.02 * rng.standard_normal(ground.rank)
    x = footing.follow(q)[: len(region.full)] + 0.01 * rng.standard_normal((len(region.full), 3))
    z = np.concatenate([x.ravel(), q])
    v, a = rng.standard_normal((2, len(z)))
    size, force = region.size, rng.standard_normal(len(z))

    def move(part: slice) -> Motion:
        return static(z[part], v[part], a[part], 1.0) if h is None else implicit_euler(z[part], v[part], a[part], h)

    above, below = move(slice(size)), move(slice(size, None))
    left, slowed = np.eye(ground.rank) - footing.taken, below.cv * damping
    pull = left @ (below.ca * below.xa + slowed * below.xv)
    share = Share((below.ca + slowed) * left, pull, force[size:], q)
    elements = ReducedElements.build(ground.body, model.basis.columns, model.rule.members, model.rule.weights)
    step = Condensed(
        footing, elements, model.basis.importance, above, damping, force[:size], share, weights=weights
    )  # fmt: skip
    return step, z + 0.003 * rng.standard_normal(len(z))


def pushes(step: Condensed) -> np.ndarray:
    """Forces on z from outside."""
    return np.concatenate([step.force, step.share.force])


class Fixed:
    """An oracle that has made up its mind: the vertices of each step by its number, the last ones ever after."""

    def __init__(self, *regions) -> None:
        self._regions = [np.asarray(region, np.int32) for region in regions]

    def want(self, sight) -> np.ndarray:
        return self._regions[min(sight.state.steps, len(self._regions) - 1)]

    def hold(self, sight) -> np.ndarray:
        return np.isin(sight.state.full, self.want(sight))
