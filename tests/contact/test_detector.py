"""What a body is found to touch, and how contacts are followed from round to round."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.contact.anisotropy import split
from supple.contact.box import Box
from supple.contact.contacts import SELF, Contacts
from supple.contact.detector import Detector
from supple.contact.plane import Plane
from supple.contact.sets import anchor, choose, join, keep_areas, merge, share
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import ArgumentError, SceneError
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.solve import Inputs, Moment, Placement

NOTHING = np.zeros((0, 3))
STILL = Placement.still()


@pytest.fixture(scope="module")
def body() -> Body:
    return Body.build(fill_box((0, 0, 0), (0.2, 0.1, 0.2), 4), StableNeoHookean(young=1e5))


def step(*ends: Placement, begin: tuple[Placement, ...] | None = None) -> Inputs:
    return Inputs(Moment(0.0, NOTHING, (), ends if begin is None else begin), Moment(0.1, NOTHING, (), ends))


def at(*place: float) -> Placement:
    return Placement(np.eye(3), np.array(place))


def test_bottom_of_a_block_touches_the_floor(body: Body) -> None:
    x = body.mesh.vertices - [0.0, 1e-4, 0.0]
    contacts = Detector(body, (Plane(),)).detect(x, step(STILL))
    bottom = np.flatnonzero(body.mesh.vertices[:, 1] == 0.0)
    assert np.array_equal(contacts.vertices[:, 0], bottom)
    assert np.allclose(contacts.depth(x), 1e-4)
    assert np.allclose(contacts.normal, [0.0, 1.0, 0.0])


def test_near_misses_are_candidates_and_far_ones_are_not(body: Body) -> None:
    detector = Detector(body, (Plane(),))
    for height, found in ((0.01, True), (0.2, False)):
        gap = height * detector.edge
        contacts = detector.detect(body.mesh.vertices + [0.0, gap, 0.0], step(STILL))
        assert (len(contacts) > 0) == found
        assert (contacts.depth(body.mesh.vertices + [0.0, gap, 0.0]) < 0.0).all()


def test_foresight_reaches_as_far_as_the_step_goes_and_keeps_the_side_it_came_from(body: Body) -> None:
    # The block would end beyond the middle of a plate, and even beyond the plate
    detector, x = Detector(body, (Box((0.06, 1.0, 1.0)),)), body.mesh.vertices
    for far in (0.12, 0.4):
        contacts = detector.foresee(x, x + [far, 0.0, 0.0], step(at(0.25, 0.0, 0.0)))
        front = np.flatnonzero(x[:, 0] == 0.2)
        assert np.isin(front, contacts.vertices[:, 0]).all()
        assert np.allclose(contacts.normal, [-1.0, 0.0, 0.0])
        ends = np.isin(contacts.vertices[:, 0], front)
        assert np.allclose(contacts.depth(x + [far, 0.0, 0.0])[ends], far - 0.02)


def test_a_collider_that_comes_is_met_where_it_ends_with_its_velocity(body: Body) -> None:
    detector, x = Detector(body, (Plane(), Box((0.06, 1.0, 1.0)))), body.mesh.vertices + [0.0, 1.0, 0.0]
    inputs = step(STILL, at(0.17, 1.0, 0.0), begin=(STILL, at(0.25, 1.0, 0.0)))
    contacts = detector.foresee(x, x, inputs)
    assert set(contacts.source.tolist()) == {1}
    assert np.allclose(contacts.velocity, [-0.8, 0.0, 0.0])
    front = x[contacts.vertices[:, 0], 0] == 0.2
    assert np.allclose(contacts.depth(x)[front], 0.2 - 0.14)
    assert np.allclose(contacts.normal, [-1.0, 0.0, 0.0])


def test_two_blocks_of_one_body_touch_each_other(body: Body) -> None:
    one = body.mesh
    count = len(one.vertices)
    mesh = TetMesh.clean(
        np.concatenate([one.vertices, one.vertices * 0.5 + [0.05, 0.12, 0.05]]),
        np.concatenate([one.tets, one.tets + count]),
    )
    pair = Body.build(mesh, StableNeoHookean())
    x = mesh.vertices.copy()
    x[count:, 1] -= 0.025
    found = Detector(pair, settings=ContactSettings(self_contact=True)).detect(x, step())
    assert len(found) > 0
    assert (found.source == SELF).all()
    assert np.allclose(found.depth(x), 0.005)
    halves = (np.arange(count), np.arange(count, 2 * count))
    ignoring = ContactSettings(self_contact=True, ignored=(halves,))
    assert len(Detector(pair, settings=ignoring).detect(x, step())) == 0


def test_wrong_number_of_placements_is_refused(body: Body) -> None:
    detector = Detector(body, (Plane(),))
    with pytest.raises(SceneError, match="places 2 colliders where there are 1"):
        detector.detect(body.mesh.vertices, step(STILL, STILL))
    with pytest.raises(SceneError, match="one placement for each"):
        detector.foresee(body.mesh.vertices, body.mesh.vertices, step())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"friction": float("inf")}, r"ContactSettings\(friction\): got inf"),
        ({"friction": -0.1}, r"ContactSettings\(friction\): got -0.1"),
        ({"thickness": -1.0}, r"ContactSettings\(thickness\): got -1"),
        ({"stiffness": 0.0}, r"ContactSettings\(stiffness\): got 0"),
        ({"stiffness": float("nan")}, r"ContactSettings\(stiffness\): got nan"),
        ({"alpha": 1.5}, r"ContactSettings\(alpha\): got 1.5"),
    ],
)
def test_senseless_settings_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ContactSettings(**settings)


def contacts(*rows: tuple[int, int, int, float]) -> Contacts:
    """Contacts (source, vertex, feature, height of what is touched) with normals along y."""
    source, vertex, feature, height = (np.array(column) for column in zip(*rows, strict=True))
    count = len(rows)
    return Contacts(
        np.repeat(vertex[:, None], 4, axis=1).astype(np.int32), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        height[:, None] * [0.0, 1.0, 0.0], np.tile([0.0, 1.0, 0.0], (count, 1)), np.ones(count),
        np.zeros((count, 3)), source.astype(np.int32), feature.astype(np.int32),
    )  # fmt: skip


def listed(found: Contacts) -> list[tuple[int, int, int, float]]:
    columns = (found.source, found.vertices[:, 0], found.feature, found.offset[:, 1])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_merged_contacts_are_followed_from_round_to_round() -> None:
    x = np.zeros((5, 3))
    old = contacts((SELF, 0, 7, 0.1), (0, 1, 0, 0.1), (0, 2, 0, -0.1), (0, 3, 0, 0.2))
    new = contacts((SELF, 0, 8, 0.3), (0, 3, 0, 0.4), (0, 4, 0, 0.5))
    moved = (SELF, 0, 8, 0.3), (0, 2, 0, -0.1), (0, 3, 0, 0.4), (0, 4, 0, 0.5)
    assert listed(merge(old, new, x)) == list(moved), "vertex 1 pushes where nothing is, the open 2 may close"
    assert listed(merge(old, new, x, drop=False)) == sorted([*moved, (0, 1, 0, 0.1)])
    assert listed(merge(old, new, x, several=True)) == sorted([*moved, (SELF, 0, 7, 0.1)], key=lambda row: row[:2])
    crowd = contacts((SELF, 0, 6, 0.1), (SELF, 0, 7, 0.2))
    assert listed(merge(crowd, new, x))[:3] == [(SELF, 0, 8, 0.3), (SELF, 0, 6, 0.1), (SELF, 0, 7, 0.2)]
    steady = merge(old, new, x, refresh=False)
    assert listed(steady) == [*listed(old), (0, 4, 0, 0.5)]
    assert listed(merge(Contacts.none(), new, x)) == listed(new)


def test_known_contacts_stand_for_as_much_as_before() -> None:
    old = replace(contacts((SELF, 0, 7, 0.1), (0, 1, 0, 0.1)), area=np.array([2.0, 3.0]))
    new = contacts((SELF, 0, 8, 0.1), (0, 1, 0, 0.2), (1, 1, 0, 0.2))
    assert keep_areas(new, old).area.tolist() == [1.0, 3.0, 1.0]


def test_contacts_of_one_vertex_that_push_the_same_way_share_its_area() -> None:
    x = np.zeros((5, 3))
    several = contacts((SELF, 0, 6, 0.1), (SELF, 0, 7, 0.2), (SELF, 0, 8, -0.1), (SELF, 1, 6, 0.1), (0, 0, 0, 0.1))
    assert share(several, x).area == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1.0, 1.0]), "what is open does not push"
    normal = several.normal.copy()
    normal[1] = [1.0, 0.0, 0.0]
    assert share(replace(several, normal=normal), x).area == pytest.approx([1.0, 1.0, 1 / 2, 1.0, 1.0]), "a fold"


def test_with_alpha_a_contact_is_held_where_it_was_found_and_found_as_deep_as_it_is(body: Body) -> None:
    floor = Placement(Rotation.from_rotvec([0.1, 0.0, 0.4]).as_matrix(), np.zeros(3))
    still = step(floor)
    x = floor.move(body.mesh.vertices - [0.0, 1e-3, 0.0])
    moved = x + floor.turn(np.array([[0.004, -0.001, 0.002]]))
    for alpha, slide in ((0.0, 0.0), (0.5, np.hypot(0.004, 0.002))):
        detector = Detector(body, [Plane()], ContactSettings(alpha=alpha))
        first = detector.detect(x, still)
        again = detector.detect(moved, still, first)
        assert len(again) == len(first) > 0
        assert again.depth(moved) == pytest.approx(first.depth(x) + 0.001)
        assert np.linalg.norm(split(again.normal, again.gap(moved))[1], axis=1) == pytest.approx(slide, abs=1e-12)


def test_an_anchored_contact_with_the_body_itself_keeps_its_point_of_the_triangle() -> None:
    x = np.array([[0.2, -0.1, 0.2], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    corners, up = np.array([[0, 1, 2, 3]], np.int32), np.array([[0.0, 1.0, 0.0]])

    def find(weights: list[float]) -> Contacts:
        none, own = np.zeros((1, 3)), np.full(1, SELF, np.int32)
        return Contacts(corners, np.array([weights]), none, up, np.ones(1), none, own, np.zeros(1, np.int32))

    kept = anchor(find([1.0, -0.4, -0.3, -0.3]), find([1.0, -0.6, -0.2, -0.2]), x)
    assert kept.weights.tolist() == [[1.0, -0.6, -0.2, -0.2]]
    assert kept.depth(x) == pytest.approx(0.1)


def test_joined_contacts_are_sorted_and_chosen_ones_keep_their_order() -> None:
    whole = join((contacts((1, 3, 0, 0.1)), Contacts.none(), contacts((0, 9, 0, 0.2), (1, 2, 0, 0.3))))
    assert listed(whole) == [(0, 9, 0, 0.2), (1, 2, 0, 0.3), (1, 3, 0, 0.1)]
    assert listed(choose(whole, np.array([True, False, True]))) == [(0, 9, 0, 0.2), (1, 3, 0, 0.1)]
    assert len(join(())) == 0


def test_what_was_touched_is_remembered_unless_the_vertex_slid_on_from_it() -> None:
    plate = fill_box((-0.5, -0.05, -0.5), (0.5, 0.0, 0.5), 10, None)
    block = fill_box((0.0, 0.02, 0.0), (0.1, 0.12, 0.1), 1, None)
    count = len(plate.vertices)
    mesh = TetMesh.clean(
        np.concatenate([plate.vertices, block.vertices]), np.concatenate([plate.tets, block.tets + count])
    )
    detector = Detector(Body.build(mesh, StableNeoHookean(young=1e5)), (), ContactSettings(self_contact=True))
    probe = count + int(np.flatnonzero((block.vertices == [0.1, 0.02, 0.1]).all(axis=1))[0])

    def place(x: float) -> np.ndarray:
        """Positions with a corner of the block 5 mm deep in the plate."""
        where = mesh.vertices.copy()
        where[count:] += [x, -0.005, 0.13] - where[probe]
        return where

    def look(x: np.ndarray, known: list[tuple[int, int]]) -> Contacts:
        found = detector.foresee(x, x, step(), np.array(known, np.int32).reshape(-1, 2))
        return choose(found, found.vertices[:, 0] == probe)

    (one,), (next_one,) = (look(place(x), []).feature for x in (0.38, 0.42))
    assert one != next_one
    assert look(place(0.42), [(probe, one)]).feature.tolist() == [next_one]  # slid on
    assert set(look(place(0.42), [(probe, one), (probe, next_one)]).feature) == {one, next_one}  # rests on their edge
    rim = np.flatnonzero((mesh.vertices[mesh.surface_triangles(), 0] == 0.5).all(axis=1))
    both = look(place(0.49), [(probe, number) for number in rim])
    assert {tuple(np.round(normal)) for normal in both.normal} == {(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)}  # both sides
