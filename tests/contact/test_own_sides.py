"""A vertex that went into a thin part of its own body is touched from the side it came from."""

import numpy as np
import pytest

from supple.contact.own_sides import find_from, find_on_way
from supple.contact.self_contact import SelfContact
from supple.contact.sets import NO_PAIRS
from supple.mesh import TetMesh, fill_box

THIN = 0.05


@pytest.fixture(scope="module")
def contact() -> SelfContact:
    """A plate from y = -0.05 to 0, and a block above it."""
    plate = fill_box((-0.5, -THIN, -0.5), (0.5, 0.0, 0.5), 10, None)
    block = fill_box((-0.13, 0.01, -0.12), (0.17, 0.31, 0.18), 3, None)
    count = len(plate.vertices)
    return SelfContact(
        TetMesh.clean(
            np.concatenate([plate.vertices, block.vertices]), np.concatenate([plate.tets, block.tets + count])
        )
    )


def sink(contact: SelfContact, depth: float) -> np.ndarray:
    """Positions with the block's lower face `depth` below the plate's upper one."""
    x = contact.mesh.vertices.copy()
    x[x[:, 1] > 0.005, 1] -= 0.01 + depth
    return x


def bottom(contact: SelfContact) -> np.ndarray:
    return np.flatnonzero(np.isclose(contact.mesh.vertices[:, 1], 0.01))


@pytest.mark.parametrize("depth", [0.01, 0.03, 0.045, 0.06, 0.12])
def test_a_way_through_a_plate_is_touched_on_the_side_it_began_at(contact: SelfContact, depth: float) -> None:
    found = find_on_way(contact, contact.mesh.vertices, sink(contact, depth), NO_PAIRS)
    rows = np.searchsorted(found.vertex, bottom(contact))
    assert np.array_equal(found.vertex[rows], bottom(contact))
    assert found.normal[rows] == pytest.approx(np.broadcast_to([0.0, 1.0, 0.0], (len(rows), 3)), abs=1e-9)
    assert found.depth[rows] == pytest.approx(depth)
    assert (np.diff(found.vertex) > 0).all()


def test_without_memory_the_nearest_side_is_touched(contact: SelfContact) -> None:
    x = sink(contact, 0.045)
    found = find_from(contact, x, NO_PAIRS)
    rows = np.searchsorted(found.vertex, bottom(contact))
    assert found.normal[rows, 1] == pytest.approx(-1.0)
    known = np.column_stack([found.vertex, found.triangle])[rows]
    kept = find_from(contact, sink(contact, 0.01), known)  # and what was touched from below stays below
    assert kept.normal[np.searchsorted(kept.vertex, bottom(contact)), 1] == pytest.approx(-1.0)


def test_a_vertex_that_slid_past_the_rim_is_not_held_by_the_plate(contact: SelfContact) -> None:
    found = find_from(contact, sink(contact, 0.01), NO_PAIRS)
    known = np.column_stack([found.vertex, found.triangle])
    beside = sink(contact, 0.03)
    beside[contact.mesh.vertices[:, 1] > 0.005, 0] += 0.8
    assert len(find_from(contact, beside, known)) == 0


def test_a_vertex_that_bounced_off_is_remembered_while_it_is_near(contact: SelfContact) -> None:
    found = find_from(contact, sink(contact, 0.01), NO_PAIRS)
    known = np.column_stack([found.vertex, found.triangle])
    near = find_from(contact, sink(contact, -0.01), known)
    assert np.isin(bottom(contact), near.vertex).all()
    assert near.depth.max() < 0.0
    assert len(find_from(contact, sink(contact, -2.0 * contact.edge), known)) == 0


@pytest.mark.parametrize(("beyond", "remembered"), [(0.004, True), (0.02, False)])
def test_a_vertex_beside_an_edge_does_not_come_and_go(contact: SelfContact, beyond: float, remembered: bool) -> None:
    rim, upper = bottom(contact), contact.mesh.vertices[:, 1] > 0.005
    rim = rim[np.isclose(contact.mesh.vertices[rim, 0], 0.17)]
    touching, hovering = sink(contact, 0.005), sink(contact, -0.008)
    touching[upper, 0] += 0.329
    hovering[upper, 0] += 0.33 + beyond  # a tenth of a triangle is 0.01
    found = find_from(contact, touching, NO_PAIRS)
    assert np.isin(rim, found.vertex).all()
    near = find_from(contact, hovering, np.column_stack([found.vertex, found.triangle]))
    assert np.isin(rim, near.vertex).tolist() == [remembered] * len(rim)
    assert near.depth.max() < 0.0


@pytest.mark.parametrize(("parted", "aside", "recalled"), [(0.02, 0.0, True), (0.04, 0.0, False), (0.0, 0.3, False)])
def test_pairs_are_recalled_while_they_are_near(
    contact: SelfContact, parted: float, aside: float, recalled: bool
) -> None:
    found = find_from(contact, sink(contact, 0.01), NO_PAIRS)
    known = np.column_stack([found.vertex, found.triangle])
    x = sink(contact, -parted)
    x[contact.mesh.vertices[:, 1] > 0.005, 0] += aside
    again = contact.recall(known, 0.03, x)
    assert np.isin(bottom(contact), again.vertex).all() == recalled
    assert again.depth == pytest.approx(-parted, abs=1e-9)


def test_a_wedge_is_left_by_the_wall_it_was_entered_by() -> None:
    """Its walls look a little more than a right angle apart from each other."""
    wedge, block = (
        fill_box((-1.0, 0.0, -0.5), (1.0, 1.0, 0.5), 6, None),
        fill_box((0, 0, 0), (0.05, 0.05, 0.05), 1, None),
    )
    slope = np.tan(np.radians(40.0))
    corners = wedge.vertices * [1.0, 0.3, 1.0]
    corners[:, 0] *= 0.02 + slope * (0.3 - corners[:, 1])
    count = len(corners)
    own = SelfContact(
        TetMesh.clean(
            np.concatenate([corners, block.vertices + [0.0, 1.0, 0.0]]),
            np.concatenate([wedge.tets, block.tets + count]),
        )
    )
    probe = count + int(np.flatnonzero((block.vertices == [0.0, 0.0, 0.0]).all(axis=1))[0])

    def place(x: float) -> np.ndarray:
        """Positions with a corner of the block inside the wedge."""
        where = own.mesh.vertices.copy()
        where[count:] += [x, 0.2, 0.03] - where[probe]
        return where

    first, other = own.find(place(-0.07)), own.find(place(0.03))
    known = np.column_stack([first.vertex, first.triangle])[first.vertex == probe]
    assert first.normal[first.vertex == probe, 0] < -0.5
    assert other.normal[other.vertex == probe, 0] > 0.5
    kept = find_from(own, place(0.03), known)
    assert kept.normal[kept.vertex == probe, 0] < -0.5
