"""Training chooses the same whatever the last digits of its input and the signs of eigenvectors are."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method import ReducedModel
from supple.rig import Bend
from supple.scene import parse_scene, set_stage, training
from supple.scene.training import train_model
from supple.scene.training_motion import LocalMotion, see_locally
from supple.subspace.pose_bases import PoseBases
from supple.subspace.pose_models import build_pose_bases

SCENE: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 1, "frames": 20},
    "mesh": {"shape": "thin_beam", "resolution": 24},
    "material": {"young": 3e5, "poisson": 0.4},
    "pin": [{"select": "min x"}],
    "method": {"name": "reduced", "tolerance": 0.02},
    "training": {"cases": 2, "max_cases": 4, "steps": 12},
}
WALKER = {"mesh": {"shape": "walker", "resolution": 10}, "pin": [{"select": "min y 15%"}]}


def train(**changes: Any) -> ReducedModel:
    model = train_model(set_stage(parse_scene({**SCENE, **changes})))
    assert isinstance(model, ReducedModel)
    return model


def check_alike(model: ReducedModel, other: ReducedModel) -> None:
    assert abs(model.basis.rank - other.basis.rank) <= 1
    assert abs(model.rule.size - other.rule.size) <= 0.05 * model.rule.size
    assert other.error == pytest.approx(model.error, rel=0.1)


@pytest.mark.parametrize("changes", [{}, WALKER], ids=["thin beam", "walker"])
def test_noise_in_what_is_recorded_changes_no_choice(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> None:
    model = train(**changes)
    for noise in (1e-15, 1e-14, 1e-13):
        rng = np.random.default_rng(7)

        def see_noisily(
            recorded: Any, *given: Any, noise: float = noise, rng: np.random.Generator = rng, **named: Any
        ) -> LocalMotion:
            x = recorded.x * (1.0 + noise * rng.uniform(-1.0, 1.0, recorded.x.shape))
            return see_locally(replace(recorded, x=x), *given, **named)

        monkeypatch.setattr(training, "see_locally", see_noisily)
        check_alike(model, train(**changes))


def flip(find: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The decomposition with the signs of every other vector turned round, as another processor may have them."""

    def found(matrix: np.ndarray, *given: Any, **named: Any) -> Any:
        parts = find(matrix, *given, **named)
        if isinstance(parts, np.ndarray):
            return parts  # singular values alone
        kept = list(parts)
        kept[place] = kept[place] * np.where(np.arange(kept[place].shape[-1]) % 2, -1.0, 1.0)
        if place == 0:
            rows = kept[2].shape[-2]
            kept[2] = kept[2] * np.where(np.arange(rows) % 2, -1.0, 1.0)[:, None]
        return type(parts)(*kept)

    return found


def test_signs_of_eigenvectors_change_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    model = train()
    monkeypatch.setattr(np.linalg, "eigh", flip(np.linalg.eigh, 1))
    monkeypatch.setattr(np.linalg, "svd", flip(np.linalg.svd, 0))
    other = train()
    assert np.array_equal(other.rule.members, model.rule.members)
    check_alike(model, other)


def test_noise_in_a_mesh_changes_no_kind_of_columns() -> None:
    """A beam as deep as it is wide, whose modes come in pairs."""
    plain = fill_box((0, -0.08, -0.08), (1.0, 0.08, 0.08), 10)

    def make(noise: float) -> PoseBases:
        rng = np.random.default_rng(3)
        vertices = plain.vertices * (1.0 + noise * rng.uniform(-1.0, 1.0, plain.vertices.shape))
        mesh = replace(plain, vertices=vertices)
        pins = Pins.of(np.flatnonzero(vertices[:, 0] < 1e-9))
        body = Body.build(mesh, StableNeoHookean(young=1e7, poisson=0.4, density=1000.0), pins)
        rig = Bend(vertices, (0.2, 0, 0), (0.8, 0, 0), (0, 1, 0))
        return build_pose_bases(body, rig, np.radians([[-60.0], [0.0], [60.0]]), 12)

    first = make(0.0)
    assert first.between is not None
    for noise in (1e-15, 1e-14, 1e-13):
        other = make(noise)
        assert other.between is not None
        assert (other.alignment, other.tree.tolist()) == (first.alignment, first.tree.tolist())
        for one in first.between.reduced:
            worst = first.between.errors(one).max()
            assert other.between.errors(one).max() == pytest.approx(worst, rel=0.1)
        assert np.abs(other.columns - first.columns).max() < 1e-5 * np.abs(first.columns).max()
