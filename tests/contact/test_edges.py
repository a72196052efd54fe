"""Edges that touch edges."""

import numpy as np
import pytest

from supple.contact.contacts import SELF
from supple.contact.edges import EdgeContact
from supple.mesh import TetMesh, fill_box

pytest.importorskip("ipctk")


def crossed_roofs(gap: float) -> TetMesh:
    """Two tets whose ridges, along x and along z, cross at the origin, the second `gap` [m] above the first."""
    lower = np.array([[-1.0, 0.0, 0.1], [1.2, 0.0, 0.1], [0.0, -1.0, -1.0], [0.0, -1.0, 1.0]])
    upper = np.array([[0.1, gap, -1.0], [0.1, gap, 1.3], [-1.0, 1.0 + gap, 0.0], [1.0, 1.0 + gap, 0.0]])
    return TetMesh.clean(np.concatenate([lower, upper]), np.arange(8).reshape(2, 4))


@pytest.mark.parametrize("gap", [0.05, -0.05])
def test_crossed_ridges_touch_once_with_the_signed_gap(gap: float) -> None:
    mesh = crossed_roofs(gap)
    contacts = EdgeContact(mesh, reach=0.2).find(mesh.vertices)
    assert len(contacts) == 1
    assert contacts.source[0] == SELF
    assert contacts.depth(mesh.vertices) == pytest.approx(-gap)
    assert np.allclose(np.abs(contacts.normal), [[0.0, 1.0, 0.0]])
    assert np.allclose(contacts.weights.sum(axis=1), 0.0)
    assert set(contacts.vertices[0].tolist()) == {0, 1, 4, 5}
    areas = mesh.surface().areas()
    ridges = [areas[(np.isin(mesh.surface_triangles(), pair).sum(axis=1) == 2)].sum() / 3 for pair in ([0, 1], [4, 5])]
    assert contacts.area[0] == pytest.approx(np.mean(ridges))


def test_forces_along_the_normal_make_neither_force_nor_torque() -> None:
    mesh = crossed_roofs(-0.05)
    contacts = EdgeContact(mesh, reach=0.2).find(mesh.vertices)
    forces = contacts.scatter(3.0 * contacts.normal, len(mesh.vertices))
    assert np.allclose(forces.sum(axis=0), 0.0, atol=1e-14)
    assert np.allclose(np.cross(mesh.vertices, forces).sum(axis=0), 0.0, atol=1e-14)


def test_thickness_opens_the_contact_earlier() -> None:
    mesh = crossed_roofs(0.05)
    contacts = EdgeContact(mesh, thickness=0.08, reach=0.2).find(mesh.vertices)
    assert contacts.depth(mesh.vertices) == pytest.approx(0.03)


def test_edges_out_of_reach_and_a_body_at_rest_do_not_touch() -> None:
    assert len(EdgeContact(crossed_roofs(0.3), reach=0.2).find(crossed_roofs(0.3).vertices)) == 0
    block = fill_box((0, 0, 0), (1, 1, 1), resolution=4)
    assert len(EdgeContact(block).find(block.vertices)) == 0


def test_rigid_motion_turns_the_normal_with_the_body() -> None:
    mesh = crossed_roofs(-0.05)
    finder = EdgeContact(mesh, reach=0.2)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    still, moved = finder.find(mesh.vertices), finder.find(mesh.vertices @ turn.T + 1.0)
    assert np.allclose(moved.normal, still.normal @ turn.T)
    assert np.array_equal(moved.vertices, still.vertices)


def test_ignored_sets_do_not_touch() -> None:
    mesh = crossed_roofs(-0.05)
    for ignored in (([0], [5]), ([4], [1])):
        assert len(EdgeContact(mesh, reach=0.2, ignored=[ignored]).find(mesh.vertices)) == 0
    assert len(EdgeContact(mesh, reach=0.2, ignored=[([0], [2])]).find(mesh.vertices)) == 1
