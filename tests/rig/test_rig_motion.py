"""Motions: keys, what lies between them, derivatives, preroll, loops."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.errors import ArgumentError, SceneError, SuppleWarning
from supple.rig import Skeleton
from supple.rig.keyframes import keyframes, pose_from
from supple.rig.loop import looped
from supple.rig.motion import Motion, turn_columns
from supple.rig.moved import Moved
from supple.rig.preroll import preroll

ARM = Skeleton.of(
    ["hips", "elbow", "wrist"],
    [-1, 0, 1],
    [[0, 1, 0], [0.4, 1, 0], [0.7, 1, 0]],
    [[0.4, 1, 0], [0.7, 1, 0], [0.9, 1, 0]],
)


class Bones:
    """The smallest rig: the ends of the bones of a skeleton."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton, self.rest, self.controls, self.neutral = (
            skeleton,
            skeleton.tails,
            skeleton.controls,
            skeleton.neutral,
        )

    def positions(self, pose, vertices=None):
        R, t = self.skeleton.transforms(pose)
        points = np.einsum("kij,kj->ki", R, self.rest) + t
        return points if vertices is None else points[vertices]

    def embed(self, pose):
        return self.skeleton.embed(pose)


class Slider:
    """A rig without rotations."""

    rest, neutral, controls = np.zeros((1, 3)), np.zeros(1), ("slide",)

    def positions(self, pose, vertices=None):
        return np.array([[pose[0] ** 2, 0.0, 0.0]])

    def embed(self, pose):
        return pose


def random_motion(count=12, seed=3, size=2.5, **options) -> Motion:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.05, 0.2, count))
    return Motion.of(ARM, times, size * rng.uniform(-1, 1, (count, 12)), **options)


def matrices(motion: Motion, poses) -> np.ndarray:
    return Rotation.from_rotvec(np.asarray(poses)[..., motion.turns].reshape(-1, 3)).as_matrix()


def distance(motion: Motion, first, second) -> float:
    """Largest difference of two poses, rotations as matrices."""
    turned = np.abs(matrices(motion, first) - matrices(motion, second)).max()
    return max(turned, np.abs((np.asarray(first) - second)[..., motion.plain]).max())


@pytest.mark.parametrize("between", ["spline", "linear", "ease", "run-up"])
def test_the_curve_hits_its_keys(between):
    motion = random_motion(between=between)
    for time, pose in zip(motion.times, motion.poses, strict=True):
        assert distance(motion, motion.at(time), pose) < 1e-12


def test_a_motion_stands_still_outside_its_keys():
    motion = random_motion()
    assert distance(motion, motion.at(-5.0), motion.poses[0]) < 1e-12
    assert distance(motion, motion.at(99.0), motion.poses[-1]) < 1e-12
    assert np.abs(Moved(Bones(ARM), motion).velocities(99.0)).max() == 0.0


def test_a_single_pose_is_a_motion():
    motion = Motion.of(ARM, [2.0], [np.linspace(0, 1, 12)])
    assert np.allclose(motion.at(7.0), motion.poses[0], atol=1e-14)


@pytest.mark.parametrize("between", ["spline", "linear", "ease"])
def test_a_turn_past_half_a_turn_does_not_go_back(between):
    """From 170 to 190 degrees about z, the second written as -170: the way is 20 degrees, not 340."""
    keys = np.zeros((2, 12))
    keys[:, 8] = np.deg2rad([170, -170])
    halfway = Motion.of(ARM, [0, 1], keys, between).at(0.5)
    assert abs(abs(halfway[8]) - np.pi) < 1e-12


def test_a_steady_spin_written_with_jumps_stays_steady():
    angles = np.deg2rad(np.arange(0, 1080, 30))
    poses = np.zeros((len(angles), 12))
    poses[:, 5] = (angles + np.pi) % (2 * np.pi) - np.pi
    motion = Motion.of(ARM, np.arange(len(angles)) / 30.0, poses)
    moved = Moved(Bones(ARM), motion)
    expected = np.deg2rad(900) * np.linalg.norm(ARM.tails - ARM.heads[0], axis=1)
    for time in np.linspace(0.2, 0.9, 23):
        assert np.allclose(np.linalg.norm(moved.velocities(time), axis=1), expected, rtol=1e-3)


