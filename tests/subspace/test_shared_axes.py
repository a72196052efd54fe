import numpy as np
import pytest

from supple.constraint import ProjectiveBody, Shell
from supple.mesh import TriMesh
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.subspace.rotation_clusters import cluster_elements, cluster_projections
from supple.subspace.shared_axes import share_axes
from supple.subspace.skinning_space import skinning_space

TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])


def patch(bow: float) -> ProjectiveBody:
    """A shell of 1 m x 1 m, flat or bowed."""
    u, v = np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 8), indexing="ij")
    at = np.arange(64).reshape(8, 8)
    a, b, c, d = (side.ravel() for side in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    corners = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    points = np.stack([u, v, bow * (u * u + v**3)], axis=-1).reshape(-1, 3)
    return ProjectiveBody.shell(TriMesh(points, corners.astype(np.int32)), Shell(young=2e4, thickness=4e-3))


class Gathered:
    """The triangles of a body in clusters, or each alone."""

    def __init__(self, body: ProjectiveBody, clusters: int | None, strained: float) -> None:
        graph, strain = Geodesics.along(body.vertices, body.cells), body.constraints[0]
        spread, self.cluster = spread_points(graph, 64), np.arange(len(strain.stencils))
        if clusters is not None:
            self.cluster = cluster_elements(graph, spread.vertices[:clusters], strain)
        self.space = skinning_space(graph, body.mass, spread, 20, multiplier=1.5)
        self.found = cluster_projections(strain, self.space, body.vertices, self.cluster, strained)

    def energy(self, q: np.ndarray) -> float:
        """The constant matrix with the projections of the means [J]."""
        few, x = self.found.constraint, self.space.lift(q)
        values = few.stencils.values(x)
        means = few.weight @ (few.distances(values) - np.einsum("epi->e", values**2))
        return 0.5 * float(means + np.einsum("ci,ci->", q, self.found.stiffness @ q))

    def forces(self, q: np.ndarray) -> np.ndarray:
        nearest = self.found.constraint.project(self.found.constraint.stencils.values(self.space.lift(q)))
        return self.found.pull @ nearest.transpose(1, 0, 2).reshape(-1, 3) - self.found.stiffness @ q


@pytest.mark.parametrize("strained", [0.0, 0.3])
def test_triangles_alone_are_exact(strained: float) -> None:
    body = patch(0.3)
    own = Gathered(body, None, strained)
    q = own.space.project(body.vertices + np.random.default_rng(0).normal(scale=0.1, size=(64, 3)))
    x = own.space.lift(q)
    assert own.energy(q) == pytest.approx(body.constraints[0].energy(x), rel=1e-9)
    exact = own.space.pull(body.constraints[0].forces(x))
    np.testing.assert_allclose(own.forces(q), exact, atol=1e-9 * np.abs(exact).max())


def test_a_flat_sheet_that_is_stretched_evenly_is_exact_in_clusters() -> None:
    body = patch(0.0)
    own = Gathered(body, 6, 0.3)
    x = body.vertices @ np.array([[1.2, 0.1, 0.0], [-0.2, 0.9, 0.0], [0.0, 0.0, 1.0]]) @ TURN
    assert own.energy(own.space.project(x)) == pytest.approx(body.constraints[0].energy(x), rel=1e-9)
    np.testing.assert_allclose(share_axes(body.constraints[0], own.cluster, body.vertices).metric, 1.0)


@pytest.mark.parametrize("strained", [0.0, 0.3])
def test_a_bowed_sheet_rests_however_it_is_turned(strained: float) -> None:
    body = patch(0.8)
    own = Gathered(body, 6, strained)
    metric = share_axes(body.constraints[0], own.cluster, body.vertices).metric
    assert 0.5 <= metric.min() < 0.95
    assert metric.max() <= 1.0 + 1e-12
    q = own.space.project(body.vertices @ TURN)
    scale = np.abs(own.found.stiffness @ q).max()
    assert np.abs(own.forces(q)).max() < 1e-9 * scale
    assert own.energy(1.01 * q) > own.energy(q) == pytest.approx(0.0, abs=1e-9 * scale)


def test_what_differs_within_clusters_never_gains_energy() -> None:
    own = Gathered(patch(0.8), 6, 1.0)
    free = Gathered(patch(0.8), 6, 0.0)
    gap = (own.found.stiffness - free.found.stiffness).toarray()
    assert np.linalg.eigvalsh(gap)[0] > -1e-9 * np.abs(gap).max()
