"""Deformers: bends, twists, wires, black boxes, blend shapes, and stacks of them."""

import numpy as np
import pytest

from supple.errors import ArgumentError, SceneError
from supple.rig.bend import Bend
from supple.rig.black_box import BlackBox
from supple.rig.blend_shapes import BlendShapes
from supple.rig.deformer import Deformer
from supple.rig.part import pick_part
from supple.rig.rig import Rig
from supple.rig.stack import Stack
from supple.rig.twist import Twist
from supple.rig.wire import Wire

POINTS = np.random.default_rng(3).uniform((-0.5, -0.1, -0.1), (0.5, 0.1, 0.1), (200, 3))
SPINE = {"spine": [(-0.5, 0.0, 0.0), (-0.2, 0.0, 0.0), (0.1, 0.0, 0.0), (0.5, 0.0, 0.0)]}
LIFT = np.where(POINTS[:, :1] > 0.2, [[0.0, 0.05, 0.0]], 0.0)


def _swirl(pose, vertices=None):
    points = POINTS if vertices is None else POINTS[vertices]
    return points + np.sin(pose[0]) * points[:, [1, 2, 0]] + pose[1] * np.array([1.0, 0.0, 0.0])


def _rigs() -> dict[str, Rig]:
    bend = Bend(POINTS, (-0.2, 0, 0), (0.2, 0, 0), (0, 0, 1))
    twist = Twist(POINTS, (-0.3, 0, 0), (0.3, 0, 0))
    shapes = BlendShapes(POINTS, {"lift": POINTS + LIFT, "grow": 1.2 * POINTS})
    wire = Wire(POINTS, SPINE, 0.1, 0.3)
    return {
        "bend": bend,
        "twist": twist,
        "wire": wire,
        "shapes": shapes,
        "box": BlackBox(_swirl, POINTS, [0.0, 0.0], ["swirl", "shift"]),
        "stack": Stack(Stack(Stack(shapes, twist), bend), wire),
    }


RIGS = _rigs()


def _some_pose(rig: Rig, size: float = 0.3) -> np.ndarray:
    return size * np.random.default_rng(5).standard_normal(len(rig.controls))


@pytest.mark.parametrize("name", _rigs())
def test_a_part_moves_as_the_whole(name):
    rig, chosen = _rigs()[name], np.array([150, 3, 77])
    pose = 0.1 * np.random.default_rng(1).standard_normal(len(rig.neutral))
    part = pick_part(rig, chosen)
    np.testing.assert_allclose(part.positions(pose), rig.positions(pose)[chosen], atol=1e-14)
    np.testing.assert_allclose(part.positions(pose, np.array([1])), rig.positions(pose)[[3]], atol=1e-14)


@pytest.mark.parametrize("name", RIGS)
def test_neutral_pose_is_rest(name):
    rig = RIGS[name]
    assert rig.rest.shape == POINTS.shape
    np.testing.assert_allclose(rig.positions(rig.neutral), rig.rest, atol=1e-14)


@pytest.mark.parametrize("name", RIGS)
def test_chosen_vertices_are_where_they_are_among_all(name):
    rig, chosen = RIGS[name], np.array([7, 3, 150, 3])
    pose = _some_pose(rig, 0.1)
    np.testing.assert_allclose(rig.positions(pose, chosen), rig.positions(pose)[chosen], atol=1e-14)


@pytest.mark.parametrize("name", RIGS)
def test_positions_are_smooth_in_the_pose(name):
    """Central differences of one and of half the step agree to second order."""
    rig = RIGS[name]
    pose = _some_pose(rig, 0.1)
    way = np.random.default_rng(6).standard_normal(len(pose))
    slopes = [(rig.positions(pose + h * way) - rig.positions(pose - h * way)) / (2 * h) for h in (0.02, 0.01, 0.005)]
    first, second = (np.abs(slopes[k] - slopes[k + 1]).max() for k in range(2))
    assert second < 0.3 * first + 1e-10


