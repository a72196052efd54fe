"""Pins that overlap, take hold and let go."""

from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.scene import Built, build_scene, parse_scene, simulate


def build(**tables: Any) -> Built:
    scene = {
        "gravity": [0.0, -9.81, 0.0],
        "time": {"fps": 20, "substeps": 1, "frames": 6},
        "mesh": {"shape": "beam", "resolution": 5},
        "material": {"young": 5e4},
    }
    return build_scene(parse_scene({**scene, **tables}))


def last_positions(built: Built) -> np.ndarray:
    *_, last = simulate(built)
    return built.solver.positions(last.state)


def test_pin_that_ends_frees_only_the_axes_no_other_pin_holds() -> None:
    built = build(pin=[{"select": "min x", "axes": "x"}, {"select": "min x", "axes": "yz", "until": 0.1}])
    vertices = built.body.pins.vertices
    moved = last_positions(built)[vertices] - built.mesh.vertices[vertices]
    assert not moved[:, 0].any()
    assert (moved[:, 1] < -0.05).all(), "y is free once the second pin has let go"


def test_pin_that_ended_moves_nothing_any_more() -> None:
    away = {"velocity": [0.0, 1.0, 0.0]}
    built = build(pin=[{"select": "min x"}, {"select": "min x", "move": away, "until": 0.1}])
    vertices = built.body.pins.vertices
    assert np.allclose(last_positions(built)[vertices], built.mesh.vertices[vertices])


def test_pin_ends_where_it_was_and_does_not_snap_back() -> None:
    built = build(pin=[{"select": "min x"}, {"select": "max x", "move": {"velocity": [0.0, 1.0, 0.0]}, "until": 0.12}])
    tip = built.drive.parts[1].vertices
    heights = [float((s.state.x - built.mesh.vertices)[tip, 1].mean()) for s in simulate(built)]
    assert heights[:3] == pytest.approx([0.05, 0.10, 0.15])
    assert abs(heights[3] - heights[2]) < 0.1


def test_pin_takes_hold_along_its_axes_where_it_finds_its_vertices() -> None:
    built = build(pin=[{"select": "min x"}, {"select": "max x", "axes": "y", "from": 0.1}])
    tip = built.drive.parts[1].vertices
    heights = [s.state.x[tip, 1].copy() for s in simulate(built)]
    assert not np.allclose(heights[0], heights[1])
    for later in heights[2:]:
        assert np.array_equal(later, heights[1])


def test_point_force_far_from_the_body_is_refused() -> None:
    with pytest.raises(SceneError, match="far outside"):
        build(force=[{"kind": "point", "at": [5.0, 5.0, 5.0], "vector": [0.0, 1.0, 0.0]}])


def test_arruda_boyce_refuses_what_it_would_ignore_and_others_refuse_its_keys() -> None:
    with pytest.raises(SceneError, match="preset"):
        build(material={"model": "arruda_boyce", "preset": "rubber"})
    with pytest.raises(SceneError, match="arruda_boyce"):
        build(material={"segments": 5.0})
    regions = {"core": {"select": "min x 30%", "model": "stvk"}}
    built = build(material={"model": "arruda_boyce", "shear": 2e4, "regions": regions})
    assert len(built.body.parts) == 2


def test_built_in_shapes_stand_along_the_up_axis() -> None:
    mesh = {"shape": "creature", "resolution": 12}
    y_up, z_up = build(mesh=mesh), build(mesh=mesh, up_axis="z")
    assert np.allclose(y_up.mesh.vertices[:, 1], z_up.mesh.vertices[:, 2])
    assert (z_up.mesh.volumes() > 0).all()
