"""Blocks outside a pattern: every linear solver takes them as a dense one would."""

from collections.abc import Callable

import numpy as np
import pytest

from supple.linalg.multigrid import Multigrid
from supple.linalg.overlay import Merger, Overlay
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.linalg.reused import ReusedFactor

COUNT = 40
POINTS = np.random.default_rng(4).normal(size=(COUNT, 3))
B = np.random.default_rng(3).normal(size=3 * COUNT)

Make = Callable[[BlockPattern], ReusedFactor | ConjugateGradients | Multigrid]
SOLVERS: dict[str, Make] = {
    "direct": ReusedFactor,
    "one level": lambda pattern: ConjugateGradients(pattern, POINTS, two_levels=False),
    "two levels": lambda pattern: ConjugateGradients(pattern, POINTS),
    "multigrid": lambda pattern: Multigrid(pattern, POINTS),
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


def make_overlay(seed: int = 2, pairs: int = 12, diagonal: float = 0.0) -> Overlay:
    """Blocks of random pairs, some of them neighbours in the chain, some named twice."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, COUNT - 1, pairs)
    second = first + 1 + rng.integers(0, COUNT, pairs) % (COUNT - 1 - first)
    second[:2] = first[:2] + 1
    first[-1], second[-1] = first[-2], second[-2]
    pattern = BlockPattern.build(COUNT, first, second)
    data = rng.normal(size=pattern.nonzeros)
    data[pattern.diagonal_entries(np.arange(COUNT))] = 0.0
    data[pattern.diagonal] = diagonal
    return Overlay(pattern, data)


def to_dense(pattern: BlockPattern, data: np.ndarray, overlay: Overlay | None) -> np.ndarray:
    dense = pattern.to_scipy(data).toarray()
    return dense if overlay is None else dense + overlay.pattern.to_scipy(overlay.data).toarray()


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("diagonal", [0.0, 25.0])
def test_solvers_answer_for_the_sum(pattern: BlockPattern, name: str, diagonal: float) -> None:
    solver, data, overlay = SOLVERS[name](pattern), make_matrix(pattern), make_overlay(diagonal=diagonal)
    solver.prepare(data, overlay)
    x = solver.solve(B, 1e-6)
    dense = to_dense(pattern, data, overlay)
    assert np.linalg.norm(dense @ x - B) <= 3e-6 * np.linalg.norm(B)
    without = to_dense(pattern, data, None) @ x - B
    assert np.linalg.norm(without) > 1e-2 * np.linalg.norm(B)  # the overlay matters


@pytest.mark.parametrize("name", SOLVERS)
def test_overlays_come_change_and_go(pattern: BlockPattern, name: str) -> None:
    solver, data = SOLVERS[name](pattern), make_matrix(pattern)
    first, other = make_overlay(2), make_overlay(7, 20)
    softer = Overlay(first.pattern, 0.1 * first.data)
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
    for base, values, unit in ((pattern, data, 1.0), (overlay.pattern, overlay.data, 0.0)):
        rows = np.repeat(np.arange(base.size), np.diff(base.indptr))
        values[np.isin(rows, locked) | np.isin(base.indices, locked)] = 0.0
        values[base.diagonal[locked]] = unit
    b[locked] = 0.0
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
    assert first.pattern is not twin.pattern
    before = data.copy()
    kept = merger.merge(data, first)[0]
    assert merger.merge(data, twin)[0] is kept
    assert merger.merge(data, make_overlay(7))[0] is not kept
    assert np.array_equal(data, before)


def test_the_factor_of_one_overlay_serves_the_next_values(pattern: BlockPattern) -> None:
    solver, data, overlay = ReusedFactor(pattern), make_matrix(pattern), make_overlay(2)
    solver.prepare(data, overlay)
    solver.solve(B, 1e-6)
    near = Overlay(overlay.pattern, 1.02 * overlay.data)
    solver.prepare(data, near)
    x = solver.solve(B, 1e-6)
    assert solver.factorisations == 1
    assert np.linalg.norm(to_dense(pattern, data, near) @ x - B) <= 1.01e-6 * np.linalg.norm(B)


def test_a_factor_without_the_overlay_serves_while_little_changes(pattern: BlockPattern) -> None:
    solver, data, weak = ReusedFactor(pattern), make_matrix(pattern), make_overlay(2)
    weak = Overlay(weak.pattern, 0.1 * weak.data)
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
