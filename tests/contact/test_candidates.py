"""Lists of tets that vertices may lie in are kept while they are true, and never change what is found."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.contact.candidates import Candidates
from supple.contact.neighbourhood import Neighbourhood, are_kin
from supple.contact.self_contact import SelfContact
from supple.mesh import TetMesh
from supple.shape import make_shape

PAD = 0.02


@pytest.fixture(scope="module")
def mesh() -> TetMesh:
    return make_shape("capsule", resolution=16, length=1.0, radius=0.1)


@pytest.fixture
def candidates(mesh: TetMesh) -> Candidates:
    around = Neighbourhood.build(mesh, 1.8, ())
    return Candidates(mesh.vertices, mesh.tets, mesh.surface_vertices(), around, PAD)


def curl(X: np.ndarray, radius: float) -> np.ndarray:
    """Bent about z into a ring, whose ends meet when its radius is small."""
    angle, reach = X[:, 0] / radius, radius - X[:, 1]
    return np.column_stack([reach * np.sin(angle), radius - reach * np.cos(angle), X[:, 2]])


def test_every_tet_whose_padded_box_holds_a_point_is_listed_but_kin(mesh: TetMesh, candidates: Candidates) -> None:
    x, vertices, around = curl(mesh.vertices, 0.14), mesh.surface_vertices(), Neighbourhood.build(mesh, 1.8, ())
    start, listed = candidates.near(x[vertices], x)
    corners, some = x[mesh.tets], 0
    for k in range(0, len(vertices), 7):
        low, high = corners.min(axis=1) - PAD, corners.max(axis=1) + PAD
        held = np.flatnonzero(((x[vertices[k]] >= low) & (x[vertices[k]] <= high)).all(axis=1))
        wanted = [tet for tet in held if not are_kin(vertices[k], mesh.tets, tet, around)]
        found = listed[start[k] : start[k + 1]]
        assert sorted(found.tolist()) == wanted
        some += len(wanted)
    assert some > 50


def test_lists_are_kept_while_nothing_moves_far_whatever_the_whole_body_does(
    mesh: TetMesh, candidates: Candidates
) -> None:
    x, vertices = curl(mesh.vertices, 0.14), mesh.surface_vertices()
    lists = candidates.near(x[vertices], x)
    rng = np.random.default_rng(0)
    trembles = rng.uniform(-1.0, 1.0, x.shape)
    trembles *= 0.49 * PAD / np.linalg.norm(trembles, axis=1).max()
    R = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix()
    y = (x + trembles) @ R.T + [3.0, 1.0, -2.0]
    assert candidates.near(y[vertices], y) is lists
    z = y + 3.0 * trembles
    assert candidates.near(z[vertices], z) is not lists


def test_positions_that_are_no_numbers_are_looked_at_anew(mesh: TetMesh, candidates: Candidates) -> None:
    x, vertices = curl(mesh.vertices, 0.14), mesh.surface_vertices()
    lists = candidates.near(x[vertices], x)
    for wrong in (np.nan, np.inf):
        y = x.copy()
        y[::3] = wrong
        assert candidates.near(y[vertices], y) is not lists
    again = candidates.near(x[vertices], x)
    assert all(np.array_equal(one, other) for one, other in zip(lists, again, strict=True))


@pytest.mark.parametrize("thickness", [0.0, 0.01])
def test_what_is_found_on_a_way_does_not_depend_on_it(mesh: TetMesh, thickness: float) -> None:
    contact, rng = SelfContact(mesh, thickness=thickness), np.random.default_rng(1)
    made, touched = [], 0
    for k in range(16):
        x = curl(mesh.vertices, 0.147 - 0.0004 * k) + 2e-4 * rng.normal(size=mesh.vertices.shape)
        found, fresh = contact.find(x), contact.find_brute(x)
        for field in dataclasses.fields(found):
            assert np.array_equal(getattr(found, field.name), getattr(fresh, field.name))
        made.append(contact._near._lists)
        touched += len(found)
    assert touched > 100
    assert 1 < len({id(lists) for lists in made}) < 14