def test_full_turns_added_to_a_key_change_nothing():
    plain = random_motion(size=1.0)
    poses = plain.poses.copy()
    turn = poses[4, 6:9]
    poses[4, 6:9] = turn * (1 + 2 * np.pi / np.linalg.norm(turn))  # the other sign of the quaternion
    wound = Motion.of(ARM, plain.times, poses)
    for time in np.linspace(plain.begin, plain.end, 41):
        assert distance(plain, plain.at(time), wound.at(time)) < 1e-11


@pytest.mark.parametrize("between", ["spline", "ease"])
def test_velocity_and_acceleration_have_no_jump_at_a_key(between):
    motion = random_motion(between=between)
    for time in motion.times[1:-1]:
        _, rates, bends = motion.jet([np.nextafter(time, -9), time])
        assert np.allclose(rates[0], rates[1], atol=1e-8)
        assert np.allclose(bends[0], bends[1], atol=1e-5)


@pytest.mark.parametrize("between", ["spline", "linear", "ease", "run-up"])
def test_derivatives_of_the_curve_are_those_of_its_values(between):
    motion = random_motion(between=between)
    h = 1e-4
    for time in 0.5 * (motion.times[1:] + motion.times[:-1]) + 0.003:
        values, rates, bends = motion.jet([time - h, time, time + h])
        assert np.allclose(rates[1], (values[2] - values[0]) / (2 * h), atol=1e-3, rtol=1e-3)
        assert np.allclose(bends[1], (rates[2] - rates[0]) / (2 * h), atol=1e-1, rtol=1e-2)


def test_vertex_derivatives_agree_with_differences_of_positions_by_their_order():
    motion, rig = random_motion(), Bones(ARM)
    time = 0.5 * (motion.times[5] + motion.times[6])
    moved = Moved(rig, motion)
    for derivative, difference in (
        (moved.velocities(time), lambda h: (moved.positions(time + h) - moved.positions(time - h)) / (2 * h)),
        (
            moved.accelerations(time),
            lambda h: (moved.positions(time + h) - 2 * moved.positions(time) + moved.positions(time - h)) / h**2,
        ),
    ):
        errors = [np.abs(difference(h) - derivative).max() for h in (8e-3, 4e-3, 2e-3)]
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        assert (orders > 1.8).all()


def test_the_differences_of_vertices_are_of_fourth_order():
    motion, rig = random_motion(), Bones(ARM)
    time = motion.times[4]  # at a key, where the third derivative jumps
    exact = Moved(rig, motion)
    for name in ("velocities", "accelerations"):
        reference = getattr(exact, name)(time)
        errors = [np.abs(getattr(Moved(rig, motion, h), name)(time) - reference).max() for h in (8e-3, 4e-3, 2e-3)]
        assert (np.log2(np.array(errors[:-1]) / errors[1:]) > 3.7).all()


def test_a_uniform_rotation_has_its_centripetal_acceleration():
    poses = np.zeros((2, 12))
    poses[1, 5] = 2.0
    moved = Moved(Bones(ARM), Motion.of(ARM, [0, 1], poses, "linear"))
    for time in (0.0, 0.3, 0.9):
        arm = moved.positions(time) - ARM.heads[0]
        assert np.allclose(moved.velocities(time), np.cross([0, 0, 2.0], arm), atol=1e-11)
        assert np.allclose(moved.accelerations(time), -4.0 * arm, atol=1e-9)


def test_chosen_vertices_move_as_among_all():
    moved = Moved(Bones(ARM), random_motion())
    for name in ("positions", "velocities", "accelerations"):
        assert np.array_equal(getattr(moved, name)(0.5, np.array([2, 0])), getattr(moved, name)(0.5)[[2, 0]])


