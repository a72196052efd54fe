import numpy as np
import pytest

from supple.errors import SceneError, TrainingError
from supple.mesh import fill_box
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.subspace.position_space import PositionSpace
from supple.subspace.recorded_space import add_recorded, affine_space
from supple.subspace.skinning_space import falloff, handle_weights, skinning_space

BAR = fill_box((0, 0, 0), (4, 1, 1), resolution=12)
MASS = np.random.default_rng(0).uniform(0.5, 1.5, len(BAR.vertices))
GRAPH = Geodesics.along(BAR.vertices, BAR.tets)


def space_of(count: int, multiplier: float = 1.5) -> PositionSpace:
    return skinning_space(GRAPH, MASS, spread_points(GRAPH, count), count, multiplier=multiplier)


def test_falloff_is_level_at_both_ends() -> None:
    step = 1e-6
    assert falloff(np.array([0.0, 1.0, 2.0])).tolist() == [1.0, 0.0, 0.0]
    assert abs(falloff(np.array(step)) - 1.0) / step < 1e-5
    assert falloff(np.array(1.0 - step)) / step < 1e-5


@pytest.mark.parametrize("multiplier", [1.01, 1.1, 2.0])
def test_weights_cover_every_vertex_and_add_up_to_one(multiplier: float) -> None:
    found = handle_weights(GRAPH, spread_points(GRAPH, 12), 12, multiplier)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    assert (found.weights.data >= 0).all()
    assert found.weights[found.handles].diagonal().min() > 0.3


def test_a_radius_that_leaves_gaps_is_refused() -> None:
    with pytest.raises(SceneError, match="leaves gaps"):
        handle_weights(GRAPH, spread_points(GRAPH, 12), 12, 1.0)


@pytest.mark.parametrize("count", [1, 5, 30])
def test_affine_maps_of_the_rest_shape_are_reproduced(count: int) -> None:
    space = space_of(count)
    rng = np.random.default_rng(count)
    x = BAR.vertices @ rng.normal(size=(3, 3)) + rng.normal(size=3)
    np.testing.assert_allclose(space.lift(space.project(x)), x, rtol=0, atol=1e-12)
    some = np.array([7, 3, 100])
    np.testing.assert_array_equal(space.lift(space.project(x), some), space.lift(space.project(x))[some])


def test_a_projection_is_the_nearest_in_the_mass_metric() -> None:
    space = space_of(8)
    x = np.random.default_rng(3).normal(size=BAR.vertices.shape)
    gap = x - space.lift(space.project(x))
    assert np.abs(space.pull(MASS[:, None] * gap)).max() < 1e-12 * np.abs(space.pull(MASS[:, None] * x)).max()


def test_more_handles_hold_more() -> None:
    x = BAR.vertices + 0.3 * np.sin(3.0 * BAR.vertices[:, ::-1])
    gaps = [np.linalg.norm(x - space.lift(space.project(x))) for space in map(space_of, (2, 8, 40))]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]


@pytest.mark.parametrize("count", [len(BAR.vertices), 10 * len(BAR.vertices)])
def test_every_vertex_a_handle_holds_everything(count: int) -> None:
    space = space_of(count)
    assert space.size == len(BAR.vertices)
    x = np.random.default_rng(4).normal(size=BAR.vertices.shape)
    np.testing.assert_allclose(space.lift(space.project(x)), x, rtol=0, atol=1e-13)


def test_tiny_loose_parts_get_handles_and_idle_columns() -> None:
    corner = np.array([[9.0, 0, 0], [9.1, 0, 0], [9, 0.1, 0], [9, 0, 0.1]])
    points = np.concatenate([BAR.vertices, corner])
    tets = np.concatenate([BAR.tets, np.arange(4, dtype=np.int32)[None] + len(BAR.vertices)])
    graph = Geodesics.along(points, tets)
    mass = np.ones(len(points))
    space = skinning_space(graph, mass, spread_points(graph, 200), 200, multiplier=2.0)
    x = points * [2.0, 1.0, 0.5]
    assert space.idle.any()
    np.testing.assert_allclose(space.lift(space.project(x)), x, rtol=0, atol=1e-9)


def test_the_constant_function_has_known_coordinates() -> None:
    space = space_of(9)
    np.testing.assert_allclose(space.constant.reshape(-1, 4), np.tile([1.0, 0, 0, 0], (9, 1)), rtol=0, atol=1e-11)


def test_recorded_motion_alone_or_on_top_is_reproduced() -> None:
    rng = np.random.default_rng(5)
    shapes = rng.normal(size=(2, *BAR.vertices.shape))
    recorded = BAR.vertices + np.einsum("fk,kni->fni", rng.normal(size=(6, 2)), shapes)
    for base in (affine_space(BAR.vertices, MASS), space_of(4)):
        space = add_recorded(base, recorded, 6)
        assert space.columns == base.columns + 8
        assert space.idle.sum() == 2
        for x in recorded:
            # recorded displacements are learned from in single precision
            np.testing.assert_allclose(space.lift(space.project(x)), x, rtol=0, atol=np.abs(x).max() * 2.0**-23)


def test_what_is_no_recording_of_this_mesh_is_refused() -> None:
    with pytest.raises(TrainingError, match="at least 1"):
        add_recorded(space_of(4), BAR.vertices[None], 0)
    with pytest.raises(TrainingError, match="shape"):
        add_recorded(space_of(4), BAR.vertices[None, 1:], 4)
    with pytest.raises(TrainingError, match="one row a vertex"):
        space_of(4).project(BAR.vertices[1:])


def test_handles_on_every_vertex_of_a_skin_reach_those_inside() -> None:
    skin = np.unique(BAR.surface_triangles())
    assert len(skin) < len(BAR.vertices)
    found = handle_weights(GRAPH, spread_points(GRAPH, len(skin), among=skin), len(skin), 1.5)
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0)
