import numpy as np
import pytest

from supple.errors import SceneError
from supple.rig.inverse_kinematics import Chain
from supple.rig.wire import Wire
from supple.shape import SHAPES, Character, bend_cross, make_character, make_shape

BONES = {
    "capsule": 2,
    "cylinder": 2,
    "x": 9,
    "creature": 15,
    "finger": 3,
    "arm": 5,
    "hand": 10,
    "head": 2,
    "figure": 17,
    "bear": 17,
    "ape": 16,
    "walker": 52,
}
CHARACTERS = {name: make_character(name) for name in BONES}


def along_bones(character: Character) -> np.ndarray:
    skeleton = character.skeleton
    share = np.linspace(0.0, 1.0, 21)[:, None, None]
    return (skeleton.heads + share * (skeleton.tails - skeleton.heads)).reshape(-1, 3)


def excess(character: Character, poses: np.ndarray) -> float:
    """How far poses leave the ranges [degrees]."""
    low, high = np.moveaxis(character.ranges, -1, 0)
    angles = np.array([character.angles(pose) for pose in poses])
    return float(np.maximum(low - angles, angles - high).max())


def test_all_shapes_that_bend_have_their_number_of_bones() -> None:
    assert {name: len(character.skeleton) for name, character in CHARACTERS.items()} == BONES
    assert [name for name, shape in SHAPES.items() if shape.animate is None] == ["beam", "thin_beam", "box", "sphere"]


@pytest.mark.parametrize("name", BONES)
def test_bones_lie_well_inside_the_body(name: str) -> None:
    field = SHAPES[name].distance()
    depths = field(along_bones(CHARACTERS[name]))
    assert depths.max() < -1e-3 * (field.high - field.low).max()


@pytest.mark.parametrize("name", BONES)
def test_every_bone_but_the_root_hangs_from_the_first(name: str) -> None:
    skeleton = CHARACTERS[name].skeleton
    assert (skeleton.parents[1:] >= 0).all()
    assert (np.linalg.norm(skeleton.tails - skeleton.heads, axis=1) > 0).all()


@pytest.mark.parametrize("name", BONES)
def test_poses_stay_within_the_ranges_and_differ(name: str) -> None:
    character = CHARACTERS[name]
    poses = np.array(list(character.poses.values()))
    assert next(iter(character.poses)) == "rest"
    assert not poses[0].any()
    assert len(np.unique(poses, axis=0)) == len(poses) >= 4
    assert excess(character, poses) < 1e-6


@pytest.mark.parametrize("name", BONES)
def test_the_motion_is_a_loop_that_hardly_leaves_the_ranges(name: str) -> None:
    character = CHARACTERS[name]
    motion = character.motion
    assert motion.gain is not None
    np.testing.assert_array_equal(motion.poses[0], motion.poses[-1])
    np.testing.assert_allclose(motion.at(motion.begin), motion.at(motion.end), atol=1e-12)
    moving = motion.sampled(np.linspace(motion.begin, motion.end, 50))
    assert np.ptp(moving, axis=0).max() > np.radians(20)
    assert excess(character, moving) < 5.0


@pytest.mark.parametrize("name", ["creature", "x", "figure", "bear", "ape", "walker"])
def test_left_and_right_are_mirror_images(name: str) -> None:
    skeleton = CHARACTERS[name].skeleton
    for k, label in enumerate(skeleton.names):
        if label.startswith("left_"):
            other = skeleton.number(label.replace("left_", "right_"))
            np.testing.assert_array_equal(skeleton.tails[other], skeleton.tails[k] * [-1, 1, 1])
        elif not label.startswith("right_"):
            assert skeleton.heads[k, 0] == skeleton.tails[k, 0] == 0.0


@pytest.mark.parametrize(("name", "step"), [("figure", "step"), ("walker", "pass"), ("bear", "step"), ("ape", "beat")])
def test_steps_to_the_right_mirror_those_to_the_left(name: str, step: str) -> None:
    character = CHARACTERS[name]
    skeleton = character.skeleton
    places = {}
    for side in ("left", "right"):
        R, t = skeleton.transforms(character.poses[f"{step}_{side}"])
        ends = np.einsum("kij,kj->ki", R, skeleton.tails) + t
        places[side] = dict(zip(skeleton.names, ends, strict=True))
    for label, place in places["left"].items():
        image = {"left": "right", "right": "left"}.get(side := label.split("_")[0], side) + label[len(side) :]
        np.testing.assert_allclose(places["right"][image], place * [-1, 1, 1], atol=1e-12)


