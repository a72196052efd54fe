"""Triangle surfaces as colliders."""

import numpy as np
import pytest

from supple.contact.box import Box
from supple.contact.mesh_collider import MeshCollider
from supple.contact.sphere import Sphere
from supple.errors import MeshError, SuppleWarning
from supple.mesh import TriMesh
from supple.shape import make_shape

POINTS = np.random.default_rng(3).uniform(-0.8, 0.8, (2000, 3))


def test_box_of_triangles_is_the_box() -> None:
    shape = Box((1.0, 0.5, 0.3))
    mesh = MeshCollider(shape.surface())
    exact, found = shape.closest(POINTS), mesh.closest(POINTS)
    assert np.allclose(found.distance, exact.distance, atol=1e-12)
    unique = np.linalg.norm(found.point - exact.point, axis=1) < 1e-9  # inside, two sides can be equally near
    assert unique.mean() > 0.99
    assert np.allclose(found.normal[unique], exact.normal[unique], atol=1e-9)


def test_sphere_of_triangles_is_nearly_the_sphere() -> None:
    shape = Sphere(0.5)
    found = MeshCollider(shape.surface()).closest(POINTS)
    assert np.abs(found.distance - shape.distance(POINTS)).max() < 0.005
    outside = found.distance > 0.05
    assert (np.einsum("ij,ij->i", found.normal, shape.closest(POINTS).normal)[outside] > 0.99).all()


def test_closest_point_distance_and_normal_agree_on_a_real_shape() -> None:
    mesh = MeshCollider(make_shape("creature", resolution=20).surface())
    distance, normal, foot = mesh.closest(POINTS)
    assert np.allclose(foot + distance[:, None] * normal, POINTS, atol=1e-12)
    assert np.allclose(np.linalg.norm(normal, axis=1), 1.0)
    assert np.abs(mesh.distance(foot)).max() < 1e-12


def test_points_on_the_surface_get_the_normal_of_their_triangle() -> None:
    surface = Sphere(0.5).surface()
    middles = surface.vertices[surface.triangles].mean(axis=1)
    normal = MeshCollider(surface).closest(middles).normal
    assert np.allclose(normal, surface.face_normals(), atol=1e-6)


@pytest.mark.parametrize("reach", [-0.02, 0.0, 0.1])
def test_far_points_are_ruled_out_and_no_near_one_is_lost(reach: float) -> None:
    mesh = MeshCollider(make_shape("creature", resolution=20).surface())
    points = np.random.default_rng(5).uniform(-1.5, 1.5, (5000, 3))
    near = mesh.near(points, reach)
    truly = np.flatnonzero(mesh.distance(points) < reach)
    assert np.isin(truly, near).all()
    assert len(near) < 2 * len(truly) + 200


def test_triangles_that_face_the_wrong_way_are_turned() -> None:
    surface = Box((1.0, 0.5, 0.3)).surface()
    inward = TriMesh(surface.vertices, surface.triangles[:, ::-1])
    assert np.allclose(MeshCollider(inward).distance(POINTS), Box((1.0, 0.5, 0.3)).distance(POINTS))


def test_an_open_surface_is_refused_with_the_place_of_the_hole() -> None:
    surface = Box((1.0, 0.5, 0.3)).surface()
    with pytest.raises(MeshError, match=r"3 open edges.*near \(.*fill the holes"):
        MeshCollider(TriMesh(surface.vertices, surface.triangles[1:]))


def test_a_sheet_without_thickness_is_refused() -> None:
    sheet = Box((1.0, 1e-9, 1.0)).surface()
    with pytest.raises(MeshError, match="encloses nothing"):
        MeshCollider(sheet)


def test_a_surface_that_crosses_itself_is_named_with_place_and_remedy() -> None:
    one, other = make_shape("sphere", resolution=8).surface(), make_shape("sphere", resolution=8).surface()
    shift = [0.3 * float(np.ptp(one.vertices[:, 0])), 0.0, 0.0]
    both = TriMesh(
        np.concatenate([one.vertices, other.vertices + shift]),
        np.concatenate([one.triangles, other.triangles + np.int32(len(one.vertices))]),
    )
    with pytest.warns(SuppleWarning, match=r"crosses itself: \d+ triangles .* the first at \(.*Unite the parts"):
        MeshCollider(both)
    apart = TriMesh(both.vertices + np.repeat([[0.0], [2.0]], len(one.vertices), axis=0), both.triangles)
    MeshCollider(apart)  # nothing is said of parts that do not overlap
