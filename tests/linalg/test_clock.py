"""The clock that compiled loops read."""

import time

import pytest
from numba import njit

from supple.linalg.clock import clock_address, read_clock


@njit(cache=False)
def _spend(address, rounds):
    begin, total = read_clock(address), 0.0
    for k in range(rounds):
        total += (k % 7) ** 0.5
    return read_clock(address) - begin, total


def test_it_runs_as_the_one_outside_does() -> None:
    if not clock_address():
        pytest.skip("the system has no such clock")
    _spend(clock_address(), 1)
    begin = time.perf_counter()
    inside, _ = _spend(clock_address(), 20_000_000)
    outside = 1e3 * (time.perf_counter() - begin)
    assert 0.0 < inside <= outside
    assert inside > 0.5 * outside


def test_without_one_no_time_passes() -> None:
    assert _spend(0, 1_000)[0] == 0.0
