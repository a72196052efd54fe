"""Blocks outside a pattern: every linear solver takes them as a dense one would."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from supple.linalg.overlay import Merger, Overlay
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.linalg.reused import ReusedFactor

COUNT = 40
POINTS = np.random.default_rng(4).normal(size=(COUNT, 3))
B = np.random.default_rng(3).normal(size=3 * COUNT)

Make = Callable[[BlockPattern], ReusedFactor | ConjugateGradients]
SOLVERS: dict[str, Make] = {
    "direct": ReusedFactor,
    "one level": lambda pattern: ConjugateGradients(pattern, POINTS, two_levels=False),
    "two levels": lambda pattern: ConjugateGradients(pattern, POINTS),
}


@pytest.fixture
def pattern() -> BlockPattern:
    """A chain."""
    return BlockPattern.build(COUNT, np.arange(COUNT - 1), np.arange(1, COUNT))


def make_matrix(pattern: BlockPattern, seed: int = 1) -> np.ndarray:
    """Upper triangle of a diagonally dominant matrix."""
    data = np.random.default_rng(seed).normal(size=pattern.nonzeros)
    data[pattern.diagonal] = 40.0 + np.abs(data[pattern.diagonal])
    return data


def make_overlay(seed: int = 2, springs: int = 12, stiffness: float = 30.0) -> Overlay:
    """Springs between random rows, some of them neighbours in the chain, some named twice, some with fewer rows."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, COUNT, (springs, 4))
    rows[:2, 1] = rows[:2, 0] ^ 1
    rows[-1] = rows[-2]
    rows[3, 2] = rows[3, 0]
    weights = np.repeat(rng.normal(size=(springs, 4, 1)), 3, axis=2)
    weights[4:7, 1:] = 0.0
    roots = rng.normal(size=(springs, 3, 3))
    return Overlay(rows, weights, stiffness * roots @ roots.transpose(0, 2, 1))


def to_dense(pattern: BlockPattern, data: np.ndarray, overlay: Overlay | None) -> np.ndarray:
    dense = pattern.to_scipy(data).toarray()
    if overlay is not None:
        for rows, weights, curvature in zip(overlay.rows, overlay.weights, overlay.curvature, strict=True):
            handle = np.zeros((3, len(dense)))
            for row, weight in zip(rows, weights, strict=True):
                handle[:, 3 * row : 3 * row + 3] += np.diag(weight)
            dense += handle.T @ curvature @ handle
    return dense


def scaled(overlay: Overlay, factor: float) -> Overlay:
    return replace(overlay, curvature=factor * overlay.curvature)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("stiffness", [1.0, 100.0])
def test_solvers_answer_for_the_sum(pattern: BlockPattern, name: str, stiffness: float) -> None:
    solver, data, overlay = SOLVERS[name](pattern), make_matrix(pattern), make_overlay(stiffness=stiffness)
    solver.prepare(data, overlay)
    x = solver.solve(B, 1e-6)
    dense = to_dense(pattern, data, overlay)
    error, exact = x - np.linalg.solve(dense, B), np.linalg.solve(dense, B)
    # Iterations end by the residual in the preconditioner's norm, in which stiff rows weigh less than in the plain one:
    # that bounds the error in the energy, whatever the springs
    assert error @ dense @ error <= 3e-6**2 * (exact @ dense @ exact)
    without = to_dense(pattern, data, None) @ x - B
    assert np.linalg.norm(without) > 1e-2 * np.linalg.norm(B)  # the overlay matters


@pytest.mark.parametrize("name", SOLVERS)
def test_overlays_come_change_and_go(pattern: BlockPattern, name: str) -> None:
    solver, data = SOLVERS[name](pattern), make_matrix(pattern)
    first, other = make_overlay(2), make_overlay(7, 20)
    softer = scaled(first, 0.1)
    for overlay in (None, first, softer, other, None, other):
        solver.prepare(data, overlay)
        x = solver.solve(B, 1e-6)
        assert np.linalg.norm(to_dense(pattern, data, overlay) @ x - B) <= 3e-6 * np.linalg.norm(B)


@pytest.mark.parametrize("name", SOLVERS)
def test_answers_do_not_depend_on_earlier_overlays(pattern: BlockPattern, name: str) -> None:
    """What a restarted run rests on: bits of the overlay's own, whatever came before."""
    data, overlay = make_matrix(pattern), make_overlay(2)
    fresh, used = SOLVERS[name](pattern), SOLVERS[name](pattern)
    for earlier in (make_overlay(7, 20), None):
        used.prepare(data, earlier)
        used.solve(B, 1e-6)
    for solver in (fresh, used):
        if isinstance(solver, ReusedFactor):
            solver.restart()
        solver.prepare(data, overlay)
    assert np.array_equal(fresh.solve(B, 1e-6), used.solve(B, 1e-6))


