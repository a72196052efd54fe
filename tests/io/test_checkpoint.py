"""Checkpoints: bit for bit, whole or not at all."""

import numpy as np
import pytest

from supple.errors import FileFormatError, OutputError
from supple.io import load_checkpoint, save_checkpoint

ARRAYS = {
    "positions": np.array([[0.1, -0.0, np.inf], [5e-324, np.nan, 3.0]]),
    "flags": np.array([True, False]),
    "count": np.array(7, dtype=np.int32),
    "nothing": np.empty((0, 3)),
    "matrix": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "nested/name": np.arange(3, dtype=np.uint8),
}
META = {"stamp": "9f2c", "frame": 12, "time": 0.1, "note": "ä, β"}


def test_arrays_and_values_come_back_bit_for_bit(tmp_path):
    save_checkpoint(tmp_path / "state.npz", ARRAYS, META)
    arrays, meta = load_checkpoint(tmp_path / "state.npz")
    assert meta == META
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.writeable


def test_the_same_state_gives_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        save_checkpoint(tmp_path / name, ARRAYS, META)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_refused_save_leaves_the_old_checkpoint(tmp_path):
    save_checkpoint(tmp_path / "state.npz", ARRAYS, META)
    before = (tmp_path / "state.npz").read_bytes()
    with pytest.raises(OutputError, match="Python objects"):
        save_checkpoint(tmp_path / "state.npz", {"x": np.array([{}])}, META)
    assert (tmp_path / "state.npz").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_another_file_is_no_checkpoint(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    with pytest.raises(FileFormatError, match="is not a checkpoint of supple"):
        load_checkpoint(tmp_path / "a.npz")


def test_a_later_schema_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", checkpoint=np.array('{"schema": "supple checkpoint 99", "meta": {}}'))
    with pytest.raises(FileFormatError, match="is a 'supple checkpoint 99', this supple reads"):
        load_checkpoint(tmp_path / "a.npz")


def test_a_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "state.npz"
    save_checkpoint(path, {"x": np.arange(100.0)}, META)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match="'state/x' is damaged"):
        load_checkpoint(path)


def test_a_missing_checkpoint_is_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"state\.npz cannot be found"):
        load_checkpoint(tmp_path / "state.npz")
