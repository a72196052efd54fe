"""Posing by hand: what sliders and the handle ask of the player is what the rig then does."""

from types import SimpleNamespace

import numpy as np
import pytest

from supple.rig.inverse_kinematics import Chain
from supple.scene.build import set_stage
from supple.scene.load import parse_scene
from supple.solve import SetPose
from supple.view.guard import Guard
from supple.view.posing import PosePanel, _find_begin
from supple.view.room import Room
from supple.view.server import open_server, stop_server

pytest.importorskip("viser")


@pytest.fixture
def panel():
    stage = set_stage(parse_scene({"mesh": {"shape": "finger", "resolution": 10}, "rig": {}}))
    events = []
    player = SimpleNamespace(act=events.append)
    room = Room.around(stage.mesh.vertices, "y")
    server = open_server(Guard("127.0.0.1"), "finger")
    try:
        yield PosePanel(server, player, stage.drive.rigging, room), events, stage.drive.rigging, room
    finally:
        stop_server(server)


def test_a_slider_turns_one_control(panel) -> None:
    posing, events, rigging, _ = panel
    column = rigging.rig.controls.index("middle.z")
    posing._set(column, np.radians(30.0))
    (event,) = events
    assert isinstance(event, SetPose)
    assert np.flatnonzero(event.change).tolist() == [column]
    posing._clear()
    assert not np.any(events[-1].change)


def test_bones_reach_for_the_handle(panel) -> None:
    posing, events, rigging, room = panel
    skeleton = rigging.posing.actor.skeleton
    last = skeleton.names[-1]
    posing._set_reach(last)
    chain = Chain(skeleton, _find_begin(skeleton, last), last)
    columns = [rigging.rig.controls.index(control) for control in skeleton.controls]
    begin = rigging.course.pose(0.0)
    tip = chain.end(begin[columns])
    assert room.leave(np.asarray(posing._handle.position)) == pytest.approx(tip, abs=1e-6)
    goal = tip + [-0.01, -0.015, 0.0]
    posing._reach(chain, columns, SimpleNamespace(position=room.enter(goal)))
    pose = begin + np.asarray(events[-1].change)
    assert chain.end(pose[columns]) == pytest.approx(goal, abs=1e-3 * np.linalg.norm(goal - tip))
    posing._set_reach("nothing")
    assert posing._handle is None
