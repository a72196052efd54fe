"""A bear pulled at its cheek, in pose space: coordinates of regions beside those of the whole body (Fig. 11 of [XB16]).

The cheek is pulled sideways until the body rests. `cheek` is how far the pulled spot goes and `ringing` how far
anything but the head does at most, both relative to how far the spot goes in full space; `rms_error` is that of all
displacements against full space. `ms_step` is a step in pose space with rules for 5 %, whose elements are counted;
`dense_ms` is one that multiplies with the zeros of the regions, too.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.bench.pose_regions import BEAR
from supple.bench.yardstick import best_ms
from supple.cubature.pose_rules import train_pose_rules
from supple.elastic import Body
from supple.linalg.work_clock import work_clock
from supple.method import FullSolver, PoseSpaceModel, PoseSpaceSolver, assemble_posespace
from supple.rig import Rig
from supple.scene.build import set_stage
from supple.scene.load import parse_scene
from supple.solve import Gravity, Inputs, Moment, NodalForce
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.regions import Region, find_regions

__all__ = ["pull_cheek", "run", "stand_bear"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

_CASES = {  # tets, ranks of the whole body, share of the paper's ranks that regions get
    "small": (3_000, (30, 54), 0.3),
    "paper": (12_762, (100, 180), 1.0),
}
_POSES = ("rest", "sniff")
_CHEEK, _NEAR, _PULL = (0.16, 0.95, 0.82), 0.07, 60.0  # [m], [m], [N]
_CHEEK_RANK = 15  # columns of a region of its own
_STEP = 1.0 / 90.0


def run(size: str) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", one after another."""
    tets, ranks, share = _CASES[size]
    body, rig, poses = stand_bear(tets)
    regions = find_regions(body.mesh, _share_ranks(share))
    full = FullSolver(body, integrator="static", rig=rig, rest="posed")
    exact = pull_cheek(full, body, rig)
    yield {"what": "full space", "tets": len(body.mesh.tets), **_judge(body, regions.weights[0], exact, exact)}
    own = Region("cheek", _CHEEK, rank=round(share * _CHEEK_RANK))
    closer = find_regions(body.mesh, [*_share_ranks(share), own])
    makers = [("whole body", PoseColumns(), rank) for rank in ranks]
    for what, found in (("six regions", regions), ("six regions and one at the cheek", closer)):
        makers.append((what, PoseColumns(regions=found), sum(rank or 0 for rank in found.ranks)))
    for what, maker, rank in makers:
        begin = work_clock()
        bases = build_pose_bases(body, rig, poses, rank, maker=maker)
        rules = train_pose_rules(body, rig, bases, 0.05, np.random.default_rng(0))
        model = assemble_posespace(body, rig, bases, rules)
        seconds = work_clock() - begin
        pulled = pull_cheek(PoseSpaceSolver(body, rig, model, integrator="static"), body, rig)
        yield {
            "what": what, "rank": rank, "regions": max(len(np.unique(model.owners)), 1),
            "elements": len(model.elements), **_judge(body, regions.weights[0], pulled, exact),
            "ms_step": _step_ms(body, rig, model),
            "dense_ms": _step_ms(body, rig, replace(model, owners=model.owners[:0])), "train_s": seconds,
        }  # fmt: skip


def _share_ranks(share: float) -> list[Region]:
    """The paper's regions with a share of its ranks."""
    return [replace(one, rank=round(share * (one.rank or 0))) for one in BEAR]


def stand_bear(tets: int) -> tuple[Body, Rig, FloatArray]:
    """A bear of a number of tets on its bones, and two poses of it, (2, p)."""
    keys = [{"t": float(k), "pose": pose} for k, pose in enumerate(_POSES)]
    flesh = {"model": "stable_neo_hookean", "young": 3e4, "poisson": 0.4, "damping_mass": 1.0}
    scene = {"mesh": {"shape": "bear", "elements": tets}, "material": flesh, "rig": {"rest": "posed"}}
    stage = set_stage(parse_scene({**scene, "motion": {"keys": keys}, "time": {"fps": 30, "frames": 30}}))
    rigging = stage.drive.rigging
    assert rigging is not None
    return stage.body, rigging.rig, np.array([rigging.course.pose(float(k)) for k in range(len(_POSES))])


def pull_cheek(solver: Any, body: Body, rig: Rig) -> FloatArray:
    """Displacements of a bear that is pulled at its cheek in the neutral pose [m], (n, 3)."""
    spot = cheek(body)
    force = NodalForce(spot, np.full(len(spot), 1.0 / len(spot)), np.array([_PULL, 0.0, 0.0]))
    held = rig.positions(rig.neutral, body.pins.vertices)
    still = Inputs(Moment(0.0, held, pose=rig.neutral), Moment(1.0, held, (force,), pose=rig.neutral))
    state, _ = solver.step(solver.start(still), still)
    return np.asarray(solver.positions(state) - rig.positions(rig.neutral))


def cheek(body: Body) -> NDArray[np.int32]:
    """The vertices that are pulled."""
    surface = body.mesh.surface_vertices()
    away = np.linalg.norm(body.mesh.vertices[surface] - _CHEEK, axis=1)
    return np.asarray(surface[away < max(_NEAR, float(away.min()) * 1.01)], np.int32)


def _judge(body: Body, head: FloatArray, u: FloatArray, exact: FloatArray) -> Row:
    spot, away = cheek(body), head == 0.0
    size, mass = float(np.linalg.norm(exact[spot].mean(axis=0))), body.mass
    return {
        "cheek": float(np.linalg.norm(u[spot].mean(axis=0))) / size,
        "ringing": float(np.linalg.norm(u[away], axis=1).max()) / size,
        "rms_error": float(np.sqrt(mass @ ((u - exact) ** 2).sum(axis=1) / (mass @ (exact**2).sum(axis=1)))),
    }


def _step_ms(body: Body, rig: Rig, model: PoseSpaceModel) -> float:
    solver, pose = PoseSpaceSolver(body, rig, model), rig.neutral
    held, down = rig.positions(pose, body.pins.vertices), (Gravity(np.array([0.0, -9.81, 0.0])),)
    step = Inputs(Moment(0.0, held, down, pose=pose), Moment(_STEP, held, down, pose=pose))
    state = solver.start(step)
    return best_ms(lambda: solver.step(state, step), 30)
