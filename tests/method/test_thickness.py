"""A block that lies flush on another of the same body keeps the thickness between them, at its corners too."""

import numpy as np
import pytest

from supple.contact.settings import ContactSettings
from supple.elastic import Body, Damping, Pins
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.method import FullSolver
from supple.solve import Gravity, Inputs, Moment

SIDE, STEP = 0.1, 0.01
DOWN = Gravity(np.array([0.0, -9.81, 0.0]))


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("thickness", [0.002, 0.02, 0.06])  # of edges of 0.033
def test_flush_blocks_rest_as_far_apart_as_thickness_and_penalty_say(thickness: float, friction: float) -> None:
    low = fill_box((0.0, 0.0, 0.0), (SIDE, SIDE, SIDE), 3, None)
    up, count = low.vertices + [0.0, SIDE + thickness, 0.0], len(low.vertices)
    mesh = TetMesh.clean(np.concatenate([low.vertices, up]), np.concatenate([low.tets, low.tets + count]))
    material = StableNeoHookean(young=1e5, poisson=0.3, density=1000)
    body = Body.build(mesh, material, Pins.of(np.flatnonzero(mesh.vertices[:, 1] < 1e-9)), Damping(2.0, 0.01))
    settings = ContactSettings(self_contact=True, thickness=thickness, friction=friction, stiffness=1e7)
    solver, held = FullSolver(body, contact=settings), mesh.vertices[body.pins.vertices]
    state = solver.start()
    for k in range(60):
        state, report = solver.step(
            state, Inputs(Moment(STEP * k, held, (DOWN,)), Moment(STEP * (k + 1), held, (DOWN,)))
        )
        assert report.contact_settled
    top = np.flatnonzero(np.isclose(mesh.vertices[:count, 1], SIDE))
    bottom = np.flatnonzero(np.isclose(mesh.vertices[:, 1], SIDE + thickness))
    touch, weight = report.touching, 9.81 * body.mass[count:].sum()
    assert touch is not None
    assert np.array_equal(np.unique(touch.vertex), np.union1d(top, bottom))  # corners too
    spring = np.abs(touch.force[:, 1] / touch.depth).sum()
    gap, depth = state.x[bottom, 1] - state.x[top, 1], weight / spring
    assert gap.mean() == pytest.approx(thickness - depth, abs=0.2 * depth)
    assert gap == pytest.approx(thickness - depth, abs=0.5 * depth)
    assert np.abs(touch.force[:, 1]).sum() == pytest.approx(weight, rel=0.02)
    drift = (state.x - mesh.vertices)[count:].mean(axis=0)
    assert np.abs(drift[[0, 2]]).max() < 2e-3 * SIDE  # rims do not push it off
