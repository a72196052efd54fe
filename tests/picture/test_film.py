"""Strips and films have the right size, number and pace of pictures, and are written whole or not at all."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

from supple.errors import MissingExtra, OutputError
from supple.picture import (
    encode_png,
    join_pictures,
    pick_frames,
    render,
    render_frames,
    render_strip,
    save_film,
    save_picture,
    stack_pictures,
)

Body = tuple[np.ndarray, np.ndarray]
SMALL: dict[str, Any] = {"width": 60, "height": 48}


def paint(count: int, width: int = 32, height: int = 24) -> list[np.ndarray]:
    """Pictures with a white square that walks over black."""
    pictures = np.zeros((count, height, width, 3), dtype=np.uint8)
    for index, picture in enumerate(pictures):
        picture[4:12, index : index + 8] = 255
    return list(pictures)


def test_strip_sets_the_asked_frames_side_by_side(sphere: Body) -> None:
    frames = [sphere[0] + [0.0, 0.1 * k, 0.0] for k in range(9)]
    strip = render_strip(frames, sphere[1], count=3, times=[0.1 * k for k in range(9)], **SMALL)
    assert strip.shape == (48, 3 * 60 + 2 * 4, 3)
    assert (strip[:, 60:64] == 255).all()


def test_panels_of_a_strip_share_camera_and_ground(sphere: Body) -> None:
    vertices, triangles = sphere
    strip = render_strip([vertices, vertices + np.array([0.0, 2.0, 0.0]), vertices], triangles, **SMALL)
    first, middle, last = strip[:, :60], strip[:, 64:124], strip[:, 128:]
    assert np.array_equal(first, last)
    assert not np.array_equal(first, middle)


def test_strip_with_values_has_one_legend_and_one_range(sphere: Body) -> None:
    vertices, triangles = sphere
    values = [np.zeros(len(vertices)), np.ones(len(vertices))]
    strip = render_strip([vertices] * 2, triangles, values=values, **SMALL)
    assert strip.shape[1] > 2 * 60 + 4
    assert not np.array_equal(strip[:, :60], strip[:, 64:124])
    without = render_strip([vertices] * 2, triangles, values=values, legend=False, **SMALL)
    assert without.shape[1] == 2 * 60 + 4


def test_frames_of_an_animation_are_seen_by_one_camera(sphere: Body) -> None:
    vertices, triangles = sphere
    frames = [vertices, vertices + np.array([3.0, 0.0, 0.0])]
    alone = render(frames[0], triangles, **SMALL)
    pictures = list(render_frames(frames, triangles, **SMALL))
    assert len(pictures) == 2
    assert not np.array_equal(pictures[0], alone)  # the camera stands back for the whole way


def test_number_of_times_and_values_must_match(sphere: Body) -> None:
    with pytest.raises(OutputError, match="2 times for 1 frames"):
        list(render_frames([sphere[0]], sphere[1], times=[0.0, 1.0]))
    with pytest.raises(OutputError, match="0 sets of values"):
        list(render_frames([sphere[0]], sphere[1], values=[]))
    with pytest.raises(OutputError, match="2 times"):
        render_strip([sphere[0]], sphere[1], times=[0.0, 1.0])
    with pytest.raises(OutputError, match="no frame"):
        render_strip([], sphere[1])


def test_only_pictures_of_one_height_are_joined() -> None:
    low, high = paint(1)[0], paint(1, height=30)[0]
    assert join_pictures([low, low], gap=3).shape == (24, 67, 3)
    for pictures in ([low, high], []):
        with pytest.raises(OutputError, match="height"):
            join_pictures(pictures)


def test_stacked_pictures_are_filled_up_with_white() -> None:
    wide, narrow = paint(1)[0], paint(1)[0][:, :20]
    stacked = stack_pictures([wide, narrow], gap=3)
    assert stacked.shape == (51, 32, 3)
    assert np.array_equal(stacked[:24], wide)
    assert np.array_equal(stacked[27:, :20], narrow)
    assert (stacked[24:27] == 255).all()
    assert (stacked[27:, 20:] == 255).all()
    with pytest.raises(OutputError, match="no picture"):
        stack_pictures([])


def test_picked_frames_are_even_and_hold_both_ends() -> None:
    assert pick_frames(9, 3) == [0, 4, 8]
    assert pick_frames(2, 5) == [0, 1]
    assert pick_frames(5, 1) == [0]
    with pytest.raises(OutputError):
        pick_frames(0, 3)


@pytest.mark.parametrize(("fps", "kept"), [(24.0, 12), (10.0, 12), (100.0, 6)])
def test_gif_has_all_its_pictures_at_its_pace(tmp_path: Path, fps: float, kept: int) -> None:
    path = save_film(tmp_path / "film.gif", paint(12), fps)
    with Image.open(path) as film:
        assert film.size == (32, 24)
        assert film.info["loop"] == 0
        durations = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    assert len(durations) == kept  # a browser cannot show more than 50 a second
    assert sum(durations) == pytest.approx(12_000.0 / fps, abs=10.0)


def test_animated_png_keeps_every_colour(tmp_path: Path) -> None:
    pictures = paint(4)
    with Image.open(save_film(tmp_path / "deep" / "film.png", pictures, 25.0)) as film:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
    assert np.array_equal(frames, pictures)


def test_mp4_has_all_its_pictures(tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = save_film(tmp_path / "film.mp4", paint(10, width=33, height=25), 20.0)
    reader = ffmpeg.read_frames(str(path))
    assert next(reader)["size"] == (34, 26)  # made even
    assert len(list(reader)) == 10
    assert [child.name for child in tmp_path.iterdir()] == ["film.mp4"]


def test_mp4_names_the_extra_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[video\]'"):
        save_film(tmp_path / "film.mp4", paint(2))


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
def test_film_that_breaks_off_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")

    def break_off() -> Iterator[np.ndarray]:
        yield from paint(3)
        raise RuntimeError("the run stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        save_film(tmp_path / f"film{suffix}", break_off())
    assert list(tmp_path.iterdir()) == []


def test_film_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"film\.avi"):
        save_film(tmp_path / "film.avi", paint(2))
    with pytest.raises(OutputError, match="no picture"):
        save_film(tmp_path / "film.gif", [])
    with pytest.raises(OutputError, match="one size"):
        save_film(tmp_path / "film.gif", [*paint(1), *paint(1, width=40)])
    with pytest.raises(OutputError, match="frame rate"):
        save_film(tmp_path / "film.gif", paint(2), fps=0.0)


def test_picture_file_holds_the_picture(tmp_path: Path) -> None:
    picture = paint(1)[0]
    with Image.open(save_picture(tmp_path / "new" / "one.png", picture)) as image:
        assert np.array_equal(np.asarray(image), picture)
    assert encode_png(picture) == encode_png(picture)
    with pytest.raises(OutputError, match=r"\.png"):
        save_picture(tmp_path / "one.bmp", picture)
    with pytest.raises(OutputError, match="bytes"):
        encode_png(picture.astype(np.float64))
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        save_picture(tmp_path / "file" / "one.png", picture)
