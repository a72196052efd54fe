"""The default rule: accepted by held-out samples and rest frequencies, or the figures are said."""

from dataclasses import replace

import numpy as np
import pytest

from supple.cubature import (
    TRAINERS,
    ElementMap,
    Rule,
    check_rule,
    fit_error,
    frequency_errors,
    train_pool,
    train_rule,
)
from supple.elastic import Body, Pins
from supple.errors import SuppleWarning, TrainingError
from supple.material import MATERIALS, ArrudaBoyce, StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import Basis, diagonalise, linear_modes, principal_basis


def test_default_rule_holds_on_unseen_samples_and_keeps_the_frequencies(beam) -> None:
    rule = train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0))
    assert rule.heldout_error is not None
    assert rule.heldout_error <= 0.02
    assert np.abs(frequency_errors(beam.body, beam.basis, rule, 5)).max() <= 0.01
    assert rule.frequency_error == pytest.approx(np.abs(frequency_errors(beam.body, beam.basis, rule)).max())
    assert rule.size <= 4 * beam.basis.rank
    again = train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0))
    assert np.array_equal(rule.members, again.members)
    assert np.array_equal(rule.weights, again.weights)


@pytest.mark.parametrize("name", MATERIALS)
def test_every_material_has_a_rule_held_or_free(beam, name: str) -> None:
    material = ArrudaBoyce() if name == "arruda_boyce" else MATERIALS[name](young=1e5, poisson=0.35)  # type: ignore[call-arg]
    is_held = name in ("arruda_boyce", "stvk", "linear")
    body = Body.build(beam.body.mesh, material, beam.body.pins if is_held else None)
    basis = diagonalise(linear_modes(body, 6), body)
    rule = train_rule(body, basis, 0.03, np.random.default_rng(0))
    assert rule.heldout_error is not None
    assert rule.heldout_error <= 0.045
    assert np.abs(frequency_errors(body, basis, rule, 5)).max() <= 0.01


def test_frequencies_of_all_elements_are_exact(beam) -> None:
    count = beam.problem.candidates
    rule = Rule(np.arange(count), np.ones(count), 0.0)
    assert np.abs(frequency_errors(beam.body, beam.basis, rule, 12)).max() < 1e-9
    checked = check_rule(rule, beam.body, beam.basis, beam.problem)
    assert checked.heldout_error == fit_error(beam.problem, rule.members, rule.weights)
    assert checked.heldout_error < 1e-5


def test_recorded_motion_is_part_of_the_training(beam) -> None:
    swing = np.sin(np.linspace(0.0, 6.0, 80))[:, None] * beam.basis.columns[:, 0]
    swing = 0.2 * swing.reshape(80, -1, 3) / np.abs(swing).max()
    rule = train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), swing)
    assert rule.heldout_error is not None
    assert rule.heldout_error <= 0.02


def test_too_few_samples_are_noticed_and_more_are_drawn(beam) -> None:
    rule = train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), samples=6)
    assert rule.heldout_error is not None
    assert rule.heldout_error <= 0.02


def test_rule_that_fails_the_checks_comes_with_a_warning_and_its_errors(beam) -> None:
    def lazy(problem, tolerance, rng, warm=None):
        return replace(train_pool(problem, 0.4, rng), training_error=0.4)

    with pytest.warns(SuppleWarning, match=r"no rule met 1 %.* on held-out samples and of .* frequencies"):
        rule = train_rule(beam.body, beam.basis, 0.01, np.random.default_rng(0), trainer=lazy)
    assert rule.heldout_error is not None
    assert rule.heldout_error > 0.015


def test_basis_that_is_not_diagonal_is_refused(beam) -> None:
    fields = beam.snapshots.fields.T.reshape(beam.snapshots.count, -1, 3)
    crooked = principal_basis(fields, beam.body.mass, rank=8)
    with pytest.raises(TrainingError, match="diagonalise"):
        train_rule(beam.body, crooked, 0.02, np.random.default_rng(0))


@pytest.mark.parametrize("tolerance", [0.0, -1.0, 1.5, float("nan")])
def test_tolerance_that_is_none_is_refused(beam, tolerance: float) -> None:
    with pytest.raises(TrainingError, match="between 0 and 1"):
        train_rule(beam.body, beam.basis, tolerance, np.random.default_rng(0))


@pytest.mark.parametrize("reach", [0.0, -1.0, float("nan")])
def test_displacement_that_is_none_is_refused(beam, reach: float) -> None:
    with pytest.raises(TrainingError, match="largest displacement"):
        train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), reach=reach)


def test_no_samples_at_all_are_refused(beam) -> None:
    with pytest.raises(TrainingError, match="0 samples"):
        train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), samples=0)


