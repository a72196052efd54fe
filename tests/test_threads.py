"""How many threads are used by default, and that results do not hang on it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from supple import _threads
from supple.elastic import Body, Pins
from supple.linalg.direct import Pardiso, load_mkl
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import RestStiffness


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("0.00 0.00 0.00 1/100 999", 4),
        ("0.40 0.90 0.90 2/100 999", 4),  # only just begun
        ("4.00 4.00 4.00 1/100 999", 4),  # ended a moment ago
        ("0.90 0.20 0.10 2/100 999", 3),
        ("2.10 2.00 2.00 3/100 999", 2),
        ("9.00 9.00 9.00 12/100 999", 1),
        ("nothing that is known", 4),
        ("", 4),
    ],
)
def test_cores_that_are_busy_are_left_alone(told: str, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "available_threads", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert _threads.idle_threads(told) == left


def test_load_on_cores_that_are_not_ours_takes_none_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "available_threads", lambda: 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert _threads.idle_threads("40.0 40.0 40.0 41/900 999") == 2


@pytest.mark.skipif(_threads.available_threads() < 2, reason="one core has one thread")
@pytest.mark.parametrize(("asked", "used"), [(None, 1), ("2", 2)])
def test_a_process_starts_with_the_idle_cores_unless_its_user_says_otherwise(asked: str | None, used: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    environment |= {} if asked is None else {"NUMBA_NUM_THREADS": asked}
    program = (
        "import supple._threads as t; t.idle_threads = lambda: 1\n"
        "import supple.linalg.jit, numba; print(numba.get_num_threads())"
    )
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert int(found.stdout) == used


def test_a_sparse_factor_has_the_same_bytes_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    if load_mkl() is None:
        pytest.skip("MKL is not installed")
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 28)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    stiffness = RestStiffness(Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.35), pins))
    monkeypatch.setattr("supple.linalg.direct.available_threads", lambda: 4)  # splits sums otherwise than 1 and 2 do
    found = set()
    for count in (1, 2, 1):
        _threads.set_threads(count)
        monkeypatch.setattr("numba.get_num_threads", lambda count=count: count)
        factor = Pardiso(stiffness.map.pattern)
        factor.factor(stiffness.data)
        found.add(factor.solve(np.ones(stiffness.map.pattern.size)).tobytes())
    assert stiffness.map.pattern.size >= Pardiso._PARALLEL_FROM
    assert len(found) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU runtime tells its settings when it loads")
def test_threads_that_wait_give_their_core_away() -> None:
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment["OMP_DISPLAY_ENV"] = "verbose"
    told = subprocess.run([sys.executable, "-c", "import supple"], env=environment, capture_output=True, text=True)
    if "GOMP_SPINCOUNT" not in told.stderr:
        pytest.skip("there is no GNU runtime")
    assert "GOMP_SPINCOUNT = '0'" in told.stderr
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in told.stderr
