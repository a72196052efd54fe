"""A benchmark of pose space on a body so small that its columns can be checked."""

from collections.abc import Iterator

import numpy as np
import pytest

from supple.bench import Benchmark, run_benchmark
from supple.bench.pose_case import CASES, PAPER, PoseCase, make_actor
from supple.bench.pose_measure import choose, full_run, measure, measure_case, train

KEYS = [
    "tets", "rank", "regions", "poses", "newton", "cub_int", "cub_inert", "ms_core", "ms_dyn", "ms_render", "ms_total",
    "fps", "fps_one_core", "bare_ms", "memory_mb", "full_ms", "speedup", "train_error_int", "train_error_inert",
    "heldout_error_int", "train_s", "rms_error",
]  # fmt: skip


def test_a_row_has_all_keys_and_adds_up() -> None:
    actor = make_actor(PoseCase(CASES["x"]["small"].scene, 300, 6, 3, 20))
    bases = choose(actor, 6, 3)
    row = measure(actor, bases, train(actor, bases, 0.03), full_run(actor, actor.inputs()), 1.0)
    assert list(row)[: len(KEYS)] == KEYS  # in this order
    assert row["ms_total"] == pytest.approx(row["ms_core"] + row["ms_dyn"] + row["ms_render"])
    assert row["fps"] == pytest.approx(1e3 / row["ms_total"])
    assert row["heldout_error_int"] <= 0.03
    assert 0.0 < row["rms_error"] < 1.0  # as wrong as flesh that does not move at all
    assert all(np.isfinite(value) for value in row.values())


def test_rows_are_told_when_they_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.bench.registry.measure_gemm", lambda: 125.0)

    def rows(size: str) -> Iterator[dict[str, int]]:
        for number in range(2):
            assert told == [{"number": k} for k in range(number)]
            yield {"number": number}

    told: list[dict[str, int]] = []
    found = run_benchmark(Benchmark("two", "two rows", rows), "paper", 1, each=told.append)
    assert found["rows"] == told == [{"number": 0}, {"number": 1}]


def test_no_body_is_made_for_rows_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.bench.pose_measure.make_actor", lambda case: pytest.fail("made"))
    assert list(measure_case("ape", "paper", "77 whole")) == []
    with pytest.raises(pytest.fail.Exception, match="made"):
        next(measure_case("ape", "paper", "25 whole"))


@pytest.mark.parametrize("name", CASES)
def test_the_papers_milliseconds_add_up(name) -> None:
    row = PAPER[name]
    assert row["ms_core"] + row["ms_dyn"] + row["ms_render"] == pytest.approx(row["ms_total"], abs=0.015)
    assert 1e3 / row["ms_total"] == pytest.approx(row["fps"], rel=0.03)
    assert CASES[name]["paper"].rank == row["rank"]
