"""How fast rigs move vertices, beside one pass over the same memory, and how fast skinning weights are found.

Poses are random, influences too: every vertex follows four of the bones. Times are the best of several calls with cold
caches, as a call finds them after a solver's step; the memory pass reads rest positions, joints and weights once and
writes positions once.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.work_clock import work_clock
from supple.mesh import TetMesh
from supple.rig.biharmonic_weights import biharmonic_weights
from supple.rig.heat_weights import heat_weights
from supple.rig.influences import Influences
from supple.rig.skeleton import Skeleton
from supple.rig.skinning import SkinnedRig
from supple.rig.tet_fit import TetFit
from supple.shape import make_shape

__all__ = ["run"]

FloatArray = NDArray[np.float64]


class _Case(NamedTuple):
    tets: int
    bones: int
    finds_weights: bool = True
    is_small: bool = False  # enough for what costs more than linearly: biharmonic weights, the fit of tets


_CASES = {
    "small": (_Case(4_000, 4, is_small=True), _Case(132_000, 20), _Case(460_000, 20, finds_weights=False)),
    "paper": (_Case(17_000, 4, is_small=True), _Case(132_000, 20), _Case(460_000, 20)),
}
_INFLUENCES, _REPEATS = 4, 25
_EVICTED = 8_000_000  # doubles: more than caches hold
_BEND = 0.3  # rad, of every joint for the fit


def run(size: str) -> list[dict[str, object]]:
    """Rows of the benchmark at size "small" or "paper"; what a row does not measure is None."""
    return [_measure(case) for case in _CASES[size]]


def _measure(case: _Case) -> dict[str, object]:
    mesh = make_shape("beam", elements=case.tets)
    skeleton, rng = _lay_bones(mesh, case.bones), np.random.default_rng(0)
    count = len(mesh.vertices)
    joints = rng.permuted(np.tile(np.arange(case.bones), (count, 1)), axis=1)[:, :_INFLUENCES]
    influences = Influences.of(joints, rng.random(joints.shape), case.bones)
    linear = SkinnedRig(skeleton, influences, mesh.vertices, "linear")
    rigid = SkinnedRig(skeleton, influences, mesh.vertices, "dual_quaternion")
    pose = rng.uniform(-1.0, 1.0, len(skeleton.neutral))
    heat_weights(make_shape("beam", elements=500), skeleton)  # loads the libraries
    return {
        "vertices": count,
        "influences": _INFLUENCES,
        "bones": case.bones,
        "lbs_ms": _time_cold(lambda: linear.positions(pose)),
        "dqs_ms": _time_cold(lambda: rigid.positions(pose)),
        "memory_pass_ms": _time_cold(lambda: _pass_once(influences.joints, influences.weights, mesh.vertices)),
        "heat_weights_s": _time(lambda: heat_weights(mesh, skeleton)) if case.finds_weights else None,
        "bbw_s": _time(lambda: biharmonic_weights(mesh, skeleton)) if case.is_small else None,
        "fit_ms": _time_fit(mesh, skeleton) if case.is_small else None,
    }


def _lay_bones(mesh: TetMesh, count: int) -> Skeleton:
    """Bones of equal length along the beam, each hanging from the one before."""
    low, high = mesh.bounds()
    ends = np.linspace(low[0], high[0], count + 1)[:, None] * np.eye(3)[0]
    return Skeleton.of([f"bone{k}" for k in range(count)], np.arange(count) - 1, ends[:-1], ends[1:])


def _time_fit(mesh: TetMesh, skeleton: Skeleton) -> float:
    """Milliseconds to fit the tets to their skinned surface in one bent pose."""
    skin = mesh.surface_vertices()
    rig = SkinnedRig(skeleton, heat_weights(mesh, skeleton).pick(skin), mesh.vertices[skin])
    pose = skeleton.neutral
    pose[5::3] = _BEND
    fit = TetFit(mesh, rig)
    fit.fit(skeleton.neutral)  # compiles or loads the kernels
    return 1e3 * _time(lambda: fit.fit(pose))


def _time(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    begin = work_clock()
    work()
    return work_clock() - begin


def _time_cold(work: Callable[[], object]) -> float:
    """Milliseconds of a call that finds nothing in the caches, the best of several."""
    work()
    other, best = np.zeros(_EVICTED), np.inf
    for _ in range(_REPEATS):
        other += 1.0
        best = min(best, _time(work))
    return float(1e3 * best)


@njit(cache=True)
def _pass_once(joints: NDArray[np.int32], weights: FloatArray, points: FloatArray) -> FloatArray:
    """New positions that hold every number given once."""
    moved = np.empty_like(points)
    for i in range(len(points)):
        total = 0.0
        for k in range(weights.shape[1]):
            total += weights[i, k] + joints[i, k]
        moved[i, 0], moved[i, 1], moved[i, 2] = points[i, 0] + total, points[i, 1] + total, points[i, 2] + total
    return moved
