"""Spaces as large as a tolerance asks for, judged by steps of the unreduced solver."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.errors import SceneError
from supple.linalg.ties import first_smallest, is_within
from supple.method.hyperreduced.model import HyperReducedModel, SpaceSizes, prepare_spaces
from supple.method.hyperreduced.solver import HyperReducedSolver
from supple.method.projective.solver import ProjectiveSolver
from supple.method.projective.stopping import CONVERGENCE
from supple.method.solver import Solver
from supple.solve.forces import Force
from supple.solve.inputs import Inputs, Moment
from supple.subspace.rotation_clusters import RotationClusters

__all__ = ["Choice", "choose_spaces"]

FloatArray = NDArray[np.float64]
_LARGEST = 4  # sizes, each with twice the handles: beyond, the unreduced solver is the better choice
_BEND = 0.5  # radians over the length of the body, in which it is released


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen, and what it misses."""

    model: HyperReducedModel
    sizes: SpaceSizes
    error: float
    """Root mean square distance from unreduced steps, over that by which these deform the body."""
    tried: tuple[tuple[SpaceSizes, float], ...]
    """Every size and its error."""

    def describe(self) -> str:
        """One sentence for a user."""
        sizes = self.sizes
        others = f"{sizes.functions} weight functions and {sizes.samples} samples"
        if any(isinstance(fit, RotationClusters) for fit in self.model.fits):
            others = f"{sizes.clusters} clusters"
        return f"{sizes.handles} handles and {others} miss unreduced steps by {100 * self.error:.2g} %"


def choose_spaces(
    body: ProjectiveBody,
    tolerance: float,
    *,
    sizes: SpaceSizes | None = None,
    forces: tuple[Force, ...] = (),
    time_step: float = 0.01,
    steps: int = 20,
    iterations: int = 10,
    max_iterations: int | None = None,
    convergence: float = CONVERGENCE,
) -> Choice:
    """The smallest of ever larger sizes, from `sizes` on, whose error is within the tolerance; else the best of them.

    A body that is bent and twisted is let go, and pushed by `forces`: positions after every step are compared with
    those of the unreduced solver, whose steps end by the same test.
    """
    if not 0.0 < tolerance < 1.0:
        raise SceneError(f"tolerance = {tolerance:g} must lie between 0 and 1: 0.1 misses a tenth of the deformation.")
    sizes = sizes or SpaceSizes()
    common: dict[str, Any] = {
        "time_step": time_step, "iterations": iterations, "max_iterations": max_iterations, "convergence": convergence
    }  # fmt: skip
    full = ProjectiveSolver(body, **common)
    exact = _release(full, body, forces, time_step, steps)
    scale = float(np.sqrt(np.mean([_off_rigid(x, body) for x in exact])))
    tried: list[tuple[SpaceSizes, float]] = []
    models: list[HyperReducedModel] = []
    for _ in range(_LARGEST):
        model = prepare_spaces(body, sizes)
        solver = HyperReducedSolver(body, model, **common)
        found = _release(solver, body, forces, time_step, steps)
        gaps = [_mean_square(a - b, body) for a, b in zip(found, exact, strict=True)]
        tried.append((sizes, float(np.sqrt(np.mean(gaps))) / scale))
        models.append(model)
        if is_within(tried[-1][1], tolerance):
            break
        sizes = replace(
            sizes, handles=2 * sizes.handles, clusters=3 * sizes.clusters // 2, functions=2 * sizes.functions,
            samples=2 * sizes.samples,
            rank=None if sizes.rank is None else 2 * sizes.rank,
        )  # fmt: skip
    best = first_smallest([error for _, error in tried])
    return Choice(models[best], *tried[best], tuple(tried))


def _release(
    solver: Solver[Any], body: ProjectiveBody, forces: tuple[Force, ...], h: float, steps: int
) -> list[FloatArray]:
    """Positions after each step of a body that is let go where it is bent and twisted."""
    x, targets = _bend(body), body.vertices[body.pins.vertices]
    state = solver.from_full(x, np.zeros_like(x), np.zeros_like(x))
    reached = []
    for k in range(steps):
        begin, end = (Moment(time * h, targets, forces) for time in (k, k + 1))
        state, _ = solver.step(state, Inputs(begin, end))
        reached.append(solver.positions(state))
    return reached


def _bend(body: ProjectiveBody) -> FloatArray:
    """The body turned about its longest axis, ever more along it, and bowed; pins stay where they are."""
    rest = body.vertices
    axis = int(np.argmax(np.ptp(rest, axis=0)))
    along = (rest[:, axis] - rest[:, axis].min()) / body.size()
    if len(body.pins.vertices):
        along = along - float(along[body.pins.vertices].mean())
    side, up = (axis + 1) % 3, (axis + 2) % 3
    local = rest - rest.mean(axis=0)
    c, s = np.cos(_BEND * along), np.sin(_BEND * along)
    x = rest.copy()
    x[:, side] += (c - 1.0) * local[:, side] - s * local[:, up]
    x[:, up] += s * local[:, side] + (c - 1.0) * local[:, up] + 0.2 * _BEND * body.size() * along**2
    held = body.pins.vertices
    x[held] = np.where(body.pins.held, rest[held], x[held])
    return x


def _mean_square(gap: FloatArray, body: ProjectiveBody) -> float:
    """Of distances [m²], by mass."""
    return float(body.mass @ np.einsum("ni,ni->n", gap, gap) / body.mass.sum())


def _off_rigid(x: FloatArray, body: ProjectiveBody) -> float:
    """Mean square distance of positions from the nearest rigid motion of the rest shape [m²]."""
    weight = body.mass / body.mass.sum()
    here, rest = x - weight @ x, body.vertices - weight @ body.vertices
    U, _, V = np.linalg.svd(rest.T @ (weight[:, None] * here))
    U[:, 2] *= np.sign(np.linalg.det(U @ V))
    return _mean_square(here - rest @ (U @ V), body)
