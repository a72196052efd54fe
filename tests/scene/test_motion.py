"""Keyframes, steady motion and intervals as functions of time."""

import numpy as np
import pytest

from supple.scene.force import Force
from supple.scene.motion import Move, Turn
from supple.scene.pin import Pin

KEYS = [{"t": 1.0, "by": [0.0, 0.0, 0.0]}, {"t": 3.0, "by": [2.0, 4.0, 0.0]}]
CORNERS = np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])


def test_keys_are_straight_between_and_held_outside() -> None:
    move = Move.model_validate({"keys": KEYS})
    assert move.offset(0.0) == pytest.approx([0, 0, 0])
    assert move.offset(1.5) == pytest.approx([0.5, 1.0, 0])
    assert move.offset(9.0) == pytest.approx([2, 4, 0])


def test_smooth_keys_stand_still_at_each_key() -> None:
    move = Move.model_validate({"keys": KEYS, "ease": "smooth"})
    step = 1e-4
    assert move.offset(2.0) == pytest.approx([1.0, 2.0, 0])
    for time in (1.0, 3.0):
        speed = np.abs(move.offset(time + step) - move.offset(time - step)) / (2 * step)
        assert speed.max() < 10 * step


def test_steady_motion_begins_at_time_zero() -> None:
    move = Move.model_validate({"velocity": [1.0, 0.0, 0.0]})
    assert move.offset(-1.0) == pytest.approx([0, 0, 0])
    assert move.offset(2.0) == pytest.approx([2, 0, 0])


def test_turn_is_right_handed_and_keeps_lengths() -> None:
    turn = Turn.model_validate({"axis": "z", "speed": 90.0})
    assert turn.rotation(1.0) @ np.array([1.0, 0, 0]) == pytest.approx([0, 1, 0])
    odd = Turn.model_validate({"axis": [1.0, 2.0, 2.0], "keys": [{"t": 0.0, "degrees": 33.0}]}).rotation(5.0)
    assert odd @ odd.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.trace(odd) == pytest.approx(1 + 2 * np.cos(np.deg2rad(33.0)))


def test_pin_turns_about_its_middle_and_then_moves() -> None:
    pin = Pin.model_validate(
        {"select": "all", "turn": {"axis": "z", "speed": 90.0}, "move": {"velocity": [0.0, 0.0, 5.0]}}
    )
    assert pin.targets(CORNERS, 1.0) == pytest.approx(np.array([[2, -1, 5], [2, 1, 5]]))
    assert pin.targets(CORNERS, 0.0) == pytest.approx(CORNERS)


def test_pin_turns_about_a_given_point() -> None:
    pin = Pin.model_validate({"select": "all", "turn": {"axis": "z", "about": [0, 0, 0], "speed": 180.0}})
    assert pin.targets(CORNERS, 1.0) == pytest.approx(-CORNERS)


def test_interval_holds_from_its_begin_up_to_its_end() -> None:
    pin = Pin.model_validate({"select": "all", "from": 1.0, "until": 2.0})
    assert [pin.holds(time) for time in (0.5, 1.0 - 1e-12, 1.5, 2.0 - 1e-12, 2.5)] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_force_strength_follows_keys_within_its_interval() -> None:
    force = Force.model_validate(
        {
            "kind": "gravity",
            "vector": [0, 1, 0],
            "from": 1.0,
            "until": 3.0,
            "keys": [{"t": 1.0, "scale": 0.0}, {"t": 2.0, "scale": 2.0}],
        }
    )
    assert [force.strength(time) for time in (0.5, 1.5, 2.5, 3.5)] == pytest.approx([0.0, 1.0, 2.0, 0.0])
