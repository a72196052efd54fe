"""The rules that choose a linear solver."""

from supple.solve.linear import DIRECT_BELOW_DYNAMIC, DIRECT_BELOW_STATIC, choose_linear_solver


def test_small_problems_are_solved_directly_and_large_ones_iteratively() -> None:
    assert choose_linear_solver(1000, static=False)[0] == "direct"
    assert choose_linear_solver(DIRECT_BELOW_DYNAMIC + 1, static=False)[0] == "pcg"
    assert choose_linear_solver(DIRECT_BELOW_STATIC, static=True)[0] == "direct"
    assert choose_linear_solver(DIRECT_BELOW_STATIC + 1, static=True)[0] == "amg"


def test_the_reason_names_the_numbers() -> None:
    _, reason = choose_linear_solver(12_345, static=False)
    assert "12,345" in reason
    assert "dynamic" in reason