@pytest.mark.parametrize("name", RIGS)
def test_embedding_is_in_metres_and_tells_poses_apart(name):
    """A small change of one control is as long as what it moves most, or as itself where it is a length."""
    rig = RIGS[name]
    for k in range(len(rig.controls)):
        step = np.zeros(len(rig.controls))
        step[k] = 1e-3
        moved = np.linalg.norm(rig.positions(rig.neutral + step) - rig.rest, axis=1).max()
        length = np.linalg.norm(rig.embed(rig.neutral + step) - rig.embed(rig.neutral))
        assert length == pytest.approx(1e-3 if "spine" in rig.controls[k] else moved, rel=1e-2)
    far = rig.neutral.copy()
    far[0] = 2.0 * np.pi  # a deformer wound up by a full turn is not at rest
    assert np.linalg.norm(rig.embed(far) - rig.embed(rig.neutral)) > 0.1


@pytest.mark.parametrize("name", RIGS)
def test_poses_that_do_not_fit_are_refused(name):
    rig = RIGS[name]
    with pytest.raises(SceneError, match=f"{len(rig.controls)} controls"):
        rig.positions(np.zeros(len(rig.controls) + 1))
    broken = rig.neutral.copy()
    broken[-1] = np.nan
    with pytest.raises(SceneError, match=rig.controls[-1]):
        rig.positions(broken)


def test_bend_makes_an_arc_of_its_own_length():
    line = np.column_stack([np.linspace(-1, 2, 301), np.zeros(301), np.zeros(301)])
    bent = Bend(line, (0, 0, 0), (1, 0, 0), (0, 0, 1)).positions(np.array([np.pi / 2]))
    before, behind = line[:, 0] <= 0, line[:, 0] >= 1
    radius = 2 / np.pi
    np.testing.assert_allclose(bent[before], line[before], atol=1e-15)
    arc = bent[~before & ~behind]
    np.testing.assert_allclose(np.linalg.norm(arc - [0, radius, 0], axis=1), radius, rtol=1e-12)
    np.testing.assert_allclose(bent[behind][0], [radius, radius, 0], atol=1e-15)
    np.testing.assert_allclose(bent[-1], [radius, radius + 1, 0], atol=1e-15)


def test_bend_turns_what_is_behind_it_rigidly():
    bend = Bend(POINTS, (-0.2, 0, 0), (0.2, 0, 0), (0, 0.3, 2))
    behind = POINTS[:, 0] > 0.2
    bent = bend.positions(np.array([2.5]))[behind]
    gaps = [np.linalg.norm(points[:, None] - points[None], axis=2) for points in (POINTS[behind], bent)]
    np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-13)


def test_twist_turns_by_the_share_of_the_stretch_passed():
    points = np.array([[-0.5, 0.1, 0.0], [0.0, 0.1, 0.0], [0.15, 0.0, 0.2], [0.9, 0.1, 0.0]])
    twisted = Twist(points, (-0.3, 0, 0), (0.3, 0, 0)).positions(np.array([np.pi]))
    expected = [[-0.5, 0.1, 0.0], [0.0, 0.0, 0.1], [0.15, -0.2 * np.sin(np.pi * 0.75), 0.2 * np.cos(np.pi * 0.75)]]
    np.testing.assert_allclose(twisted, [*expected, [0.9, -0.1, 0.0]], atol=1e-15)


def test_wire_carries_what_is_near_and_leaves_what_is_far():
    points = np.array([[0.0, 0.05, 0.0], [0.0, 0.2, 0.0], [0.0, 0.5, 0.0]])
    wire = Wire(points, SPINE, 0.1, 0.3)
    moved = wire.positions(np.tile([0.0, 0.0, 0.2], 4)) - points
    np.testing.assert_allclose(moved[[0, 2]], [[0, 0, 0.2], [0, 0, 0]], atol=1e-14)
    assert moved[1, 2] == pytest.approx(0.1)  # half way through the falloff