def test_snapshots_of_another_mesh_are_refused(beam) -> None:
    with pytest.raises(TrainingError, match="vertices"):
        train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), np.ones((10, 5, 3)))


def test_all_ten_frequencies_are_within_the_tolerance(beam) -> None:
    for seed in range(3):
        rule = train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(seed))
        off = np.abs(frequency_errors(beam.body, beam.basis, rule, 10))
        assert off.max() <= 0.02
        assert off[:5].max() <= 0.01


def test_training_does_not_keep_the_stresses_of_all_elements(beam, monkeypatch: pytest.MonkeyPatch) -> None:
    largest = 0
    evaluate = ElementMap.stresses

    def watch(self, change, who):
        nonlocal largest
        found = evaluate(self, change, who)
        largest = max(largest, found.nbytes)
        return found

    monkeypatch.setattr(ElementMap, "stresses", watch)
    train_rule(beam.body, beam.basis, 0.05, np.random.default_rng(0), samples=100)
    assert largest <= 150 * 9 * 4 * 64  # of one block of elements in the held-out samples


@pytest.mark.parametrize("name", TRAINERS)
def test_every_trainer_can_make_the_default_rule(beam, name: str) -> None:
    rule = train_rule(beam.body, beam.basis, 0.05, np.random.default_rng(0), trainer=TRAINERS[name])
    assert rule.trainer == name
    assert rule.heldout_error is not None
    assert rule.heldout_error <= 0.075


def test_snapshots_without_motion_are_refused(beam) -> None:
    with pytest.raises(TrainingError, match="the 10 snapshots hold no motion"):
        train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), np.zeros((10, len(beam.body.mass), 3)))


def test_snapshots_that_the_subspace_does_not_see_are_refused(beam) -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4, len(beam.body.mass), 3))
    hidden = noise - np.array([beam.basis.lift(beam.basis.project(u)) for u in noise])
    with pytest.raises(TrainingError, match="none of the 100 training samples has a force"):
        train_rule(beam.body, beam.basis, 0.02, rng, hidden)


def test_snapshots_that_are_not_finite_are_refused_with_their_number(beam) -> None:
    snapshots = np.full((5, len(beam.body.mass), 3), 0.01)
    snapshots[3, 7, 1] = np.nan
    with pytest.raises(TrainingError, match="snapshot 3 of 5 holds numbers that are not finite"):
        train_rule(beam.body, beam.basis, 0.02, np.random.default_rng(0), snapshots)


def test_basis_of_another_mesh_is_refused(beam) -> None:
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 8)
    body = Body.build(mesh, StableNeoHookean(young=1e5), Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)))
    with pytest.raises(TrainingError, match=rf"vertices where the body has {len(body.mass)}"):
        train_rule(body, beam.basis, 0.02, np.random.default_rng(0))
    with pytest.raises(TrainingError, match="make one from this mesh"):
        diagonalise(beam.basis, body)
    longer = Body.build(replace(beam.body.mesh, vertices=2.0 * beam.body.mesh.vertices), StableNeoHookean(young=1e5))
    with pytest.raises(TrainingError, match="is not the diagonal"):
        train_rule(longer, beam.basis, 0.02, np.random.default_rng(0))


def test_basis_without_columns_or_with_more_than_the_mesh_can_move_is_refused(beam) -> None:
    with pytest.raises(TrainingError, match=r"a basis of rank 0 .* rank 1 to"):
        train_rule(beam.body, beam.basis.truncated(0), 0.02, np.random.default_rng(0))
    most = 3 * len(beam.body.mass) - 3 * len(beam.body.pins.vertices)
    wide = Basis(np.ones((3 * len(beam.body.mass), most + 1)), beam.body.mass, "too much", np.ones(most + 1))
    with pytest.raises(TrainingError, match=rf"rank {most + 1} .* rank 1 to {most}"):
        train_rule(beam.body, wide, 0.02, np.random.default_rng(0))


def test_basis_with_rigid_motions_is_refused(beam) -> None:
    rigid = replace(beam.basis, importance=np.append(0.0, beam.basis.importance[1:]))
    with pytest.raises(TrainingError, match="rigid motions"):
        train_rule(beam.body, rigid, 0.02, np.random.default_rng(0))


def test_samples_too_few_for_the_tolerance_are_said_with_their_number(beam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.cubature.train._TRIES", 1)
    with pytest.warns(
        SuppleWarning, match=r"no rule met 0.5 %: .* trained on 3 samples, has errors of .* more samples"
    ):
        train_rule(beam.body, beam.basis, 0.005, np.random.default_rng(0), samples=3)
