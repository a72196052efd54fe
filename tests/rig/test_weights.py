"""Influences and the ways to find them: bounds, locality, symmetry, and what is said of bad input."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.errors import ArgumentError, SceneError, SuppleWarning
from supple.mesh import TetMesh, fill_box
from supple.rig.biharmonic_weights import biharmonic_weights
from supple.rig.bones import bone_distances
from supple.rig.heat_weights import heat_weights
from supple.rig.influences import Influences
from supple.rig.nearest_bone import share_nearest
from supple.rig.skeleton import Skeleton
from supple.rig.transfer_weights import transfer_weights

FloatArray = NDArray[np.float64]
Weigh = Callable[[TetMesh, Skeleton], Influences]


def make_bar() -> TetMesh:
    """A bar from x = -1 to 1, 0.4 thick, whose right half is the mirror image of its left."""
    half = fill_box((0.0, -0.2, -0.2), (1.0, 0.2, 0.2), resolution=10)
    count, seam = len(half.vertices), half.vertices[:, 0] == 0.0
    mirror = np.where(seam, np.arange(count), count + np.cumsum(~seam) - 1)
    vertices = np.concatenate([half.vertices, half.vertices[~seam] * [-1.0, 1.0, 1.0]])
    return TetMesh.clean(vertices, np.concatenate([half.tets, mirror[half.tets][:, [0, 1, 3, 2]]]))


def find_mirror(mesh: TetMesh) -> NDArray[np.int64]:
    """The vertex opposite each, across x = 0."""
    keys = [tuple(row) for row in np.round(mesh.vertices, 9) + 0.0]
    place = {key: k for k, key in enumerate(keys)}
    return np.array([place[(-x + 0.0, y, z)] for x, y, z in keys])


def make_bones() -> Skeleton:
    """Four bones along the bar, named from the middle outwards."""
    heads = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [-0.5, 0.0, 0.0]]
    tails = [[0.5, 0.0, 0.0], [0.9, 0.0, 0.0], [-0.5, 0.0, 0.0], [-0.9, 0.0, 0.0]]
    return Skeleton.of(["right", "right_end", "left", "left_end"], [-1, 0, -1, 2], heads, tails)


def transferred(mesh: TetMesh, skeleton: Skeleton) -> Influences:
    """Weights of the bar's own surface by distance, carried inside."""
    surface = mesh.surface()
    near = np.exp(-20.0 * bone_distances(surface.vertices, skeleton))
    return transfer_weights(surface, Influences.from_dense(near, None), mesh, len(skeleton))


WAYS: tuple[Weigh, ...] = (heat_weights, biharmonic_weights, transferred)


@pytest.fixture(scope="module")
def bar() -> TetMesh:
    return make_bar()


@pytest.mark.parametrize("weigh", WAYS)
def test_weights_are_a_partition_of_unity_and_mirror_a_mirrored_body(weigh: Weigh, bar: TetMesh) -> None:
    skeleton = make_bones()
    influences = weigh(bar, skeleton)
    weights = influences.dense(4)
    assert weights.min() >= 0.0
    np.testing.assert_allclose(influences.weights.sum(axis=1), 1.0, atol=1e-14)
    assert (np.diff(influences.weights, axis=1) <= 0.0).all()
    opposite = [skeleton.number(name) for name in ("left", "left_end", "right", "right_end")]
    own = [skeleton.number(name) for name in ("right", "right_end", "left", "left_end")]
    np.testing.assert_allclose(weights[:, own], weights[find_mirror(bar)][:, opposite], atol=1e-6)


@pytest.mark.parametrize("weigh", [heat_weights, biharmonic_weights])
def test_flesh_about_the_middle_of_a_bone_follows_it(weigh: Weigh, bar: TetMesh) -> None:
    skeleton = make_bones()
    weights = weigh(bar, skeleton).dense(4)
    axis = np.linalg.norm(bar.vertices[:, 1:], axis=1) < 0.11
    middle = (skeleton.heads + skeleton.tails) / 2.0
    for bone in range(4):
        near = axis & (np.abs(bar.vertices[:, 0] - middle[bone, 0]) < 0.1)
        assert weights[near, bone].min() > 0.8
        far = np.abs(bar.vertices[:, 0] - middle[bone, 0]) > 0.9
        assert weights[far, bone].max() < 0.01


