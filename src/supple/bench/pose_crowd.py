"""A crowd in pose space: 100 apes that share a model of rank 25, each at its own moment of one motion.

`alone_ms` is a frame of single steps, one character after another; `ms_frame` the batched call for all of them.
"""

import numpy as np

from supple.bench.pose_case import CASES, PoseCase, make_actor
from supple.bench.pose_measure import TOLERANCES, Row, choose, train
from supple.bench.yardstick import best_ms
from supple.method import PoseSpaceSolver, assemble_posespace

__all__ = ["run"]

_SIZES = {"small": (3_000, 3), "paper": (16_297, 4)}  # tets and poses
_CHARACTERS, _RANK, _LEAD = 100, 25, 20


def run(size: str) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper"."""
    tets, poses = _SIZES[size]
    actor = make_actor(PoseCase(CASES["ape"]["small"].scene, tets, _RANK, poses, 2 * _CHARACTERS))
    bases = choose(actor, _RANK, poses)
    rules = train(actor, bases, TOLERANCES[-1])
    solver = PoseSpaceSolver(actor.body, actor.rig, assemble_posespace(actor.body, actor.rig, bases, rules))
    steps = actor.inputs()
    starts = np.linspace(0, len(steps) - _LEAD - 1, _CHARACTERS).astype(int)
    states = [solver.start(steps[k]) for k in starts]
    for frame in range(_LEAD):
        states = solver.step_all(states, [steps[k + frame] for k in starts])
    now = [steps[k + _LEAD] for k in starts]
    frame_ms = best_ms(lambda: solver.step_all(states, now), 20)
    alone_ms = best_ms(lambda: [solver.step(state, one) for state, one in zip(states, now, strict=True)], 20)
    return [
        {
            "characters": _CHARACTERS, "tets": len(actor.body.mesh.tets), "rank": _RANK, "cub_int": len(rules.elements),
            "cub_inert": len(rules.inertia_vertices), "ms_frame": frame_ms, "fps": 1e3 / frame_ms,
            "us_character": 1e3 * frame_ms / _CHARACTERS, "alone_ms": alone_ms,
            "memory_mb": solver.model.tell()["step_bytes"] / 1e6,
        }
    ]  # fmt: skip
