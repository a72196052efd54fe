import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.rig.keyframes import pose_from
from supple.shape import Bone, make_character
from supple.shape.bone import mirror_bones, other_side

HINGED = Bone("left_thumb", "hand", (0.1, 0.2, 0.0), (0.3, 0.5, 0.1), x=(-20, 75), z=(-5, 10), hinge=(0.4, -0.5, 0.7))
PLAIN = Bone("left_arm", "hand", (0.1, 0.2, 0.0), (0.3, 0.5, 0.1), x=(-90, 90), y=(-30, 60), z=(-5, 45))
MIRROR = np.diag([-1.0, 1.0, 1.0])


def matrix(turn: np.ndarray) -> np.ndarray:
    return Rotation.from_rotvec(turn).as_matrix()


@pytest.mark.parametrize("bone", [PLAIN, HINGED])
@pytest.mark.parametrize("angles", [(0, 0, 0), (40, 0, 0), (30, -50, 20), (-170, 80, 100)])
def test_angles_come_back_from_their_turn(bone: Bone, angles: tuple[float, float, float]) -> None:
    np.testing.assert_allclose(bone.angles(bone.turn(angles)), angles, atol=1e-9)


def test_plain_bones_turn_as_keyframes_do() -> None:
    arm = make_character("arm")
    angles = (20, -40, 60)
    np.testing.assert_allclose(arm.pose({"upper_arm": angles}), pose_from(arm.skeleton, {"upper_arm": angles}))


def test_a_hinge_is_square_to_its_bone_and_a_twist_leaves_the_bone_where_it_is() -> None:
    axes, along = HINGED.axes, np.subtract(HINGED.tail, HINGED.head)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    np.testing.assert_allclose(matrix(HINGED.turn((0, 35, 0))) @ along, along, atol=1e-12)
    np.testing.assert_allclose(matrix(HINGED.turn((35, 0, 0))) @ axes[:, 0], axes[:, 0], atol=1e-12)


@pytest.mark.parametrize("bone", [PLAIN, HINGED])
def test_a_mirrored_bone_with_mirrored_angles_is_the_mirror_image(bone: Bone) -> None:
    left, right = mirror_bones([bone])
    assert right.name == other_side(left.name) == left.name.replace("left", "right")
    np.testing.assert_allclose(right.head, MIRROR @ left.head)
    np.testing.assert_allclose(
        matrix(right.turn((30, 20, -10))), MIRROR @ matrix(left.turn((30, -20, 10))) @ MIRROR, atol=1e-12
    )
    np.testing.assert_array_equal(right.ranges, [left.x, (-left.y[1], -left.y[0]), (-left.z[1], -left.z[0])])


def test_limits_are_the_ranges_of_a_plain_bone_and_a_box_around_those_of_a_hinge() -> None:
    np.testing.assert_allclose(PLAIN.limits(), np.radians(PLAIN.ranges).T)
    low, high = HINGED.limits()
    for angles in [(-20, 0, 0), (75, 0, 0), (0, 0, -5), (0, 0, 10)]:
        turn = HINGED.turn(angles)
        assert (turn >= low - 1e-12).all()
        assert (turn <= high + 1e-12).all()
