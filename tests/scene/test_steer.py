"""Rig and colliders moved by hand."""

from pathlib import Path

import numpy as np
import pytest

from supple.errors import SceneError
from supple.scene import build_scene, parse_scene, run_scene, set_stage, simulate
from supple.scene.replay import check_events
from supple.scene.simulate import start_scene, steer
from supple.scene.steer import Steering
from supple.solve import MoveCollider, Placement, SetGravity, SetPose

BALL = {
    "mesh": {"shape": "sphere", "size": {"radius": 0.1}, "resolution": 3},
    "material": {"young": 5e4},
    "time": {"frames": 5, "substeps": 2},
    "gravity": False,
    "collider": [{"shape": "box", "size": {"length": 0.2, "height": 0.2, "width": 0.2}, "at": [0.25, 0.0, 0.0]}],
}
FINGER = {
    "mesh": {"shape": "finger", "resolution": 8},
    "time": {"frames": 3, "substeps": 2},
    "gravity": False,
    "rig": {"rest": "posed"},
}


def test_change_is_carried_out_within_a_frame() -> None:
    log = {2: (SetPose((1.0, 4.0)),), 3: (SetPose((9.0, 9.0)), SetPose((2.0, 0.0)))}
    steering = Steering(log, fps=10.0)
    assert steering.pose(0.2) is None
    assert steering.pose(0.25) == pytest.approx([0.5, 2.0])
    assert steering.pose(0.3) == pytest.approx([1.0, 4.0])
    assert steering.pose(0.35) == pytest.approx([1.5, 2.0])
    assert steering.pose(7.0) == pytest.approx([2.0, 0.0])
    log[80] = (SetPose((5.0, 5.0)),)
    assert steering.pose(8.0) == pytest.approx([2.0, 0.0])  # what follows a frame changes nothing before it
    assert steering.pose(8.1) == pytest.approx([5.0, 5.0])


def test_collider_is_shifted_and_turned_about_its_own_place() -> None:
    steering = Steering({0: (MoveCollider(1, (0.0, 0.2, 0.0), (0.0, 0.0, np.pi / 2)),)}, fps=1.0)
    stands = Placement(np.eye(3), np.array([1.0, 0.0, 0.0]))
    assert steering.place(0, stands, 9.0) is stands
    moved = steering.place(1, stands, 9.0)
    assert moved.move(np.array([[1.0, 0.0, 0.0]])) == pytest.approx(np.array([[1.0, 1.2, 0.0]]))


def test_collider_moved_by_hand_pushes_the_body(tmp_path: Path) -> None:
    built = build_scene(parse_scene(BALL))
    events = {1: (MoveCollider(0, (-0.1, 0.0, 0.0)),)}
    left = [built.solver.positions(now.state)[:, 0].mean() for now in simulate(built, events=events)]
    assert left[0] == pytest.approx(0.0, abs=0.005)
    assert left[-1] < left[0] - 0.02
    run_scene(built, [tmp_path / "ball.npz"], events=events)
    with np.load(tmp_path / "ball.npz") as recorded:
        name = next(name for name in recorded.files if "collider" in name and recorded[name].ndim >= 2)
        assert not np.array_equal(recorded[name][0], recorded[name][-1])


def test_log_that_grows_meanwhile_gives_the_same_as_a_whole_one() -> None:
    """The pose is set while it runs, and what is held follows it."""
    built = build_scene(parse_scene(FINGER))
    size = len(built.drive.rigging.rig.controls)  # type: ignore[union-attr]
    change = np.zeros(size)
    change[-1] = 0.3
    whole = {1: (SetPose(tuple(change.tolist())),)}
    ends = [built.solver.positions(now.state) for now in simulate(built, events=whole)]
    growing: dict[int, tuple[SetPose, ...]] = {}
    steered = steer(built, growing)  # type: ignore[arg-type]
    frames = simulate(steered, start_scene(steered), growing)  # type: ignore[arg-type]
    found = [built.solver.positions(next(frames).state)]
    growing[1] = (SetPose(tuple(change.tolist())),)
    found += [built.solver.positions(now.state) for now in frames]
    assert all(np.array_equal(one, other) for one, other in zip(found, ends, strict=True))
    assert np.abs(ends[-1] - ends[0]).max() > 1e-3


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (MoveCollider(3, (0.0, 0.0, 0.0)), "moves collider 3, but the scene has 1"),
        (SetPose((1.0,)), "a pose of 1 numbers, but the rig has 0"),
    ],
)
def test_what_is_not_there_cannot_be_moved(event: SetPose | MoveCollider, said: str) -> None:
    drive = set_stage(parse_scene(BALL)).drive
    check_events({0: (SetGravity((0.0, 0.0, 0.0)),)}, drive, 5)
    with pytest.raises(SceneError, match=said):
        check_events({0: (event,)}, drive, 5)