def test_heat_solves_its_equation_in_one_dimension() -> None:
    """A layer at one distance d from two endless bones: w = exp(-√c |x| / d) / 2 on the far side of x = 0."""
    mesh = fill_box((-1.0, 0.0, 0.0), (1.0, 0.04, 0.04), resolution=100)
    d, c = 10.0, 4000.0
    heads, tails = [[0.0, d, 0.02], [0.0, d, 0.02]], [[9.0, d, 0.02], [-9.0, d, 0.02]]
    skeleton = Skeleton.of(["right", "left"], [-1, -1], heads, tails)
    with pytest.warns(SuppleWarning, match=r"'right' \(9\.96 m away\), 'left' \(9\.96 m"):
        weights = heat_weights(mesh, skeleton, c).dense(2)
    x = mesh.vertices[:, 0]
    decay = np.sqrt(c) / d
    inner = (x < 0.0) & (x > -0.7)  # away from the insulated end
    np.testing.assert_allclose(weights[inner, 0], 0.5 * np.exp(decay * x[inner]), atol=5e-3)


def test_heat_weights_do_not_depend_on_the_size_of_the_body(bar: TetMesh) -> None:
    bones = make_bones()
    large = Skeleton.of(bones.names, bones.parents, 1000.0 * bones.heads, 1000.0 * bones.tails)
    one, thousand = heat_weights(bar, bones), heat_weights(bar.scaled(1000.0), large)
    np.testing.assert_allclose(thousand.dense(4), one.dense(4), atol=1e-9)


def test_heat_weights_come_near_those_of_the_stored_hand(shared_data: Path) -> None:
    stored = np.load(shared_data / "hand_standin" / "mesh.npz")
    poses = np.load(shared_data / "hand_standin" / "training_poses.npz")
    names = [f"bone{k}" for k in range(10)]
    skeleton = Skeleton.of(names, poses["parent"], poses["rest_segment_start"], poses["rest_segment_end"])
    wanted = stored["skin_weights"][:, [names.index(name) for name in skeleton.names]]
    weights = heat_weights(TetMesh.clean(stored["vertices"], stored["tets"]), skeleton).dense(10)
    assert np.sqrt(((weights - wanted) ** 2).sum(axis=1).mean()) < 0.03
    assert (weights.argmax(axis=1) == wanted.argmax(axis=1)).mean() > 0.99


