"""Pictures of recordings, and facts about files."""

from pathlib import Path

import pytest
from PIL import Image

from supple.errors import FileFormatError, OutputError
from supple.io import save_surface, save_tets
from supple.scene import build_scene, parse_scene, run_scene
from supple.scene.draw import Drawing, draw_recording
from supple.scene.info import describe_file
from supple.shape import make_shape


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("draw") / "a.npz"
    tables = {
        "mesh": {"shape": "beam", "resolution": 5},
        "time": {"frames": 4},
        "pin": [{"select": "min x"}],
        "output": {"fields": ["velocity", "J"], "every": 2},
    }
    run_scene(build_scene(parse_scene(tables)), [path])
    return path


@pytest.mark.parametrize("field", [None, "displacement", "J"])
def test_picture_of_a_frame(recording: Path, tmp_path: Path, field: str | None) -> None:
    facts = draw_recording(recording, tmp_path / "a.png", Drawing(field=field, width=60, height=40))
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (60, 40)
    assert facts["frames"] == 3


def test_surface_recording_is_coloured_by_displacement_from_its_first_frame(tmp_path: Path) -> None:
    tables = {"mesh": {"shape": "beam", "resolution": 5}, "time": {"frames": 2}, "pin": [{"select": "min x"}]}
    run_scene(build_scene(parse_scene(tables)), [tmp_path / "a.usdc"])
    small = Drawing(field="displacement", width=60, height=40)
    draw_recording(tmp_path / "a.usdc", tmp_path / "a.png", small)
    draw_recording(tmp_path / "a.usdc", tmp_path / "plain.png", Drawing(width=60, height=40))
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "plain.png").read_bytes()


def test_frames_are_called_by_their_numbers(recording: Path, tmp_path: Path) -> None:
    for number in (0, 4):
        draw_recording(recording, tmp_path / f"{number}.png", Drawing(frame=number, width=60, height=40))
    assert (tmp_path / "0.png").read_bytes() != (tmp_path / "4.png").read_bytes()
    with pytest.raises(OutputError, match="has no frame 3: it holds frames 0 to 4"):
        draw_recording(recording, tmp_path / "3.png", Drawing(frame=3))


def test_strip_and_film(recording: Path, tmp_path: Path) -> None:
    draw_recording(recording, tmp_path / "a.png", Drawing(strip=2))
    draw_recording(recording, tmp_path / "a.gif", Drawing(width=60, height=40))
    with Image.open(tmp_path / "a.png") as strip, Image.open(tmp_path / "a.gif") as film:
        assert strip.size[0] > 1.5 * strip.size[1]
        assert getattr(film, "n_frames", 0) == 3


def test_unknown_field_picture_kind_and_film_of_one_frame_are_refused(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no field 'von_mises'"):
        draw_recording(recording, tmp_path / "a.png", Drawing(field="von_mises", width=60, height=40))
    with pytest.raises(OutputError, match=r"name it \.png"):
        draw_recording(recording, tmp_path / "a.bmp")
    with pytest.raises(OutputError, match="shows all frames"):
        draw_recording(recording, tmp_path / "a.gif", Drawing(frame=1))
    assert list(tmp_path.iterdir()) == []


def test_files_are_described_by_what_they_hold(recording: Path, tmp_path: Path) -> None:
    ball = make_shape("sphere", resolution=6)
    save_tets(tmp_path / "b.msh", ball)
    save_surface(tmp_path / "b.obj", ball.surface())
    (tmp_path / "s.toml").write_text('[mesh]\nshape = "box"\n')
    tets, surface = describe_file(tmp_path / "b.msh"), describe_file(tmp_path / "b.obj")
    assert (tets["kind"], tets["tetrahedra"], tets["pieces"]) == ("tetrahedra", len(ball.tets), 1)
    assert tets["volume"] == pytest.approx(float(ball.volumes().sum()))
    assert (surface["kind"], surface["closed"], surface["manifold"]) == ("surface", True, True)
    run = describe_file(recording)
    assert (run["kind"], run["frames"], run["last_frame"], run["fps"]) == ("recording", 3, 4, 24.0)
    assert describe_file(tmp_path / "s.toml") == {"kind": "scene", "mesh": {"shape": "box"}}
    with pytest.raises(FileFormatError, match="does not exist"):
        describe_file(tmp_path / "none.msh")
