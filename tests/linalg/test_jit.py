"""Compiled code on disk: used as long as nothing it was compiled from has changed, and the same bytes cold and warm."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from supple.linalg.jit import digest_kernel, identify, njit

CALLEE = """
from supple.linalg.jit import njit

@njit(cache=True, fastmath={{"contract", "nsz", "reassoc"}})
def scale(x):
    return {factor} * x
"""
BETWEEN = "from callee import scale\n\ndef twice(x):\n    return scale(scale(x))\n"
CALLER = """
from between import scale
from supple.linalg.jit import njit

@njit(cache=True)
def answer(x):
    return middle(x)

@njit(cache=True)
def middle(x):
    return scale(x)
"""
ASK = """
from numba.core import event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
from caller import answer
print(answer(2.0), sum(one[1].is_start for one in compiled.buffer))
"""
MODES = """
import hashlib
import numpy as np
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import linear_modes

mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 24)  # large enough for the parallel loops
pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
modes = linear_modes(Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.35), pins), 6)
print(hashlib.sha256(modes.columns.tobytes()).hexdigest())
"""


def run(folder: Path, text: str) -> str:
    """What a program prints in a process of its own that keeps its kernels in `folder`."""
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels"), "PYTHONPATH": paths}
    command = [sys.executable, "-B", "-c", text]  # without bytecode, which knows changes by the second
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_caller_is_compiled_anew_when_its_callee_in_another_file_changes(tmp_path: Path) -> None:
    (tmp_path / "callee.py").write_text(CALLEE.format(factor=2.0))
    (tmp_path / "between.py").write_text(BETWEEN)
    (tmp_path / "caller.py").write_text(CALLER)
    assert run(tmp_path, ASK) == "4.0 3"
    files = sorted((tmp_path / "kernels").rglob("*.nb*"))
    assert run(tmp_path, ASK) == "4.0 0"
    (tmp_path / "callee.py").write_text(CALLEE.format(factor=20.0))
    assert run(tmp_path, ASK) == "40.0 3"
    assert sorted((tmp_path / "kernels").rglob("*.nb*")) == files  # written over, not added to
    (tmp_path / "between.py").write_text(BETWEEN + "\n# kernels do not call this\n")
    assert run(tmp_path, ASK) == "40.0 0"


def test_modes_have_the_same_bytes_in_the_process_that_compiles_and_in_the_next(tmp_path: Path) -> None:
    cold = run(tmp_path, MODES)
    assert run(tmp_path, MODES) == cold


@njit
def _add_one(x):
    return x + 1.0


@njit
def _add_two(x):
    return x + 2.0


class _Pair(NamedTuple):
    first: float
    second: float


def _calling(*known):
    """A function that knows some values from where it was written."""

    def outer(x):
        def inner(y):
            return known[0](y), known

        return inner(x)

    return outer


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_add_one, _add_two),
        (_calling(_add_one), _calling(_add_two)),
        (_calling(1), _calling(2)),
        (_calling(1), _calling(1.0)),
        (_calling(np.arange(3)), _calling(np.arange(1, 4))),
        (_calling((1, (2, 3))), _calling((1, (2, 4)))),
        (_calling(_Pair), _calling(NamedTuple("_Pair", [("second", float), ("first", float)]))),
        (njit(_add_one.py_func, fastmath=True), njit(_add_one.py_func)),
    ],
)
def test_digest_tells_functions_apart_by_what_they_reach(one, other) -> None:
    digests = {digest_kernel(_calling(function), getattr(function, "supple_options", {})) for function in (one, other)}
    assert len(digests) == 2
    assert digest_kernel(_calling(one)) == digest_kernel(_calling(one))


def test_functions_of_one_name_are_told_apart_by_what_they_know() -> None:
    assert identify(_calling(_add_one)) != identify(_calling(_add_two))


def test_modules_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    from supple.linalg import turns

    def kernel(x):
        return turns.cross(x, x)

    kernel.__globals__["turns"] = turns
    before = digest_kernel(kernel)
    monkeypatch.setattr(turns, "cross", _add_one, raising=False)
    assert digest_kernel(kernel) != before


def test_a_changed_order_of_fields_is_another_kernel(tmp_path: Path) -> None:
    program = """
from typing import NamedTuple
from caller import pick
class Pair(NamedTuple):
    {0}: float
    {1}: float
print(pick(Pair(1.0, 2.0)))
"""
    (tmp_path / "caller.py").write_text(
        "from supple.linalg.jit import njit\n\n@njit(cache=True)\ndef pick(pair):\n    return pair.first\n"
    )
    assert run(tmp_path, program.format("first", "second")) == "1.0"
    assert run(tmp_path, program.format("second", "first")) == "2.0"


def test_without_a_folder_to_write_to_kernels_are_compiled(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER.replace("from between import scale", "scale = float"))
    found = subprocess.run(
        [sys.executable, "-B", "-c", "import numba.core.caching as c\nc.CacheImpl._locator_classes = []\n" + ASK],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.strip() == "2.0 2"
