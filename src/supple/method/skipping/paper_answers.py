"""What elements answer to the displacements of training pairs, which no later basis of [KJ09] changes."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_problem import ElementProblem
from supple.cubature.problem import Problem
from supple.cubature.skinned_problem import RecordedForces, recorded_problem
from supple.cubature.snapshots import Snapshots
from supple.method.skipping.carried import Carrier
from supple.subspace import Basis

__all__ = ["Answers", "pose_problem", "record_answers"]

FloatArray = NDArray[np.float64]
Answers = NDArray[np.float32]


def record_answers(carrier: Carrier, u: FloatArray, pose: FloatArray) -> Answers:
    """Of every element to u [m], (n, 3), in a pose, (m, d, 1): stresses, or forces before skinning on bones."""
    if carrier.rig is None:
        return Snapshots.record(carrier.body, u.reshape(-1, 1)).stresses
    return RecordedForces.of(carrier.body, carrier.rig, u, pose).forces


def pose_problem(carrier: Carrier, basis: Basis, answers: Answers) -> Problem:
    """The training of these answers, (m, d, k), with a basis."""
    if carrier.rig is None:
        return ElementProblem(carrier.body, basis, Snapshots(np.zeros((0, answers.shape[2])), answers))
    return recorded_problem(carrier.body, basis, RecordedForces(answers))
