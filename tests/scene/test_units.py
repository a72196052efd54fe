"""Lengths follow `units`; everything else is SI."""

import pytest

from supple.scene.load import parse_scene
from supple.scene.units import UNITS, to_metres


def test_lengths_and_velocities_convert_and_nothing_else_does() -> None:
    scene = parse_scene(
        {
            "units": "cm",
            "gravity": [0.0, -9.81, 0.0],
            "mesh": {"shape": "beam", "size": {"length": 100.0}, "resolution": 5},
            "material": {
                "young": 2e5,
                "density": 900.0,
                "regions": {"core": {"select": {"sphere": {"center": [1, 2, 3], "radius": 4.0}}}},
            },
            "pin": [
                {
                    "select": [{"box": [[0, 0, 0], [10, 20, 30]]}, "min x 2.0", "max x 5%"],
                    "move": [{"t": 0.0, "by": [0, 0, 0]}, {"t": 2.0, "by": [50, 0, 0]}],
                    "turn": {"axis": [0, 0, 2], "about": [7, 0, 0], "speed": 90.0},
                }
            ],
            "force": [{"kind": "point", "vector": [1, 2, 3], "at": [4, 5, 6]}],
            "start": {"velocity": [100, 0, 0], "spin": [0, 3, 0]},
        }
    )
    si = to_metres(scene, scene.metres)
    assert scene.metres == UNITS["cm"] == 0.01
    assert si.mesh.size["length"] == pytest.approx(1.0)
    assert si.mesh.resolution == 5
    assert si.pin[0].select.any_of is not None
    box, slab, share = si.pin[0].select.any_of
    assert box.box is not None
    assert box.box[1] == pytest.approx((0.1, 0.2, 0.3))
    assert slab.side is not None
    assert slab.side.thickness == pytest.approx(0.02)
    assert share.side is not None
    assert share.side.share == pytest.approx(0.05)
    move, turn, sphere = si.pin[0].move, si.pin[0].turn, si.material.regions["core"].select
    assert move is not None
    assert move.keys is not None
    assert move.keys[1].by == pytest.approx((0.5, 0, 0))
    assert move.keys[1].t == 2.0
    assert turn is not None
    assert turn.axis == pytest.approx((0, 0, 2))
    assert turn.about == pytest.approx((0.07, 0, 0))
    assert turn.speed == 90.0
    assert sphere is not None
    assert sphere.sphere is not None
    assert sphere.sphere.radius == pytest.approx(0.04)
    assert si.force[0].vector == pytest.approx((1, 2, 3))
    assert si.force[0].at == pytest.approx((0.04, 0.05, 0.06))
    assert si.start.velocity == pytest.approx((1, 0, 0))
    assert si.start.spin == pytest.approx((0, 3, 0))
    assert si.gravity == (0.0, -9.81, 0.0)
    assert (si.material.young, si.material.density) == (2e5, 900.0)


def test_metres_leave_the_scene_as_it_is() -> None:
    scene = parse_scene({"mesh": {"shape": "beam"}})
    assert to_metres(scene, scene.metres) is scene


@pytest.mark.parametrize(("up", "expected"), [("y", (0.0, -9.81, 0.0)), ("z", (0.0, 0.0, -9.81))])
def test_gravity_points_down_the_up_axis(up: str, expected: tuple[float, float, float]) -> None:
    mesh = {"shape": "beam"}
    assert parse_scene({"mesh": mesh, "up_axis": up}).acceleration() == expected
    assert parse_scene({"mesh": mesh, "up_axis": up, "gravity": False}).acceleration() is None
    assert parse_scene({"mesh": mesh, "gravity": [1.0, 2.0, 3.0]}).acceleration() == (1.0, 2.0, 3.0)
    force = {"kind": "gravity", "vector": [0.0, 0.0, 1.0]}
    assert parse_scene({"mesh": mesh, "force": [force]}).acceleration() is None
