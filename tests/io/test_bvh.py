"""Motions from files: BVH and lists of poses."""

import numpy as np
import pytest

from supple.errors import FileFormatError, SceneError, SuppleWarning
from supple.io.bvh import load_bvh
from supple.io.pose_list import load_bone_frames, load_pinocchio_motion

TEXT = """HIERARCHY
ROOT hips
{
  OFFSET 1 2 3
  CHANNELS 6 Yposition Xposition Zposition Zrotation Xrotation Yrotation
  JOINT left arm {
    OFFSET 0 1 0
    CHANNELS 3 Yrotation Zrotation Xrotation
    End Site
    {
      OFFSET 0 0.5 0
    }
  }
  JOINT stub
  {
    OFFSET 0 -1 0
    CHANNELS 0
  }
  JOINT knee
  {
    OFFSET 0 -2 0
    CHANNELS 4 Xrotation Xposition Yposition Zposition
  }
}
MOTION
Frames: 3
Frame Time: 0.05
0 0 0 0 0 0 0 0 0 0 0 0 0
1 2 3 10 20 30 40 50 60 70 0 0 0
1 2 3 -170 80 30 40 150 60 70 0 0 0
"""
ZYX = {"x": [0, 1, 2], "y": [1, 2, 0], "z": [2, 0, 1]}


def write(tmp_path, text=TEXT):
    path = tmp_path / "a.bvh"
    path.write_text(text)
    return path


