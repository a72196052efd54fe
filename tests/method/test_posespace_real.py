"""A real character, real motion capture: trained on one motion, judged on others, and for long."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from supple.bench.pose_case import FPS, Actor
from supple.bench.pose_measure import choose, follow, full_run, relative_error, train
from supple.elastic import Body, Damping
from supple.io import load_surface
from supple.io.bvh import load_bvh
from supple.material import StVK
from supple.mesh import tetrahedralise
from supple.method import PoseSpaceSolver, assemble_posespace
from supple.rig import Skeleton, SkinnedRig, find_bone_crossings, heat_weights, hold_bones, retarget
from supple.rig.part import RigPart
from supple.scene.rig_fit import Fitting

BENT = 0.4  # of the angles of the captures: its limbs are short and thick, and would pass into the body
FEET = 0.056444  # m in a unit of the captures
# Seen from the front: its "left" is on the left of the picture
NAMES = {"shoulders": "Spine1", "hips": "Hips", "head": "Head", "back": "LowerBack"} | {
    f"{side}{joint}": f"{other}{bone}"
    for side, other in (("l", "Right"), ("r", "Left"))
    for joint, bone in (
        ("thigh", "UpLeg"), ("knee", "Leg"), ("ankle", "Foot"), ("foot", "ToeBase"),
        ("shoulder", "Arm"), ("elbow", "ForeArm"), ("hand", "Hand"),
    )
}  # fmt: skip


def load_skeleton(folder: Path) -> Skeleton:
    """The bones that came with the mesh; a joint's bone goes to the middle of its children."""
    rows = np.loadtxt(folder / "cheb_skeleton.out")
    lines = (line.split() for line in (folder / "cheb_joint_names.txt").read_text().splitlines() if line.strip())
    names = {int(number): name for number, name in lines}
    heads, parents = rows[:, 1:4], rows[:, 4].astype(int)
    tails = np.array([
        heads[parents == j].mean(axis=0) if (parents == j).any() else 1.25 * heads[j] - 0.25 * heads[parents[j]]
        for j in range(len(heads))
    ])  # fmt: skip
    return Skeleton.of([names[j] for j in range(len(heads))], parents, heads, tails)


def capture(data: Path, skeleton: Skeleton, name: str, begin: float, frames: int) -> np.ndarray:
    """Poses of a motion capture from a time [s] on."""
    source, motion = load_bvh(data / "mocap" / f"{name}.bvh", FEET)
    poses = retarget(motion, source, skeleton, NAMES).motion.sampled(begin + np.arange(frames + 1) / FPS)
    poses[:, 6:] *= BENT
    return poses


@cache
def make_cheb(data: Path) -> tuple[Body, SkinnedRig, dict[str, np.ndarray]]:
    """The character, fitted to the poses of a walk and a run."""
    skeleton = load_skeleton(data / "cheb")
    mesh = tetrahedralise(load_surface(data / "cheb" / "cheburashka.off"), elements=1500)
    rig = SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices)
    pins = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, skeleton)).pins
    body = Body.build(mesh, StVK(young=3e4, poisson=0.4), pins, Damping(0.0, 0.003))
    motions = {"walk": capture(data, skeleton, "02_01", 0.5, 60), "run": capture(data, skeleton, "02_03", 0.3, 45)}
    poses = list(np.concatenate(list(motions.values()))[::5])
    fitting = Fitting(mesh, rig, RigPart(rig, mesh.surface_vertices()))
    fitting.unfold(poses, [float(k) for k in range(len(poses))])
    return body, fitting.rig, motions


@pytest.mark.filterwarnings("ignore:outside the body:supple.errors.SuppleWarning")  # hands thinner than these few tets
def test_a_character_trained_on_a_walk_runs(shared_data: Path) -> None:
    body, rig, motions = make_cheb(shared_data)
    walk, run = (Actor(body, rig, poses) for poses in motions.values())
    bases = choose(walk, 16, 4)
    solver = PoseSpaceSolver(body, rig, assemble_posespace(body, rig, bases, train(walk, bases, 0.1)))
    errors = [relative_error(solver, follow(solver, one.inputs())[0], full_run(one, one.inputs())[1])
              for one in (walk, run)]  # fmt: skip
    assert errors[0] < 0.08
    assert errors[1] < 0.15  # of a motion that it has not seen, twice as fast
    # To and fro for ten thousand frames: what the flesh does stays what it was
    steps = Actor(body, rig, np.concatenate([run.poses, run.poses[::-1]])).inputs()
    state, far = solver.start(steps[0]), []
    for _ in range(110):
        for inputs in steps:
            state, report = solver.step(state, inputs)
            assert report.halvings == 0
        far.append(np.abs(solver.positions(state) - rig.positions(state.poses[0])).max())
    assert len(steps) * len(far) > 10_000
    np.testing.assert_allclose(far[1:], far[1], rtol=0.05)
