"""Every linear solver gives the answer of a dense one."""

import sys

import numba
import numpy as np
import pytest

from supple.linalg.blocks import BlockRows
from supple.linalg.direct import NotPositiveDefinite, SuperLU, direct_solver, load_mkl
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.linalg.reused import ReusedFactor
from supple.linalg.rigid import rigid_modes

COUNT = 40


@pytest.fixture
def pattern() -> BlockPattern:
    rng = np.random.default_rng(0)
    first = rng.integers(0, COUNT - 1, 150)
    second = first + 1 + rng.integers(0, COUNT, 150) % (COUNT - 1 - first)
    return BlockPattern.build(COUNT, first, second)


def random_matrix(pattern: BlockPattern, seed: int = 1) -> np.ndarray:
    """Upper triangle of a diagonally dominant matrix."""
    data = np.random.default_rng(seed).normal(size=pattern.nonzeros)
    data[pattern.diagonal] = 40.0 + np.abs(data[pattern.diagonal])
    return data


def test_pattern_places_blocks_where_it_says(pattern: BlockPattern) -> None:
    data = np.zeros(pattern.nonzeros)
    row = int(np.flatnonzero(np.diff(pattern.neighbours_start) > 1)[0])
    column = int(pattern.neighbours[pattern.neighbours_start[row] + 1])
    slot = int(pattern.slots(np.array([row]), np.array([column]))[0])
    block = np.arange(1.0, 10.0).reshape(3, 3)
    step = int(pattern.lengths[row])
    for i, start in enumerate((slot, slot + step - 1, slot + 2 * step - 3)):
        data[start : start + 3] = block[i]
    dense = pattern.to_scipy(data).toarray()
    assert np.array_equal(dense[3 * row : 3 * row + 3, 3 * column : 3 * column + 3], block)
    assert np.array_equal(dense, dense.T)
    assert np.count_nonzero(dense) == 18


def test_block_rows_hold_both_triangles(pattern: BlockPattern) -> None:
    data = random_matrix(pattern)
    rows = BlockRows.build(pattern)
    x = np.random.default_rng(2).normal(size=(COUNT, 3))
    out = rows.multiply(rows.fill(data), x)
    assert np.allclose(out.ravel(), pattern.to_scipy(data) @ x.ravel(), atol=1e-12)


