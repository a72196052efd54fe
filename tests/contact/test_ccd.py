"""The check that finds what crossed during a step."""

import sys

import numpy as np
import pytest

from supple.contact.box import Box
from supple.contact.ccd import check_step
from supple.contact.contacts import SELF
from supple.contact.plane import Plane
from supple.errors import MissingExtra
from supple.mesh import TetMesh, fill_box
from supple.solve.placement import Placement

HERE = (Placement.still(),)
BLOCK = fill_box((-0.2, 0.8, -0.15), (0.2, 1.2, 0.15), resolution=3)
PLATE = [Box((3.0, 0.01, 2.7))]


def check(x_begin: np.ndarray, x_end: np.ndarray, mesh: TetMesh = BLOCK, **options):
    pytest.importorskip("ipctk")
    return check_step(mesh.surface_triangles(), x_begin, x_end, **options)


def drop(way: float, colliders=PLATE, start: float = 0.0):
    x = BLOCK.vertices + np.array([0.003, start, 0.002])
    return check(x, x + np.array([0.0, way, 0.0]), colliders=colliders, begin=HERE, end=HERE)


def test_a_harmless_step_is_clear() -> None:
    assert not drop(-0.7)
    assert not drop(3.0)


@pytest.mark.parametrize("way", [-0.9, -2.0])
def test_a_body_that_enters_or_passes_a_thin_plate_is_found(way: float) -> None:
    result = drop(way)
    assert {crossing.source for crossing in result} == {0}
    first = result[0]
    assert first.time == pytest.approx(0.795 / -way, rel=0.01)
    bottom = set(np.flatnonzero(BLOCK.vertices[:, 1] < 0.81).tolist())
    crossed = {crossing.vertices[0] for crossing in result if len(crossing.vertices) == 1}
    assert bottom <= crossed


def test_a_plane_reaches_as_far_as_the_body_goes() -> None:
    x = BLOCK.vertices + np.array([100.0, 0.0, 0.0])
    result = check(x, x - np.array([0.0, 0.9, 0.0]), colliders=[Plane()], begin=HERE, end=HERE)
    assert len(result) > 0


def test_a_moving_plate_is_found_by_a_still_body() -> None:
    rising = (Placement(np.eye(3), np.array([0.0, 1.5, 0.0])),)
    result = check(BLOCK.vertices, BLOCK.vertices, colliders=PLATE, begin=HERE, end=rising)
    assert len(result) > 0
    assert result[0].time == pytest.approx(0.795 / 1.5, rel=0.01)


def test_what_was_inside_before_is_told_apart_and_may_leave() -> None:
    start = -0.798  # the bottom is 3 mm below the plate's upper side
    for way in (0.0, 0.02, -0.001):
        assert not drop(way, start=start)


def test_leaving_by_the_far_side_is_a_crossing() -> None:
    result = drop(-0.03, start=-0.798)
    crossed = {crossing.vertices[0] for crossing in result if len(crossing.vertices) == 1}
    assert set(np.flatnonzero(BLOCK.vertices[:, 1] < 0.81).tolist()) <= crossed


def test_a_body_that_passes_through_itself_is_found_unless_not_asked() -> None:
    lower = fill_box((-0.5, -0.1, -0.5), (0.5, 0.0, 0.5), resolution=2)
    count = len(BLOCK.vertices)
    mesh = TetMesh.clean(
        np.concatenate([BLOCK.vertices + [0.003, 0.0, 0.002], lower.vertices]),
        np.concatenate([BLOCK.tets, lower.tets + count]),
    )
    moved = mesh.vertices.copy()
    moved[:count, 1] -= 1.4
    result = check(mesh.vertices, moved, mesh)
    assert {crossing.source for crossing in result} == {SELF}
    assert all(0 <= vertex < len(moved) for c in result for vertex in c.vertices + c.others)
    assert not check(mesh.vertices, moved, mesh, itself=False)


def test_a_long_way_is_checked_in_bounded_parts_with_the_same_answer() -> None:
    long = drop(-50.0)
    assert long[0].time == pytest.approx(0.795 / 50.0, rel=0.01)


def test_edges_that_slide_along_each_other_do_not_stall_the_check() -> None:
    cube = fill_box((-0.2, 0.8, -0.2), (0.2, 1.2, 0.2), resolution=2)  # its upright edges slide along the diagonals
    down = cube.vertices - np.array([0.0, 1.0, 0.0])
    result = check(
        down, down - np.array([0.0, 0.1, 0.0]), cube, colliders=[Box((3.0, 0.01, 3.0))], begin=HERE, end=HERE
    )
    assert all(0.0 <= crossing.time <= 1.0 for crossing in result)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipctk", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[contact\]'"):
        check_step(BLOCK.surface_triangles(), BLOCK.vertices, BLOCK.vertices)
