"""A small beam with its basis and samples, made once."""

from dataclasses import dataclass

import numpy as np
import pytest

from supple.cubature import ElementProblem, Snapshots, draw_coordinates
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import Basis, diagonalise, linear_modes, modal_basis

REACH = 0.3


@dataclass(frozen=True)
class Beam:
    body: Body
    basis: Basis
    snapshots: Snapshots
    problem: ElementProblem


@pytest.fixture(scope="session")
def beam() -> Beam:
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 16)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.4), pins)
    basis = diagonalise(modal_basis(body, linear_modes(body, 5), 12), body)
    snapshots = Snapshots.record(body, basis.columns @ draw_coordinates(basis, REACH, 60, np.random.default_rng(3)))
    return Beam(body, basis, snapshots, ElementProblem(body, basis, snapshots))
