"""Kernels that are compiled beside the work."""

import time
from pathlib import Path

import pytest
from numba import get_num_threads

from supple.picture.ahead import draw_a_picture
from supple.picture.shade import add_body
from supple.scene.kernels import await_kernels, compile_ahead


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("supple.scene.kernels.available_threads", lambda: 2)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    Path("first.py").write_text("import sys; open('first', 'w').write(sys.argv[1])")
    Path("second.py").write_text("open('second', 'w').write(open('first').read())")
    Path("third.py").write_text("import time; time.sleep(0.5); open('third', 'w')")
    Path("endless.py").write_text("import time; time.sleep(60.0)")
    return tmp_path


def test_modules_run_in_order_and_are_waited_for_one_by_one(folder: Path) -> None:
    threads = get_num_threads()
    with compile_ahead(("first", "word"), ("second",), ("third",)):
        assert get_num_threads() == 1
        await_kernels("first")
        assert (folder / "first").read_text() == "word"
        await_kernels("second")
        assert (folder / "second").read_text() == "word"
        await_kernels("of another demonstration")
    assert (folder / "third").exists()  # all is done when it closes
    assert get_num_threads() == threads
    await_kernels("first")


def test_an_error_ends_what_still_runs(folder: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(ValueError, match="enough"), compile_ahead(("endless",), ("first", "word")):
        raise ValueError("enough")
    assert time.monotonic() - begin < 30.0
    assert not (folder / "first").exists()


def test_a_process_that_fails_changes_nothing(folder: Path) -> None:
    with compile_ahead(("no_such_module",), ("first", "word")):
        await_kernels("no_such_module")
        await_kernels("first")
    assert (folder / "first").exists()


def test_modules_of_the_current_folder_are_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH")
    with compile_ahead(("first", "word")):
        await_kernels("first")
    assert not (folder / "first").exists()


def test_one_processor_is_left_to_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.scene.kernels.available_threads", lambda: 1)
    with compile_ahead(("first", "word")):
        await_kernels("first")
    assert not (folder / "first").exists()


def test_a_picture_ahead_compiles_the_kernels_of_others() -> None:
    import numpy as np

    from supple.picture import render_strip

    draw_a_picture()
    known = len(add_body.signatures)
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    render_strip([square, square], np.array([[0, 1, 2], [0, 2, 3]], np.int32), count=2, width=12, height=12)
    assert len(add_body.signatures) == known
