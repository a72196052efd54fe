"""Retargeting: names, rest poses, proportions, travel, and what is told about them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.errors import SceneError
from supple.rig import Skeleton
from supple.rig.joint_names import match_joints, part_of
from supple.rig.loop import looped
from supple.rig.motion import Motion
from supple.rig.retarget import retarget

CAPTURED = (
    "Hips",
    *("LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"),
    *("Spine", "Neck", "Head"),
    *("LeftArm", "LeftForeArm", "LeftHand", "RightArm", "RightForeArm", "RightHand"),
)
MODELLED = (
    "pelvis",
    *("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"),
    *("spine", "neck", "head"),
    *("upper_arm.L", "forearm.L", "hand.L", "upper_arm.R", "forearm.R", "hand.R"),
)
PARENTS = [-1, 0, 1, 2, 0, 4, 5, 0, 7, 8, 7, 10, 11, 7, 13, 14]
CHAINS = [(1, 2), (2, 3), (4, 5), (5, 6), (8, 9), (10, 11), (11, 12), (13, 14), (14, 15)]


def person(names=CAPTURED, leg=0.4, arm=0.3, droop=0.0, base=0.0) -> Skeleton:
    """A figure of y up and z forward; its arms droop from the horizontal by degrees, its feet are at height `base`."""
    c, s = np.cos(np.deg2rad(droop)), -np.sin(np.deg2rad(droop))
    hip = base + 2 * leg + 0.05
    heads = [[0.0, hip, 0.0]]
    tails = [[0.0, hip + 0.25, 0.0]]
    for side in (1, -1):
        heads += [[0.1 * side, hip - 0.05 - leg * k, 0.0] for k in range(3)]
        tails += [*heads[-2:], [0.1 * side, base, 0.15]]
    heads += [[0, hip + 0.25, 0], [0, hip + 0.6, 0], [0, hip + 0.7, 0]]
    tails += [*heads[-2:], [0, hip + 0.9, 0]]
    for side in (1, -1):
        heads += [[side * (0.2 + arm * k * c), hip + 0.5 + arm * k * s, 0.0] for k in range(3)]
        tails += [*heads[-2:], [side * (0.2 + arm * 2.4 * c), hip + 0.5 + arm * 2.4 * s, 0.0]]
    return Skeleton.of(names, PARENTS, heads, tails)


def move(skeleton: Skeleton, count=7, seed=5) -> Motion:
    rng = np.random.default_rng(seed)
    poses = rng.uniform(-0.9, 0.9, (count, len(skeleton.controls)))
    poses[:, :3] = rng.uniform(-0.2, 0.2, (count, 3)) + np.linspace(0, 2, count)[:, None] * [0, 0, 1]
    return Motion.of(skeleton, np.arange(count) / 10.0, poses)


def places(skeleton: Skeleton, pose) -> dict[str, np.ndarray]:
    R, t = skeleton.transforms(pose)
    return dict(zip(skeleton.names, np.einsum("kij,kj->ki", R, skeleton.heads) + t, strict=True))


def directions(skeleton: Skeleton, pose, names) -> np.ndarray:
    at = places(skeleton, pose)
    bones = np.array([at[names[b]] - at[names[a]] for a, b in CHAINS])
    return bones / np.linalg.norm(bones, axis=1, keepdims=True)


def test_the_same_skeleton_gets_the_same_motion():
    skeleton = person()
    motion = move(skeleton)
    made = retarget(motion, skeleton, skeleton)
    assert made.scale == 1.0
    assert (made.assumed, made.source_only, made.target_only) == ((), (), ())
    for before, after in zip(motion.poses, made.motion.poses, strict=True):
        for one, other in zip(skeleton.transforms(before), skeleton.transforms(after), strict=True):
            assert np.allclose(one, other, atol=1e-13)


@pytest.mark.parametrize("droop", [0.0, 45.0, 80.0])
def test_bones_of_other_proportions_and_rest_point_the_same_way(droop):
    source, target = person(), person(MODELLED, leg=0.7, arm=0.2, droop=droop)
    motion = move(source)
    made = retarget(motion, source, target)
    for before, after in zip(motion.poses, made.motion.poses, strict=True):
        wanted, got = directions(source, before, CAPTURED), directions(target, after, MODELLED)
        assert np.allclose(wanted, got, atol=1e-12)


def test_a_motion_with_other_axes_is_turned():
    source, target = person(), person(MODELLED, droop=30.0)
    z_up = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    turned = Skeleton.of(CAPTURED, PARENTS, *_sorted_as(source, z_up))
    motion = move(source)
    poses = (motion.poses.reshape(len(motion.poses), -1, 3) @ z_up.T).reshape(motion.poses.shape)
    made = retarget(Motion.of(turned, motion.times, poses), turned, target)
    plain = retarget(motion, source, target)
    assert np.allclose(made.axes, z_up.T)
    assert np.allclose(made.motion.poses, plain.motion.poses, atol=1e-10)
    assert any("turned by 90 degrees" in line for line in made.lines())


def _sorted_as(skeleton: Skeleton, turn):
    order = [skeleton.number(name) for name in CAPTURED]
    return skeleton.heads[order] @ turn.T, skeleton.tails[order] @ turn.T


def test_travel_is_scaled_by_the_legs():
    source, target = person(leg=0.4), person(MODELLED, leg=0.2)
    motion = move(source)
    made = retarget(motion, source, target)
    assert made.scale == pytest.approx(0.5)
    assert made.scaled_by == "leg length"
    walked = made.motion.poses[:, :3] - made.motion.poses[0, :3]
    assert np.allclose(walked, 0.5 * (motion.poses[:, :3] - motion.poses[0, :3]), atol=1e-12)


def test_a_rest_with_its_hips_in_the_origin_does_not_lift_the_target():
    """Captured skeletons often rest at the origin and are moved to their height by the motion."""
    standing, target = person(), person(MODELLED)
    hanging = person(base=-0.85)
    motion = move(standing)
    poses = motion.poses.copy()
    poses[:, 1] += 0.85
    for rig, moved in ((standing, motion), (hanging, Motion.of(hanging, motion.times, poses))):
        made = retarget(moved, rig, target)
        assert np.allclose(made.motion.poses[:, :3], motion.poses[:, :3], atol=1e-12)
    again = retarget(Motion.of(hanging, motion.times, poses), hanging, hanging)
    assert np.allclose(again.motion.poses[:, :3], poses[:, :3], atol=1e-12)


def test_joints_without_a_partner_follow_and_are_told():
    source = person()
    heads, tails = (np.vstack([points, [[0, 0, 0], [0, 2, 0]]]) for points in _sorted_as(source, np.eye(3)))
    target = Skeleton.of([*MODELLED, "armature", "hat"], [16, *PARENTS[1:], -1, 9], heads, tails)
    names = {"spine": "Neck", "neck": "Spine"}
    made = retarget(move(source), source, target)
    assert set(made.target_only) == {"armature", "hat"}
    at = [made.motion.controls.index(f"hat.{axis}") for axis in "xyz"]
    assert np.abs(made.motion.poses[:, at]).max() < 1e-12
    for before, after in zip(move(source).poses, made.motion.poses, strict=True):
        assert np.allclose(places(source, before)["Hips"], places(target, after)["pelvis"], atol=1e-12)
    told = " / ".join(retarget(move(source), source, target, names).lines())
    assert "without a partner in the target: armature, hat" in told


def test_the_report_tells_what_was_matched_and_assumed():
    source, target = person(), person(MODELLED, leg=0.6)
    lines = retarget(move(source), source, target).lines()
    assert lines[0] == "16 joints matched, 7 of them by assumption"
    assert "LeftArm = upper_arm.L" in lines[1]
    assert "LeftLeg = shin.L" in lines[1]
    assert lines[-1] == "travel scaled by 1.5 (leg length)"


def test_names_given_go_before_names_alike():
    source, target = person(), person()
    made = retarget(move(source), source, target, {"LeftHand": "RightHand", "RightHand": "LeftHand"})
    assert "16 joints matched" in made.lines()[0]
    mirrored = retarget(move(source), source, target, {"LeftHand": "RightHand"})
    assert mirrored.source_only == ("LeftHand",)
    assert mirrored.target_only == ("RightHand",)


def test_a_loop_stays_a_loop():
    source, target = person(), person(MODELLED, leg=0.2)
    loop = looped(move(source), 0.2)
    made = retarget(loop, source, target).motion
    assert made.gain is not None
    assert np.allclose(made.gain[:3], 0.5 * loop.gain[:3], atol=1e-12)
    assert np.allclose(made.at(0.1 + 2 * made.duration)[:3], made.at(0.1)[:3] + 2 * made.gain[:3])


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (["LeftShoulder", "LeftArm"], ["left clavicle", "left upper arm"]),
        (["lshoulder", "lelbow"], ["left upper arm", "left forearm"]),
        (["LeftUpLeg", "LeftLeg"], ["left thigh", "left shin"]),
        (["leg_l", "knee_l"], ["left thigh", "left shin"]),
        (["rankle", "rfoot"], ["right foot", "right toes"]),
        (["mixamorig:RightHand", "Bip01 R Calf", "Hip", "hip.R"], ["right hand", "right shin", "hips", "right thigh"]),
        (["tail", "left_ear"], ["", ""]),
    ],
)
def test_names_of_many_programs_are_understood(names, part):
    assert list(part_of(names).values()) == part


def test_helpers_are_matched_last():
    assert match_joints(["LeftUpLeg"], ["__UpLeg_L", "UpLeg_L"]) == {"UpLeg_L": ("LeftUpLeg", False)}


def test_real_captures_walk_on_built_in_shapes(shared_data):
    from supple.io.bvh import load_bvh

    source, motion = load_bvh(shared_data / "mocap" / "02_01.bvh", 0.056444)
    target = person(MODELLED, leg=0.3, droop=60.0)
    made = retarget(
        replace(motion, times=motion.times[:40], poses=motion.poses[:40], between=motion.between[:39]), source, target
    )
    for before, after in zip(motion.poses[:40:13], made.motion.poses[::13], strict=True):
        one, other = places(source, before), places(target, after)
        thigh, same = one["LeftLeg"] - one["LeftUpLeg"], other["shin.L"] - other["thigh.L"]
        assert np.allclose(thigh / np.linalg.norm(thigh), same / np.linalg.norm(same), atol=1e-12)
        assert -0.1 < min(place[1] for place in other.values()) < 0.15  # it stands on the ground


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: retarget(move(person()), person(MODELLED), person()), "does not belong to the source skeleton"),
        (
            lambda: retarget(move(person()), person(), Skeleton.of(["rod"], [-1], [[0, 0, 0]], [[1, 0, 0]])),
            r"no joint of the target \(rod, \.\.\.\) is known in the source .* say which correspond",
        ),
        (lambda: retarget(move(person()), person(), person(), {"Tail": "Hips"}), "no joint 'Tail'"),
        (lambda: retarget(move(person()), person(), person(), axes=2 * np.eye(3)), "not a rotation matrix"),
        (lambda: retarget(move(person()), person(), person(), axes=-np.eye(3)), "not a rotation matrix"),
    ],
)
def test_what_cannot_be_retargeted_is_named(make, reason):
    with pytest.raises(SceneError, match=reason):
        make()
