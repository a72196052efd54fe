"""A pose that passes through itself becomes one that touches itself."""

import numpy as np
import pytest

from supple.contact.self_contact import SelfContact
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method.pose_contact import part_poses
from supple.rig import Bend
from supple.subspace import build_pose_bases

OPEN, CURLED = np.array([2.0]), np.array([4.1])  # rad; in the second the tip is 1.4 cm deep in the root


@pytest.fixture(scope="module")
def beam() -> tuple[Body, Bend]:
    mesh = fill_box((0.0, -0.06, -0.08), (1.0, 0.06, 0.08), elements=1000)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e7, poisson=0.4, density=1e3), pins)
    return body, Bend(mesh.vertices, (0.2, 0.0, 0.0), (0.8, 0.0, 0.0), (0.0, 0.0, 1.0))


def test_flesh_is_pressed_apart_in_the_pose_that_needs_it_and_in_no_other(beam: tuple[Body, Bend]) -> None:
    body, rig = beam
    finder = SelfContact(body.mesh)
    assert finder.find(rig.positions(CURLED)).depth.max() > 0.01
    parted = part_poses(body, rig, [OPEN, CURLED])
    assert finder.find(parted.positions(CURLED)).depth.max(initial=0.0) < 1e-4
    for pose in (rig.neutral, OPEN):
        assert np.abs(parted.positions(pose) - rig.positions(pose)).max() < 1e-12
    held = body.pins.vertices
    assert np.abs(parted.positions(CURLED, held) - rig.positions(CURLED, held)).max() < 1e-12


def test_the_parted_shape_is_the_rest_of_its_pose(beam: tuple[Body, Bend]) -> None:
    body, rig = beam
    parted = part_poses(body, rig, [OPEN, CURLED])
    bases = build_pose_bases(body, parted, np.array([rig.neutral, OPEN, CURLED]), 6)
    shape = bases.rest[2]
    assert np.array_equal(shape, parted.positions(CURLED))
    assert np.abs(body.posed(shape).forces(shape)).max() < 1e-3
    assert body.jacobians(shape).min() > 0.1


def test_a_rig_that_keeps_clear_of_itself_is_left_alone(beam: tuple[Body, Bend]) -> None:
    body, rig = beam
    assert part_poses(body, rig, [OPEN, -OPEN]) is rig
