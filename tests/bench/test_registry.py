"""What all benchmarks share: rows that are told as they are finished, and rows that are asked for."""

import pytest

from supple.bench import Benchmark, format_row, run_benchmark
from supple.bench.only import is_asked
from supple.errors import SceneError


def _rows(size, only=""):
    for number, name in enumerate(("drop x1", "drop x10")):
        if is_asked(only, name, "clusters", 1440):
            yield {"case": name, "number": number, "unknown": None}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("supple.bench.registry.measure_gemm", lambda: 125.0)
    monkeypatch.setattr("supple.bench.registry.find_benchmarks", lambda: {"one": Benchmark("one", "", _rows)})


def test_rows_are_told_one_by_one_and_kept():
    told = []
    found = run_benchmark(Benchmark("one", "", _rows), "small", 1, each=lambda row: told.append(format_row(row)))
    assert told == ["case drop x1, number 0", "case drop x10, number 1"]
    assert [row["number"] for row in found["rows"]] == [0, 1]
    whole = Benchmark("all", "", lambda size: list(_rows(size)))
    run_benchmark(whole, "small", 1, each=lambda row: pytest.fail("rows that come together are not told twice"))


def test_a_row_is_asked_for_by_whole_words():
    found = run_benchmark(Benchmark("one", "", _rows), "small", 1, only="1440 x1")
    assert [row["case"] for row in found["rows"]] == ["drop x1"]
    with pytest.raises(SceneError, match="has no row with 'x1000'"):
        run_benchmark(Benchmark("one", "", _rows), "small", 1, only="x1000")
    with pytest.raises(SceneError, match="takes no --only: that is for one"):
        run_benchmark(Benchmark("all", "", lambda size: []), "small", 1, only="x1")