def test_wire_carries_many_points_on_several_threads_as_it_carries_few():
    points = np.tile(POINTS, (6, 1))
    wire = Wire(points, SPINE, 0.1, 0.3)
    some = np.arange(0, 1200, 40)
    for height in (0.2, -0.1, 0.2):  # and what it remembers of a pose is of that pose
        pose = np.outer([0.0, 0.1, 0.6, 1.0], [0.0, height, 0.05]).ravel()
        moved = wire.positions(pose)
        assert moved[some] == pytest.approx(wire.positions(pose, some), abs=1e-14)
        lifted = (moved - points)[points[:, 0] > 0.45, 1]  # the end of the wire, which goes all the way
        assert lifted == pytest.approx(height, rel=0.3)


def test_wire_turns_flesh_with_it():
    """All control points turned about an axis across the wire: everything near turns rigidly."""
    curve = np.array(SPINE["spine"])
    wire = Wire(POINTS, SPINE, 0.3, 0.5)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    pose = (curve @ turn.T - curve).ravel()
    np.testing.assert_allclose(wire.positions(pose), POINTS @ turn.T, atol=1e-13)


def test_wire_curls_up_without_folding():
    """Control points on a circle of more than half a turn: flesh off the wire stays at its distance from it."""
    along = np.linspace(0, 1, 9)
    ring = 0.9 * 2 * np.pi * along
    radius = 1 / (0.9 * 2 * np.pi)
    places = np.column_stack([along, np.zeros(9), np.zeros(9)])
    circle = np.column_stack([radius * np.sin(ring), radius * (1 - np.cos(ring)), np.zeros(9)])
    probe = np.column_stack([np.linspace(0.1, 0.9, 33), np.full(33, -0.03), np.full(33, 0.02)])
    curled = Wire(probe, {"tail": places}, 0.1, 0.2).positions((circle - places).ravel())
    away = np.linalg.norm(curled[:, :2] - [0.0, radius], axis=1)
    np.testing.assert_allclose(away, radius + 0.03, rtol=0.02)
    np.testing.assert_allclose(curled[:, 2], 0.02, atol=1e-12)


def test_wire_moves_only_near_the_point_that_moves():
    line = np.column_stack([np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)])
    probe = np.column_stack([np.linspace(0, 1, 41), np.full(41, 0.02), np.zeros(41)])
    pose = np.zeros(27)
    pose[3 * 7 + 1] = 0.1
    moved = np.linalg.norm(Wire(probe, {"tail": line}, 0.1, 0.2).positions(pose) - probe, axis=1)
    assert moved.max() == pytest.approx(0.1, rel=0.1)
    assert moved[probe[:, 0] < 0.5].max() < 1e-12


def test_several_wires_act_as_one_deformer():
    legs = {"left": [(-0.4, 0, 0), (-0.4, -0.3, 0)], "right": [(0.4, 0, 0), (0.4, -0.3, 0)]}
    feet = np.array([[-0.4, -0.3, 0.05], [0.4, -0.3, 0.05]])
    wire = Wire(feet, legs, 0.1, 0.3)
    pose = np.zeros(12)
    pose[[0, 3]] = 0.1  # the left leg to the right
    np.testing.assert_allclose(wire.positions(pose) - feet, [[0.1, 0, 0], [0, 0, 0]], atol=1e-6)
    assert (wire.controls[3], wire.controls[-1]) == ("left.1.tx", "right.1.tz")


def test_blend_shapes_add_up():
    shapes = RIGS["shapes"]
    assert shapes.controls == ("lift", "grow")
    np.testing.assert_allclose(shapes.positions(np.array([1.0, 0.0])), POINTS + LIFT, atol=1e-15)
    both = shapes.positions(np.array([0.5, 2.0]))
    np.testing.assert_allclose(both, POINTS + 0.5 * LIFT + 0.4 * POINTS, atol=1e-15)


