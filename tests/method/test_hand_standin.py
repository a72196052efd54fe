"""Skinned statics of a hand against states that another code left: near them, and further converged."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.elastic import Body, Pins
from supple.material import Corotational
from supple.mesh import TetMesh
from supple.method import FullSolver
from supple.rig import Influences, SkinnedRig
from supple.rig.free_bones import FreeBones
from supple.solve import Inputs, Moment


def free_bones(count: int) -> FreeBones:
    """Bones that go anywhere on their own, as recorded."""
    ends = np.zeros((count, 3))
    return FreeBones(tuple(f"bone{k}" for k in range(count)), np.full(count, -1, np.int32), ends, ends)


class Hand:
    """The stored hand: its body, its rig, its recorded poses and the states found there."""

    def __init__(self, folder: Path) -> None:
        stored, self._poses = np.load(folder / "mesh.npz"), np.load(folder / "training_poses.npz")
        self._states = np.load(folder / "full_states.npz")
        vertices, weights, self.free = stored["vertices"], stored["skin_weights"], int(stored["n_unconstrained"])
        self.rig = SkinnedRig(free_bones(weights.shape[1]), Influences.from_dense(weights, None), vertices)
        pins = Pins.of(np.arange(self.free, len(vertices)))
        self.bones = weights[self.free :].argmax(axis=1)
        self.body = Body.build(TetMesh.clean(vertices, stored["tets"]), Corotational(young=5000.0, poisson=0.08), pins)

    def pose(self, frame: int) -> np.ndarray:
        row = int(np.flatnonzero(self._poses["training_frame"] == frame)[0])
        turns = Rotation.from_quat(self._poses["training_quat_xyzw"][row])
        turns *= Rotation.from_quat(self._poses["rest_quat_xyzw"]).inv()
        shifts = self._poses["training_translation"][row] - turns.apply(self._poses["rest_translation"])
        return np.hstack([turns.as_rotvec(), shifts]).ravel()

    def held(self, pose: np.ndarray) -> np.ndarray:
        """Where the held vertices are: they go with one bone each."""
        R, t = self.rig.skeleton.transforms(pose)
        return np.einsum("nij,nj->ni", R[self.bones], self.rig.rest[self.free :]) + t[self.bones]

    def stored(self, frame: int) -> np.ndarray:
        """The state left by the other code [m], (n, 3)."""
        row = int(np.flatnonzero(self._states["frames"] == frame)[0])
        moved = self.rig.rest[: self.free] + self._states["displacement"][row].astype(np.float64)
        return np.vstack([moved, self.held(self.pose(frame))])

    def solve(self, frame: int) -> np.ndarray:
        """The static state, found from rest in one step."""
        pose, neutral = self.pose(frame), self.rig.neutral
        step = Inputs(Moment(0.0, self.held(neutral), pose=neutral), Moment(1.0, self.held(pose), pose=pose))
        solver = FullSolver(self.body, integrator="static", rig=self.rig)
        state, report = solver.step(solver.start(step), step)
        assert report.halvings == 0
        return state.x

    def residual(self, x: np.ndarray) -> float:
        return float(np.linalg.norm(self.body.forces(x)[: self.free]))


def rms(field: np.ndarray) -> float:
    return float(np.sqrt((field**2).sum(axis=1).mean()))


@pytest.fixture(scope="module")
def hand(shared_data: Path) -> Hand:
    return Hand(shared_data / "hand_standin")


@pytest.mark.parametrize("frame", [9, 45, 164])
def test_statics_come_near_the_stored_states_and_converge_further(hand: Hand, frame: int) -> None:
    """In frames in which no finger presses on another: the stored states know contact."""
    x, stored, skin = hand.solve(frame), hand.stored(frame), hand.rig.positions(hand.pose(frame))
    assert rms(x - stored) < 0.02 * rms(x - hand.rig.rest)
    assert rms(x - stored) < 0.2 * rms(skin - stored)  # skinning alone is much further away
    assert hand.residual(x) < 1e-2 * hand.residual(stored)
    assert hand.body.energy(x) < hand.body.energy(stored)