def test_nearest_bones_share_and_a_crowded_bone_takes_its_nearest_point() -> None:
    distances = np.array([[1.0, 1.0, 3.0], [1.0, 2.0, 2.5], [2.0, 1.0, 2.5]])
    np.testing.assert_array_equal(share_nearest(distances, 1.0), [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(share_nearest(distances[:, :2], 1.0), [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])


def test_flesh_across_a_gap_is_not_the_bone_s_that_is_nearest() -> None:
    """A wide belly beside a hanging arm, joined at the shoulder: the belly's side is nearer to the arm's bones."""
    block = fill_box((0.0, 0.0, 0.0), (1.6, 2.0, 0.4), resolution=20)
    centres = block.vertices[block.tets].mean(axis=1)
    gap = (centres[:, 0] > 1.1) & (centres[:, 0] < 1.3) & (centres[:, 1] < 1.6)
    mesh = TetMesh.clean(block.vertices, block.tets[~gap])
    heads = [[0.2, 0.1, 0.2], [1.45, 1.7, 0.2], [1.45, 0.9, 0.2]]
    tails = [[0.2, 1.8, 0.2], [1.45, 0.9, 0.2], [1.45, 0.2, 0.2]]
    skeleton = Skeleton.of(["spine", "arm", "forearm"], [-1, 0, 1], heads, tails)
    weights = heat_weights(mesh, skeleton).dense(3)
    x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
    belly, arm = (x < 1.11) & (y < 0.7), (x > 1.29) & (y < 1.4)
    assert weights[belly, 0].min() > 0.9
    assert weights[arm, 1:].sum(axis=1).min() > 0.95


@pytest.mark.parametrize("weigh", [heat_weights, biharmonic_weights])
def test_a_bone_outside_the_body_is_named_and_still_moves_something(weigh: Weigh, bar: TetMesh) -> None:
    heads, tails = [[-0.9, 0.0, 0.0], [0.0, 2.2, 0.0]], [[0.9, 0.0, 0.0], [0.0, 3.0, 0.0]]
    skeleton = Skeleton.of(["spine", "halo"], [-1, 0], heads, tails)
    with pytest.warns(SuppleWarning, match=r"bones of 'halo' \(2 m away\): they move the vertices nearest"):
        weights = weigh(bar, skeleton).dense(2)
    top = np.argmin(np.linalg.norm(bar.vertices - [0.0, 0.2, 0.0], axis=1))
    assert weights[top, 1] > 0.3
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)


def test_a_bone_in_a_cavity_is_not_outside() -> None:
    block = fill_box((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0), resolution=8)
    centres = block.vertices[block.tets].mean(axis=1)
    hollow = TetMesh.clean(block.vertices, block.tets[np.abs(centres).max(axis=1) > 0.5])
    skull = Skeleton.of(["skull", "neck"], [-1, 0], [[0.0, 0.2, 0.0], [0.0, -0.9, 0.0]], [[0.0] * 3, [0.0, -0.7, 0.0]])
    assert heat_weights(hollow, skull).dense(2)[:, 0].max() > 0.5  # a warning would be an error


def test_a_piece_that_no_bone_enters_follows_its_nearest() -> None:
    one, two = (fill_box((x, 0.0, 0.0), (x + 1.0, 0.4, 0.4), resolution=5) for x in (0.0, 3.0))
    both = TetMesh.clean(
        np.concatenate([one.vertices, two.vertices]), np.concatenate([one.tets, two.tets + len(one.vertices)])
    )
    heads, tails = [[0.1, 0.2, 0.2], [0.5, 0.2, 0.2]], [[0.5, 0.2, 0.2], [0.9, 0.2, 0.2]]
    skeleton = Skeleton.of(["near", "far"], [-1, 0], heads, tails)
    for weigh in (heat_weights, biharmonic_weights):
        apart = both.vertices[:, 0] >= 3.0
        np.testing.assert_allclose(weigh(both, skeleton).dense(2)[apart, 1], 1.0, atol=1e-6)


def test_transfer_keeps_surface_weights_and_is_linear_where_they_are(bar: TetMesh) -> None:
    surface = bar.surface()
    right = (surface.vertices[:, 0] + 1.0) / 2.0
    given = Influences.from_dense(np.column_stack([right, 1.0 - right]))
    weights = transfer_weights(surface, given, bar, 3).dense(3)
    np.testing.assert_allclose(weights[:, 0], (bar.vertices[:, 0] + 1.0) / 2.0, atol=1e-12)  # harmonic: itself
    assert weights[:, 2].max() == 0.0
    with pytest.warns(SuppleWarning, match="up to 20 m away from that of the body"):
        transfer_weights(surface.moved(100.0 * surface.vertices), given, bar, 2)
    with pytest.raises(SceneError, match="do not fit a surface of"):
        transfer_weights(surface, Influences.from_dense(np.ones((3, 1))), bar, 1)


def test_influences_are_sorted_normalised_and_cut() -> None:
    influences = Influences.of([[3, 1, 0, 2, 9]], [[0.1, 0.4, 0.3, 0.2, 0.0]], 4, most=3)
    np.testing.assert_array_equal(influences.joints, [[1, 0, 2]])
    np.testing.assert_allclose(influences.weights, [[4 / 9, 3 / 9, 2 / 9]])
    assert influences.notes == ()
    padded = Influences.of([[2, -1], [1, 0]], [[0.7, 0.0], [0.5, 0.4]], 3)
    np.testing.assert_array_equal(padded.joints, [[2, 2], [1, 0]])
    assert padded.notes == ("normalised the weights of 2 vertices, which summed to 0.7 to 0.9",)
    np.testing.assert_allclose(padded.dense(3), [[0.0, 0.0, 1.0], [4 / 9, 5 / 9, 0.0]])
    np.testing.assert_array_equal(padded.main_joints(), [2, 1])
    assert Influences.from_dense(np.eye(6)).weights.shape == (6, 1)


@pytest.mark.parametrize(
    ("joints", "weights", "words"),
    [
        ([[0, 1], [0, 1]], [[1.0, 0.0], [0.0, 0.0]], "vertex 1 has no influence, the first of 1"),
        ([[0, 1]], [[1.2, -0.2]], r"vertex 0 has the weight -0\.2, the first of 1 vertices"),
        ([[0, 1]], [[np.nan, 1.0]], "vertex 0 has the weight nan"),
        ([[0, 2]], [[0.5, 0.5]], "vertex 0 follows joint 2, but the skeleton's 2 joints are numbered from 0 to 1"),
        ([[0, 1, 1]], [[0.5, 0.5]], r"Influences.of\(joints\): got shape \(1, 3\); want \(1, 2\)"),
        ([], [], r"Influences.of\(weights\): got shape \(0,\)"),
    ],
)
def test_bad_influences_are_refused_in_words(joints: object, weights: object, words: str) -> None:
    with pytest.raises((ArgumentError, SceneError), match=words):
        Influences.of(joints, weights, 2)  # type: ignore[arg-type]


def test_bad_settings_are_refused_in_words(bar: TetMesh) -> None:
    with pytest.raises(SceneError, match="0 influences a vertex hold nothing"):
        Influences.of([[0]], [[1.0]], 1, most=0)
    with pytest.raises(SceneError, match="heat = -1 gives no weights"):
        heat_weights(bar, make_bones(), heat=-1)
    with pytest.raises(ArgumentError, match=r"want \(n, j\)"):
        Influences.from_dense([1.0, 0.0])