def test_a_rig_without_rotations_moves_too():
    motion = Motion.of(Slider(), [0, 1, 2, 3], [[0], [1], [2], [3]])
    moved = Moved(Slider(), motion)
    assert np.allclose(moved.velocities(1.5), [[3, 0, 0]])
    assert np.allclose(moved.accelerations(1.5), [[2, 0, 0]])


def test_a_motion_of_another_rig_is_refused():
    with pytest.raises(SceneError, match="retarget it"):
        Moved(Slider(), random_motion())


def test_only_joints_of_a_skeleton_are_rotations():
    assert turn_columns(("smile", *ARM.controls)).tolist() == [[4, 5, 6], [7, 8, 9], [10, 11, 12]]
    assert turn_columns(("wire.0.x", "wire.0.y", "wire.0.z", "wire.1.x", "wire.1.y", "wire.1.z")).size == 0
    assert turn_columns(("r.tx", "r.ty", "r.tz", "r.x", "r.y", "r.z", "bend.x", "smile")).tolist() == [[3, 4, 5]]


def test_resampling_keeps_the_motion():
    motion = random_motion(40, size=0.4)
    fine = motion.resampled(60, 4)
    assert np.allclose(np.diff(fine.times), 1 / 240)
    assert motion.end - 1 / 240 < fine.end <= motion.end
    assert max(distance(motion, motion.at(t), fine.at(t)) for t in np.linspace(fine.begin, fine.end, 99)) < 2e-3


def test_a_cut_is_the_motion_between_two_times():
    motion = walking()
    part = motion.cut(0.3, 1.1)
    assert (part.begin, part.end) == (0.3, 1.1)
    assert max(distance(motion, motion.at(t), part.at(t)) for t in np.linspace(0.3, 1.1, 31)) < 1e-4
    with pytest.raises(SceneError, match="stay inside"):
        motion.cut(0.0, 99.0)


def test_a_preroll_leads_from_rest_to_the_first_pose_and_stops_at_both():
    motion = random_motion()
    led = preroll(motion, ARM.neutral, 1.0)
    moved = Moved(Bones(ARM), led)
    assert led.begin == motion.begin - 1.0
    assert np.allclose(moved.positions(led.begin), ARM.tails, atol=1e-14)
    assert np.abs(moved.velocities(led.begin)).max() < 1e-9
    assert np.abs(moved.velocities(np.nextafter(motion.begin, -9))).max() < 1e-9
    assert max(distance(motion, motion.at(t), led.at(t)) for t in np.linspace(motion.begin, motion.end, 31)) < 1e-12


def test_a_run_up_meets_the_velocity_and_acceleration_of_the_motion():
    motion = random_motion()
    led = preroll(motion, ARM.neutral, 1.0, run_up=0.2)
    moved = Moved(Bones(ARM), led)
    assert np.abs(moved.velocities(motion.begin - 0.2)).max() < 1e-9
    before, after = np.nextafter(motion.begin, -9), motion.begin
    assert np.abs(moved.velocities(after)).max() > 1.0
    assert np.allclose(moved.velocities(before), moved.velocities(after), rtol=1e-7, atol=1e-7)
    assert np.allclose(moved.accelerations(before), moved.accelerations(after), rtol=1e-5, atol=1e-4)


def walking(turns=1.23, count=40) -> Motion:
    """A swinging arm that travels and does not close."""
    phase = np.linspace(0, 2 * np.pi * turns, count)
    poses = np.zeros((count, 12))
    poses[:, 0] = 0.3 * phase
    poses[:, 1] = 0.05 * np.sin(2 * phase)
    poses[:, 5], poses[:, 8] = 0.6 * np.sin(phase), 1.0 + 0.8 * np.cos(phase)
    return Motion.of(ARM, phase / 5.0, poses)


@pytest.mark.parametrize("travel", ["keep", "remove"])
def test_a_loop_goes_over_its_seam_without_a_jump(travel):
    loop = looped(walking(), 0.4, travel)
    moved = Moved(Bones(ARM), loop)
    seam = loop.end
    for name, tolerance in (("positions", 1e-12), ("velocities", 1e-6), ("accelerations", 1e-4)):
        before, after = (getattr(moved, name)(time) for time in (np.nextafter(seam, 0), seam))
        assert np.allclose(before, after, rtol=0, atol=tolerance)
    speeds = [np.abs(moved.accelerations(time)).max() for time in np.linspace(0, 2 * seam, 200)]
    assert max(speeds) < 5 * np.median(speeds)


