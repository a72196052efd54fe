"""Pose space beside what else one could do: the comparisons of Figs. 4, 14 and 15 of [XB16], with numbers.

Crossed bars bend far to either side. All rows are of the same motion; errors are of displacements beside the rig
against the posed full solver, `frequency_error` the worst of the first between poses. Subspaces take their forces from
all elements, so that the rows differ by their columns alone; `trained` is the whole method with rules of 3 %.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supple.bench.pose_case import CASES, FPS, Actor, PoseCase, make_actor
from supple.bench.pose_measure import TOLERANCES, Row, choose, follow, full_run, relative_error, time_steps, train
from supple.bench.yardstick import best_ms
from supple.cubature.pose_rules import PoseRules
from supple.elastic import EXACT, Body, StiffnessMap
from supple.linalg.work_clock import work_clock
from supple.mesh.embed import embed
from supple.method import FullSolver, PoseSpaceSolver, assemble_posespace
from supple.subspace.pose_alternatives import fix_basis, pool_bases, warp_basis
from supple.subspace.pose_bases import PoseBases

__all__ = ["run"]

FloatArray = NDArray[np.float64]

_CASES = {
    "small": PoseCase(CASES["x"]["small"].scene, 1_500, 16, 9, 90),
    "paper": PoseCase(CASES["x"]["paper"].scene, 9_303, 30, 9, 180),
}
_TIMED = 20  # steps whose time is taken: with the forces of all elements they are long
_COARSE = 150, 400  # tets of meshes so coarse that full space keeps up


def run(size: str) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", one after another."""
    case = _CASES[size]
    actor = make_actor(case)
    steps = actor.inputs()
    full_ms, reference = full_run(actor, steps)
    bases = choose(actor, case.rank, case.poses)
    rules = train(actor, bases, TOLERANCES[0])
    yield {"what": "full space", "tets": len(actor.body.mesh.tets), "ms_step": full_ms}
    for what, other, own in _alternatives(actor.body, bases, rules):
        model = assemble_posespace(actor.body, actor.rig, other, own)
        solver = PoseSpaceSolver(actor.body, actor.rig, model)
        states, newton = follow(solver, steps)
        yield {
            "what": what, "tets": len(actor.body.mesh.tets), "rank": other.rank, "cub_int": len(own.elements),
            "ms_step": time_steps(solver, steps[:_TIMED]), "newton": newton,
            "rms_error": relative_error(solver, states, reference),
        }  # fmt: skip
    reassembled = _reassemble_ms(actor, bases)
    yield {"what": "UᵀKU anew, without the rest of a step", "rank": bases.rank, "ms_step": reassembled}
    for tets in _COARSE:
        yield _coarse(case, tets, actor, reference)


def _alternatives(body: Body, bases: PoseBases, rules: PoseRules) -> Iterator[tuple[str, PoseBases, PoseRules]]:
    tets, vertices, m = len(body.mesh.tets), len(body.mass), len(bases.poses)
    whole = PoseRules(np.arange(tets), np.ones((m, tets)), np.arange(vertices), np.ones((m, vertices)))
    far = int(np.abs(bases.poses - bases.poses[0]).max(axis=1).argmax())
    yield "pose space, trained", bases, rules
    yield "pose space", bases, whole
    yield "modes of a far pose, warped (Fig. 4)", warp_basis(body, bases, far), whole
    yield "modes of the neutral pose, warped (Fig. 4)", warp_basis(body, bases, 0), whole
    yield "modes of the neutral pose, as they stand (Fig. 4)", fix_basis(bases, 0), whole
    yield "one PCA basis for all poses (Fig. 14)", pool_bases(bases, bases.rank), whole
    yield "the same, of double size (Fig. 14)", pool_bases(bases, 2 * bases.rank), whole


def _reassemble_ms(actor: Actor, bases: PoseBases) -> float:
    """Milliseconds to make the stiffness of all elements about the pose of the moment and to project it."""
    body, shape = actor.body, bases.rest[-1]
    stiffness = StiffnessMap.build(len(body.mass), body.parts, body.pins)
    U = bases.columns[-1].reshape(-1, 3, bases.rank)[stiffness.free].reshape(-1, bases.rank)
    data = np.empty(stiffness.pattern.nonzeros)

    def reassemble() -> FloatArray:
        stiffness.assemble(body.posed(shape).parts, shape, data, form=EXACT)
        return np.asarray(U.T @ (stiffness.pattern.to_scipy(data) @ U))

    return best_ms(reassemble, 5)


def _coarse(case: PoseCase, tets: int, fine: Actor, reference: list[FloatArray]) -> Row:
    """The full solver on few tets, its error that of the fine mesh carried along by them (Fig. 15)."""
    actor = make_actor(PoseCase(case.scene, tets, case.rank, case.poses, case.frames))
    carried = embed(actor.body.mesh, fine.body.mesh.vertices)
    solver = FullSolver(actor.body, rig=actor.rig, rest="posed", time_step=1.0 / FPS)
    steps = actor.inputs()
    state, spent, wrong, size = solver.start(steps[0]), [], 0.0, 0.0
    for inputs, pose, x in zip(steps, fine.poses[1:], reference[1:], strict=True):
        begin = work_clock()
        state, _ = solver.step(state, inputs)
        spent.append(work_clock() - begin)
        # Displacements, so that how the coarse rig differs from the fine one does not count
        u = carried.apply(solver.positions(state)) - carried.apply(actor.rig.positions(pose))
        exact = x - fine.rig.positions(pose)
        wrong += float(fine.body.mass @ ((u - exact) ** 2).sum(axis=1))
        size += float(fine.body.mass @ (exact**2).sum(axis=1))
    return {
        "what": "full space on a coarse mesh (Fig. 15)", "tets": len(actor.body.mesh.tets),
        "ms_step": 1e3 * float(np.median(spent)), "rms_error": float(np.sqrt(wrong / size)),
    }  # fmt: skip
