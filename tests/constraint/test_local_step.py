import numpy as np
import pytest
from constraint_samples import block, every_constraint

from supple.constraint.local_step import LocalStep
from supple.mesh import fill_box

MESH = block()
RNG = np.random.default_rng(5)
X = MESH.vertices + 0.05 * RNG.standard_normal(MESH.vertices.shape)
NUMBER = RNG.permutation(len(X))


@pytest.mark.parametrize("constraint", every_constraint(MESH), ids=lambda c: c.kind.replace(" ", "_"))
def test_the_fast_loop_gives_forces_and_energy(constraint):
    step = LocalStep.build(constraint, MESH.vertices, NUMBER)
    there = np.empty_like(X)
    there[NUMBER] = X
    out = np.zeros_like(X)
    energy = step.pull(there, step.recall(there), out)
    assert energy == pytest.approx(constraint.energy(X), rel=1e-9)
    np.testing.assert_allclose(out[NUMBER], constraint.forces(X), atol=1e-8 * np.abs(out).max())


def test_quaternions_follow_a_moving_body():
    constraint = every_constraint(MESH)[0]
    step = LocalStep.build(constraint, MESH.vertices, np.arange(len(X)))
    memory = step.recall(MESH.vertices)
    for share in np.linspace(0.1, 1.0, 10):
        x = MESH.vertices + share * (X - MESH.vertices)
        out = np.zeros_like(X)
        energy = step.pull(x, memory, out)
    assert energy == pytest.approx(constraint.energy(X), rel=1e-9)


def test_the_order_of_many_elements_is_that_of_one_thread(monkeypatch):
    from supple._threads import available_threads, set_threads

    monkeypatch.setattr("supple.constraint.local_step.PARALLEL_FROM", 0)
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 9)
    constraint = every_constraint(mesh)[0]
    step = LocalStep.build(constraint, mesh.vertices, np.arange(len(mesh.vertices)))
    x = mesh.vertices + 0.02 * RNG.standard_normal(mesh.vertices.shape)
    results = []
    for threads in (1, available_threads()):
        set_threads(threads)
        out = np.zeros_like(x)
        step.pull(x, step.recall(x), out)
        results.append(out)
    np.testing.assert_array_equal(*results)