def test_without_a_blend_the_same_loop_pops():
    moved = Moved(Bones(ARM), looped(walking(), 0.0))
    speeds = [np.abs(moved.accelerations(time)).max() for time in np.linspace(0, 2 * moved.motion.end, 400)]
    assert max(speeds) > 20 * np.median(speeds)


def test_a_loop_keeps_or_removes_its_travel():
    motion = walking()
    kept, still = looped(motion, 0.4), looped(motion, 0.4, "remove")
    step = motion.poses[-1, 0] - motion.poses[0, 0]
    assert np.isclose(kept.at(0.3 + 3 * kept.duration)[0] - kept.at(0.3)[0], 3 * step)
    assert np.isclose(kept.at(0.3 + 3 * kept.duration)[1], kept.at(0.3)[1])
    assert np.isclose(still.at(0.3 + 3 * still.duration)[0], still.at(0.3)[0])
    assert np.ptp(still.sampled(np.linspace(0, 5, 200))[:, 0]) < 0.2 * step


def test_a_motion_that_closes_already_is_not_bent():
    motion = walking(turns=1.0, count=60)
    loop = looped(motion, 0.3)
    assert max(distance(motion, motion.at(t), loop.at(t)) for t in np.linspace(0, motion.end, 60)) < 1e-4


def test_a_full_spin_loops():
    poses = np.zeros((13, 12))
    poses[:, 5] = np.deg2rad(np.arange(0, 361, 30))
    loop = looped(Motion.of(ARM, np.arange(13) / 12.0, poses), 0.2)
    rates = [np.linalg.norm(Moved(Bones(ARM), loop).velocities(t)[0]) for t in np.linspace(0, 3, 50)]
    assert np.allclose(rates, 0.4 * 2 * np.pi, rtol=2e-3)


def test_a_resampled_loop_keeps_its_period_and_a_cut_one_goes_round():
    loop = looped(walking(), 0.4)
    fine = loop.resampled(60, 2)
    assert fine.duration == pytest.approx(loop.duration, abs=1e-12)
    assert max(distance(loop, loop.at(t), fine.at(t)) for t in np.linspace(0, 5, 99)) < 1e-4
    long = loop.cut(0.2, 0.2 + 2.5 * loop.duration)
    assert max(distance(loop, loop.at(t), long.at(t)) for t in np.linspace(0.2, long.end, 99)) < 1e-4


def test_keyframes_turn_joints_by_degrees():
    motion = keyframes(ARM, {0.0: {"elbow": (0, 0, 0)}, 1.0: {"elbow": (0, 0, 90)}, 2.0: {"elbow": (10, 20, 30)}})
    assert np.allclose(motion.at(1.0)[6:9], [0, 0, np.pi / 2])
    assert np.allclose(matrices(motion, motion.at(2.0))[1], Rotation.from_euler("xyz", [10, 20, 30], True).as_matrix())
    assert np.abs(Moved(Bones(ARM), motion).velocities(1.0)).max() < 1e-9  # eased: it rests at every key


def test_a_rotation_sets_a_joint_as_its_angles_do():
    turn = Rotation.from_euler("xyz", [10, 120, 30], degrees=True)
    assert np.allclose(pose_from(ARM, {"elbow": turn}), pose_from(ARM, {"elbow": (10, 120, 30)}))
    motion = keyframes(ARM, {0.0: {"elbow": (0, 0, 0)}, 1.0: {"elbow": turn}})
    assert np.allclose(matrices(motion, motion.at(1.0))[1], turn.as_matrix())
    with pytest.raises(SceneError, match=r"'hips.ty' is set by 1 number\(s\), not 3"):
        pose_from(ARM, {"hips.ty": turn})


