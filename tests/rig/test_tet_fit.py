"""Tet meshes that follow a rigged surface, and the tets that bones cross."""

import numpy as np
import pytest

from supple.elastic import Body
from supple.errors import ConvergenceError, MeshError, SceneError, SuppleWarning
from supple.material import StableNeoHookean
from supple.mesh.embed import embed
from supple.mesh.grid import fill_box
from supple.mesh.tetmesh import TetMesh
from supple.rig.bend import Bend
from supple.rig.bone_crossing import find_bone_crossings
from supple.rig.heat_weights import heat_weights
from supple.rig.part import RigPart
from supple.rig.pose_space import PoseSpace
from supple.rig.shepard import Shepard
from supple.rig.skeleton import Skeleton
from supple.rig.skinning import SkinnedRig
from supple.rig.tet_fit import TetFit, fit_tets
from supple.rig.twist import Twist
from supple.shape import make_character, make_shape


@pytest.fixture(scope="module")
def capsule() -> TetMesh:
    return make_shape("capsule", resolution=12)


@pytest.fixture(scope="module")
def skin() -> np.ndarray:
    """A finer surface of the same capsule."""
    return make_shape("capsule", resolution=18).surface().vertices


def _bend(points: np.ndarray) -> Bend:
    return Bend(points, (-0.15, 0, 0), (0.15, 0, 0), (0, 0, 1))


def test_points_on_vertices_go_where_they_go(capsule):
    rig = _bend(capsule.surface().vertices)
    follower, pose = Shepard(rig, rig.rest[::3]), np.array([0.7])
    np.testing.assert_allclose(follower.positions(pose), rig.positions(pose)[::3], atol=1e-15)


def test_shepard_weighs_by_distance():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [5, 5, 5]])
    rig = Twist(corners, (0, 0, 0), (0, 0, 1))
    point, pose = np.array([[0.3, 0.1, 0.2]]), np.array([0.8])
    away = 1.0 / ((corners[:4] - point) ** 2).sum(axis=1)
    expected = point + (away / away.sum()) @ (rig.positions(pose) - corners)[:4]
    np.testing.assert_allclose(Shepard(rig, point).positions(pose), expected, atol=1e-15)


def test_shepard_at_chosen_points_asks_for_few_vertices(capsule, skin):
    follower, pose = Shepard(_bend(skin), capsule.vertices), np.array([0.7])
    chosen = np.array([100, 5])
    np.testing.assert_allclose(follower.positions(pose, chosen), follower.positions(pose)[chosen], atol=1e-15)


@pytest.mark.parametrize("tolerance", [None, 4e-3])
def test_fit_moves_no_embedded_vertex_by_more_than_its_tolerance(capsule, skin, tolerance):
    rig, poses = _bend(skin), np.array([[0.5], [-0.6]])
    fit = TetFit(capsule, rig, tolerance=tolerance)
    follower = fit_tets(capsule, rig, poses, tolerance=tolerance)
    surface = embed(capsule, skin)
    for pose in (*poses, rig.neutral):
        off = np.linalg.norm(surface.apply(follower.positions(pose)) - rig.positions(pose), axis=1)
        assert off.max() <= fit.tolerance * (1 + 1e-9)


def test_fit_to_its_own_surface_can_be_tight(capsule):
    rig, pose = _bend(capsule.surface().vertices), np.array([1.5])
    x = TetFit(capsule, rig, tolerance=1e-4).fit(pose)
    off = np.linalg.norm(x[capsule.surface_vertices()] - rig.positions(pose), axis=1)
    assert off.max() <= 1e-4


def test_fit_undoes_what_shepard_turns_inside_out(capsule):
    rig, pose = _bend(capsule.surface().vertices), np.array([1.5])
    fit = TetFit(capsule, rig)
    volumes = [TetMesh.volumes(capsule)]
    for x in (fit.rough.positions(pose), fit.fit(pose)):
        corners = x[capsule.tets]
        volumes.append(np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0)
    assert (volumes[1] < 0.0).any()
    assert (volumes[2] / volumes[0]).min() > 0.2


def test_fit_of_a_rigid_turn_is_that_turn(capsule, skin):
    """No strain is needed, so none remains."""
    rig, pose = Twist(skin, (-2.0, 0, 0), (-1.0, 0, 0)), np.array([1.0])
    expected = Twist(capsule.vertices, (-2.0, 0, 0), (-1.0, 0, 0)).positions(pose)
    np.testing.assert_allclose(TetFit(capsule, rig).fit(pose), expected, atol=2e-5)


def test_fitted_rig_is_at_rest_in_the_neutral_pose(capsule, skin):
    follower = fit_tets(capsule, _bend(skin), [[0.5]])
    np.testing.assert_allclose(follower.rest, capsule.vertices, atol=1e-14)
    chosen = np.array([3, 77])
    pose = np.array([0.3])
    np.testing.assert_allclose(follower.positions(pose, chosen), follower.positions(pose)[chosen], atol=1e-14)


def test_tolerance_out_of_reach_names_what_can_be_had(capsule, skin):
    with pytest.raises(ConvergenceError, match=r"in pose 0 .* no nearer than .* mesh finer"):
        fit_tets(capsule, _bend(skin), [[1.0]], tolerance=1e-6)


