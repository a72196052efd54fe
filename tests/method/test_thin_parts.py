"""A fast part of a body stops at a thin part of the same body, on the side it came from."""

import numpy as np
import pytest

from supple.contact.ccd import check_step
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.method import FullSolver
from supple.solve import Inputs, Moment

THIN = 0.02
STEP = 0.01


@pytest.mark.parametrize(("speed", "thickness"), [(2.0, 0.0), (2.0, 0.003), (5.0, 0.0)])
def test_a_fast_block_stops_at_a_thin_plate_of_the_same_body(speed: float, thickness: float) -> None:
    # A step takes it through the whole plate, or through twice and a half as much
    if thickness > 0.0:  # where crossings are looked for
        pytest.importorskip("ipctk")
    plate = fill_box((-0.15, -THIN, -0.15), (0.15, 0.0, 0.15), 10, None)
    block = fill_box((-0.052, 0.004, -0.047), (0.048, 0.104, 0.053), 6, None)
    count = len(plate.vertices)
    mesh = TetMesh.clean(
        np.concatenate([plate.vertices, block.vertices]), np.concatenate([plate.tets, block.tets + count])
    )
    rim = np.flatnonzero((np.abs(mesh.vertices[:count, [0, 2]]) > 0.149).any(axis=1))
    body = Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.3, density=1000), Pins.of(rim))
    solver = FullSolver(body, contact=ContactSettings(self_contact=True, thickness=thickness))
    v = np.zeros_like(mesh.vertices)
    v[count:, 1] = -speed
    state, crossings = solver.from_full(mesh.vertices, v, 0 * v), 0
    for k in range(8):
        before, ends = state.x, (Moment(STEP * k, mesh.vertices[rim]), Moment(STEP * (k + 1), mesh.vertices[rim]))
        state, report = solver.step(state, Inputs(*ends))
        assert report.contact_settled
        assert state.x[count:, 1].min() > state.x[:count, 1].min() + THIN / 2  # nothing hangs below the plate
        if thickness > 0.0:
            crossings += len(check_step(mesh.surface_triangles(), before, state.x))
    assert crossings == 0
    assert (body.mass @ state.v)[1] > 0.0  # thrown back
