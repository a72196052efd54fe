"""Trained models on disk: whole and for their own body, or refused with the reason."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cubature import Rule
from supple.elastic import Body, Damping, Pins
from supple.errors import FileFormatError, TrainingError
from supple.io import load_model, save_model
from supple.io.model_file import is_model_file
from supple.material import StableNeoHookean, StVK
from supple.method import ReducedModel
from supple.shape import make_shape
from supple.subspace import linear_modes

SOFT = StableNeoHookean(young=1e5, poisson=0.4, density=1000.0)


def make_body(resolution: int = 6, material: Any = SOFT, pinned: float = 1e-6, damping: float = 0.0) -> Body:
    mesh = make_shape("beam", resolution=resolution)
    low = mesh.bounds()[0][0]
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < low + pinned))
    return Body.build(mesh, material, pins, Damping(stiffness=damping))


@pytest.fixture(scope="module")
def body() -> Body:
    return make_body()


@pytest.fixture(scope="module")
def model(body: Body) -> ReducedModel:
    rng = np.random.default_rng(1)
    rule = Rule(np.array([2, 5, 11]), rng.uniform(1.0, 9.0, 3), 0.01, 0.02, None, "pool")
    carried = rng.standard_normal((3 * len(body.mass), 2))
    facts = {"tolerance": 0.01, "seconds": {"rule": 0.1}, "error_by_rank": [0.3, 1 / 3], "met": True}
    return ReducedModel(linear_modes(body, 4), rule, carried, np.pi, 0.1 + 0.2, facts)


@pytest.fixture
def file(tmp_path: Path, model: ReducedModel, body: Body) -> Path:
    return save_model(tmp_path / "beam.model.npz", model, body)


def rewrite(file: Path, **changes: Any) -> Path:
    """The file with some of its arrays replaced, as a program other than supple would write it."""
    with np.load(file) as members:
        arrays = {**{name: members[name] for name in members.files}, **changes}
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return file


def test_round_trip_is_bit_for_bit(file: Path, model: ReducedModel, body: Body, tmp_path: Path) -> None:
    loaded = load_model(file, body)
    for mine, theirs in [
        (model.basis.columns, loaded.basis.columns),
        (model.basis.importance, loaded.basis.importance),
        (model.basis.mass, loaded.basis.mass),
        (model.rule.members, loaded.rule.members),
        (model.rule.weights, loaded.rule.weights),
        (model.carried, loaded.carried),
    ]:
        assert mine.tobytes() == theirs.tobytes()
    assert (loaded.reach, loaded.error, loaded.facts) == (model.reach, model.error, model.facts)
    assert loaded.basis.source == model.basis.source
    same = ("training_error", "heldout_error", "frequency_error", "trainer")
    assert [getattr(loaded.rule, name) for name in same] == [getattr(model.rule, name) for name in same]
    assert loaded.hash() == model.hash()
    again = save_model(tmp_path / "again.npz", loaded, body)
    assert again.read_bytes() == file.read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted([file, again])


def test_hash_tells_models_apart(model: ReducedModel) -> None:
    heavier = replace(model.rule, weights=model.rule.weights * 1.001)
    assert replace(model, rule=heavier).hash() != model.hash()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"resolution": 8}, "vertices where this one has"),
        ({"material": StVK(young=1e5, poisson=0.4, density=1000.0)}, "is made of other materials"),
        ({"pinned": 0.2}, "is held by other pins"),
        ({"damping": 0.01}, "has another damping"),
    ],
)
def test_another_body_is_refused_with_what_differs(file: Path, other: dict[str, Any], said: str) -> None:
    with pytest.raises(TrainingError, match=said) as caught:
        load_model(file, make_body(**other))
    assert str(caught.value).endswith("train again.")


def test_another_mesh_of_the_same_size_is_refused(file: Path, body: Body) -> None:
    wider = Body.build(body.mesh.scaled(1.1), SOFT, body.pins)
    with pytest.raises(TrainingError, match="another mesh of as many vertices"):
        load_model(file, wider)


def test_a_newer_version_asks_for_an_update(file: Path) -> None:
    with pytest.raises(FileFormatError, match=r"version 2, written by a newer supple.*update supple"):
        load_model(rewrite(file, version=np.array(2)))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": np.array("something else")},
        {"format": None},
        {"version": np.array("one")},
        {"values": np.array("{")},
        {"values": np.array('{"source": "x"}')},
        {"columns": np.zeros((4, 2))},
        {"columns": np.zeros(0)},
        {"weights": None},
        {"weights": np.array([1.0, np.nan, 1.0])},
        {"members": np.array([1.0, 2.0, 3.0])},
        {"carried": np.zeros(3)},
        {"carried": np.array([{"a": 1}], dtype=object)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_files_that_are_no_model_are_refused(file: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(FileFormatError) as caught:
        load_model(rewrite(file, **changes))
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"members": np.array([2, 5, 100_000])}, "elements outside the"),
        ({"members": np.array([-1, 5, 11])}, "elements outside the"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "weights that are not above zero"),
        ({"weights": np.array([1.0, -2.0, 1.0])}, "weights that are not above zero"),
        ({"importance": np.array([1.0, 2.0, 0.0, 3.0])}, "stiffnesses that are not above zero"),
        ({"importance": np.array([1.0, 2.0, np.inf, 3.0])}, "'importance' does not hold"),
        ({"members": np.zeros(0, np.int64), "weights": np.zeros(0)}, "has no elements"),
    ],
)
def test_numbers_that_no_training_leaves_are_refused(file: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(FileFormatError, match=rf"{said}.*; train it again\.$"):
        load_model(rewrite(file, **changes))


def test_a_model_of_rank_zero_and_one_of_nan_columns_are_refused(file: Path, model: ReducedModel) -> None:
    columns = model.basis.columns.copy()
    columns[5, 1] = np.nan
    with pytest.raises(FileFormatError, match="'columns' does not hold"):
        load_model(rewrite(file, columns=columns))
    with pytest.raises(FileFormatError, match="has no columns"):
        load_model(rewrite(file, columns=columns[:, :0], importance=np.zeros(0)))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (("reach",), float("nan")),
        (("reach",), "far"),
        (("error",), float("nan")),
        (("rule", "training_error"), "small"),
        (("rule", "heldout_error"), [1.0]),
        (("rule", "trainer"), 3),
        (("facts", "loads"), "all"),
        (("facts", "loads"), [1]),
        (("facts", "loads"), [{"patch": "gravity", "direction": [0.0, "down", 0.0]}]),
        (("facts", "loads"), [{"patch": "gravity"}]),
        (("facts", "tolerance"), "1 %"),
        (("body", "tets"), None),
        (("rule",), []),
    ],
)
def test_a_description_of_other_kinds_is_refused(file: Path, key: tuple[str, ...], value: Any) -> None:
    with np.load(file) as members:
        values = json.loads(str(members["values"]))
    table = values if len(key) == 1 else values[key[0]]
    table[key[-1]] = value
    with pytest.raises(FileFormatError, match="its description is damaged; train it again"):
        load_model(rewrite(file, values=np.array(json.dumps(values))))


def test_a_pickle_is_never_opened(file: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    with pytest.raises(FileFormatError):
        load_model(rewrite(file, values=np.array([Trap()], dtype=object)))
    assert not (tmp_path / "sprung").exists()


def test_cut_and_damaged_files_are_refused(file: Path) -> None:
    whole = file.read_bytes()
    for size in (0, 1, 40, 200, len(whole) // 3, 3 * len(whole) // 4):
        file.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match="train"):
            load_model(file)
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole) // 2, size=40):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0xFF
        file.write_bytes(spoiled)
        try:
            loaded = load_model(file)
        except FileFormatError:
            continue
        assert loaded.hash()  # a byte that means nothing, such as a date


def test_a_mesh_is_no_model(tmp_path: Path, body: Body) -> None:
    path = tmp_path / "mesh.npz"
    np.savez(path, vertices=body.mesh.vertices, tets=body.mesh.tets)
    assert not is_model_file(path)
    with pytest.raises(FileFormatError, match="is not a trained model of supple"):
        load_model(path)
