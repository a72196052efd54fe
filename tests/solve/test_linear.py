"""The rules that choose a linear solver."""

from supple.solve.linear import DIRECT_AT_LEAST, DIRECT_AT_MOST, DIRECT_BELOW_STATIC, choose_linear_solver


def test_stiff_or_small_problems_are_solved_directly_and_soft_large_ones_iteratively() -> None:
    assert choose_linear_solver(DIRECT_AT_LEAST, reach=0.1)[0] == "direct"
    assert choose_linear_solver(12_000, reach=3.0)[0] == "pcg"
    assert choose_linear_solver(12_000, reach=1000.0)[0] == "direct"
    assert choose_linear_solver(DIRECT_AT_MOST + 1, reach=1e9)[0] == "pcg"


def test_static_problems_are_solved_directly_until_multigrid_pays() -> None:
    assert choose_linear_solver(DIRECT_BELOW_STATIC, reach=None)[0] == "direct"
    assert choose_linear_solver(DIRECT_BELOW_STATIC + 1, reach=None)[0] == "amg"


def test_the_reason_names_the_numbers() -> None:
    _, reason = choose_linear_solver(12_345, reach=200.0)
    assert "12,345" in reason
    assert "5,000" in reason