def test_rows_of_locked_unknowns_may_be_those_of_the_unit_matrix(pattern: BlockPattern) -> None:
    data, overlay, locked, b = make_matrix(pattern), make_overlay(2), [4, 60, 61], B.copy()
    rows = np.repeat(np.arange(pattern.size), np.diff(pattern.indptr))
    data[np.isin(rows, locked) | np.isin(pattern.indices, locked)] = 0.0
    data[pattern.diagonal[locked]] = 1.0
    moves = np.ones(3 * COUNT)
    moves[locked] = b[locked] = 0.0
    overlay = replace(overlay, weights=overlay.weights * moves.reshape(-1, 3)[overlay.rows])
    expected = np.linalg.solve(to_dense(pattern, data, overlay), b)
    for make in SOLVERS.values():
        solver = make(pattern)
        solver.prepare(data, overlay)
        x = solver.solve(b, 1e-8)
        assert np.allclose(x, expected, atol=1e-6 * np.abs(expected).max())


def test_merging_nothing_costs_nothing(pattern: BlockPattern) -> None:
    data = make_matrix(pattern)
    same, untouched = Merger(pattern).merge(data, None)
    assert same is pattern
    assert untouched is data


def test_the_merged_pattern_is_kept_while_the_pairs_are(pattern: BlockPattern) -> None:
    merger, data = Merger(pattern), make_matrix(pattern)
    first, twin = make_overlay(2), make_overlay(2)
    assert first.rows is not twin.rows
    before = data.copy()
    kept = merger.merge(data, first)[0]
    assert merger.merge(data, twin)[0] is kept
    assert merger.merge(data, make_overlay(7))[0] is not kept
    assert np.array_equal(data, before)


def test_the_factor_of_one_overlay_serves_the_next_values(pattern: BlockPattern) -> None:
    solver, data, overlay = ReusedFactor(pattern), make_matrix(pattern), make_overlay(2)
    solver.prepare(data, overlay)
    solver.solve(B, 1e-6)
    near = scaled(overlay, 1.02)
    solver.prepare(data, near)
    x = solver.solve(B, 1e-6)
    assert solver.factorisations == 1
    assert np.linalg.norm(to_dense(pattern, data, near) @ x - B) <= 1.01e-6 * np.linalg.norm(B)


def test_a_factor_without_the_overlay_serves_while_little_changes(pattern: BlockPattern) -> None:
    solver, data, weak = ReusedFactor(pattern), make_matrix(pattern), make_overlay(2)
    weak = scaled(weak, 1e-3)
    solver.prepare(data)
    solver.solve(B, 1e-6)
    far = data.copy()
    far[pattern.diagonal] += np.linspace(0.0, 4000.0, pattern.size)
    for matrix, factorisations in ((data, 1), (far, 2)):
        solver.prepare(matrix, weak)
        x = solver.solve(B, 1e-6)
        assert solver.factorisations == factorisations
        assert np.linalg.norm(to_dense(pattern, matrix, weak) @ x - B) <= 1.01e-6 * np.linalg.norm(B)


def test_a_pattern_knows_its_pairs(pattern: BlockPattern) -> None:
    first, second = np.array([0, 0, 3, 38]), np.array([1, 2, 4, 39])
    assert pattern.holds(first, second).tolist() == [True, False, True, True]
    alone = BlockPattern.build(COUNT, first[:0], second[:0])
    assert not alone.holds(first, second).any()


@pytest.mark.parametrize("name", SOLVERS)
def test_a_new_overlay_on_the_same_matrix_is_as_good_as_both_anew(pattern: BlockPattern, name: str) -> None:
    data, overlay = make_matrix(pattern), make_overlay(2)
    fresh, kept = SOLVERS[name](pattern), SOLVERS[name](pattern)
    kept.prepare(data, make_overlay(7, 20))
    if isinstance(kept, ReusedFactor):
        kept.restart()
    fresh.prepare(data, overlay)
    kept.prepare(data, overlay, same=True)
    assert np.array_equal(fresh.solve(B, 1e-6), kept.solve(B, 1e-6))


def test_springs_much_stiffer_than_the_matrix_that_join_rows_cost_few_iterations(pattern: BlockPattern) -> None:
    # A chain of springs over all rows, as two surfaces that stick to each other: diagonal blocks alone do not see it
    solver, data, count = ConjugateGradients(pattern, POINTS, two_levels=False), make_matrix(pattern), COUNT - 3
    rows = np.arange(count)[:, None] + np.arange(4)
    weights = np.repeat(np.tile([1.0, -0.5, -0.3, -0.2], (count, 1))[:, :, None], 3, axis=2)
    iterations = []
    for ratio in (1.0, 100.0):
        stiffness = ratio * data[pattern.diagonal].mean()
        overlay = Overlay(rows, weights, np.tile(stiffness * np.eye(3), (count, 1, 1)))
        solver.prepare(data, overlay)
        x = solver.solve(B, 1e-4)
        exact = np.linalg.solve(to_dense(pattern, data, overlay), B)
        assert np.linalg.norm(x - exact) < 1e-2 * np.linalg.norm(exact)
        iterations.append(solver.iterations)
    assert iterations[1] <= 2 * iterations[0]
