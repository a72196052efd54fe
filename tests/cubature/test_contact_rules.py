"""Contact rules: right where they were trained, blended between, silent where none is near."""

import numpy as np
import pytest

import supple.cubature.train_contact_rules as training
from supple.cubature.contact_rules import ContactRules, pack_rules
from supple.cubature.packed_rules import find_nearest_two
from supple.cubature.train_contact_rules import Flesh, Look, train_contact_rules
from supple.errors import TrainingError
from supple.rig.relative_poses import RelativePoses
from supple.rig.skeleton import Skeleton

BONES = Skeleton.of(["upper", "lower"], [-1, 0], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]])
COUNT = 120  # vertices, half of each bone
RANK = 6


def bent(*angles: float) -> np.ndarray:
    """Poses with the lower bone turned about z."""
    return np.array([[0.0] * 8 + [angle] for angle in angles])


def flesh() -> Flesh:
    rng = np.random.default_rng(0)
    rest = rng.uniform(-0.2, 0.2, (COUNT, 3)) + np.repeat([[0.5, 0, 0], [1.5, 0, 0]], COUNT // 2, axis=0)
    triangles = np.array([[k, k + 1, k + 2] for k in range(0, COUNT - 2, 3)], np.int32)
    return Flesh(BONES, rest, triangles, np.repeat([0, 1], COUNT // 2))


def look(rng: np.random.Generator, first: int, count: int, smooth: np.ndarray) -> Look:
    """Contacts of vertices first, first + 1, ... of the upper bone with triangles of the lower; their forces change
    little from vertex to vertex, as those of a patch do."""
    vertices = np.arange(first, first + count, dtype=np.int32)
    pairs = np.column_stack([vertices, np.full(count, 30, np.int32)])
    place = (vertices / COUNT)[:, None]
    forces = np.cos(smooth * place + rng.uniform(0.0, 0.5)) + 2.0
    return Look(pairs, forces)


def lessons(poses: int, looks: int) -> list[list[Look]]:
    """In each pose another patch of twelve vertices touches."""
    rng = np.random.default_rng(3)
    smooth = rng.uniform(1.0, 9.0, (1, RANK))
    return [[look(rng, 4 * pose, 12, smooth) for _ in range(looks)] for pose in range(poses)]


@pytest.fixture(scope="module")
def learned():
    poses, taught = bent(*np.linspace(0.0, 1.0, 8)), lessons(8, 3)
    rules = train_contact_rules(flesh(), poses, taught, lessons(8, 2), np.ones(RANK), 0.02, np.random.default_rng(0))
    return poses, taught, rules


def test_a_rule_is_right_in_its_pose(learned) -> None:
    poses, taught, rules = learned
    assert rules.training_error <= 0.02
    for pose, some in zip(poses, taught, strict=True):
        chosen = rules.rules.choose(BONES, pose)
        assert 1 <= len(chosen.pairs) <= 2 * RANK
        for one in some:
            rows = np.searchsorted(one.pairs[:, 0], chosen.pairs[:, 0])
            found = chosen.weights @ one.forces[rows]
            wanted = one.forces.sum(axis=0)
            assert np.linalg.norm(found - wanted) <= 2.0 * 0.02 * np.linalg.norm(wanted)


def test_a_rule_is_fitted_as_closely_as_looks_held_out_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer looks to learn from than there are to judge by, the first that fits is not right yet."""
    some, others = lessons(6, 1), lessons(6, 6)
    errors = []
    for tries in (1, 4):
        monkeypatch.setattr(training, "_TRIES", tries)
        poses = bent(*np.linspace(0.0, 1.0, 6))
        rules = train_contact_rules(flesh(), poses, some, others, np.ones(RANK), 0.003, np.random.default_rng(0))
        errors.append(rules.heldout_error)
    assert errors[0] > 0.003 >= errors[1]


def test_few_contacts_are_all_taken_where_no_choice_of_them_is_right() -> None:
    """Bones that just begin to touch, with one vertex in the looks to learn from, with another in those held out."""
    smooth, rng = np.ones((1, RANK)), np.random.default_rng(3)
    some, others = [[look(rng, 4, 1, smooth)]], [[look(rng, 5, 1, smooth)]]  # corners of one triangle
    rules = train_contact_rules(flesh(), bent(0.0), some, others, np.ones(RANK), 0.05, rng)
    assert rules.heldout_error == 0.0
    chosen = rules.rules.choose(BONES, bent(0.0)[0])
    assert chosen.pairs.tolist() == [[3, 30], [4, 30], [5, 30]]
    assert chosen.weights.tolist() == [1.0, 1.0, 1.0]


def test_slight_contacts_count_by_the_largest_force_of_their_bones() -> None:
    """In one pose a vertex that nobody knows touches by a millionth of the force in the other: that is no error."""
    smooth, rng = np.ones((1, RANK)), np.random.default_rng(3)
    strong, slight, strange = (look(rng, first, 1, smooth) for first in (0, 30, 50))
    some, others = [[strong], [slight._replace(forces=1e-6 * slight.forces)]], [[strong], [strange]]
    errors = []
    for size in (1e-6, 0.5):
        others[1] = [strange._replace(forces=size * strange.forces)]
        poses = bent(0.0, 1.0)
        errors.append(train_contact_rules(flesh(), poses, some, others, np.ones(RANK), 0.05, rng).heldout_error)
    assert errors[0] < 1e-3
    assert errors[1] == pytest.approx(1.0)


def rules_at(*weights: float, vertices: tuple[int, ...] = (3, 4)) -> ContactRules:
    """Rules of one contact each, in poses of the lower bone that are one radian apart."""
    poses = bent(*np.arange(float(len(weights))))
    seen = RelativePoses.of(BONES, 0, 1, flesh().surface_of(1), poses)
    at = np.array([seen.locate(*BONES.transforms(pose))[0] for pose in poses])
    rules = [(np.array([[v, 5]], np.int32), np.array([w])) for v, w in zip(vertices, weights, strict=True)]
    return ContactRules((pack_rules(seen, at, rules),))


def test_shares_sum_to_one_and_a_pose_that_is_met_has_all() -> None:
    rules = rules_at(1.0, 1.0)
    for angle in (0.1, 0.35, 0.5, 0.8):
        shares = rules.choose(BONES, bent(angle)[0]).weights
        assert len(shares) == 2
        assert shares.sum() == pytest.approx(1.0)
        other = 0.5 + 0.5 * np.sin(angle - 0.5) / np.sin(0.5)  # along the chord, which is all that two poses tell of
        np.testing.assert_allclose(shares, [1.0 - other, other], rtol=1e-9)
    np.testing.assert_allclose(rules.choose(BONES, bent(1.0)[0]).weights, [1.0], rtol=1e-6)
    np.testing.assert_allclose(rules_at(0.3, vertices=(3,)).choose(BONES, bent(0.0)[0]).weights, [0.3])


def test_the_nearest_two_of_thousands_are_found() -> None:
    rng = np.random.default_rng(5)
    at = rng.standard_normal((4000, 6)) * [3.0, 2.0, 1.0, 0.1, 0.01, 0.0]
    at = at[np.argsort(at[:, 0])]
    for point in (*rng.standard_normal((50, 6)), at[17], at[0] - 9.0):
        distance = np.linalg.norm(at[100:3900] - point, axis=1)
        one, other, least, second = find_nearest_two(at, 100, 3900, point)
        assert [one - 100, other - 100] == np.argsort(distance)[:2].tolist()
        np.testing.assert_allclose([least, second], np.sort(distance)[:2])
    assert find_nearest_two(at, 7, 8, at[9])[:2] == (7, -1)


def test_between_two_poses_both_rules_count(learned) -> None:
    poses, _, rules = learned
    one, other = (rules.rules.choose(BONES, pose) for pose in poses[2:4])
    middle = rules.rules.choose(BONES, (poses[2] + poses[3]) / 2)
    assert set(middle.pairs[:, 0]) == set(one.pairs[:, 0]) | set(other.pairs[:, 0])
    assert middle.weights.sum() == pytest.approx((one.weights.sum() + other.weights.sum()) / 2, rel=1e-3)


def test_a_rule_without_contacts_leaves_the_other_whole() -> None:
    seen = RelativePoses.of(BONES, 0, 1, flesh().surface_of(1), bent(0.0, 1.0))
    at = np.array([seen.locate(*BONES.transforms(pose))[0] for pose in bent(0.0, 1.0)])
    nothing = np.zeros((0, 2), np.int32), np.zeros(0)
    some = np.array([[3, 5], [4, 5]], np.int32), np.array([0.1, 0.2])
    rules = ContactRules((pack_rules(seen, at, [nothing, some]),))
    np.testing.assert_allclose(rules.choose(BONES, bent(0.6)[0]).weights, [0.1, 0.2])
    assert not rules.choose(BONES, bent(0.0)[0]).weights.any()


def test_far_from_all_poses_no_rule_fits(learned) -> None:
    poses, _, rules = learned
    chosen = rules.rules.choose(BONES, bent(-1.5)[0])
    assert chosen.lacking == ((0, 1),)
    assert not len(chosen.pairs)
    assert rules.rules.choose(BONES, poses[3]).lacking == ()


def test_equal_relative_poses_are_one() -> None:
    poses = bent(0.0, 0.5, 0.5, 1.0)
    poses[2, 3:6] = [0.2, 0.1, 0.9]  # the whole body turned
    rules = train_contact_rules(
        flesh(), poses, lessons(4, 2), lessons(4, 1), np.ones(RANK), 0.05, np.random.default_rng(0)
    )
    assert len(rules.rules.rules[0].at) == 3


def test_flesh_that_touches_itself_belongs_to_the_joint_beside_it() -> None:
    body = flesh()
    pairs = np.array([[0, 1], [90, 35]], np.int32)  # upper on upper, lower on lower
    np.testing.assert_array_equal(body.bones_of(pairs), [[0, 1], [0, 1]])


def test_pairs_named_twice_are_one() -> None:
    chosen = rules_at(1.0, 3.0, vertices=(4, 4)).choose(BONES, bent(0.5)[0])
    np.testing.assert_array_equal(chosen.pairs, [[4, 5]])
    np.testing.assert_allclose(chosen.weights, [2.0])


def test_looks_without_poses_are_refused() -> None:
    with pytest.raises(TrainingError, match="give as many"):
        train_contact_rules(flesh(), bent(0.0), lessons(2, 1), [], np.ones(RANK), 0.05, np.random.default_rng(0))