def test_stack_moves_what_the_rig_below_moved():
    shapes, bend = RIGS["shapes"], RIGS["bend"]
    assert isinstance(bend, Deformer)
    stack = Stack(shapes, bend)
    grown = Bend(shapes.positions(np.array([0.3, 0.1])), (-0.2, 0, 0), (0.2, 0, 0), (0, 0, 1))
    np.testing.assert_allclose(stack.positions(np.array([0.3, 0.1, 0.8])), grown.positions(np.array([0.8])), atol=1e-15)


def test_black_box_without_choice_of_vertices_is_asked_for_all():
    box = BlackBox(lambda pose: _swirl(pose), POINTS, [0.0, 0.0], ["swirl", "shift"])
    np.testing.assert_array_equal(box.positions(np.array([0.2, 0.1]), np.array([4, 1])), _swirl([0.2, 0.1], [4, 1]))


def test_black_box_is_asked_only_for_chosen_vertices():
    asked = []

    def spy(pose, vertices=None):
        asked.append(vertices)
        return _swirl(pose, vertices)

    BlackBox(spy, POINTS, [0.0, 0.0], ["swirl", "shift"]).positions(np.zeros(2), np.array([4, 1]))
    np.testing.assert_array_equal(asked[-1], [4, 1])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda pose: POINTS[:5], r"let it return \(200, 3\)"),
        (lambda pose: POINTS * np.where(np.arange(200) == 9, np.nan, 1.0)[:, None], "row 9"),
        (lambda pose: POINTS + 0.1, "neutral pose"),
    ],
)
def test_black_box_names_what_its_function_does_wrong(function, message):
    with pytest.raises(SceneError, match=message):
        BlackBox(function, POINTS, [0.0], ["slider"])


def test_black_box_takes_scales():
    box = BlackBox(_swirl, POINTS, [0.0, 0.0], ["swirl", "shift"], scales=[0.25, 2.0])
    np.testing.assert_array_equal(box.embed(np.array([2.0, 3.0])), [0.5, 6.0])
    with pytest.raises(ArgumentError, match=r"BlackBox\(scales\): got 0 at 1; want above 0"):
        BlackBox(_swirl, POINTS, [0.0, 0.0], ["swirl", "shift"], scales=[1.0, 0.0])
    with pytest.raises(SceneError, match=r"'idle'.*give scales"):
        BlackBox(lambda pose: POINTS, POINTS, [0.0], ["idle"]).embed(np.zeros(1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bend(POINTS, (0, 0, 0), (0, 0, 0), (0, 0, 1)), r"Bend\(end\): got the point where it starts"),
        (lambda: Bend(POINTS, (0, 0, 0), (1, 0, 0), (2, 0, 0)), "across its stretch"),
        (lambda: Twist(POINTS, (0, 0, 0), (np.inf, 0, 0)), r"Twist\(end\): got numbers that are not finite"),
        (lambda: Wire(POINTS, {"w": [(0, 0, 0)]}, 0.1, 0.2), "two points or more"),
        (lambda: Wire(POINTS, {"w": [(0, 0, 0), (0, 0, 0)]}, 0.1, 0.2), "coincide"),
        (lambda: Wire(POINTS, SPINE, 0.2, 0.1), r"Wire\(outer\): got 0.1; want above 0.2"),
        (lambda: Wire(POINTS, {}, 0.1, 0.2), "at least one"),
        (lambda: BlendShapes(POINTS, {"smile": POINTS[:3]}), r"'smile'.*: got shape \(3, 3\)"),
        (lambda: BlendShapes(POINTS, {"smile": POINTS}), "'smile' is the rest shape"),
        (lambda: Stack(RIGS["bend"], Bend(POINTS, (0, 0, 0), (1, 0, 0), (0, 0, 1))), "'bend.angle'"),
        (lambda: Stack(RIGS["bend"], Twist(POINTS[:9], (0, 0, 0), (1, 0, 0))), "same mesh"),
    ],
)
def test_deformers_that_make_no_sense_are_refused(make, message):
    with pytest.raises((ArgumentError, SceneError), match=message):
        make()
