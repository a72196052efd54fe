"""Colour maps begin at vmin, end at vmax and change evenly in between."""

import numpy as np
import pytest

from supple.errors import OutputError
from supple.picture import COLORMAPS, map_colours
from supple.picture.colormap import find_range, get_table, place_values
from supple.picture.colour import encode_srgb, parse_colour, to_linear
from supple.picture.legend import draw_legend, find_ticks


@pytest.mark.parametrize("name", [*COLORMAPS, "viridis"])
def test_ends_of_the_map_are_vmin_and_vmax(name: str) -> None:
    table = get_table(name)
    colours = map_colours([-3.0, 5.0, 7.0, 1e9, -1e9], name, vmin=-3.0, vmax=7.0)
    assert np.array_equal(colours[[0, 4]], table[[0, 0]])
    assert np.array_equal(colours[[2, 3]], table[[-1, -1]])
    assert table.min() >= 0.0
    assert table.max() <= 1.0


@pytest.mark.parametrize("name", ["dusk", "lagoon"])
def test_lightness_rises_evenly(name: str) -> None:
    luminance = to_linear(get_table(name)) @ [0.2126, 0.7152, 0.0722]
    steps = np.diff(np.cbrt(luminance))
    assert steps.min() > 0.0
    assert steps.max() < 2.5 * steps.mean()


def test_two_sided_map_is_lightest_in_its_middle() -> None:
    luminance = to_linear(get_table("balance")) @ [0.2126, 0.7152, 0.0722]
    assert 120 <= np.argmax(luminance) <= 135
    assert luminance[0] == pytest.approx(luminance[-1], rel=0.25)


def test_range_is_found_among_finite_values_and_refused_if_senseless() -> None:
    assert find_range([1.0, np.nan, 4.0, np.inf]) == (1.0, 4.0)
    assert find_range([1.0], vmin=-1.0) == (-1.0, 1.0)
    assert place_values([2.0, np.nan], 2.0, 2.0).tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
    with pytest.raises(OutputError, match="finite"):
        find_range([np.nan])
    with pytest.raises(OutputError, match=r"3\.0 to 1\.0"):
        find_range([2.0], 3.0, 1.0)


def test_unknown_map_is_named_with_the_known_ones() -> None:
    with pytest.raises(OutputError, match=r'"rainbowish": use dusk, lagoon, balance'):
        get_table("rainbowish")


@pytest.mark.parametrize("colour", ["#12345", "red-ish", [0.1, 0.2], [0.1, 0.2, 1.2], [0.0, np.nan, 0.0]])
def test_colour_that_is_none_is_refused(colour: object) -> None:
    with pytest.raises(OutputError):
        parse_colour(colour)  # type: ignore[arg-type]


def test_srgb_round_trip_keeps_every_byte() -> None:
    every = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    assert np.array_equal(encode_srgb(to_linear(every / 255.0)), every)


@pytest.mark.parametrize(("vmin", "vmax"), [(0.0, 1.0), (-3.2, 7.7), (1e-7, 3e-7), (995.0, 1005.0), (-5e8, 0.0)])
def test_ticks_are_round_and_within_the_range(vmin: float, vmax: float) -> None:
    ticks = np.array(find_ticks(vmin, vmax))
    step = ticks[1] - ticks[0]
    assert 3 <= len(ticks) <= 8
    assert ticks.min() >= vmin - 1e-9 * step
    assert ticks.max() <= vmax + 1e-9 * step
    mantissa = step / 10.0 ** np.floor(np.log10(step * (1 + 1e-9)))
    assert np.isclose(mantissa, [1.0, 2.0, 5.0]).any()


def test_legend_shows_the_map_with_its_ends() -> None:
    paper = np.full((300, 200, 3), 255, dtype=np.uint8)
    table = get_table("lagoon")
    drawn = draw_legend(paper, table, 0.0, 1.0, "strain")
    colours = {tuple(pixel) for pixel in drawn.reshape(-1, 3).tolist()}
    assert tuple(np.rint(255 * table[0]).astype(int).tolist()) in colours
    assert tuple(np.rint(255 * table[-1]).astype(int).tolist()) in colours
    assert (paper == 255).all()  # the picture given stays as it was
    draw_legend(paper, table, 2.0, 2.0)
