"""Skinned vertices by their defining equations, against UsdSkel, and at poses that break naive blends."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.errors import ArgumentError, SceneError, SuppleWarning
from supple.rig.influences import Influences
from supple.rig.posed_blend import PosedBlend, fill_frames
from supple.rig.rigid import check_rigid
from supple.rig.skeleton import Skeleton
from supple.rig.skinning import Mode, SkinnedRig

FloatArray = NDArray[np.float64]
MODES: tuple[Mode, Mode] = ("linear", "dual_quaternion")


def make_chain(joints: int = 5) -> Skeleton:
    """Bones of length 1 along x, hanging from each other."""
    heads = np.arange(joints)[:, None] * np.eye(3)[0]
    return Skeleton.of([f"bone{k}" for k in range(joints)], np.arange(joints) - 1, heads, heads + np.eye(3)[0])


def make_rig(mode: Mode, influences: int = 4, vertices: int = 300) -> SkinnedRig:
    rng = np.random.default_rng(3)
    skeleton = make_chain()
    joints = np.array([rng.permutation(len(skeleton))[:influences] for _ in range(vertices)])
    weights = Influences.of(joints, rng.random((vertices, influences)), len(skeleton))
    return SkinnedRig(skeleton, weights, rng.uniform(-1.0, 5.0, (vertices, 3)), mode)


def make_tube(mode: Mode) -> SkinnedRig:
    """Rings of radius 0.5 about two bones that meet at x = 1; weights go over linearly between x = 0.5 and 1.5."""
    angle, x = (grid.ravel() for grid in np.meshgrid(np.arange(12) * np.pi / 6, np.linspace(0.0, 2.0, 21)))
    rest = np.column_stack([x, 0.5 * np.cos(angle), 0.5 * np.sin(angle)])
    second = np.clip(x - 0.5, 0.0, 1.0)
    return SkinnedRig(make_chain(2), Influences.from_dense(np.column_stack([1 - second, second])), rest, mode)


def draw_pose(rig: SkinnedRig, reach: float = 1.5, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).uniform(-reach, reach, len(rig.neutral))


def twist(rig: SkinnedRig, angle: float) -> FloatArray:
    """The tube's second bone turned about its own axis."""
    pose = rig.neutral
    pose[6] = angle
    return pose


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """The product of two quaternions, real part first."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def skin_slowly(rig: SkinnedRig, pose: FloatArray, vertex: int) -> FloatArray:
    """One vertex by the formula, written out."""
    R, t = rig.skeleton.transforms(pose)
    joints, weights = rig.influences.joints[vertex], rig.influences.weights[vertex]
    X = rig.rest[vertex]
    if rig.mode == "linear":
        return sum(w * (R[j] @ X + t[j]) for j, w in zip(joints, weights, strict=True))
    turns = Rotation.from_matrix(R[joints]).as_quat()[:, [3, 0, 1, 2]]
    turns *= np.where(turns @ turns[0] < 0.0, -1.0, 1.0)[:, None]
    q = weights @ turns
    p = sum(w * 0.5 * multiply(np.array([0.0, *t[j]]), turn) for j, w, turn in zip(joints, weights, turns, strict=True))
    length, back = np.linalg.norm(q), q * [1, -1, -1, -1]
    shift = 2.0 * multiply(p, back)[1:] / length**2
    return multiply(multiply(q, np.array([0.0, *X])), back)[1:] / length**2 + shift


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("influences", [1, 2, 4, 5])
def test_positions_follow_the_defining_equation(mode: Mode, influences: int) -> None:
    rig = make_rig(mode, influences, 40)
    pose = draw_pose(rig)
    wanted = [skin_slowly(rig, pose, vertex) for vertex in range(40)]
    np.testing.assert_allclose(rig.positions(pose), wanted, atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_positions_agree_with_usd(mode: Mode) -> None:
    skel = pytest.importorskip("pxr.UsdSkel")
    gf, vt = pytest.importorskip("pxr.Gf"), pytest.importorskip("pxr.Vt")
    if not hasattr(skel, "SkinPoints"):
        pytest.skip("this usd-core skins linearly only")
    rig = make_rig(mode)
    pose = draw_pose(rig)
    R, t = rig.skeleton.transforms(pose)
    rows = np.zeros((len(R), 4, 4))  # USD multiplies row vectors from the left
    rows[:, :3, :3], rows[:, 3, :3], rows[:, 3, 3] = R.transpose(0, 2, 1), t, 1.0
    points = vt.Vec3fArray.FromNumpy(rig.rest.astype(np.float32))
    done = skel.SkinPoints(
        "classicLinear" if mode == "linear" else "dualQuaternion",
        gf.Matrix4d(1.0),
        vt.Matrix4dArray.FromNumpy(rows),
        vt.IntArray.FromNumpy(np.ascontiguousarray(rig.influences.joints.ravel())),
        vt.FloatArray.FromNumpy(rig.influences.weights.astype(np.float32).ravel()),
        4,
        points,
    )
    assert done
    np.testing.assert_allclose(rig.positions(pose), np.array(points), atol=2e-5)


@pytest.mark.parametrize("mode", MODES)
def test_neutral_pose_is_rest(mode: Mode) -> None:
    rig = make_rig(mode)
    np.testing.assert_allclose(rig.positions(rig.neutral), rig.rest, atol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_whole_body_motion_is_rigid(mode: Mode) -> None:
    rig = make_rig(mode)
    pose = rig.neutral
    pose[:6] = 0.3, -2.0, 5.0, 0.7, -1.1, 2.0
    turn = Rotation.from_rotvec(pose[3:6]).as_matrix()
    np.testing.assert_allclose(rig.positions(pose), rig.rest @ turn.T + pose[:3], atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_chosen_vertices_equal_all(mode: Mode) -> None:
    rig = make_rig(mode)
    pose, chosen = draw_pose(rig), np.array([7, 0, 299, 7])
    np.testing.assert_array_equal(rig.positions(pose, chosen), rig.positions(pose)[chosen])
    for some, every in zip(rig.frames(pose, chosen), rig.frames(pose), strict=True):
        np.testing.assert_array_equal(some, every[chosen])
    assert rig.positions(pose, chosen[:0]).shape == (0, 3)


@pytest.mark.parametrize("mode", MODES)
def test_arrays_that_are_views_of_others_are_read_right(mode: Mode) -> None:
    rig = make_rig(mode)
    every = Influences(rig.influences.joints[::2], rig.influences.weights[::2])
    other = SkinnedRig(rig.skeleton, every, rig.rest[::2], mode)
    pose = draw_pose(rig)
    np.testing.assert_array_equal(other.positions(pose), rig.positions(pose)[::2])
    np.testing.assert_array_equal(other.push_forward(pose, rig.rest[::2]), rig.positions(pose)[::2])


@pytest.mark.parametrize("mode", MODES)
def test_frames_carry_displaced_points_and_are_undone(mode: Mode) -> None:
    rig = make_rig(mode)
    pose = draw_pose(rig, 0.9)
    displaced = rig.rest + np.random.default_rng(1).normal(0.0, 0.3, rig.rest.shape)
    A, t = rig.frames(pose)
    x = rig.push_forward(pose, displaced)
    np.testing.assert_allclose(x, np.einsum("kij,kj->ki", A, displaced) + t, atol=1e-13)
    np.testing.assert_allclose(rig.pull_back(pose, x), displaced, atol=1e-12 if mode == "linear" else 1e-13)
    some = np.array([5, 1])
    np.testing.assert_allclose(rig.pull_back(pose, x[some], some), displaced[some], atol=1e-12)


@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-9, 3.0, 5.0])
def test_dual_quaternion_frames_are_rotations_at_any_twist(angle: float) -> None:
    rig = make_tube("dual_quaternion")
    turns, _ = rig.frames(twist(rig, angle))
    np.testing.assert_allclose(turns @ turns.transpose(0, 2, 1), np.broadcast_to(np.eye(3), turns.shape), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(turns), 1.0, atol=1e-14)


def test_half_a_twist_collapses_linear_blends_alone() -> None:
    thin, round_ = (make_tube(mode) for mode in MODES)
    radii = [np.linalg.norm(rig.positions(twist(rig, np.pi))[:, 1:], axis=1) for rig in (thin, round_)]
    assert radii[0].min() < 1e-12
    np.testing.assert_allclose(radii[1], 0.5, atol=1e-13)


def test_bend_keeps_the_thickness_with_dual_quaternions_alone() -> None:
    thicknesses = []
    for mode in MODES:
        rig = make_tube(mode)
        pose = rig.neutral
        pose[8] = np.pi / 2
        ring = rig.positions(pose)[np.isclose(rig.rest[:, 0], 1.0)]
        thicknesses.append(
            np.ptp(ring @ [1.0, 1.0, 0.0]) / np.sqrt(2.0) + np.ptp(ring @ [1.0, -1.0, 0.0]) / np.sqrt(2.0)
        )
    assert thicknesses[0] == pytest.approx(np.cos(np.pi / 4))
    assert thicknesses[1] == pytest.approx(1.0)


def test_full_turns_and_signs_of_quaternions_do_not_matter() -> None:
    rig = make_rig("dual_quaternion")
    pose = draw_pose(rig)
    longer = pose.copy()
    for joint in (0, 2, 4):  # the same rotation, by a quaternion of the other sign
        vector = pose[3 + 3 * joint : 6 + 3 * joint]
        longer[3 + 3 * joint : 6 + 3 * joint] = vector * (1.0 + 2.0 * np.pi / np.linalg.norm(vector))
    np.testing.assert_allclose(rig.positions(longer), rig.positions(pose), atol=1e-12)


def test_dual_quaternions_move_smoothly_through_poses_whose_quaternions_change_sign() -> None:
    rig = make_tube("dual_quaternion")
    tracks = []
    for angle in np.linspace(0.0, 2.0 * np.pi, 200):
        pose = twist(rig, 0.5)
        pose[3] = angle  # the whole body turns
        tracks.append(rig.positions(pose))
    steps = np.linalg.norm(np.diff(tracks, axis=0), axis=2)
    assert steps.max() < 1.01 * 0.5 * 2.0 * np.pi / 199


def test_a_flat_linear_blend_is_named_or_refused() -> None:
    rig = make_tube("linear")
    with pytest.warns(SuppleWarning, match=r"near joint 'bone.'.*condition number 2e\+04"):
        rig.pull_back(twist(rig, np.pi - 1e-4), rig.rest)
    with pytest.raises(SceneError, match=r"vertex \d+, near joint 'bone.'.*use dual quaternions"):
        rig.pull_back(twist(rig, np.pi), rig.rest)
    rig.pull_back(twist(rig, 3.0), rig.rest)


def test_bad_poses_and_rigs_are_refused_in_words() -> None:
    rig = make_rig("linear")
    pose = rig.neutral
    pose[4] = np.nan
    with pytest.raises(SceneError, match=r"not a finite number at 'bone0\.y'"):
        rig.positions(pose)
    with pytest.raises(SceneError, match="of 18 controls"):
        rig.positions(pose[:4])
    with pytest.raises(SceneError, match="no skinning 'cubic': use one of linear, dual_quaternion"):
        SkinnedRig(rig.skeleton, rig.influences, rig.rest, "cubic")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="one position for every weighted vertex"):
        SkinnedRig(rig.skeleton, rig.influences, rig.rest[:9])
    with pytest.raises(SceneError, match="name joint 4 of a skeleton with 2 joints"):
        SkinnedRig(make_chain(2), rig.influences, rig.rest)
    with pytest.raises(ArgumentError, match="not finite in row 2"):
        SkinnedRig(rig.skeleton, rig.influences, np.where(np.arange(300)[:, None] == 2, np.inf, rig.rest))
    with pytest.raises(ArgumentError, match=r"got shape \(9, 3\); want \(300, 3\)"):
        rig.push_forward(rig.neutral, rig.rest[:9])


def test_transforms_from_elsewhere_must_be_rigid() -> None:
    good = np.tile(np.eye(4), (2, 1, 1))
    good[:, :3, :3] = Rotation.random(2, random_state=0).as_matrix()
    good[:, :3, 3] = 1.0, 2.0, 3.0
    R, t = check_rigid(good.astype(np.float32), ["hip", "knee"])
    np.testing.assert_allclose(R, good[:, :3, :3], atol=1e-6)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.broadcast_to(np.eye(3), R.shape), atol=1e-15)
    np.testing.assert_allclose(t, good[:, :3, 3])
    for factors, words in (
        ((1.0, 1.0, -1.0), "negative scale"),
        ((1.0, 2.0, 1.0), "scaled unevenly by 1 to 2"),
        ((100.0,) * 3, "scaled by 100"),
        ((0.0, 1.0, 1.0), "scaled unevenly by 0 to 1"),
        ((np.nan, 1.0, 1.0), "not finite"),
    ):
        bad = good.copy()
        bad[1, :3, :3] *= factors
        with pytest.raises(SceneError, match=f"'knee'.*{words}"):
            check_rigid(bad, ["hip", "knee"])
    with pytest.raises(ArgumentError, match=r"got shape \(2, 4, 4\); want \(1, 4, 4\)"):
        check_rigid(good, ["hip"])


@pytest.mark.parametrize("mode", MODES)
def test_compiled_loops_skin_single_vertices(mode: Mode) -> None:
    rig = make_rig(mode)
    pose, some = draw_pose(rig), np.array([7, 3, 250], np.int32)
    A, t = np.empty((3, 3, 3)), np.empty((3, 3))
    fill_frames(PosedBlend.of(rig, pose), some, A, t)
    wanted = rig.frames(pose, some)
    np.testing.assert_array_equal(A, wanted[0])
    np.testing.assert_array_equal(t, wanted[1])
