"""Outputs of a run: locked while it writes, missed when they vanish, resumable after a full disk."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.errors import OutputError
from supple.io import open_cache
from supple.io.files import part_path, probe_folder, write_atomically
from supple.io.lock import lock_path, locked
from supple.io.process import HOST
from supple.io.watched import OutputRemovedError
from supple.scene import Built, FrameRow, SilentListener, build_scene, parse_scene, run_scene
from supple.scene.kept import VARIABLE
from supple.scene.toml import write_toml

SCENE: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 1, "frames": 5},
    "mesh": {"shape": "beam", "resolution": 4},
    "material": {"young": 5e4},
    "pin": [{"select": "min x"}],
    "output": {"checkpoint": 3},
}
SUFFIXES = (".npz", ".pc2", ".mdd", ".glb", ".pvd", ".obj", ".usdc", ".usda")


def build(**changes: Any) -> Built:
    return build_scene(parse_scene({**SCENE, **changes}))


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))


class DoAt(SilentListener):
    """Does something when a frame is done."""

    def __init__(self, frame: int, act: Any) -> None:
        self.stop, self.act = frame, act

    def frame(self, row: FrameRow) -> None:
        if row.frame == self.stop:
            self.act()


@pytest.fixture
def dead() -> int:
    """The number of a process that runs no more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_second_run_on_an_output_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"

    def second() -> None:
        with pytest.raises(OutputError, match=r"a\.npz is being written by another run \(process \d+ on "):
            run_scene(build(time={"frames": 2}), [tmp_path / "b.usdc", file])

        scene = tmp_path / "scene.toml"
        scene.write_text(write_toml({**SCENE, "method": {"name": "reduced"}}), encoding="utf-8")
        assert main(["run", str(scene), "-o", str(file)]) == 1
        assert not list(tmp_path.glob("*training*"))  # it is refused before a model is trained

    run_scene(build(), [file], listener=DoAt(2, second))
    assert open_cache(file).frames == 6
    assert not lock_path(file).exists()
    assert not lock_path(tmp_path / "b.usdc").exists()


def test_locks_of_dead_processes_of_this_host_are_taken_over_and_no_others(tmp_path: Path, dead: int) -> None:
    file = tmp_path / "a.npz"
    for holder in ({"host": HOST, "process": dead}, {"host": HOST, "process": 1, "begun": "another of this number"}):
        lock_path(file).write_text(json.dumps(holder))
        with locked([file]):
            assert json.loads(lock_path(file).read_text())["process"] != dead
    for text in (json.dumps({"host": "elsewhere", "process": dead}), "", "[]"):
        lock_path(file).write_text(text)
        with pytest.raises(OutputError, match=r"remove .*\.a\.npz\.lock if that run is gone"), locked([file]):
            pass
        assert lock_path(file).read_text() == text


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("frame", [2, 5])
def test_an_output_that_is_removed_while_it_is_written_is_an_error(tmp_path: Path, suffix: str, frame: int) -> None:
    folder = tmp_path / "out"

    def remove() -> None:
        for path in folder.iterdir():
            if not path.name.startswith("."):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    with pytest.raises(OutputRemovedError, match=rf"out/a.*{suffix[:4]}.* was removed or changed"):
        run_scene(build(), [folder / f"a{suffix}"], listener=DoAt(frame, remove))


def test_an_output_that_is_replaced_while_it_is_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(write_toml(SCENE), encoding="utf-8")
    file = tmp_path / "a.npz"

    def replace() -> None:
        file.unlink()
        file.write_bytes(b"of somebody else")

    with pytest.raises(OutputRemovedError):
        run_scene(build(), [file], listener=DoAt(2, replace))
    assert file.read_bytes() == b"of somebody else"


def test_the_command_line_fails_where_an_output_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scene.toml").write_text(write_toml(SCENE), encoding="utf-8")
    file = tmp_path / "a.npz"
    monkeypatch.setattr("supple._console.Console.listener", None, raising=False)
    monkeypatch.setattr("supple.scene.progress.pick_listener", lambda _: DoAt(2, file.unlink))
    assert main(["run", str(tmp_path / "scene.toml"), "-o", str(file)]) == 1
    assert f"{file} was removed or changed by another program" in capsys.readouterr().err


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(("suffix", "frames"), [(".npz", 5), (".pc2", 40)])
def test_a_run_that_finds_no_room_goes_on_when_there_is_some(tmp_path: Path, suffix: str, frames: int) -> None:
    whole, file = tmp_path / "whole" / f"a{suffix}", tmp_path / f"a{suffix}"
    fine = {"time": {"frames": frames, "substeps": 1}, "output": {"checkpoint": 100}}
    run_scene(build(**fine), [whole])
    message = rf"a\{suffix} cannot be written \(File too large\).* Frame \d+ is kept in .*: go on with  --resume"
    with largest_file(int(0.8 * whole.stat().st_size)), pytest.raises(OutputError, match=message):
        run_scene(build(**fine), [file])
    assert not list(tmp_path.glob(".*.part*"))
    run_scene(build(**fine), [file], resume=True)
    assert file.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob("*checkpoint*"))


