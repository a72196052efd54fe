"""Bodies and plain reference steps that tests of projective dynamics share."""

import numpy as np

from supple.constraint import ProjectiveBody, Shell
from supple.elastic import Body, Damping, Pins
from supple.material import Corotational
from supple.mesh import TriMesh, fill_box
from supple.solve import Event, Force, Inputs, Moment
from supple.subspace.position_space import PositionSpace

SOFT = Corotational(young=2e4, poisson=0.3, density=1000.0)


def bar(resolution: int = 6, pins: Pins | None = None, damping: Damping | None = None, skin: Shell | None = None):
    """A bar of 1 m."""
    mesh = fill_box((0, 0, 0), (1, 0.25, 0.25), resolution=resolution)
    return ProjectiveBody.from_body(Body.build(mesh, SOFT, pins, damping), skin)


def sheet(count: int = 12, pins: Pins | None = None) -> ProjectiveBody:
    """A shell of 1 m x 1 m, slightly curved."""
    u, v = np.meshgrid(np.linspace(0, 1, count + 1), np.linspace(0, 1, count + 1), indexing="ij")
    points = np.stack([u, v, 0.2 * u * u], axis=-1).reshape(-1, 3)
    corner = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    low = np.stack([corner, corner + count + 1, corner + 1], 1)
    high = np.stack([corner + count + 1, corner + count + 2, corner + 1], 1)
    mesh = TriMesh(points, np.concatenate([low, high]).astype(np.int32))
    return ProjectiveBody.shell(mesh, Shell(young=1e5, thickness=5e-3), pins)


def span(k: int, h: float, forces: tuple[Force, ...] = (), targets=None, events: tuple[Event, ...] = ()) -> Inputs:
    """Step k of length h."""
    where = np.zeros((0, 3)) if targets is None else targets
    return Inputs(Moment(k * h, where, forces), Moment((k + 1) * h, where, forces), events)


def reference_step(body: ProjectiveBody, x, v, h: float, push, iterations: int, space: PositionSpace | None = None):
    """One step of Algorithm 1 of [BEH18] by dense matrices, in a subspace if one is given."""
    U = np.eye(len(x)) if space is None else space.matrix().toarray()
    inertia = np.diag((1.0 + body.damping.mass * h) * body.mass / h**2)
    K = body.stiffness().toarray()
    drag = body.damping.stiffness / h * K
    A = U.T @ (inertia + drag + K) @ U + (0.0 if space is None else np.diag(space.idle.astype(float)))
    known = body.mass[:, None] / h**2 * ((1.0 + body.damping.mass * h) * x + h * v) + drag @ x + push
    guess = x + h * v + h**2 * push / body.mass[:, None]
    for _ in range(iterations):
        pull = np.zeros_like(x)
        for constraint in body.constraints:
            pull += constraint.stencils.gather(constraint.weight, constraint.project_at(guess), len(x))
        guess = U @ np.linalg.solve(A, U.T @ (known + pull))
    return guess, (guess - x) / h