def test_fits_that_make_no_sense_are_refused(capsule, skin):
    with pytest.raises(SceneError, match="metres above 0"):
        TetFit(capsule, _bend(skin), tolerance=0.0)
    with pytest.raises(SceneError, match="examples 0 and 2"):
        fit_tets(capsule, _bend(skin), [[1.0], [0.5], [1.0]])
    with pytest.raises(MeshError, match="same place and unit"):
        TetFit(capsule, _bend(100.0 * skin))


def test_surface_through_itself_is_told_and_no_tet_is_turned_inside_out(capsule):
    rig, pose = _bend(capsule.surface().vertices), np.array([3.0])
    with pytest.warns(SuppleWarning, match=r"passes through itself, so that \d+ vertices of it had to stay up to 0\.0"):
        x = TetFit(capsule, rig).fit(pose)
    corners = x[capsule.tets]
    assert np.linalg.det(corners[:, 1:] - corners[:, :1]).min() > 0.0


@pytest.mark.parametrize("angle", [135.0, -135.0])
def test_skinned_rod_folds_without_a_tet_inside_out(angle):
    """Where skinning puts tets inside out from 60 degrees on, fits do not; nor do their corrections, half way."""
    mesh, character = make_shape("capsule", resolution=10), make_character("capsule")
    weights, skin = heat_weights(mesh, character.skeleton), mesh.surface_vertices()
    rig = SkinnedRig(character.skeleton, weights, mesh.vertices)
    pose = character.pose({"second": (0.0, 0.0, angle)})
    volumes = Body.build(mesh, StableNeoHookean(young=1e4, poisson=0.4, density=1e3)).jacobians
    assert volumes(rig.positions(pose)).min() < -1.0
    fit = TetFit(mesh, RigPart(rig, skin))
    with pytest.warns(SuppleWarning, match="passes through itself"):
        x = fit.fit(pose)
    assert volumes(x).min() > 0.05
    corrected = PoseSpace(rig, [pose], [x - rig.positions(pose)])
    for share in (0.3, 0.6, 0.9, 1.0):
        assert volumes(corrected.positions(share * pose)).min() > 0.05
    np.testing.assert_allclose(corrected.positions(pose), x, atol=1e-12)


def test_shepard_follows_a_skin_that_moves_rigidly():
    mesh, character = make_shape("capsule", resolution=8), make_character("capsule")
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    pose = rig.neutral.copy()
    pose[:6] = 0.3, -0.1, 0.2, 0.4, 1.0, -0.7
    inside = Shepard(RigPart(rig, mesh.surface_vertices()), mesh.vertices)
    np.testing.assert_allclose(inside.positions(pose), rig.positions(pose), atol=1e-12)
    np.testing.assert_allclose(inside.turns(pose), rig.turns(pose), atol=1e-12)


def _bones() -> Skeleton:
    heads, tails = [(-0.4, 0.01, 0.02), (0.05, -0.02, 0.0)], [(0.05, -0.02, 0.0), (0.6, 0.05, 0.03)]
    return Skeleton.of(["one", "two"], [-1, 0], heads, tails)


def test_crossed_tets_hold_all_samples_of_the_bones(capsule):
    """Every tet that a dense sample of a bone lies in is found; what is found is within reach of the bone."""
    bones = _bones()
    found = find_bone_crossings(capsule.vertices, capsule.tets, bones)
    for bone, (head, tail) in enumerate(zip(bones.heads, bones.tails, strict=True)):
        samples = head + np.linspace(0, 1, 5000)[:, None] * (tail - head)
        where = embed(capsule, samples)
        sampled = np.unique(where.tets[where.weights.min(axis=1) > 1e-6])
        mine = found.tets[found.bones == bone]
        assert set(sampled) <= set(mine)
        missed = np.setdiff1d(mine, sampled)  # crossed on less than the distance of samples
        assert len(missed) <= 0.1 * len(mine)
        for tet in missed:
            corners = capsule.vertices[capsule.tets[tet]]
            local = np.linalg.solve((corners[1:] - corners[0]).T, (samples - corners[0]).T)
            assert np.minimum(local.min(axis=0), 1 - local.sum(axis=0)).max() > -1e-2
    np.testing.assert_array_equal(found.vertices(), np.unique(capsule.tets[found.tets]))
    assert set(found.vertices(0)) <= set(found.vertices())


def test_crossed_tets_turn_with_body_and_bones(capsule):
    bones = _bones()
    pose = np.array([0.1, 0.2, -0.3, 0.4, -0.5, 0.6, 0, 0, 0])
    R, t = bones.transforms(pose)
    posed = find_bone_crossings(capsule.vertices @ R[0].T + t[0], capsule.tets, bones, pose)
    np.testing.assert_array_equal(posed.tets, find_bone_crossings(capsule.vertices, capsule.tets, bones).tets)


def test_bones_along_faces_touch_both_sides_and_bones_outside_nothing():
    block = fill_box((0, 0, 0), (1, 1, 1), 2, None)
    edge = Skeleton.of(["edge", "out", "point"], [-1, 0, 0], [(0.5, 0.5, 0), (2, 2, 2), (0.31, 0.17, 0.43)],
                       [(0.5, 0.5, 1), (3, 2, 2), (0.31, 0.17, 0.43)])  # fmt: skip
    found = find_bone_crossings(block.vertices, block.tets, edge)
    at = np.flatnonzero((np.abs(block.vertices[:, :2] - 0.5) < 1e-12).all(axis=1))
    around = np.flatnonzero(np.isin(block.tets, at).any(axis=1))
    assert set(around) <= set(found.tets[found.bones == 0])
    assert len(found.vertices(1)) == 0
    assert len(found.vertices(2)) == 4