def test_superlu_takes_the_place_of_pardiso_where_mkl_is_not_installed(
    pattern: BlockPattern, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supple.linalg.direct._list_places", lambda: ["no_such_library.so", sys.executable])
    load_mkl.cache_clear()
    try:
        solver = direct_solver(pattern)
    finally:
        load_mkl.cache_clear()
    assert isinstance(solver, SuperLU)
    assert "MKL is not installed" in solver.name


@pytest.mark.parametrize("make", [direct_solver, SuperLU])
def test_direct_solvers_are_exact(pattern: BlockPattern, make) -> None:
    solver, b = make(pattern), np.random.default_rng(3).normal(size=pattern.size)
    for seed in (1, 2):  # the second factorisation reuses the symbolic one
        data = random_matrix(pattern, seed)
        solver.factor(data)
        assert np.allclose(solver.solve(b), np.linalg.solve(pattern.to_scipy(data).toarray(), b), atol=1e-12)
    assert solver.memory > 0


@pytest.mark.parametrize("make", [direct_solver, SuperLU])
def test_direct_solvers_refuse_indefinite_matrices(pattern: BlockPattern, make) -> None:
    data = random_matrix(pattern)
    data[pattern.diagonal[5]] = -50.0
    with pytest.raises(NotPositiveDefinite):
        make(pattern).factor(data)


def test_conjugate_gradients_reach_their_tolerance(pattern: BlockPattern) -> None:
    data, b = random_matrix(pattern), np.random.default_rng(3).normal(size=pattern.size)
    matrix = pattern.to_scipy(data)
    points = np.random.default_rng(4).normal(size=(COUNT, 3))
    solver = ConjugateGradients(pattern, points)
    solver.prepare(data)
    for tolerance in (1e-2, 1e-4):
        x = solver.solve(b, tolerance)
        assert np.linalg.norm(matrix @ x - b) <= 3 * tolerance * np.linalg.norm(b)
    assert solver.iterations > 0


def test_conjugate_gradients_stop_after_as_many_iterations_as_are_asked_for(pattern: BlockPattern) -> None:
    data, b = random_matrix(pattern), np.random.default_rng(3).normal(size=pattern.size)
    matrix, solver = (
        pattern.to_scipy(data),
        ConjugateGradients(pattern, np.random.default_rng(4).normal(size=(COUNT, 3))),
    )
    solver.prepare(data)
    energies = []
    for most in (1, 2, 3):
        x = solver.solve(b, 1e-12, most)
        assert solver.iterations == most
        energies.append(0.5 * x @ (matrix @ x) - b @ x)
    assert 0.0 > energies[0] > energies[1] > energies[2]


def test_conjugate_gradients_give_the_same_bits_at_any_thread_count(
    pattern: BlockPattern, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supple.linalg.pcg._PARALLEL_FROM", 0)
    data, b = random_matrix(pattern), np.random.default_rng(3).normal(size=pattern.size)
    points = np.random.default_rng(4).normal(size=(COUNT, 3))
    solver, threads, found = ConjugateGradients(pattern, points), numba.get_num_threads(), []
    solver.prepare(data)
    try:
        for count in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(count)
            found.append(solver.solve(b, 1e-3).tobytes())
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1]


@pytest.mark.parametrize("two_levels", [False, True])
def test_conjugate_gradients_follow_a_matrix_that_is_not_definite_down(pattern: BlockPattern, two_levels: bool) -> None:
    data, b = random_matrix(pattern), np.random.default_rng(3).normal(size=pattern.size)
    points = np.random.default_rng(4).normal(size=(COUNT, 3))
    solver = ConjugateGradients(pattern, points, two_levels=two_levels, follows_bends=True)
    solver.prepare(data)
    plain = ConjugateGradients(pattern, points, two_levels=False)
    plain.prepare(data)
    assert np.linalg.norm(pattern.to_scipy(data) @ solver.solve(b, 1e-4) - b) <= 3e-4 * np.linalg.norm(b)
    assert not solver.is_bent
    row = pattern.rows[10]  # of the diagonal block of vertex 10, and of those of its neighbours
    begin, end = row, row + int(pattern.lengths[10])
    data[begin + 3 : end] = 40.0  # definite blocks that are joined too strongly
    dense = pattern.to_scipy(data).toarray()
    assert np.linalg.eigvalsh(dense)[0] < 0.0
    for one in (solver, plain):
        one.prepare(data)
    with pytest.raises(NotPositiveDefinite):
        plain.solve(b, 1e-8)
    x = solver.solve(b, 1e-8)
    assert solver.is_bent
    assert solver.iterations > 0
    assert b @ x > 0.0  # the way down
    assert 0.5 * x @ dense @ x < b @ x  # and below where it began
    data[pattern.diagonal[5]] = -50.0  # a block that is not definite tells by itself
    with pytest.raises(NotPositiveDefinite):
        solver.prepare(data)


def test_reused_factor_solves_a_nearby_matrix_and_refactors_a_distant_one(pattern: BlockPattern) -> None:
    first, b = random_matrix(pattern), np.random.default_rng(3).normal(size=pattern.size)
    solver = ReusedFactor(pattern)
    solver.prepare(first)
    solver.solve(b, 1e-8)
    assert solver.factorisations == 1
    near = first * 1.05
    near[pattern.diagonal] += 0.1
    solver.prepare(near)
    x = solver.solve(b, 1e-6)
    assert solver.factorisations == 1
    assert np.linalg.norm(pattern.to_scipy(near) @ x - b) <= 1.01e-6 * np.linalg.norm(b)
    far = random_matrix(pattern, 9)
    far[pattern.diagonal] += np.linspace(0.0, 4000.0, pattern.size)
    solver.prepare(far)
    x = solver.solve(b, 1e-10)
    assert solver.factorisations == 2
    assert np.linalg.norm(pattern.to_scipy(far) @ x - b) <= 1e-10 * np.linalg.norm(b)


def test_rigid_modes_are_motions_that_keep_distances() -> None:
    points = np.random.default_rng(0).normal(size=(6, 3))
    for mode in rigid_modes(points).T.reshape(6, -1, 3):
        edges, change = points[1:] - points[:-1], mode[1:] - mode[:-1]
        assert np.allclose(np.einsum("ij,ij->i", edges, change), 0.0)