def test_joints_may_have_keys_at_different_times():
    motion = keyframes(
        ARM, {0.0: {"elbow": (0, 0, 0), "wrist": (0, 0, 0)}, 0.5: {"wrist": (0, 30, 0)}, 1.0: {"elbow": (0, 0, 90)}}
    )
    halfway = motion.at(0.5)
    assert np.allclose(np.rad2deg(halfway[6:9]), [0, 0, 45], atol=1e-9)
    assert np.allclose(np.rad2deg(halfway[9:]), [0, 30, 0], atol=1e-9)
    assert np.allclose(np.rad2deg(motion.at(1.0)[9:]), [0, 30, 0], atol=1e-9)
    assert np.abs(Moved(Bones(ARM), motion).velocities(0.5)).max() > 0.3  # the elbow passes through the wrist's key


def test_plain_controls_are_set_by_numbers():
    assert pose_from(ARM, {"hips.ty": 0.25})[1] == 0.25
    assert keyframes(Slider(), {0.0: {"slide": 0.0}, 1.0: {"slide": 2.0}}).at(0.5)[0] == pytest.approx(1.0)


def test_what_has_no_key_stays_neutral():
    class Lifted(Slider):
        neutral, controls = np.array([0.5, 2.0]), ("slide", "lift")

    assert np.array_equal(pose_from(Lifted(), {"slide": 1.0}), [1.0, 2.0])
    assert np.allclose(keyframes(Lifted(), {0.0: {"slide": 1.0}, 1.0: {"slide": 3.0}}).at(0.5), [2.0, 2.0])


def test_a_joint_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(SceneError, match="no joint or control 'Elbow_L' to animate: did you mean 'elbow'"):
        keyframes(ARM, {0.0: {"Elbow_L": (0, 0, 0)}})


def test_a_key_half_a_turn_away_is_warned_of():
    with pytest.warns(SuppleWarning, match="'elbow' turns by half a turn or more up to its key at 1 s"):
        keyframes(ARM, {0.0: {"elbow": (0, 0, 0)}, 1.0: {"elbow": (0, 0, 200)}})


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Motion.of(ARM, [0, 1], np.zeros((2, 11))), r"Motion.of\(poses\): got shape \(2, 11\); want \(2, 12\)"),
        (lambda: Motion.of(ARM, [], []), r"Motion.of\(times\): got none"),
        (lambda: Motion.of(ARM, [0, 0], np.zeros((2, 12))), "frame 1 of the motion, at 0 s, is not after"),
        (lambda: Motion.of(ARM, [0, np.nan], np.zeros((2, 12))), "time of frame 1 is not a finite number"),
        (
            lambda: Motion.of(ARM, [0, 1], np.where(np.arange(24).reshape(2, 12) == 20, np.nan, 0)),
            "frame 1 of the motion is not a finite number at 'elbow.z'",
        ),
        (lambda: Motion.of(ARM, [0, 1], np.zeros((2, 12)), "wobbly"), "each one of spline, linear, ease, run-up"),
        (lambda: keyframes(ARM, {}), "has no keys"),
        (lambda: pose_from(ARM, {"elbow": (0, 0)}), "'elbow' is set by 3 number"),
        (lambda: pose_from(ARM, {"elbow": (0, 0, np.inf)}), "'elbow' is set to something that is not a finite"),
        (lambda: random_motion().resampled(0), "cannot be sampled at 0"),
        (lambda: random_motion().cut(1.0, 1.0), "end it after it begins"),
        (lambda: preroll(random_motion(), np.zeros(3), 1.0), "neutral pose has 3 numbers, the motion 12"),
        (lambda: preroll(random_motion(), np.zeros(12), 0.1, 0.2), "cannot hold a run-up of 0.2 s"),
        (lambda: looped(random_motion(), 99.0), "blend over a part of it"),
        (lambda: looped(looped(random_motion(), 0.1), 0.1), "that is not a loop yet"),
    ],
)
def test_bad_input_is_named(make, reason):
    with pytest.raises((ArgumentError, SceneError), match=reason):
        make()
