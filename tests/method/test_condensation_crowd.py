"""Where full space is cheaper than a region, the full solver takes the step."""

from types import SimpleNamespace

import numpy as np
import pytest
from condensation_helpers import tip
from test_condensation_contact import END, RADIUS, bar, condensed, error, pinch, run, shape_of

from supple.contact.sphere import Sphere
from supple.method import FullSolver
from supple.method.condensation import crowd
from supple.method.condensation.region import Ground
from supple.method.condensation.state import CondensedState
from supple.solve import Inputs, Moment


def test_a_region_weighs_more_the_more_is_full_and_less_at_rest() -> None:
    body, model = bar()
    ground = Ground(body, model.basis)
    regions = [ground.cut(tip(ground, count)) for count in (20, 60, 120)]
    moving, still = (crowd.Crowd(ground, is_static=static) for static in (False, True))
    weights = [moving.weigh(region) for region in regions]
    assert (np.diff(weights) > 0.0).all()
    assert [crowd._REST * still.weigh(region) for region in regions] == pytest.approx(weights)


def test_a_small_region_is_cheaper_than_an_equilibrium_of_all_whatever_the_rank() -> None:
    """A Yeti with 592 coordinates takes a fifth of the time so."""
    body = SimpleNamespace(mesh=SimpleNamespace(tets=np.zeros((17_247, 4))))
    clusters = SimpleNamespace(count=2)
    region = SimpleNamespace(tets=np.zeros(1500), filled=np.zeros(0), whole=False, clusters=clusters)
    judge = crowd.Crowd(SimpleNamespace(body=body, rank=592), is_static=True)
    assert 0.2 < judge.weigh(region) < 0.9
    assert crowd.Crowd(SimpleNamespace(body=body, rank=2000), is_static=True).forbids(region)


def test_a_body_that_is_full_stays_so_until_a_region_is_clearly_cheaper() -> None:
    """Between the two limits nothing changes: neither is a region given up, nor taken again."""
    body, model = bar()
    ground = Ground(body, model.basis)
    judge = crowd.Crowd(ground, is_static=False)
    state = judge.fill(CondensedState(condensed(radius=0.2).start().below))
    assert len(state.full) == ground.most
    np.testing.assert_allclose(state.motion[0], ground.rest[ground.movable], atol=1e-12)
    assert not any(judge.rests(state._replace(steps=k)) for k in range(crowd._ASKED))  # it is small
    stays, weights = [], []
    for count in range(5, ground.most, 5):
        few = np.isin(state.full, tip(ground, count))
        weights.append(judge.weigh(ground.cut(state.full[few])))
        stays.append(judge.stays(state, few))
    assert not stays[0]
    assert stays == [weight > crowd._AGAIN for weight in weights]
    between = [weight for weight in weights if crowd._AGAIN < weight <= crowd._MOST]
    assert between


def test_a_large_body_that_is_full_is_asked_every_eighth_step(monkeypatch) -> None:
    monkeypatch.setattr(crowd, "_SMALL", 0)
    body, model = bar()
    ground = Ground(body, model.basis)
    judge, below = crowd.Crowd(ground, is_static=False), condensed(radius=0.2).start().below
    state = judge.fill(CondensedState(below))
    asked = [k for k in range(17) if not judge.rests(state._replace(steps=k))]
    assert asked == [0, 8, 16]
    assert not judge.rests(CondensedState(below, steps=3))


def test_crowded_steps_are_those_of_the_full_solver(monkeypatch) -> None:
    """More exact than the region would be; where little is full a region stays one."""
    body, regions = bar()[0], shape_of(condensed(radius=0.3))
    monkeypatch.setattr(crowd, "_SMALL", 0)
    monkeypatch.setattr(crowd, "_MOST", 0.7)
    solver, full = condensed(radius=0.3), FullSolver(body, colliders=(Sphere(RADIUS),) * 2)
    states, reports = run(solver, 0.01, END)
    assert reports[-1].kind == "full"
    assert error(solver.to_full(states[-1])[0]) < error(regions)
    moments = [Moment(time, body.mesh.vertices[body.pins.vertices], (), pinch(time)) for time in (END - 0.01, END)]
    end, _ = full.step(full.from_full(*solver.to_full(states[-2]), moments[0].time), Inputs(*moments))
    away = np.abs(full.to_full(end)[0] - solver.to_full(states[-1])[0]).max()
    assert away < 1e-6 * np.abs(end.x - body.mesh.vertices).max()
    small = condensed(radius=0.05)
    assert {report.kind for report in run(small, 0.01, END)[1]} <= {"reduced", "hybrid"}
