"""The rules that choose a linear solver."""

import numpy as np
import pytest

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh.grid import fill_box
from supple.solve import linear, system
from supple.solve.linear import (
    DIRECT_AT_LEAST,
    DIRECT_AT_MOST,
    TRIED_FROM_STATIC,
    choose_linear_solver,
    most_trial_iterations,
)


@pytest.fixture(autouse=True)
def with_mkl(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules as they are where MKL is installed."""
    monkeypatch.setattr(linear, "load_mkl", lambda: True)


def test_stiff_or_small_problems_are_solved_directly_and_soft_large_ones_iteratively() -> None:
    assert choose_linear_solver(DIRECT_AT_LEAST, reach=0.1)[0] == "direct"
    assert choose_linear_solver(12_000, reach=3.0)[0] == "pcg"
    assert choose_linear_solver(12_000, reach=1000.0)[0] == "direct"
    assert choose_linear_solver(DIRECT_AT_MOST + 1, reach=1e9)[0] == "pcg"


def test_static_problems_that_were_not_tried_are_solved_directly() -> None:
    for unknowns in (1_000, 1_000_000):
        assert choose_linear_solver(unknowns, reach=None)[0] == "direct"


def test_a_trial_that_ends_soon_serves_statics_by_conjugate_gradients() -> None:
    for unknowns in (TRIED_FROM_STATIC, 70_000, 200_000):
        most = most_trial_iterations(unknowns)
        name, reason = choose_linear_solver(unknowns, reach=None, tried=most)
        assert name == "pcg"
        assert f"{most} iterations" in reason
        name, reason = choose_linear_solver(unknowns, reach=None, tried=most + 1)
        assert name == "direct"
        assert f"more than {most} iterations" in reason
    assert choose_linear_solver(TRIED_FROM_STATIC - 1, reach=None, tried=1)[0] == "direct"


def test_conjugate_gradients_serve_more_where_factors_cost_ten_times_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    before = choose_linear_solver(4_000, reach=200.0)[0], choose_linear_solver(4_000, None, tried=300)[0]
    monkeypatch.setattr(linear, "load_mkl", lambda: None)
    after = choose_linear_solver(4_000, reach=200.0)[0], choose_linear_solver(4_000, None, tried=300)[0]
    assert (before, after) == (("direct", "direct"), ("pcg", "pcg"))


@pytest.mark.parametrize(("held", "name"), [("core", "pcg"), ("end", "direct"), ("nowhere", "direct")])
def test_flesh_about_bones_is_tried_and_found_easy_where_a_long_beam_is_not(
    monkeypatch: pytest.MonkeyPatch, held: str, name: str
) -> None:
    monkeypatch.setattr(linear, "TRIED_FROM_STATIC", 1000)
    mesh = fill_box((0.0, -0.5, -0.5), (24.0, 0.5, 0.5), elements=6000)
    x, y, z = mesh.vertices.T
    chosen = {"core": abs(y) + abs(z) < 0.3, "end": x < 0.3, "nowhere": x < -1.0}[held]
    pins = Pins.of(np.flatnonzero(chosen)) if chosen.any() else Pins.none()
    body = Body.build(mesh, StableNeoHookean(young=1e4), pins)
    found = [system.System(body, pins, "auto", None) for _ in range(2)]
    assert found[0].unknowns > 1000
    assert [one.solver_name for one in found] == [name, name]
    assert found[0].reason == found[1].reason
    assert (
        system.System(Body.build(mesh, StableNeoHookean(young=1e4), pins), pins, "direct", None).reason == "asked for"
    )


def test_the_reason_names_the_numbers() -> None:
    _, reason = choose_linear_solver(12_345, reach=200.0)
    assert "12,345" in reason
    assert "5,000" in reason
