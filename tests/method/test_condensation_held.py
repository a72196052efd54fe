"""Motions that a region leaves nothing of stay as they are, and flesh that was pressed does not stay inside out."""

from dataclasses import replace

import numpy as np
from condensation_helpers import make_step, sparse_model, tip
from reduced_helpers import beam, complete_model, modal_model

from supple.elastic import EXACT, PROJECTED
from supple.linalg.bordered import Handled
from supple.linalg.bordered_solver import to_sparse
from supple.method import CondensationSolver
from supple.method.condensation.region import Ground
from supple.method.condensation.rest import find_rest
from supple.solve import Inputs, Moment
from supple.subspace import Basis


def with_local_shape(body):
    """Modes, and a shape that moves but the tip; its stiffness is nearly all in a region there."""
    basis = modal_model(body, 5).basis
    x, root = body.mesh.vertices[:, 0], np.sqrt(np.repeat(body.mass, 3))[:, None]
    shape = np.zeros((len(x), 3))
    shape[:, 1] = np.maximum(x - 0.2, 0.0) ** 2 * np.sin(40.0 * body.mesh.vertices[:, 2])
    columns = np.linalg.qr(root * np.column_stack([basis.columns, shape.ravel()]))[0] / root
    return Basis(columns, body.mass, basis.source, np.append(basis.importance, basis.importance[-1]))


def local_step(error: float):
    body = beam(elements=600)
    basis = with_local_shape(body)
    model = replace(sparse_model(body, 6, 60), basis=basis)
    ground = Ground(body, basis)
    region = ground.cut(np.flatnonzero(ground.movable & (ground.rest[:, 0] > 0.3)).astype(np.int32))
    step, z = make_step(region, model, h=None)
    return replace(step, error=error, memory={}), z


def test_what_the_rule_cannot_tell_is_held() -> None:
    """What moves hardly more than the tip is, and nothing pushes or couples along it; modes of the whole are not."""
    step, z = local_step(0.04)
    held, size = step.held.rows, step.region.size
    assert 1 <= held.shape[1] <= 2
    moved = step.footing.U_full @ step.held.motions
    assert np.einsum("vh,v,vh->h", moved, np.repeat(step.region.mass, 3), moved).min() > 0.8  # of 1 for all vertices
    assert np.abs(held.T @ step.gradient(z)[size:]).max() < 1e-9
    matrix = step.stiffen(z, EXACT).to_dense()
    assert np.abs(matrix[:size, size:] @ held).max() < 1e-9 * np.abs(matrix).max()
    loose, _ = local_step(0.0)
    assert np.linalg.eigvalsh(loose.stiffen(z, EXACT).B).min() < 0.0 < np.linalg.eigvalsh(matrix[size:, size:]).min()


def test_held_motions_are_those_of_every_form_of_the_matrix() -> None:
    """Products, a sparse matrix and the second level of the preconditioner leave out the same, and nothing else."""
    step, z = local_step(0.04)
    number = step.region.number(step.region.full[-6:]).reshape(2, 3)
    weights = np.array([[0.5, 0.3, 0.2], [1.0, -0.4, -0.6]])
    own = np.random.default_rng(0).standard_normal((2, 3, step.share.matrix.shape[0]))
    springs = Handled(number.astype(np.int64), weights, 1e6 * np.ones((2, 1, 1)) * np.eye(3), np.arange(2), own)
    for form in (EXACT, PROJECTED):
        matrix = replace(step.stiffen(z, form, exact=form == EXACT), springs=springs)
        held, size, dense = matrix.held, step.region.size, matrix.to_dense()
        assert held.shape[1] >= 1
        loose = replace(matrix, held=np.zeros((0, 0)), memory={}).to_dense()
        P = np.eye(len(dense))
        P[size:, size:] -= held @ held.T
        expected = P @ loose @ P + matrix.grip * (np.eye(len(P)) - P)
        near = {"rtol": 0.0, "atol": 1e-10 * np.abs(dense).max()}
        np.testing.assert_allclose(dense, expected, **near)
        np.testing.assert_allclose(to_sparse(matrix).toarray(), expected, **near)
    # Conjugate gradients need a definite matrix. Away from an equilibrium the exact Hessian may be none; the last one
    # is: a sum of projected tets with positive weights, and of springs
    b = np.random.default_rng(1).standard_normal(len(dense))
    np.testing.assert_allclose(matrix.solve(b, 1e-12), np.linalg.solve(expected, b), rtol=1e-4, atol=1e-9)


def test_an_exact_rule_holds_nothing_that_moves_other_vertices() -> None:
    step, _ = local_step(0.0)
    assert step.held.rows.shape[1] == 0


def test_held_motions_follow_full_vertices() -> None:
    """Moved as the shape would move them, full vertices take its coordinate along."""
    step, z = local_step(0.04)
    size, held = step.region.size, step.held.motions
    z[:size] = step.footing.origin[: size // 3].ravel() + step.footing.U_full @ z[size:]
    moved = z.copy()
    moved[:size] += step.footing.U_full @ held[:, 0]
    carried = step.carry_held(moved)
    np.testing.assert_allclose(carried[size:], z[size:] + held[:, 0], atol=1e-8)
    np.testing.assert_array_equal(carried[:size], moved[:size])


def test_pressed_flesh_goes_along_unless_it_is_inside_out() -> None:
    body = beam(elements=600)
    solver = CondensationSolver(body, complete_model(body), integrator="static")
    ground, held = solver._ground, body.mesh.vertices[body.pins.vertices]
    full = tip(ground, 12).astype(np.int32)
    state = solver.start()._replace(full=full, idle=np.zeros(12, np.int32))
    inputs = Inputs(Moment(0.0, held), Moment(1.0, held))
    ahead = solver._steps.prepare(state.below, inputs)
    for dent, goes in ((0.005, True), (-0.3, False)):
        x = ground.rest[full] + np.array([dent, 0.0, 0.0])
        motion = np.array([x, np.zeros_like(x), np.zeros_like(x)])
        rest = find_rest(solver._tools, state._replace(motion=motion), inputs, ahead)
        assert rest is not None
        assert (np.abs(rest.beside).max() > 0.0) == goes
