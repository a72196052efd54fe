"""Shapes of a body that is accelerated."""

import numpy as np

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.shape import make_shape
from supple.subspace import linear_modes
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.static_responses import lead_with_responses, static_responses


def test_a_basis_that_leads_with_responses_holds_every_small_sag() -> None:
    mesh = make_shape("beam", resolution=6)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e5), pins)
    modes, metric = linear_modes(body, 8), np.repeat(body.mass, 3)
    U = lead_with_responses(modes, body, mesh.vertices)
    assert U.shape == modes.columns.shape
    assert np.abs(U.T @ (metric[:, None] * U) - np.eye(8)).max() < 1e-10
    pull = np.array([0.3, -2.0, 0.7])
    sag = static_responses(body, mesh.vertices) @ pull
    stiffness = RestStiffness(body, mesh.vertices)
    force = stiffness.matrix @ stiffness.gather(sag)
    expected = stiffness.map.unknowns(body.mass[:, None] * pull)
    assert np.abs(force - expected).max() < 1e-7 * np.abs(expected).max()
    missed = sag - U @ (U.T @ (metric * sag))
    assert np.linalg.norm(missed) < 1e-9 * np.linalg.norm(sag)
    by_modes = sag - modes.columns @ (modes.columns.T @ (metric * sag))
    assert np.linalg.norm(by_modes) > 1e-4 * np.linalg.norm(sag)
