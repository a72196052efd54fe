"""Further than [BEH18], in the same small spaces: any material, and spaces from recorded motion."""

import numpy as np
import pytest
from projective_helpers import bar, span

from supple.constraint import ProjectiveBody
from supple.elastic import Body
from supple.linalg.rigid import fit_rigid
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.method import HyperReducedSolver, ProjectiveSolver, SpaceSizes, prepare_spaces
from supple.method.hyperreduced.model import HyperReducedModel
from supple.subspace.projection_fit import fit_projections, sample_elements
from supple.subspace.projection_space import recorded_space
from supple.subspace.recorded_space import add_recorded, affine_space


def twisted(body, angle: float) -> np.ndarray:
    x = body.vertices
    c, s = np.cos(angle * x[:, 0]), np.sin(angle * x[:, 0])
    y, z = x[:, 1] - 0.125, x[:, 2] - 0.125
    return np.stack([x[:, 0], c * y - s * z, s * y + c * z + 0.2 * angle * x[:, 0] ** 2], 1)


def release(solver, x: np.ndarray, steps: int) -> list[np.ndarray]:
    """Frames of a body that is let go."""
    state, frames = solver.from_full(x, 0.0 * x, 0.0 * x), []
    for k in range(steps):
        state, _ = solver.step(state, span(k, 0.01))
        frames.append(solver.positions(state))
    return frames


def distance(found: list[np.ndarray], exact: list[np.ndarray], start: np.ndarray) -> float:
    """Root mean square over frames of how far two motions are apart, over how far the exact one goes."""
    gap, way = (np.mean([np.sum((x - y) ** 2) for x, y in pairs]) for pairs in (
        zip(found, exact, strict=True), [(x, start) for x in exact],
    ))  # fmt: skip
    return float(np.sqrt(gap / way))


def flesh(resolution: int) -> ProjectiveBody:
    mesh = fill_box((0, 0, 0), (1, 0.25, 0.25), resolution=resolution)
    material = StableNeoHookean(young=2e4, poisson=0.4, density=1000.0)
    return ProjectiveBody.from_body(Body.build(mesh, material), own_materials=True)


def test_other_materials_move_in_clusters_as_unreduced() -> None:
    body = flesh(10)
    assert body.constraints[0].kind == "hyperelastic"
    start = twisted(body, 1.0)
    exact = release(ProjectiveSolver(body, iterations=60, history=5), start, 20)
    model = prepare_spaces(body, SpaceSizes(handles=40, clusters=100))
    assert len(model.fits[0].members) < 0.5 * len(body.constraints[0].stencils)
    found = release(HyperReducedSolver(body, model, iterations=60), start, 20)
    assert distance(found, exact, start) < 0.1


@pytest.mark.parametrize("squeeze", [(1.0, 0.3, 1.0), (0.5, 0.5, 0.5), (2.5, 1.0, 1.0), (1.0, -0.5, 1.0)])
def test_other_materials_recover_from_wild_starts(squeeze: tuple[float, float, float]) -> None:
    body = flesh(6)
    solver = HyperReducedSolver(body, prepare_spaces(body, SpaceSizes(handles=20, clusters=60)))
    start = body.vertices * squeeze
    bent = []
    for x in (start, release(solver, start, 150)[-1]):
        R, shift = fit_rigid(x, body.vertices, body.mass)
        bent.append(np.abs(x - body.vertices @ R.T - shift).max())
    assert bent[1] < 0.15 * bent[0]  # nothing damps it but implicit Euler


def test_spaces_of_recorded_motion_play_it_and_what_is_like_it() -> None:
    body = bar(12)
    recorded = np.array(release(ProjectiveSolver(body), twisted(body, 1.0), 25))
    constraint = body.constraints[0]
    positions = add_recorded(affine_space(body.vertices, body.mass), recorded, 24)
    spread = spread_points(Geodesics.along(body.vertices, body.cells), 300)
    fit = fit_projections(
        constraint,
        recorded_space(constraint, recorded, 24),
        positions,
        sample_elements(spread.vertices, constraint, 300),
    )
    solver = HyperReducedSolver(body, HyperReducedModel.build(positions, (fit,)))
    assert solver.model.positions.columns == 28
    for angle, bound in ((1.0, 0.03), (0.7, 0.1)):  # what was recorded, and what was not
        start = twisted(body, angle)
        exact = release(ProjectiveSolver(body), start, 25)
        assert distance(release(solver, start, 25), exact, start) < bound