def turn(axis: str, degrees: float) -> np.ndarray:
    """A homogeneous rotation about an axis."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    a, b = ZYX[axis][1:]
    matrix = np.eye(4)
    matrix[a, a], matrix[a, b], matrix[b, a], matrix[b, b] = c, -s, s, c
    return matrix


def joint_places(path, frame: int) -> dict[str, np.ndarray]:
    """Where the joints are in a frame, by multiplying the matrices of the channels straight out of the text."""
    head, body = path.read_text().split("MOTION")
    numbers = iter([float(word) for word in body.strip().split("\n")[2 + frame].split()])
    stack, places, name, at_end = [np.eye(4)], {}, "", False
    for line in head.replace("{", "\n{\n").split("\n"):
        match line.split():
            case ["ROOT" | "JOINT", *words]:
                name = " ".join(words)
            case ["End", "Site"]:
                at_end = True
            case ["{"]:
                stack.append(stack[-1].copy())
            case ["}"]:
                stack.pop()
                at_end = False
            case ["OFFSET", *offset] if not at_end:
                stack[-1][:3, 3] += stack[-1][:3, :3] @ np.array(offset, float)
                places[name] = stack[-1][:3, 3].copy()
            case ["CHANNELS", _, *channels]:
                values = [(channel, next(numbers)) for channel in channels]
                for channel, value in values:
                    if channel.endswith("position"):
                        stack[-1][:3, 3] += stack[-2][:3, "XYZ".index(channel[0])] * value
                for channel, value in values:
                    if channel.endswith("rotation"):
                        stack[-1] = stack[-1] @ turn(channel[0].lower(), value)
                places[name] = stack[-1][:3, 3].copy()
    return places


def compare(path, frames) -> float:
    """Largest distance of joints between the two ways, by the size of the skeleton."""
    skeleton, motion = load_bvh(path)
    error, size = 0.0, np.ptp(skeleton.tails, axis=0).max()
    for frame in frames:
        R, t = skeleton.transforms(motion.poses[frame])
        heads = np.einsum("kij,kj->ki", R, skeleton.heads) + t
        places = joint_places(path, frame)
        error = max(error, *(np.abs(heads[k] - places[name]).max() for k, name in enumerate(skeleton.names)))
    return error / size


def test_a_small_file_becomes_its_skeleton(tmp_path):
    skeleton, motion = load_bvh(write(tmp_path), scale=0.1)
    assert set(skeleton.names) == {"hips", "left arm", "stub", "knee"}
    arm = skeleton.number("left arm")
    assert np.allclose(skeleton.heads[arm], [0.1, 0.3, 0.3])
    assert np.allclose(skeleton.tails[arm], [0.1, 0.35, 0.3])
    assert np.allclose(skeleton.tails[skeleton.number("hips")], skeleton.heads[arm])
    assert np.allclose(motion.times, [0, 0.05, 0.1])
    assert np.allclose(motion.poses[0], 0)
    assert np.allclose(motion.poses[1, :3], [0.2, 0.1, 0.3])


def test_channels_in_any_order_give_the_matrices_of_the_file(tmp_path):
    assert compare(write(tmp_path), range(3)) < 1e-13


@pytest.mark.parametrize(
    "name", ["mocap/02_01", "mocap/02_04", "mocap/05_02", "mocap/16_03", "mocap/02_03", "human/walk1"]
)
def test_joints_of_real_files_are_where_their_channels_put_them(shared_data, name):
    path = shared_data / f"{name}.bvh"
    _, motion = load_bvh(path)
    frames = np.random.default_rng(0).integers(len(motion.times), size=4)
    assert compare(path, frames) < 1e-12


def test_a_pose_of_163_joints_with_positions_everywhere_is_read(shared_data):
    skeleton, motion = load_bvh(shared_data / "human" / "benchmark.bvh")
    assert (len(skeleton), len(motion.times)) == (163, 1)
    assert compare(shared_data / "human" / "benchmark.bvh", [0]) < 1e-3  # its bones are pulled by less than that


def test_a_walk_is_walked_at_the_speed_of_a_walk(shared_data):
    _, motion = load_bvh(shared_data / "mocap" / "02_01.bvh", scale=0.056444)
    walked = np.linalg.norm(motion.poses[-1, [0, 2]] - motion.poses[1, [0, 2]])
    assert 0.8 < walked / motion.duration < 1.8
    assert 0.8 < np.median(motion.poses[:, 1]) < 1.1


def test_positions_that_take_the_place_of_offsets_are_recognised(tmp_path):
    text = TEXT.replace("70 0 0 0", "70 0 -2 0").replace("0 0 0 0\n1", "0 0 -2 0\n1").replace("\n1 2 3 ", "\n2 1 3 ")
    _, motion = load_bvh(write(tmp_path, text))
    assert np.allclose(motion.poses[1, :3], 0)
    _, added = load_bvh(write(tmp_path), absolute=False)
    assert np.allclose(added.poses[1, :3], [2, 1, 3])


def test_a_bone_pulled_from_its_place_is_named(tmp_path):
    with pytest.warns(SuppleWarning, match=r"joint 'knee' by up to 0\.3 m .* bones keep their length"):
        load_bvh(write(tmp_path, TEXT.replace("70 0 0 0", "70 0.3 0 0")))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("HIERARCHY", "HIERARCHIE", "line 1: 'HIERARCHIE' stands where HIERARCHY belongs"),
        ("OFFSET 0 1 0", "OFFSET 0 one 0", "line 7: 'one' stands where a number belongs"),
        ("OFFSET 0 1 0", "OFFSET 0 nan 0", "line 7: 'nan' is not a finite number"),
        ("OFFSET 0 1 0", "", "line 13: a joint closes without its OFFSET"),
        ("3 Yrotation", "4 Yrotation", "line 9: 'End' is no channel"),
        ("3 Yrotation", "-3 Yrotation", "line 8: a joint cannot have -3 channels"),
        ("JOINT knee", "JOINT stub", "line 19: joint 'stub' has no name of its own"),
        ("JOINT knee", "JOINT", "line 19: joint '' has no name of its own"),
        ("JOINT knee", "ROOT knee", "line 19: ROOT stands where it cannot"),
        ("HIERARCHY\nROOT", "HIERARCHY\nJOINT", "line 2: JOINT stands where it cannot"),
        ("}\nMOTION", "MOTION", "the hierarchy ends before its last }"),
        ("}\nMOTION", "}\nROOT b { OFFSET 0 0 0 }\nMOTION", "line 25: a second ROOT"),
        ("MOTION", "MOTIF", "it has no line MOTION"),
        ("Frames: 3", "Frames: 4", "it has 3 frames where it promises 4"),
        ("Frames: 3", "Frames: -3", "line 26: 'Frames: <count>' and 'Frame Time: <seconds>' do not follow"),
        ("Time: 0.05", "Time: 0", "line 27: a frame time of 0 s is not above 0"),
        ("1 2 3 10 ", "1 2 10 ", "line 29: a frame holds 12 numbers where the channels need 13"),
        ("1 2 3 10 ", "1 2 3 nan ", "line 29: frame 1 holds 'nan', not a finite number"),
        ("1 2 3 10 ", "1 2 3 1o ", "line 29: frame 1 holds '1o', not a finite number"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, old, new, reason):
    with pytest.raises(FileFormatError, match=rf"a\.bvh: .*{reason}"):
        load_bvh(write(tmp_path, TEXT.replace(old, new, 1)))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan])
def test_a_scale_that_makes_no_skeleton_is_refused(tmp_path, scale):
    with pytest.raises(SceneError, match="give a number above 0"):
        load_bvh(write(tmp_path), scale)


@pytest.mark.filterwarnings("error", "ignore::supple.errors.SuppleWarning")
def test_a_pinocchio_motion_walks_upright(shared_data):
    skeleton, motion = load_pinocchio_motion(shared_data / "cheb" / "pinocchio_motion_walk.txt")
    assert (len(skeleton), len(motion.times)) == (19, 1990)
    toes, knees, lowest = [], [], []
    for pose in motion.poses[::50]:
        R, t = skeleton.transforms(pose)
        at = dict(zip(skeleton.names, np.einsum("kij,kj->ki", R, skeleton.heads) + t, strict=True))
        assert 1.3 < at["head"][1] < 1.7
        lowest.append(min(at["lfoot"][1], at["rfoot"][1]))
        forward = R[0] @ [0, 0, 1]
        toes.append((at["lfoot"] - at["lankle"]) @ forward)
        knees.append((at["lknee"] - 0.5 * (at["lthigh"] + at["lankle"])) @ forward)
    assert max(lowest) < 0.15
    assert np.median(toes) > 0.1
    assert np.median(knees) > 0.0  # they bend forward


def test_bones_of_a_folder_are_placed_frame_by_frame(shared_data):
    frames = load_bone_frames(shared_data / "hand" / "chand.poses.training")
    known = np.load(shared_data / "hand_standin" / "training_poses.npz")
    assert frames.rotations.shape == (249, 10, 3, 3)
    assert any(np.allclose(known[key], frames.places, atol=1e-5) for key in known.files if known[key].ndim == 3)
    R, t = frames.transforms(100)
    begin, end = (np.einsum("jab,jb->ja", R, points) + t for points in frames.ends(0))
    assert np.allclose([begin, end], frames.ends(100), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 0 0 0 -1\n0 0 0 1\n", "not three lines"),
        ("0 0 0 0 0\n0 0 0 1\n1 1\n", "every parent before its children"),
        ("0 0 0 0 -1\n0 0 0 2\n1 1\n", "quaternions is not of length 1"),
        ("0 0 0 x -1\n0 0 0 1\n1 1\n", "not a number"),
    ],
)
def test_wrong_bones_are_refused(tmp_path, text, reason):
    (tmp_path / "a.skeleton").write_text(text)
    with pytest.raises(FileFormatError, match=rf"a\.skeleton: .*{reason}"):
        load_bone_frames(tmp_path)


def test_a_folder_without_bones_and_a_wrong_list_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"holds no \.skeleton files"):
        load_bone_frames(tmp_path)
    (tmp_path / "a.txt").write_text("0 " * 114 + "\n" + "0 " * 113 + "\n")
    with pytest.raises(FileFormatError, match="line 2: a frame holds 113 numbers, not 114"):
        load_pinocchio_motion(tmp_path / "a.txt")
