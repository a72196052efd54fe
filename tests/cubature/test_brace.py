"""Motions that a rule does not resist are found, and training lets none of them pass."""

import numpy as np
import pytest
from skinned_helpers import random_pose, skinned_rod

from supple.cubature import Rule, train_skinned
from supple.cubature.brace import brace
from supple.cubature.stiffness_problem import rest_stiffness
from supple.cubature.train_skinned import train_skinned_rule
from supple.elastic import Body
from supple.subspace import Basis, diagonalise, linear_modes
from supple.subspace.contact_columns import lead_with_contacts

SPIKES = 30


def spiky(body: Body) -> Basis:
    """Vibrations, and single vertices of the surface that move alone."""
    columns = np.zeros((3 * len(body.mass), SPIKES))
    free = np.setdiff1d(body.mesh.surface_vertices(), body.pins.vertices)
    for k, vertex in enumerate(free[:: len(free) // SPIKES][:SPIKES]):
        columns[3 * vertex + k % 3, k] = 1.0 / np.sqrt(body.mass[vertex])
    return diagonalise(lead_with_contacts(linear_modes(body, 6), columns), body)


def least_kept(body: Body, basis: Basis, rule: Rule) -> float:
    """The least share of a motion's stiffness at rest that the rule has."""
    scale = 1.0 / np.sqrt(basis.importance)
    return float(
        np.linalg.eigvalsh(scale[:, None] * rest_stiffness(body, basis, rule.members, rule.weights) * scale)[0]
    )


def test_what_no_element_of_a_rule_strains_gets_elements_that_do() -> None:
    _, body = skinned_rod()
    basis, every = spiky(body), np.arange(len(body.mesh.tets))
    whole = np.diag(basis.importance)
    complete = Rule(every, np.ones(len(every)), 0.0)
    assert brace(body, basis, whole, complete) is complete
    spike = int(np.argmax(np.abs(basis.columns[:, -1]))) // 3
    rest = every[~(body.mesh.tets == spike).any(axis=1)]
    lacking = Rule(rest, np.ones(len(rest)), 0.0)
    assert least_kept(body, basis, lacking) < 0.01
    held = brace(body, basis, whole, lacking)
    assert least_kept(body, basis, held) > 0.5
    added = np.setdiff1d(held.members, rest)
    assert 0 < len(added) < 12
    assert (body.mesh.tets[added] == spike).any(axis=1).all()


def test_a_trained_rule_resists_every_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    rig, body = skinned_rod(resolution=10)
    basis = spiky(body)

    def train() -> Rule:
        rng = np.random.default_rng(3)
        poses = np.array([random_pose(rig, rng, 0.3) for _ in range(4)])
        recorded = rng.normal(0.0, 1.0, (basis.rank, 4)) * (0.3 / basis.importance)[:, None]
        return train_skinned_rule(body, rig, basis, poses, recorded, 0.05, rng)

    rule = train()
    assert least_kept(body, basis, rule) > 0.5
    assert (rule.heldout_error or 1.0) <= 0.05
    monkeypatch.setattr(train_skinned, "brace", lambda body, basis, stiffness, rule: rule)
    without = train()
    assert least_kept(body, basis, without) < 0.1
    # A spike strains the tets around its vertex, and the most strained quarter of them hold a quarter of its energy:
    # no motion that is lacking needs more elements than that
    scale, every = 1.0 / np.sqrt(basis.importance), np.arange(len(body.mesh.tets))
    shares = np.linalg.eigvalsh(scale[:, None] * rest_stiffness(body, basis, without.members, without.weights) * scale)
    held = brace(body, basis, rest_stiffness(body, basis, every, np.ones(len(every))), without)
    around = np.bincount(body.mesh.tets.ravel())[body.mesh.surface_vertices()].max()
    assert 0 < held.size - without.size <= np.count_nonzero(shares < 0.5) * np.ceil(around / 4)
