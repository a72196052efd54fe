"""Runs recorded frame by frame: readable at any moment, and resumed to the same content."""

from contextlib import contextmanager

import meshio
import numpy as np
import pytest

from supple.errors import OutputError
from supple.io import CacheInfo, Frame, RenderMesh, load_tets, open_cache, open_writer, probe
from supple.io.files import write_atomically
from supple.mesh import TriMesh

resource = pytest.importorskip("resource")  # limits of a process: not on Windows

SUFFIXES = [".npz", ".pvd", ".obj", ".usd", ".usda", ".usdc"]
EXACT = {".npz", ".pvd", ".obj"}
INFO = CacheInfo(fps=25.0, up_axis="z", metres_per_unit=0.01, start_frame=1, title="a -- <b> & 'c'")


def record(path, tets, frames, *, close: bool = True, **options):
    writer = open_writer(path, tets, INFO, **options)
    for frame in frames:
        writer.write(frame)
    if close:
        writer.close()
    return writer


def check_frames(path, tets, frames):
    """The recording holds the surface of exactly these frames."""
    cache = open_cache(path)
    assert cache.info == INFO
    assert cache.indices == tuple(frame.index for frame in frames)
    assert cache.times == pytest.approx([frame.time for frame in frames], abs=1e-12)
    assert np.array_equal(cache.triangles, tets.surface().triangles)
    for i, frame in enumerate(frames):
        expected = frame.positions[tets.surface_vertices()]
        scale = 1e-15 if path.suffix in EXACT else 1e-6  # one rounding of the unit; 32 bits in USD
        assert np.abs(cache.surface_positions(i) - expected).max() <= scale
    return cache


def content(folder):
    """Every file below the folder with its bytes."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_closed_recording_reads_back(tmp_path, tets, make_frames, suffix):
    frames = make_frames(1, 3)
    record(tmp_path / f"run{suffix}", tets, frames)
    check_frames(tmp_path / f"run{suffix}", tets, frames)
    assert not [name for name in content(tmp_path) if ".part" in name or "probe" in name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_everything_is_readable_after_every_frame_without_close(tmp_path, tets, make_frames, suffix):
    path = tmp_path / f"run{suffix}"
    frames = make_frames(1, 3)
    writer = open_writer(path, tets, INFO)
    for count, frame in enumerate(frames, start=1):
        writer.write(frame)
        check_frames(path, tets, frames[:count])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("closed", [True, False])
def test_a_resumed_run_leaves_what_an_uninterrupted_one_leaves(tmp_path, tets, make_frames, suffix, closed):
    frames = make_frames(1, 6)
    straight, broken = tmp_path / "straight" / f"run{suffix}", tmp_path / "broken" / f"run{suffix}"
    record(straight, tets, frames)
    record(broken, tets, frames[:5], close=closed)
    record(broken, tets, frames[3:], resume_at=4)  # frames 4 and 5 are done again
    check_frames(broken, tets, frames)
    assert content(straight.parent) == content(broken.parent)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_run_gives_the_same_bytes(tmp_path, tets, make_frames, suffix):
    for name in ("one", "two"):
        record(tmp_path / name / f"run{suffix}", tets, make_frames(1, 2))
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_new_run_replaces_a_longer_old_one(tmp_path, tets, make_frames, suffix):
    path = tmp_path / f"run{suffix}"
    record(path, tets, make_frames(1, 5), close=False)
    frames = make_frames(1, 2)
    record(path, tets, frames)
    check_frames(path, tets, frames)


def test_old_files_of_others_are_left_alone(tmp_path, tets, make_frames):
    (tmp_path / "run.0009.obj").write_text("v 0 0 0\n")
    (tmp_path / "run_0009.vtu").write_text("mine")
    for name in ("run.obj", "run.pvd"):
        record(tmp_path / name, tets, make_frames(1, 1))
    assert (tmp_path / "run.0009.obj").exists()
    assert (tmp_path / "run_0009.vtu").exists()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("where", ["positions", "velocities", "J"])
def test_no_nan_reaches_a_file(tmp_path, tets, make_frames, suffix, where):
    good, bad = make_frames(1, 2)
    values = bad.cell_data["J"] if where == "J" else getattr(bad, where)
    values[3] = np.nan
    writer = record(tmp_path / f"run{suffix}", tets, [good], close=False)
    before = content(tmp_path)
    with pytest.raises(OutputError, match=f"frame 2 has {where} that are not finite at entry 3"):
        writer.write(bad)
    assert content(tmp_path) == before


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_frames_in_the_wrong_order_are_refused(tmp_path, tets, make_frames, suffix):
    frames = make_frames(1, 2)
    writer = record(tmp_path / f"run{suffix}", tets, frames, close=False)
    with pytest.raises(OutputError, match="frame 1 does not follow frame 2"):
        writer.write(frames[0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_positions_of_another_mesh_are_refused(tmp_path, tets, suffix):
    writer = open_writer(tmp_path / f"run{suffix}", tets, INFO)
    with pytest.raises(OutputError, match=r"give numbers of shape \(27, 3\)"):
        writer.write(Frame(1, 0.0, np.zeros((5, 3))))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_resuming_what_is_not_there_is_refused(tmp_path, tets, suffix):
    with pytest.raises(OutputError, match="run again without resuming"):
        open_writer(tmp_path / f"run{suffix}", tets, INFO, resume_at=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_resuming_over_a_gap_is_refused(tmp_path, tets, make_frames, suffix):
    record(tmp_path / f"run{suffix}", tets, make_frames(1, 3))
    before = content(tmp_path)
    with pytest.raises(OutputError, match="ends at frame 3, so it cannot go on at 8"):
        open_writer(tmp_path / f"run{suffix}", tets, INFO, resume_at=8)
    assert content(tmp_path) == before


@pytest.mark.parametrize("suffix", [".npz", ".pvd", ".usdc"])
def test_resuming_a_run_of_another_setting_is_refused(tmp_path, tets, make_frames, suffix):
    record(tmp_path / f"run{suffix}", tets, make_frames(1, 3))
    with pytest.raises(OutputError, match="another mesh or setting"):
        open_writer(tmp_path / f"run{suffix}", tets, CacheInfo(fps=60.0), resume_at=2)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_directory_of_that_name_is_refused_on_opening(tmp_path, tets, suffix):
    (tmp_path / f"run{suffix}").mkdir()
    for attempt in (probe, lambda path: open_writer(path, tets, INFO)):
        with pytest.raises(OutputError, match="is a directory; name a file in it"):
            attempt(tmp_path / f"run{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_cannot_be_made_is_refused_on_opening(tmp_path, tets, suffix):
    (tmp_path / "file").touch()
    for attempt in (probe, lambda path: open_writer(path, tets, INFO)):
        with pytest.raises(OutputError, match="one of its folders is a file"):
            attempt(tmp_path / "file" / "deep" / f"run{suffix}")


def test_probing_leaves_nothing_behind(tmp_path):
    probe(tmp_path / "new" / "run.usd")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_lists_the_known_ones(tmp_path):
    with pytest.raises(OutputError, match=r"\.usd, \.usdc, \.usda, \.pvd, \.npz, \.obj"):
        probe(tmp_path / "run.abc")


@contextmanager
def files_at_most(size: int):
    """Let no file grow beyond `size` bytes: what a full disk looks like to a writer."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_an_error_and_harms_no_frame_written(tmp_path, tets, make_frames, suffix):
    path = tmp_path / f"run{suffix}"
    frames = make_frames(1, 4)
    writer = record(path, tets, frames[:2], close=False)
    before = content(tmp_path)
    room = path.stat().st_size + 10 if suffix == ".npz" else 100
    with files_at_most(room), pytest.raises(OutputError, match=r"cannot be written"):
        writer.write(frames[2])
    assert content(tmp_path) == before
    for frame in frames[2:]:  # the disk has room again
        writer.write(frame)
    writer.close()
    check_frames(path, tets, frames)


