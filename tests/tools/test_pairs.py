"""Benchmarks of two commits in turn: which rows and figures are compared."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def pairs() -> ModuleType:
    """The script as a module."""
    path = Path(__file__).resolve().parents[2] / "tools" / "pairs.py"
    spec = importlib.util.spec_from_file_location("pairs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_medians_of_milliseconds_are_compared_row_by_row(pairs: ModuleType) -> None:
    first = [[{"solver": "pcg", "tets": 7, "step_ms": ms, "error": 0.5}] for ms in (1.0, 2.0, 9.0)]
    second = [[{"solver": "pcg", "tets": 7, "step_ms": ms, "error": 0.7, "new_ms": 1.0}] for ms in (3.0, 1.0, 8.0)]
    assert list(pairs.compare(first, second)) == [
        {"row": "pcg 7", "figure": "step_ms", "first": 2.0, "second": 3.0, "ratio": 1.5}
    ]


def test_figures_that_one_commit_does_not_measure_are_left_out(pairs: ModuleType) -> None:
    rows = [[{"a_ms": 0.0, "b_ms": None, "c_ms": 1.0, "forms": 3}]]
    assert list(pairs.compare(rows, [[{"a_ms": 1.0, "b_ms": 2.0, "forms": 4}]])) == []


def test_rows_that_one_commit_alone_has_shift_no_others(pairs: ModuleType) -> None:
    first = [[{"method": "clusters", "ms": 1.0}, {"method": "fit", "ms": 2.0}]]
    second = [
        [
            {"method": "clusters", "convergence": 0.0, "ms": 3.0},
            {"method": "clusters", "convergence": 0.02, "ms": 9.0},
            {"method": "fit", "convergence": 0.0, "ms": 4.0},
        ]
    ]
    assert [(row["row"], row["ratio"]) for row in pairs.compare(first, second)] == [("clusters", 3.0), ("fit", 2.0)]


def test_an_unknown_commit_is_named(pairs: ModuleType) -> None:
    with pytest.raises(SystemExit, match="there is no commit no-such-name"):
        pairs.resolve("no-such-name")
