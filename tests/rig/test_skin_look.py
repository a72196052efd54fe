"""A skin asked in one compiled call tells what its rig tells piece by piece."""

import numpy as np
import pytest

from supple.rig import Bend, PoseSpace, Root, SkinnedRig, heat_weights
from supple.rig.free_bones import FreeBones
from supple.rig.skin_look import SkinLook
from supple.rig.skinning import Mode
from supple.shape import make_character, make_shape


def skin(mode: Mode = "dual_quaternion") -> SkinnedRig:
    mesh, skeleton = make_shape("capsule", resolution=6), make_character("capsule").skeleton
    return SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices, mode)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("turning", [False, True])
def test_places_point_and_turns_are_those_of_the_rig(corrected: bool, turning: bool) -> None:
    rng = np.random.default_rng(0)
    rig = skin()
    if corrected:
        bent = rig.neutral.copy()
        bent[-1] = 0.7
        rig = PoseSpace(rig, [bent], 0.02 * rng.standard_normal((1, *rig.rest.shape)))
    root = Root.of(rig)
    look = SkinLook.of(rig, root)
    assert look is not None
    pose, past = rng.uniform(-0.6, 0.6, (2, len(rig.controls)))
    before = np.array([root.turn(past), np.eye(3)])
    placed, point, turns, both = look.at(pose, past[None], before, turning)
    assert placed.shape[1] == (12 if turning else 3)
    np.testing.assert_allclose(placed[:, :3], rig.positions(pose), atol=1e-14)
    if turning:
        np.testing.assert_allclose(placed[:, 3:].reshape(-1, 3, 3), rig.turns(pose), atol=1e-14)
    np.testing.assert_array_equal(point, rig.embed(root.still(pose)))
    np.testing.assert_array_equal(turns, [root.turn(pose), *before])
    np.testing.assert_array_equal(both, [pose, past])


def test_other_rigs_are_asked_piece_by_piece() -> None:
    rig = skin()
    bones = rig.skeleton
    free = SkinnedRig(FreeBones.of(bones.names, bones.parents, bones.heads, bones.tails), rig.influences, rig.rest)
    for other in (skin("linear"), free, Bend(rig.rest, (0, 0, 0), (0.1, 0, 0), (0, 0, 1))):
        assert SkinLook.of(other, Root.of(other)) is None