def test_an_npz_cut_off_anywhere_in_its_last_write_keeps_the_frames_before(tmp_path, tets, make_frames):
    path = tmp_path / "run.npz"
    frames = make_frames(1, 3)
    writer = record(path, tets, frames[:2], close=False)
    old = path.read_bytes()
    writer.write(frames[2])
    new = path.read_bytes()
    same = next(at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two)
    cuts = np.random.default_rng(0).integers(same, len(new) - 1, size=40).tolist()
    for cut in [same, same + 1, len(old), len(new) - 1, *cuts]:
        path.write_bytes(new[:cut] + old[cut:])
        cache = open_cache(path)
        assert cache.indices in ((1, 2), (1, 2, 3))
        assert np.array_equal(cache.positions(1), frames[1].positions)
        record(path, tets, frames[2:], resume_at=3)
        assert path.read_bytes() == new


def test_an_npz_beyond_4_gb_needs_wider_offsets(tmp_path, tets, make_frames, monkeypatch):
    monkeypatch.setattr("supple.io.npz_zip.FAR", 5000)  # as if 4 GB were that near
    frames = make_frames(1, 3)
    record(tmp_path / "run.npz", tets, frames)
    check_frames(tmp_path / "run.npz", tets, frames)
    with np.load(tmp_path / "run.npz") as arrays:
        assert np.array_equal(arrays["frame/0003/positions"], frames[2].positions)
    record(tmp_path / "run.npz", tets, frames[1:], resume_at=2)
    check_frames(tmp_path / "run.npz", tets, frames)


def test_a_failed_atomic_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with files_at_most(100), pytest.raises(OutputError, match="larger files"):
        write_atomically(path, [bytes(1000)])
    assert content(tmp_path) == {"a.txt": b"old"}


