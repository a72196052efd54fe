from dataclasses import replace

import numpy as np
import pytest

from supple.constraint import CorotationalTets, ProjectiveBody, Shell, Stencils, TetStrain, TetVolume, tet_stencils
from supple.elastic import Body
from supple.material import Corotational
from supple.mesh import fill_box
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.subspace.rotation_clusters import (
    can_cluster,
    cluster_elements,
    cluster_projections,
    find_strained,
    gather_clusters,
    shear_share,
)
from supple.subspace.skinning_space import skinning_space

SOLID = Body.build(fill_box((0, 0, 0), (1, 0.25, 0.25), resolution=6), Corotational(young=2e4, poisson=0.3))
BODY = ProjectiveBody.from_body(SOLID)
TETS = BODY.constraints[0]
GRAPH = Geodesics.along(BODY.vertices, BODY.cells)
SPREAD = spread_points(GRAPH, 40)


def test_clusters_cover_all_elements_around_their_samples() -> None:
    cluster = cluster_elements(GRAPH, SPREAD.vertices[:20], TETS)
    assert set(cluster) == set(range(20))
    for number, sample in enumerate(SPREAD.vertices[:20]):
        around = (TETS.stencils.vertices == sample).any(axis=1)
        assert (cluster[around] == number).any()
    np.testing.assert_array_equal(cluster, cluster_elements(GRAPH, SPREAD.vertices[:20], TETS))


def test_a_cluster_sees_the_weighted_mean_of_its_elements() -> None:
    cluster = cluster_elements(GRAPH, SPREAD.vertices[:7], TETS)
    rng = np.random.default_rng(0)
    uneven = replace(TETS, weight=TETS.weight * rng.uniform(0.5, 2.0, len(cluster)))
    few = gather_clusters(uneven, cluster)
    x = rng.normal(size=BODY.vertices.shape)
    values, means = uneven.stencils.values(x), few.stencils.values(x)
    for number in range(7):
        own = cluster == number
        np.testing.assert_allclose(means[number], np.average(values[own], axis=0, weights=uneven.weight[own]))
        assert few.weight[number] == pytest.approx(uneven.weight[own].sum())
        assert few.stencils.measure[number] == pytest.approx(TETS.stencils.measure[own].sum())


def test_materials_are_kept_apart_while_they_are_few() -> None:
    stencils = TETS.stencils
    left = BODY.vertices[stencils.vertices].mean(axis=1)[:, 0] < 0.4
    two = CorotationalTets.build(stencils, np.where(left, 1e3, 1e6), 1e3)
    cluster = cluster_elements(GRAPH, SPREAD.vertices[:20], two)
    assert not set(cluster[left]) & set(cluster[~left])
    many = CorotationalTets.build(stencils, np.linspace(1e3, 1e6, len(stencils)), 1e3)
    assert cluster_elements(GRAPH, SPREAD.vertices[:20], many).max() == 19


def test_the_constant_matrix_is_the_exact_one_less_what_does_not_resist() -> None:
    space = skinning_space(GRAPH, BODY.mass, SPREAD, 8, multiplier=1.5)
    cluster = cluster_elements(GRAPH, SPREAD.vertices, TETS)
    found = cluster_projections(TETS, space, BODY.vertices, cluster, strained=0.4)
    q = np.random.default_rng(1).normal(size=(space.columns, 3))
    x = space.lift(q)
    values, means = TETS.stencils.values(x), found.constraint.stencils.values(x)
    gap = np.einsum("epi->e", (values - means[cluster]) ** 2)
    expected = found.constraint.weight @ np.einsum("epi->e", means**2) + TETS.weight @ (found.share[cluster] * gap)
    assert np.einsum("ci,ci->", q, found.stiffness @ q) == pytest.approx(expected, rel=1e-10)


def test_constraints_resist_shear_by_their_share() -> None:
    stencils = Stencils(TETS.stencils.vertices[:2], TETS.stencils.operator[:2], TETS.stencils.measure[:2])
    np.testing.assert_allclose(shear_share(CorotationalTets.build(stencils, 1.0)), 1.0)
    np.testing.assert_allclose(shear_share(CorotationalTets.build(stencils, 1.0, 4.0)), 2.0 / 14.0)
    assert shear_share(TetVolume.build(stencils, 1.0)).max() < 0.01
    assert 0.1 < shear_share(TetStrain.build(stencils, 1.0, (0.9, 1.1))).max() < 0.5


def test_deviations_in_a_slender_bar_are_those_of_bending_and_twisting() -> None:
    """With clusters as long as wide 2/9 of them are shear in pure bending, 1/4 in pure twist."""
    body_mesh = fill_box((0, 0, 0), (8, 1, 1), elements=6000)
    tets = CorotationalTets.build(tet_stencils(body_mesh), 1.0)
    centres = body_mesh.vertices[body_mesh.tets].mean(axis=1)
    cluster = np.minimum(centres[:, 0], 7.999).astype(np.int64)
    mass = np.bincount(body_mesh.tets.ravel(), np.repeat(body_mesh.volumes(), 4))
    strained = find_strained(tets, gather_clusters(tets, cluster), cluster, body_mesh.vertices, mass)
    assert 2 / 9 < strained < 0.3


def test_elements_alone_deviate_nowhere() -> None:
    each = np.arange(len(TETS.stencils))
    assert find_strained(TETS, gather_clusters(TETS, each), each, BODY.vertices, BODY.mass) == 1.0


def test_only_gradients_are_clustered() -> None:
    assert can_cluster(TETS)
    assert can_cluster(TetVolume.build(TETS.stencils, 1e5).inflated(2.0))
    assert [can_cluster(one) for one in ProjectiveBody.from_body(SOLID, Shell()).constraints[1:]] == [True, False]
