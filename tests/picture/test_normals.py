"""Normals are smooth where the body is round and sharp where it has an edge."""

from collections.abc import Callable

import numpy as np

from supple.picture.normals import find_corner_normals

Body = tuple[np.ndarray, np.ndarray]


def test_round_body_has_the_normals_of_a_sphere_to_second_order(spheres: Callable[[int], Body]) -> None:
    errors = []
    for rings in (20, 40):
        vertices, triangles = spheres(rings)
        normals = find_corner_normals(vertices, triangles)
        errors.append(np.abs(normals - vertices[triangles]).max())
    assert errors[0] < 0.01
    assert errors[0] / errors[1] > 3.0  # 4 for second order


def test_box_keeps_its_edges(box: Body) -> None:
    vertices, triangles = box
    normals = find_corner_normals(vertices, triangles)
    corners = vertices[triangles]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert np.allclose(normals, flat[:, None])
    assert (np.einsum("mkc,mc->mk", normals, corners.mean(axis=1)) > 0).all()  # outward


def test_triangles_without_area_have_no_normal_and_spoil_none() -> None:
    positions = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]])
    normals = find_corner_normals(positions, np.array([[0, 1, 2], [0, 1, 3], [1, 1, 1]], dtype=np.int32))
    assert np.allclose(normals[0], [0.0, 0.0, 1.0])
    assert np.isfinite(normals).all()