def test_numpy_reads_the_growing_npz(tmp_path, tets, make_frames):
    frames = make_frames(1, 2)
    record(tmp_path / "run.npz", tets, frames, close=False)
    with np.load(tmp_path / "run.npz", allow_pickle=False) as arrays:
        for frame in frames:
            assert arrays[f"frame/{frame.index:04d}/positions"].tobytes() == frame.positions.tobytes()
            assert np.array_equal(arrays[f"frame/{frame.index:04d}/cell/J"], frame.cell_data["J"])
    assert np.array_equal(load_tets(tmp_path / "run.npz").tets, tets.tets)


def test_meshio_reads_the_vtu_series(tmp_path, tets, make_frames):
    frames = make_frames(1, 2)
    writer = open_writer(tmp_path / "run.pvd", tets, CacheInfo())
    for frame in frames:
        writer.write(frame)
    for frame in frames:
        other = meshio.read(tmp_path / f"run_{frame.index:04d}.vtu")
        assert other.points.tobytes() == frame.positions.tobytes()
        assert np.array_equal(other.cells_dict["tetra"], tets.tets)
        assert np.array_equal(other.point_data["displacement"], frame.positions - tets.vertices)
        assert np.array_equal(other.point_data["velocity"], frame.velocities)
        assert np.array_equal(other.point_data["load"], frame.point_data["load"])
        assert np.array_equal(other.cell_data["von_mises"][0], frame.cell_data["von_mises"])
        assert np.array_equal(other.cell_data["region"][0], tets.regions)


@pytest.mark.parametrize("suffix", [".npz", ".pvd"])
def test_fields_come_back_at_the_surface(tmp_path, tets, make_frames, suffix):
    frames = make_frames(1, 2)
    record(tmp_path / f"run{suffix}", tets, frames)
    cache = open_cache(tmp_path / f"run{suffix}")
    used = tets.surface_vertices()
    assert {"displacement", "velocity", "load", "J", "von_mises"} <= set(cache.fields)
    moved = (frames[1].positions - tets.vertices)[used]
    assert cache.point_values("displacement", 1) == pytest.approx(moved, abs=1e-15)
    assert cache.point_values("velocity", 1) == pytest.approx(frames[1].velocities[used], rel=1e-15)
    assert np.array_equal(cache.point_values("load", 1), frames[1].point_data["load"][used])
    vertex = used[5]
    around = frames[1].cell_data["J"][(tets.tets == vertex).any(axis=1)]
    assert cache.point_values("J", 1)[5] == pytest.approx(around.mean())


def test_an_unknown_field_lists_the_known_ones(tmp_path, tets, make_frames):
    record(tmp_path / "run.npz", tets, make_frames(1, 1))
    with pytest.raises(Exception, match=r"no field 'heat'; it has displacement, velocity, load"):
        open_cache(tmp_path / "run.npz").point_values("heat", 0)


def test_obj_frames_hold_the_render_mesh_in_the_unit_of_the_file(tmp_path, tets, polygons, make_frames):
    inside = TriMesh.from_polygons(
        polygons.vertices * 0.05 + 0.02, polygons.face_counts, polygons.face_indices, polygons.uv
    )
    render = RenderMesh.build(tets, inside)
    frame = make_frames(4, 4)[0]
    record(tmp_path / "run.obj", tets, [frame], render=render)
    lines = (tmp_path / "run.0004.obj").read_text().splitlines()
    assert [line.count("/") for line in lines if line.startswith("f ")] == [4, 3, 3, 3, 3]
    cache = open_cache(tmp_path / "run.obj")
    assert cache.surface_positions(0) == pytest.approx(render.embedding.apply(frame.positions), abs=1e-15)
    first = np.array(lines[1].split()[1:], dtype=float)  # centimetres
    assert first == pytest.approx(100.0 * render.embedding.apply(frame.positions)[0])


def test_a_plain_mesh_is_a_recording_of_one_frame(tmp_path, tets, polygons):
    from supple.io import save_surface, save_tets

    save_tets(tmp_path / "a.npz", tets)
    save_surface(tmp_path / "b.obj", polygons)
    cache = open_cache(tmp_path / "a.npz")
    assert (cache.frames, cache.indices, cache.fields) == (1, (0,), ())
    assert np.array_equal(cache.surface_positions(0), tets.surface().vertices)
    assert np.array_equal(open_cache(tmp_path / "b.obj").triangles, polygons.triangles)


def test_a_series_outside_its_folder_is_refused(tmp_path, tets, make_frames):
    record(tmp_path / "run.pvd", tets, make_frames(1, 1))
    text = (tmp_path / "run.pvd").read_text()
    for name in ("../run_0001.vtu", "/etc/passwd", "C:\\run_0001.vtu", "..\\a.vtu"):
        (tmp_path / "run.pvd").write_text(text.replace("run_0001.vtu", name))
        with pytest.raises(Exception, match="outside its folder; keep the series in one folder"):
            open_cache(tmp_path / "run.pvd")


@pytest.mark.parametrize(("key", "value"), [("fps", 0.0), ("fps", np.nan), ("metres_per_unit", -1.0), ("up_axis", "x")])
def test_impossible_settings_are_refused(key, value):
    with pytest.raises(OutputError, match=key):
        CacheInfo(**{key: value})
