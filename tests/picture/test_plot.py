"""Plots are files of the asked kind and size, the same every time."""

import io

import matplotlib
import numpy as np
import pytest
from PIL import Image

from supple.errors import OutputError
from supple.picture import plot_bars, plot_lines, plot_points, plot_strips

LINES = {"full": ([0, 1, 2], [1.0, 0.1, 0.01]), "reduced": ([0, 1, 2], [1.0, 0.2, 0.02])}


def test_png_has_twice_the_asked_dots() -> None:
    data = plot_lines(
        LINES, "step", "error", log_y=True, markers=True, title="Error", width=300, height=200, kind="png"
    )
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == (600, 400)
        assert np.ptp(np.asarray(image.convert("L"))) > 100


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_same_plot_gives_same_bytes(kind: str) -> None:
    first, second = (plot_lines(LINES, "x", "y", kind=kind) for _ in range(2))  # type: ignore[arg-type]
    assert first == second
    assert plot_lines(LINES, "x", "y", kind=kind, dark=True) != first  # type: ignore[arg-type]


def test_bars_are_drawn_and_style_stays_inside() -> None:
    before = dict(matplotlib.rcParams)
    data = plot_bars(["a", "b"], {"full": [3, 4], "reduced": [1, 2]}, "time [ms]", log_y=True)
    assert data.startswith(b"<?xml")
    assert dict(matplotlib.rcParams) == before


def test_points_carry_their_names_and_logarithms_plain_numbers() -> None:
    points = {"full": (120.0, 1e-4), "reduced": (1.5, 6e-3)}
    data = plot_points(points, "ms", "error", log_x=True, log_y=True)
    assert data == plot_points(points, "ms", "error", log_x=True, log_y=True)
    text = data.decode()
    assert all(f"<!-- {word} -->" in text for word in ("full", "reduced", "0.001", "10"))


def test_counts_are_marked_at_whole_numbers() -> None:
    text = plot_lines({"rank": ([1, 2, 3], [1.0, 0.5, 0.2])}, "rank", "error").decode()
    assert "<!-- 2 -->" in text
    assert "<!-- 1.5 -->" not in text
    assert "<!-- 1.50 -->" in plot_lines({"time": ([1, 2.5, 3], [5.0, 6.0, 7.0])}, "s", "error").decode()


def test_data_that_do_not_match_are_refused() -> None:
    with pytest.raises(OutputError, match='Line "odd"'):
        plot_lines({"odd": ([1, 2], [1])}, "x", "y")
    with pytest.raises(OutputError, match='Bars "odd"'):
        plot_bars(["a"], {"odd": [1, 2]}, "y")


def test_strips_take_one_colour_a_number_and_refuse_others():
    strips = [{"one": [0, 1, 1, 0], "two": [1, 1]}, {"one": [0, 0, 1, 0], "two": [1, 1]}]
    first, other = (plot_strips(one, ("a", "b"), ("#000000", "#ffffff"), "step") for one in strips)
    assert first.startswith(b"<?xml")
    assert first != other
    with pytest.raises(OutputError, match="whole numbers below 2"):
        plot_strips({"one": [0, 2]}, ("a", "b"), ("#000000", "#ffffff"), "step")
