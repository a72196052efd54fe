"""Training on some elements: the target is what all answer, columns are those of the elements on offer."""

import numpy as np
import pytest
from skinned_helpers import random_pose, skinned_rod

from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import ElementProblem
from supple.cubature.offered_problem import offered_problem, offered_skinned_problem
from supple.cubature.skinned_problem import skinned_problem
from supple.cubature.skinned_samples import SkinnedSamples
from supple.cubature.snapshots import Snapshots
from supple.subspace import Basis
from supple.subspace.rest_stiffness import RestStiffness


@pytest.fixture(scope="module")
def bent():
    """A capsule of two bones with four columns, and coordinates of three shapes."""
    rig, body = skinned_rod()
    rng, n = np.random.default_rng(0), len(body.mass)
    root = np.sqrt(np.repeat(body.mass, 3))[:, None]
    fields = rng.standard_normal((n, 3, 4))
    fields[body.pins.vertices] = 0.0
    columns = np.linalg.qr(root * fields.reshape(-1, 4))[0] / root
    rest = RestStiffness(body)
    values, turn = np.linalg.eigh(rest.gather(columns).T @ (rest.matrix @ rest.gather(columns)))
    basis = Basis(columns @ turn, body.mass, "random", values)
    return body, rig, random_pose(rig, rng), basis, 1e-4 * rng.standard_normal((4, 3))


@pytest.mark.parametrize("on_bones", [False, True])
def test_the_target_is_that_of_all_elements_and_columns_those_on_offer(bent, on_bones):
    body, rig, pose, basis, q = bent
    elements = ElementMap(body)
    if on_bones:
        samples = SkinnedSamples(np.stack([0.3 * pose, 0.1 * pose, pose]), np.arange(3), q)
        whole = skinned_problem(body, rig, basis, samples)
    else:
        fields = basis.columns @ q
        whole = ElementProblem(body, basis, Snapshots.record(body, fields))
    who = np.arange(0, elements.count, 3)
    if on_bones:
        some = offered_skinned_problem(body, rig, elements, basis, samples, who)
    else:
        some = offered_problem(body, elements, basis, fields, who)
    assert some.candidates == len(who)
    assert np.abs(some.target() - whole.target()).max() < 1e-4
    columns = whole.columns(who)
    assert np.abs(some.columns(np.arange(len(who))) - columns).max() < 1e-4 * np.abs(columns).max()
