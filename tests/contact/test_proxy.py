"""Contacts found through coarse cells are the contacts of the whole body, with few vertices lifted."""

import numpy as np
import pytest

from supple.contact.hierarchy import cross_points
from supple.contact.proxy import Proxy
from supple.contact.self_contact import SelfContact
from supple.mesh import TetMesh, fill_box


@pytest.fixture(scope="module")
def mesh() -> TetMesh:
    return fill_box((-0.8, -0.08, -0.1), (0.8, 0.08, 0.1), resolution=48)


def _smooth_basis(X, seed, columns=8):
    """Displacements that vary slowly over the body, (n, 3, columns)."""
    rng = np.random.default_rng(seed)
    waves = np.sin(X @ rng.normal(size=(3, columns)) * 2.0 + rng.uniform(0.0, 6.0, columns))
    return waves[:, None, :] * rng.normal(size=(1, 3, columns))


def _closing(X):
    """One column that carries the two halves of the beam through each other, (n, 3, 1)."""
    column = np.zeros((len(X), 3, 1))
    column[:, 0, 0] = -np.tanh(4.0 * X[:, 0])
    column[:, 1, 0] = 0.2 * np.cos(3.0 * X[:, 0])
    return column


@pytest.mark.parametrize("seed", range(3))
def test_boxes_hold_every_vertex_of_their_cell(mesh, seed):
    proxy = Proxy(SelfContact(mesh), mesh.vertices, _smooth_basis(mesh.vertices, seed))
    q = np.random.default_rng(seed).normal(size=8)
    boxes = proxy.boxes(q)
    for cell in range(proxy.cells):
        x = proxy.lift(q, proxy.cell_vertices(np.array([cell], np.int32)))
        assert (x >= boxes[proxy.cells + cell, :3]).all()
        assert (x <= boxes[proxy.cells + cell, 3:]).all()


@pytest.mark.parametrize("thickness", [0.0, 0.01])
def test_proxy_finds_what_the_whole_body_finds(mesh, thickness):
    contact = SelfContact(mesh, thickness=thickness)
    basis = np.concatenate([_smooth_basis(mesh.vertices, 5), _closing(mesh.vertices)], axis=2)
    proxy = Proxy(contact, mesh.vertices, basis)
    met = 0
    for trial in range(6):
        rng = np.random.default_rng(trial)
        q = np.append(0.05 * rng.normal(size=8), rng.uniform(0.7, 1.2))
        candidates = rng.choice(contact.vertices, 150, replace=False)
        whole = contact.find(mesh.vertices + basis @ q, candidates)
        found = proxy.find(q, candidates)
        assert np.array_equal(found.vertex, whole.vertex)
        assert np.array_equal(found.triangle, whole.triangle)
        assert found.depth == pytest.approx(whole.depth, abs=1e-12)
        assert found.normal == pytest.approx(whole.normal, abs=1e-9)
        met += len(found)
    assert met > 20


def test_few_vertices_are_lifted_for_candidates_of_one_patch(mesh):
    contact = SelfContact(mesh)
    basis = _smooth_basis(mesh.vertices, 1)
    proxy = Proxy(contact, mesh.vertices, basis)
    q = 0.05 * np.random.default_rng(1).normal(size=8)
    patch = contact.vertices[mesh.vertices[contact.vertices, 0] > 0.5]
    points = proxy.lift(q, patch[::5])
    cells = cross_points(points, proxy.boxes(q))
    assert len(np.unique(proxy.cell_vertices(cells.leaves))) < 0.5 * len(mesh.vertices)


def test_no_candidates_touch_nothing(mesh):
    contact = SelfContact(mesh)
    proxy = Proxy(contact, mesh.vertices, _smooth_basis(mesh.vertices, 0))
    assert len(proxy.find(np.zeros(8), np.zeros(0, np.int32))) == 0
    assert len(proxy.find(np.zeros(8), contact.vertices)) == 0
