"""Interpolation in pose space, and rigs corrected by it."""

import numpy as np
import pytest

from supple.errors import ArgumentError, SceneError
from supple.rig.bend import Bend
from supple.rig.blend_shapes import BlendShapes
from supple.rig.heat_weights import heat_weights
from supple.rig.part import pick_part
from supple.rig.pose_space import PoseSpace
from supple.rig.pose_weights import PoseWeights
from supple.rig.rig import Rig
from supple.rig.skeleton import Skeleton
from supple.rig.skinning import SkinnedRig
from supple.rig.stack import Stack
from supple.shape import make_character, make_shape

RNG = np.random.default_rng(11)
POINTS = RNG.uniform((-0.5, -0.1, -0.1), (0.5, 0.1, 0.1), (40, 3))


def _rig() -> Stack:
    shapes = BlendShapes(POINTS, {"fat": 1.3 * POINTS, "long": POINTS * [1.5, 1, 1]})
    return Stack(shapes, Bend(POINTS, (-0.2, 0, 0), (0.2, 0, 0), (0, 0, 1)))


class _Bones:
    """A rig that is nothing but its skeleton: the tails of two bones."""

    def __init__(self) -> None:
        self.skeleton = Skeleton.of(["a", "b"], [-1, 0], [(0, 0, 0), (1, 0, 0)], [(1, 0, 0), (2, 0, 0)])
        self.rest, self.neutral, self.controls = self.skeleton.tails, self.skeleton.neutral, self.skeleton.controls

    def positions(self, pose, vertices=None):
        R, t = self.skeleton.transforms(pose)
        moved = np.einsum("kij,kj->ki", R, self.rest) + t
        return moved if vertices is None else moved[vertices]

    def embed(self, pose):
        return self.skeleton.embed(pose)


@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_weights_are_one_at_home_and_zero_at_the_others(count):
    points = RNG.standard_normal((count, 5))
    weights = PoseWeights(points)
    np.testing.assert_allclose([weights.at(point) for point in points], np.eye(count), atol=1e-12)


def test_weights_sum_to_one_and_stay_bounded_far_away():
    weights = PoseWeights(RNG.standard_normal((6, 3)))
    for size in (0.1, 1.0, 1e3, 1e6):
        found = weights.at(size * RNG.standard_normal(3))
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.abs(found).max() < 10.0


def test_weights_follow_the_radial_sum_of_the_paper():
    """Eq. (2) of [XB16] for three points on a line, by hand: between neighbours they are hats."""
    weights = PoseWeights([[0.0], [1.0], [3.0]])
    np.testing.assert_allclose(weights.at([0.25]), [0.75, 0.25, 0.0], atol=1e-14)
    np.testing.assert_allclose(weights.at([2.0]), [0.0, 0.5, 0.5], atol=1e-14)


def test_weights_go_negative_beyond_examples():
    """A known weakness of φ(r) = r: who needs positive weights clamps them."""
    found = PoseWeights([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]).at([1.0, 3.0])
    assert found.min() < -0.1
    assert found.sum() == pytest.approx(1.0)


def test_weights_do_not_depend_on_the_unit_of_length():
    points, at = RNG.standard_normal((7, 4)), RNG.standard_normal(4)
    np.testing.assert_allclose(PoseWeights(1e-3 * points).at(1e-3 * at), PoseWeights(points).at(at), rtol=1e-9)


@pytest.mark.parametrize("gap", [0.0, 1e-8])
def test_examples_given_twice_are_named(gap):
    points = RNG.standard_normal((5, 3))
    points[4] = points[1] + gap
    with pytest.raises(SceneError, match="examples 1 and 4"):
        PoseWeights(points)


@pytest.mark.parametrize("rig", [_rig(), _Bones()], ids=["deformers", "skeleton"])
def test_examples_are_reproduced(rig):
    poses = rig.neutral + 0.5 * RNG.standard_normal((6, len(rig.controls)))
    corrections = 0.1 * RNG.standard_normal((6, *rig.rest.shape))
    corrected = PoseSpace(rig, poses, corrections)
    for pose, correction in zip(poses, corrections, strict=True):
        np.testing.assert_allclose(corrected.positions(pose), rig.positions(pose) + correction, atol=1e-12)
    np.testing.assert_allclose(corrected.rest, rig.rest, atol=1e-12)


def test_chosen_vertices_are_where_they_are_among_all():
    rig = _rig()
    corrected = PoseSpace(rig, [[0.2, 0.0, 1.0], [0.0, 0.1, -1.0]], 0.1 * RNG.standard_normal((2, 40, 3)))
    pose, chosen = np.array([0.1, 0.1, 0.4]), np.array([30, 2])
    np.testing.assert_allclose(corrected.positions(pose, chosen), corrected.positions(pose)[chosen], atol=1e-14)


