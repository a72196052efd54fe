"""An arm folded on itself, in pose space: bases that know of contact beside one that does not (Fig. 5 of [XB16]).

The forearm folds in an eighth of a second until its flesh touches that of the upper arm, and stops there. `depth_mm` is
how deep flesh goes into itself at most, and `held_depth_mm` once the elbow has stopped, as found on the surface by the
detector of the full solver; `parted_mm` is by how much a pair of points that touch comes apart at most. Subspaces take
their forces from all elements, so that rows differ by their columns and by what holds them; `rms_error` is that of
displacements beside the rig, against the full solver with contact.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.bench.yardstick import best_ms
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.cubature.pose_rules import PoseRules
from supple.elastic import Body
from supple.linalg.work_clock import work_clock
from supple.method import FullSolver, PoseSpaceSolver, assemble_posespace
from supple.method.pose_contact import find_corrections
from supple.rig import PoseSpace, Rig
from supple.scene.build import set_stage
from supple.scene.load import parse_scene
from supple.solve import Gravity, Inputs, Moment
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.self_touch import Binding, SelfTouch

__all__ = ["Folded", "fold_arm", "make_solver", "run"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

_CASES = {"small": (6_000, 30, 36), "paper": (8_122, 45, 60)}  # tets, rank, steps
_ANGLES = 0.0, 75.0, 90.0, 119.0  # of the elbow in the poses with a basis [degrees]; the last one is held
_STEP, _FOLD = 1.0 / 90.0, 11  # [s], steps in which the elbow folds
_BINDINGS: tuple[Binding | None, ...] = (None, "sticks", "slides", "opens")


class Folded(NamedTuple):
    """An arm and what it does."""

    body: Body
    rig: Rig
    """Corrected where it drove the arm into itself."""
    driven: Rig
    """As it was."""
    poses: FloatArray
    """With a basis of their own, (m, p)."""
    steps: list[Inputs]


def run(size: str) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper"."""
    tets, rank, count = _CASES[size]
    folded = fold_arm(tets, count)
    body, finder = folded.body, SelfContact(folded.body.mesh)
    alone = float(finder.find(folded.driven.positions(folded.poses[-1])).depth.max(initial=0.0))
    rows: list[Row] = [{"what": "the rig alone", "tets": len(body.mesh.tets), "depth_mm": 1e3 * alone}]
    full = FullSolver(body, contact=ContactSettings(self_contact=True), rig=folded.rig, rest="posed", time_step=_STEP)
    begin = work_clock()
    exact = [x for x, _ in _play(full, folded.steps)]
    rows.append({"what": "full space with contact", **_depths(finder, exact), "ms_step": _since(begin) / count})
    for binding in _BINDINGS:
        begin = work_clock()
        solver = make_solver(folded, rank, binding)
        seconds = 1e-3 * _since(begin)
        played = list(_play(solver, folded.steps))
        frames = [x for x, _ in played]
        again = partial(solver.step, played[-2][1], folded.steps[-1])
        rows.append(
            {
                "what": "bases without contact" if binding is None else f"contact that {binding}",
                "rank": rank, "contacts": len(SelfTouch(body.mesh).find(folded.rig.positions(folded.poses[-1]))),
                **_depths(finder, frames), "parted_mm": 1e3 * _parting(folded, frames),
                "rms_error": _error(folded, frames, exact), "ms_step": best_ms(again, 10), "train_s": seconds,
            }
        )  # fmt: skip
    return rows


def fold_arm(tets: int, count: int) -> Folded:
    """The arm of a number of tets, which folds and stops, in so many steps."""
    times = np.linspace(0.0, 1.0, len(_ANGLES))
    turns = [{"t": float(t), "forearm": [angle, 0, 0]} for t, angle in zip(times, _ANGLES, strict=True)]
    flesh = {"model": "stable_neo_hookean", "young": 8e3, "poisson": 0.4, "damping_mass": 1.0}
    scene = {"mesh": {"shape": "arm", "elements": tets}, "material": flesh, "rig": {"rest": "posed"}}
    stage = set_stage(parse_scene({**scene, "motion": {"keys": turns}, "time": {"fps": 30, "frames": 30}}))
    rigging = stage.drive.rigging
    assert rigging is not None
    poses = np.array([rigging.course.pose(float(t)) for t in times])
    driven = rigging.rig
    rig = PoseSpace(driven, poses[1:], find_corrections(stage.body, driven, poses[1:]))
    pins, down = stage.body.pins.vertices, (Gravity(np.array([0.0, -9.81, 0.0])),)
    course = [rigging.course.pose(float(t)) for t in np.linspace(times[1], 1.0, _FOLD + 1)]
    course += (count - _FOLD) * [poses[-1]]
    moments = [Moment(k * _STEP, rig.positions(pose, pins), down, pose=pose) for k, pose in enumerate(course)]
    return Folded(stage.body, rig, driven, poses, [Inputs(a, b) for a, b in pairwise(moments)])


def make_solver(folded: Folded, rank: int, binding: Binding | None) -> PoseSpaceSolver:
    """The arm in pose space, its flesh bound to itself in one of the ways, or not at all."""
    body, rig, poses = folded.body, folded.rig, folded.poses
    touch = None if binding is None else SelfTouch(body.mesh, binding)
    bases = build_pose_bases(body, rig, poses, rank, maker=PoseColumns(touch))
    tets, vertices, m = len(body.mesh.tets), len(body.mass), len(poses)
    rules = PoseRules(np.arange(tets), np.ones((m, tets)), np.arange(vertices), np.ones((m, vertices)))
    return PoseSpaceSolver(body, rig, assemble_posespace(body, rig, bases, rules, touch=touch))


def _play(solver: Any, steps: list[Inputs]) -> Iterator[tuple[FloatArray, Any]]:
    state = solver.start(steps[0])
    for inputs in steps:
        state, _ = solver.step(state, inputs)
        yield solver.positions(state), state


def _depths(finder: SelfContact, frames: list[FloatArray]) -> Row:
    depths = 1e3 * np.array([float(finder.find(x).depth.max(initial=0.0)) for x in frames])
    return {"depth_mm": float(depths.max()), "held_depth_mm": float(depths[_FOLD:].max())}


def _parting(folded: Folded, frames: list[FloatArray]) -> float:
    """The largest change of a gap between points that touch in the pose [m]."""
    shape = folded.rig.positions(folded.poses[-1])
    contacts = SelfTouch(folded.body.mesh).find(shape)
    return max(float((contacts.depth(shape) - contacts.depth(x)).max(initial=0.0)) for x in frames[_FOLD:])


def _error(folded: Folded, frames: list[FloatArray], exact: list[FloatArray]) -> float:
    shape, mass = folded.rig.positions(folded.poses[-1]), folded.body.mass
    pairs = zip(frames[_FOLD:], exact[_FOLD:], strict=True)
    wrong = sum(float(mass @ ((a - b) ** 2).sum(axis=1)) for a, b in pairs)
    return float(np.sqrt(wrong / sum(float(mass @ ((b - shape) ** 2).sum(axis=1)) for b in exact[_FOLD:])))


def _since(begin: float) -> float:
    return 1e3 * (work_clock() - begin)