def test_skeletons_and_shifts_grow_with_the_body() -> None:
    small, large = make_character("figure"), make_character("figure", height=3.4)
    np.testing.assert_allclose(large.skeleton.heads, 2 * small.skeleton.heads)
    np.testing.assert_allclose(large.poses["crouch"][:3], 2 * small.poses["crouch"][:3])
    np.testing.assert_array_equal(large.poses["crouch"][3:], small.poses["crouch"][3:])
    long = make_character("capsule", length=2.0, radius=0.2)
    np.testing.assert_allclose(long.skeleton.tails[-1], [0.8, 0.0, 0.0])
    field = SHAPES["x"].distance(length=2.0, thickness=0.15, depth=0.1)
    assert field(along_bones(make_character("x", length=2.0, thickness=0.15, depth=0.1))).max() < 0


def test_the_same_character_has_the_same_bytes() -> None:
    first, second = (make_character("walker") for _ in range(2))
    assert first.skeleton.heads.tobytes() == second.skeleton.heads.tobytes()
    assert first.motion.poses.tobytes() == second.motion.poses.tobytes()


@pytest.mark.parametrize("angle", [-135.0, 60.0, 135.0])
def test_the_x_bends_its_arms_by_one_angle(angle: float) -> None:
    character = CHARACTERS["x"]
    R, _ = character.skeleton.transforms(character.pose(bend_cross(angle)))
    ends = [R[character.skeleton.number(f"left_{part}_far")] for part in ("upper", "lower")]
    turn = ends[0] @ ends[1].T
    assert np.degrees(np.arctan2(turn[2, 1], turn[1, 1])) == pytest.approx(angle)
    assert turn[0, 0] == pytest.approx(1.0)


def test_the_wires_of_the_bear_have_144_degrees_of_freedom_and_go_with_its_bones() -> None:
    character = CHARACTERS["bear"]
    mesh = make_shape("bear", elements=2_000)
    wire = Wire(mesh.vertices, {name: curve.points for name, curve in character.curves.items()}, 0.35, 0.9)
    assert len(wire.controls) == len(character.wire_pose(character.poses["rest"])) == 144
    assert not character.wire_pose(character.poses["rest"]).any()
    shifted = character.pose({"shift": (0.1, 0.2, 0.3)})
    np.testing.assert_allclose(character.wire_pose(shifted).reshape(-1, 3), np.tile([0.1, 0.2, 0.3], (48, 1)))
    tip = character.curves["spine"].posed(character.skeleton, character.poses["sniff"])[-1]
    R, t = character.skeleton.transforms(character.poses["sniff"])
    head = character.skeleton.number("head")
    np.testing.assert_allclose(tip, R[head] @ character.skeleton.tails[head] + t[head])
    moved = wire.positions(character.wire_pose(character.poses["sniff"]))
    nose = np.argmax(mesh.vertices[:, 2])
    assert moved[nose, 1] < mesh.vertices[nose, 1] - 0.3


def test_the_arm_reaches_within_its_limits() -> None:
    character = CHARACTERS["arm"]
    reach = Chain(character.skeleton, "upper_arm", "hand", character.limits).reach((0.3, 0.3, 0.35))
    assert reach.reached
    elbow = character.angles(reach.pose)[character.skeleton.number("forearm"), 0]
    assert 0 < elbow < 145


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("beam", {}, "'beam' has no skeleton; use one of capsule"),
        ("hnad", {}, "did you mean 'hand'?"),
        ("hand", {"height": 1.0}, "no size 'height'"),
        ("hand", {"length": 0.0}, "length = 0.0"),
        ("capsule", {"length": 0.2}, "below half the length"),
        ("x", {"thickness": 2.0}, "smaller thickness"),
    ],
)
def test_characters_that_cannot_be_are_refused(name: str, size: dict[str, float], message: str) -> None:
    with pytest.raises(SceneError) as caught:
        make_character(name, **size)
    assert message in str(caught.value)


def test_a_bone_that_is_not_there_is_named() -> None:
    with pytest.raises(SceneError, match="no joint 'wing'"):
        CHARACTERS["bear"].pose({"wing": (0, 0, 0)})
