"""Alignment undoes what eigen-solvers and turning bodies do to the order, signs and directions of modes."""

import numpy as np
import pytest
from pose_beams import bent_beam
from scipy.spatial.transform import Rotation

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import linear_modes
from supple.subspace.alignment import align_all, align_columns, grow_tree, rotate_columns
from supple.subspace.vertex_turns import measure_turns

CHAIN = [0, 1], np.array([0, 0])  # the second pose is aligned to the first


def clamped_box(height: float, width: float) -> Body:
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), 8)
    mesh = mesh.transformed(np.diag([1.0, height, width]))
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    return Body.build(mesh, StableNeoHookean(young=1e6, poisson=0.4), pins)


@pytest.fixture(scope="module")
def box() -> Body:
    return clamped_box(1.0, 1.2)


def test_alignment_undoes_a_permutation_and_sign_flips(box: Body) -> None:
    modes = linear_modes(box, 6)
    shuffled = modes.columns[:, [2, 0, 5, 1, 4, 3]] * [1, -1, -1, 1, -1, 1]
    Q, angles = align_columns(shuffled, modes.columns, modes.metric)
    assert np.abs(shuffled @ Q - modes.columns).max() < 1e-12 * np.abs(modes.columns).max()
    assert angles.max() < 1e-6


def test_angles_between_subspaces_are_those_of_their_vectors(box: Body) -> None:
    modes = linear_modes(box, 4)
    a, b, c = modes.columns.T[:3]
    tilted = np.column_stack([np.cos(0.3) * a + np.sin(0.3) * c, b])
    _, angles = align_columns(tilted, np.column_stack([b, a]), modes.metric)
    assert np.allclose(angles, [0.0, 0.3], atol=1e-6)


def test_modes_that_change_places_are_matched_before_they_are_mixed() -> None:
    """Fig. 6 of [XB16]: a beam as high as wide, but for a hair."""
    bodies = clamped_box(1.0, 1.001), clamped_box(1.001, 1.0)
    first, second = (linear_modes(body, 2).columns for body in bodies)
    metric = np.repeat(bodies[0].mass, 3)

    def least(a: np.ndarray, b: np.ndarray) -> float:
        mean = 0.5 * (a + b)
        return float(np.linalg.eigvalsh(mean.T @ (metric[:, None] * mean))[0])

    assert min(least(first, second), least(first, second * [1, -1]), least(first, -second)) < 0.01  # one mode is gone
    aligned, _ = align_all(np.array([first, second]), *CHAIN, metric, None)
    assert least(*aligned) > 0.99


def test_a_turned_copy_is_aligned_to_its_turned_modes(box: Body) -> None:
    """Fig. 7 of [XB16]: without its turn a body turned by 90 degrees has its two bending modes exchanged."""
    modes = linear_modes(box, 3)
    R = Rotation.from_rotvec([0.5 * np.pi, 0.0, 0.0]).as_matrix()
    turns = np.array([np.tile(np.eye(3), (len(box.mass), 1, 1)), measure_turns(box, box.mesh.vertices @ R.T)])
    assert np.abs(turns[1] - R).max() < 1e-12
    copy = rotate_columns(modes.columns, turns[1])
    pair = np.array([modes.columns, copy[:, [1, 2, 0]] * [-1, 1, 1]])
    aligned, angles = align_all(pair, *CHAIN, modes.metric, turns)
    assert np.abs(aligned[1] - copy).max() < 1e-10 * np.abs(copy).max()
    assert angles.max() < 1e-6
    world, _ = align_all(pair, *CHAIN, modes.metric, None)
    assert np.abs(world[1] - copy).max() > 0.5 * np.abs(copy).max()


@pytest.mark.parametrize("degrees", [60.0, 170.0, 200.0, 300.0])
def test_turns_of_a_bend_are_its_angle_however_far_it_goes(degrees: float) -> None:
    body, rig = bent_beam("cantilever")
    angle = np.deg2rad(degrees)
    turns = measure_turns(body, rig.positions(np.array([angle])))
    share = np.clip((rig.rest[:, 0] - 0.2) / 0.6, 0.0, 1.0)
    exact = Rotation.from_rotvec(angle * share[:, None] * [0.0, 0.0, 1.0])
    apart = (Rotation.from_matrix(turns) * exact.inv()).magnitude()
    brick = angle * 0.1 / 0.6  # what one brick turns
    assert apart.max() < 0.5 * brick
    ends = (rig.rest[:, 0] < 0.05) | (rig.rest[:, 0] > 0.95)
    assert apart[ends].max() < 1e-12


def test_the_tree_joins_the_nearest_pose_that_is_left() -> None:
    points = np.array([[0.0, 0.0], [5.0, 0.0], [2.0, 0.0], [2.0, 1.0], [-4.0, 0.0]])
    order, tree = grow_tree(points)
    assert order == [0, 2, 3, 1, 4]
    assert tree.tolist() == [0, 2, 0, 2, 0]