def test_a_checkpoint_lies_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from supple.scene import record

    whole, file = tmp_path / "whole" / "a.npz", tmp_path / "a.npz"
    run_scene(build(), [whole])
    save = record.save_checkpoint

    def full(path: Path, *rest: Any) -> None:
        if tmp_path in path.parents:
            raise OutputError(f"{path} cannot be written (No space left on device); free some space.")
        save(path, *rest)

    monkeypatch.setattr(record, "save_checkpoint", full)
    with pytest.raises(RuntimeError):
        run_scene(build(), [file], listener=DoAt(4, lambda: (_ for _ in ()).throw(RuntimeError())))
    assert not list(tmp_path.glob("*.checkpoint.npz"))
    run_scene(build(), [file], resume=True)
    assert file.read_bytes() == whole.read_bytes()
    with pytest.raises(OutputError, match="does not exist, so there is nothing to resume"):
        run_scene(build(), [file], resume=True)  # none is left anywhere


@pytest.mark.parametrize("suffix", [".mdd", ".usdc"])
def test_a_recording_that_cannot_be_finished_can_be_later(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, file = tmp_path / "whole" / f"a{suffix}", tmp_path / f"a{suffix}"
    run_scene(build(), [whole])

    def fail(path: Path, *_: Any) -> None:
        raise OutputError(f"{path} cannot be written (No space left on device); free some space.")

    with monkeypatch.context() as full:
        full.setattr("supple.io.record_points.write_atomically", fail)
        full.setattr("supple.io.record_usd.join_frames", fail)
        with pytest.raises(OutputError, match="Frame 5 is kept in"):
            run_scene(build(), [file])
    run_scene(build(), [file], resume=True)
    cache, expected = open_cache(file), open_cache(whole)
    assert cache.frames == 6
    assert all(np.array_equal(cache.surface_positions(k), expected.surface_positions(k)) for k in range(6))


def test_what_no_place_takes_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, *_: Any) -> None:
        raise OutputError(f"{path} cannot be written (No space left on device); free some space.")

    monkeypatch.setattr("supple.scene.record.save_checkpoint", fail)
    with pytest.raises(OutputError, match="No checkpoint could be saved anywhere"):
        run_scene(build(), [tmp_path / "a.npz"])


def test_the_timeline_grows_with_the_run(tmp_path: Path) -> None:
    skipping = build(method={"name": "skipping", "tolerance": 5e-3}, time={"fps": 50, "frames": 4})
    file = tmp_path / "a.npz"
    seen = []

    def read() -> None:
        seen.extend(json.loads((tmp_path / "a.npz.timeline.json").read_text())["steps"])

    run_scene(skipping, [file], listener=DoAt(3, read))
    assert [step["frame"] for step in seen] == [1, 1, 2, 2, 3, 3]
    after = json.loads((tmp_path / "a.npz.timeline.json").read_text())
    assert [step["frame"] for step in after["steps"]] == [1, 1, 2, 2, 3, 3, 4, 4]


KILLED = """
import os, signal
from pathlib import Path
from supple.io.files import write_atomically
def pieces():
    yield b"some"
    os.kill(os.getpid(), signal.SIGKILL)
write_atomically(Path("a.npz"), pieces())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_part_files_of_killed_processes_are_removed_by_the_next(tmp_path: Path, dead: int) -> None:
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    (left,) = tmp_path.glob(".a.part-*.npz")
    assert HOST in left.name
    own = part_path(tmp_path / "b.npz")
    assert own != part_path(tmp_path / "b.npz")
    keep = [own, tmp_path / f".c.part-elsewhere-{dead}-00000000.npz", tmp_path / ".d.part.npz"]
    for path in keep:
        path.touch()
    probe_folder(tmp_path / "a.npz")
    assert sorted(tmp_path.iterdir()) == sorted(keep)
    write_atomically(tmp_path / f"{'n' * 250}.npz", [b"a long name"])
