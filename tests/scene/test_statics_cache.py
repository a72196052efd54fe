"""Poses settled in full space with every Newton iterate: kept as they come, gone on with, settled anew where stale."""

from pathlib import Path

import numpy as np
import pytest

from supple.contact.settings import ContactSettings
from supple.elastic import Body, Damping
from supple.errors import ConvergenceError
from supple.material import Corotational
from supple.method import FullSolver
from supple.rig import SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.scene import statics_cache
from supple.scene.statics_cache import record_statics
from supple.shape import make_character, make_shape
from supple.solve import Inputs, Moment

CONTACT = ContactSettings(self_contact=True, alpha=0.5)


@pytest.fixture(scope="module")
def finger():
    mesh, character = make_shape("finger", resolution=10), make_character("finger")
    rig = SkinnedRig(character.skeleton, heat_weights(mesh, character.skeleton), mesh.vertices)
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, character.skeleton))
    body = Body.build(mesh, Corotational(young=5e3, poisson=0.08), held.pins, Damping())
    return body, rig, np.array([share * character.poses["curled"] for share in (0.4, 0.8, 1.0)])


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the poses that are really settled."""
    calls, settle = [], statics_cache.settle_pose

    def count(*given, **named):
        calls.append(1)
        return settle(*given, **named)

    monkeypatch.setattr(statics_cache, "settle_pose", count)
    return calls


def test_iterates_lead_from_the_pose_before_to_the_equilibrium(finger) -> None:
    body, rig, poses = finger
    found = record_statics(body, rig, poses, CONTACT)
    solver = FullSolver(body, integrator="static", tolerance=1e-4, contact=CONTACT, rig=rig)
    pins, way = body.pins.vertices, [rig.neutral, *poses]
    at = [Moment(float(k), rig.positions(pose, pins), (), pose=pose) for k, pose in enumerate(way)]
    state = solver.start(Inputs(at[0], at[1]))
    for k, one in enumerate(found):
        state, report = solver.step(state, Inputs(at[k], at[k + 1]))
        np.testing.assert_allclose(one.x, state.x, atol=1e-9)
        last = rig.positions(poses[k]) + one.iterates[-1]
        np.testing.assert_allclose(last, state.x, atol=1e-6 * body.mesh.size())
        assert len(one.iterates) > report.newton_iterations  # those where rounds begin are among them
        assert np.ptp(one.iterates, axis=0).max() > 1e-3 * body.mesh.size()


def test_a_stopped_training_goes_on(finger, tmp_path: Path, settled: list[int]) -> None:
    body, rig, poses = finger
    whole = record_statics(body, rig, poses, CONTACT)
    assert len(settled) == 3
    record_statics(body, rig, poses[:2], CONTACT, folder=tmp_path)
    again = record_statics(body, rig, poses, CONTACT, folder=tmp_path)
    assert len(settled) == 6  # two, and the third
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.iterates, other.iterates)
        np.testing.assert_array_equal(one.pairs, other.pairs)


def test_other_poses_and_damaged_files_are_settled_anew(finger, tmp_path: Path, settled: list[int]) -> None:
    body, rig, poses = finger
    record_statics(body, rig, poses[:2], CONTACT, folder=tmp_path)
    said: list[str] = []
    record_statics(body, rig, 0.9 * poses[:1], CONTACT, folder=tmp_path, say=said.append)
    assert len(settled) == 3
    assert any("another pose" in line for line in said)
    file = sorted(tmp_path.glob("*.npz"))[0]
    file.write_bytes(file.read_bytes()[:200])
    record_statics(body, rig, 0.9 * poses[:1], CONTACT, folder=tmp_path, say=said.append)
    assert len(settled) == 4
    assert any("damaged" in line for line in said)


def test_a_pose_without_equilibrium_is_left_out(finger, monkeypatch: pytest.MonkeyPatch) -> None:
    body, rig, poses = finger
    settle = statics_cache.settle_pose

    def fail(solver, rig, way, x, pairs, forces):
        if np.array_equal(way[1], poses[1]):
            raise ConvergenceError("in vain")
        return settle(solver, rig, way, x, pairs, forces)

    monkeypatch.setattr(statics_cache, "settle_pose", fail)
    found = record_statics(body, rig, poses, CONTACT)
    assert [one is None for one in found] == [False, True, False]