@pytest.mark.parametrize("mode", ["linear", "dual_quaternion"])
def test_a_part_of_a_corrected_skin_moves_as_the_whole(mode):
    mesh, skeleton = make_shape("finger", resolution=10), make_character("finger").skeleton
    skin = SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices, mode)
    poses = np.zeros((2, len(skin.neutral)))
    poses[:, 8], poses[:, 11] = (0.6, -0.5), (0.7, 0.2)
    corrected = PoseSpace(skin, poses, 0.01 * RNG.standard_normal((2, len(mesh.vertices), 3)))
    pose, chosen = 0.4 * poses[0] + 0.3 * poses[1] + 0.1, np.array([30, 2, 17])
    part, whole = pick_part(corrected, chosen), corrected.positions(pose)
    np.testing.assert_allclose(part.positions(pose), whole[chosen], atol=1e-14)
    moved = np.einsum("kij,kj->ki", skin.turns(pose), corrected.correction(pose))
    np.testing.assert_allclose(whole, skin.positions(pose) + moved, atol=1e-14)


def test_one_example_fades_in_from_the_neutral_pose():
    rig = _rig()
    correction = np.full((40, 3), 0.1)
    corrected = PoseSpace(rig, [[0.0, 0.0, 1.0]], [correction])
    half = np.array([0.0, 0.0, 0.5])
    np.testing.assert_allclose(corrected.positions(half) - rig.positions(half), 0.05, atol=1e-14)
    np.testing.assert_allclose(corrected.rest, rig.rest, atol=1e-14)


def test_correction_of_the_neutral_pose_itself_is_kept():
    rig = _rig()
    corrected = PoseSpace(rig, [rig.neutral], [np.full((40, 3), 0.1)])
    np.testing.assert_allclose(corrected.rest, rig.rest + 0.1, atol=1e-15)


def test_angles_of_a_skeleton_do_not_wrap():
    """An example at +179 degrees is next to a pose at -179 degrees."""
    bones = _Bones()
    almost, beyond = np.zeros(9), np.zeros(9)
    almost[8], beyond[8] = np.radians([179.0, -179.0])
    other = np.zeros(9)
    other[8] = np.radians(-90.0)
    corrected = PoseSpace(bones, [almost, other], [np.ones((2, 3)), np.zeros((2, 3))])
    np.testing.assert_allclose(corrected.positions(beyond) - bones.positions(beyond), 1.0, atol=0.05)


def test_a_corrected_rig_can_be_corrected_again():
    rig = _rig()
    poses = np.array([[0.3, 0.0, 0.5], [0.0, 0.3, -0.5]])
    once: Rig = PoseSpace(rig, poses, 0.1 * RNG.standard_normal((2, 40, 3)))
    twice = PoseSpace(once, poses, 0.1 * np.ones((2, 40, 3)))
    np.testing.assert_allclose(twice.positions(poses[1]), once.positions(poses[1]) + 0.1, atol=1e-13)


@pytest.mark.parametrize(
    ("poses", "corrections", "message"),
    [
        ([[0, 0, 1.0], [0, 0, 1.0]], np.zeros((2, 40, 3)), "examples 0 and 1"),
        ([[0, 0, 1.0]], np.zeros((1, 39, 3)), r"PoseSpace\(corrections\): got shape \(1, 39, 3\); want \(1, 40, 3\)"),
        ([[0, 0, 1.0]], np.full((1, 40, 3), np.nan), "example 0 is not finite"),
        ([[0, 0, np.nan]], np.zeros((1, 40, 3)), "'bend.angle'"),
        (np.zeros((0, 3)), np.zeros((0, 40, 3)), "at least one pose"),
    ],
)
def test_examples_that_make_no_sense_are_refused(poses, corrections, message):
    with pytest.raises((ArgumentError, SceneError), match=message):
        PoseSpace(_rig(), poses, corrections)


def test_corrections_of_a_skin_go_where_the_body_goes():
    """Turned and carried off as a whole, a corrected body is the same body."""
    mesh, character = make_shape("capsule", resolution=6), make_character("capsule")
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    bent, correction = character.poses["bent"], 0.01 * RNG.standard_normal(mesh.vertices.shape)
    corrected = PoseSpace(rig, [bent], [correction])
    np.testing.assert_allclose(corrected.positions(bent), rig.positions(bent) + correction, atol=1e-12)
    gone = bent.copy()
    gone[:6] = 5.0, 0.0, 1.0, 0.3, -1.2, 0.8
    R, t = (values[0] for values in character.skeleton.transforms(gone))
    np.testing.assert_allclose(corrected.positions(gone), corrected.positions(bent) @ R.T + t, atol=1e-9)
