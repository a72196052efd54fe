"""Frames that follow pins or the body, and fields that follow pins."""

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.shape import make_shape
from supple.subspace import BodyFrame, RestStiffness, carried_fields, fit_rigid, pin_frame
from supple.subspace.rigid_fit import carries_frame, pin_displacement

FloatArray = NDArray[np.float64]
SHIFT = np.array([0.3, -2.0, 0.7])


def turn(rng: np.random.Generator) -> FloatArray:
    """A random rotation."""
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return np.asarray(Q * np.sign(np.linalg.det(Q)))


@pytest.fixture(scope="module")
def body() -> Body:
    """A beam held at both ends."""
    mesh = make_shape("beam", resolution=8)
    (low, _, _), (high, _, _) = mesh.bounds()
    ends = (mesh.vertices[:, 0] < low + 1e-6) | (mesh.vertices[:, 0] > high - 1e-6)
    return Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.4), Pins.of(np.flatnonzero(ends)))


def test_rigid_motion_is_found_exactly(body: Body) -> None:
    R, rest = turn(np.random.default_rng(0)), body.mesh.vertices
    found, shift = fit_rigid(rest @ R.T + SHIFT, rest, body.mass)
    assert found == pytest.approx(R, abs=1e-12)
    assert shift == pytest.approx(SHIFT, abs=1e-12)


def test_what_the_fit_leaves_is_orthogonal_to_rigid_motions(body: Body) -> None:
    rng, rest, mass = np.random.default_rng(1), body.mesh.vertices, body.mass
    x = (rest + 0.02 * rng.standard_normal(rest.shape)) @ turn(rng).T + SHIFT
    R, c = fit_rigid(x, rest, mass)
    u = (x - c) @ R - rest
    centred = rest - mass @ rest / mass.sum()
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert mass @ u == pytest.approx(np.zeros(3), abs=1e-12)
    assert mass @ np.cross(centred, u) == pytest.approx(np.zeros(3), abs=1e-12)


def test_mirrored_and_collapsed_shapes_give_a_proper_rotation(body: Body) -> None:
    rest = body.mesh.vertices
    for x in (rest * [1.0, 1.0, -1.0], np.zeros_like(rest), rest * [1.0, 0.0, 0.0]):
        R, _ = fit_rigid(x, rest, body.mass)
        product = R @ R.T
        assert product == pytest.approx(np.eye(3), abs=1e-12)
        assert np.linalg.det(R) == pytest.approx(1.0)


def test_pins_carry_a_frame_only_where_they_fix_one(body: Body) -> None:
    rest, R = body.mesh.vertices, turn(np.random.default_rng(2))
    targets = rest[body.pins.vertices] @ R.T + SHIFT
    found, shift = pin_frame(body.pins, rest, targets)
    assert found == pytest.approx(R, abs=1e-12)
    assert shift == pytest.approx(SHIFT, abs=1e-12)
    line = np.flatnonzero((np.abs(rest[:, 1:] - rest[0, 1:]) < 1e-9).all(axis=1))
    for pins in (Pins.of(body.pins.vertices, "xy"), Pins.of(line), Pins.of([0, 1]), Pins.none()):
        assert not carries_frame(pins, rest)
        still, nowhere = pin_frame(pins, rest, rest[pins.vertices] + 1.0)
        assert (still == np.eye(3)).all()
        assert not nowhere.any()


def twisted(body: Body, angle: float) -> FloatArray:
    """Targets of the pins with the far end turned about x."""
    targets = body.mesh.vertices[body.pins.vertices].copy()
    far = targets[:, 0] > 0.0
    c, s = np.cos(angle), np.sin(angle)
    targets[far, 1:] = targets[far, 1:] @ np.array([[c, s], [-s, c]])
    return targets


def test_carried_fields_take_up_all_that_pins_do_and_rest_in_equilibrium(body: Body) -> None:
    rest, pins = body.mesh.vertices, body.pins
    held = [twisted(body, angle) for angle in np.linspace(0.0, 1.0, 9)]
    moved = np.stack([pin_displacement(pins, rest, targets) for targets in held])
    S = carried_fields(body, moved, 1e-9)
    assert 1 <= S.shape[1] <= 3
    rows = (3 * pins.vertices[:, None] + np.arange(3)).ravel()
    assert S[rows].T @ S[rows] == pytest.approx(np.eye(S.shape[1]), abs=1e-12)
    stiffness = RestStiffness(body.pinned(Pins.none()))
    force = stiffness.matrix @ S
    inside = np.setdiff1d(np.arange(len(force)), rows)
    assert np.abs(force[inside]).max() < 1e-9 * np.abs(force[rows]).max()
    frame = BodyFrame(body, S)
    for targets in held:
        R, c = frame.fit(rest, targets)
        placed = (rest + (S @ frame.follow(targets)).reshape(-1, 3)) @ R.T + c
        assert placed[pins.vertices] == pytest.approx(targets, abs=1e-9)


def test_pins_that_move_rigidly_together_carry_nothing(body: Body) -> None:
    rest, R = body.mesh.vertices, turn(np.random.default_rng(3))
    targets = rest[body.pins.vertices] @ R.T + SHIFT
    moved = pin_displacement(body.pins, rest, targets)[None]
    assert carried_fields(body, moved, 1e-6 * body.mesh.size()).shape == (3 * len(rest), 0)
