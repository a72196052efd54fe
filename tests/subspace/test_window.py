"""The window of displacements: its decomposition is that of their matrix, and thinning keeps it consistent."""

import numpy as np
import pytest

from supple.subspace import window as module
from supple.subspace.window import Window


def filled(count: int, vertices: int = 12, seed: int = 3) -> Window:
    rng = np.random.default_rng(seed)
    window = Window(rng.uniform(1.0, 2.0, vertices))
    for k in range(count):
        window = window.appended(rng.standard_normal((vertices, 3)) * 0.5**k)
    return window


def test_principal_columns_are_those_of_the_singular_value_decomposition():
    window = filled(6)
    metric = np.repeat(window.mass, 3)
    basis = window.principal(4)
    matrix = np.sqrt(metric)[:, None] * np.stack([u.ravel() for u in window.fields], axis=1)
    left, singular, _ = np.linalg.svd(matrix, full_matrices=False)
    assert basis.importance == pytest.approx(singular[:4])
    assert basis.columns.T @ (metric[:, None] * basis.columns) == pytest.approx(np.eye(4), abs=1e-12)
    overlap = left[:, :4].T @ (np.sqrt(metric)[:, None] * basis.columns)
    assert np.abs(overlap) == pytest.approx(np.eye(4), abs=1e-9)


def test_columns_near_round_off_are_orthonormal_too():
    rng = np.random.default_rng(0)
    window, modes = Window(rng.uniform(0.5, 2.0, 300)), rng.standard_normal((60, 300, 3))
    for _ in range(60):
        window = window.appended(np.tensordot(rng.standard_normal(60) * 0.6 ** np.arange(60), modes, 1))
    basis = window.principal(60)
    assert basis.importance[-1] < 1e-6 * basis.importance[0]
    products = basis.columns.T @ (basis.metric[:, None] * basis.columns)
    assert products == pytest.approx(np.eye(basis.rank), abs=1e-12)


def test_directions_below_round_off_are_left_out():
    window = filled(2)
    again = window.appended(window.fields[0] * (1.0 + 1e-12))
    assert again.principal(10).rank == 2


def test_a_full_window_is_thinned_and_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 40)
    window = filled(41)
    assert len(window) == 31
    last = filled(41).fields[-20:]
    assert all(np.array_equal(a, b) for a, b in zip(window.fields[-20:], last, strict=True))
    products = [[np.vdot(a, window.mass[:, None] * b) for a in window.fields] for b in window.fields]
    assert window.gram == pytest.approx(np.array(products))


def test_chosen_displacements_are_spread_with_the_newest_among_them():
    window = filled(9)
    assert window.spread(4).tolist() == [0, 3, 5, 8]
    assert window.spread(50).tolist() == list(range(9))


def test_poses_stay_with_their_displacements(monkeypatch):
    monkeypatch.setattr(module, "_BYTES", 0.0)
    window = Window(np.ones(4))
    for k in range(60):
        window = window.appended(np.full((4, 3), float(k)), np.array([float(k)]))
    assert len(window) < 60
    assert [field[0, 0] for field in window.fields] == [pose[0] for pose in window.poses]
