"""The rounds of a step: when they end, what they keep, what they admit."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, cycle, repeat
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.sets import join
from supple.contact.settings import ContactSettings
from supple.errors import SceneError, SuppleWarning
from supple.method.halving import Tally, advance
from supple.method.outer import Approach, ContactLoop, Outcome, Round
from supple.solve import Inputs, Moment
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

FloatArray = NDArray[np.float64]
ORIGIN = np.zeros((1, 3))
NOWHERE = np.zeros((0, 3))
STEP = Approach(
    ORIGIN, ORIGIN, Inputs(Moment(0.0, NOWHERE), Moment(0.1, NOWHERE)), ca=0.0, weight=1.0, free=np.array([0])
)


def floor(height: float | None) -> Contacts:
    """The contact of a vertex with a floor at this height [m]; None where there is none."""
    if height is None:
        return Contacts.none()
    return Contacts(
        np.zeros((1, 4), np.int32), np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([[0.0, height, 0.0]]),
        np.array([[0.0, 1.0, 0.0]]), np.ones(1), np.zeros((1, 3)), np.zeros(1, np.int32), np.zeros(1, np.int32),
    )  # fmt: skip


class Looks:
    """A detector that finds floors as it is told, one after the other."""

    stiffness, edge = 100.0, 1.0

    def __init__(self, heights: Iterable[float | None], alpha: float = 0.0) -> None:
        self.settings = ContactSettings(self_contact=False, friction=0.0, alpha=alpha)
        self._heights: Iterator[float | None] = iter(heights)

    def foresee(self, *_: object) -> Contacts:
        return floor(next(self._heights))

    detect = foresee


def make_loop(heights: Iterable[float | None] = (), alpha: float = 0.0) -> ContactLoop:
    return ContactLoop(Looks(heights, alpha), np.ones(1), 1.0)  # type: ignore[arg-type]


def settle(heights: Iterable[float | None]) -> Outcome:
    """The rounds of a vertex that nothing moves."""
    return make_loop(heights).settle(STEP, lambda _: (ORIGIN, 0.0), Stopwatch())


def test_rounds_end_when_a_new_look_changes_forces_by_a_thousandth() -> None:
    outcome = settle([1.0, 1.1, 1.11, 1.111])
    assert (outcome.rounds, outcome.settled) == (3, True)
    assert outcome.change == pytest.approx(0.001 / 1.111)
    assert outcome.force == pytest.approx(np.array([[0.0, 111.0, 0.0]]))


def test_a_hasty_step_solves_roughly_first_and_looks_again_after_it_has_not() -> None:
    asked = []

    def solve(round):
        asked.append(round.rough)
        return ORIGIN, 0.0

    outcome = make_loop([1.0] * 3).settle(replace(STEP, hasty=True), solve, Stopwatch())
    assert (asked, outcome.rounds, outcome.settled) == ([True, False], 2, True)


@pytest.mark.parametrize(("ca", "rounds"), [(1.0, 5), (0.0, 3)])
def test_a_contact_that_comes_and_goes_is_kept_from_the_fifth_round_on(ca: float, rounds: int) -> None:
    """In statics from when it comes back."""
    looks = make_loop(chain([1.0], cycle([None, 1.0])))
    outcome = looks.settle(replace(STEP, ca=ca), lambda _: (ORIGIN, 0.0), Stopwatch())
    assert (outcome.rounds, outcome.settled, outcome.change) == (rounds, True, 0.0)
    assert outcome.touching is not None


def test_a_step_that_looks_on_its_way_ends_with_the_contacts_of_its_last_look() -> None:
    """Newton's method asks for them in the second round too; what the round began with is forgotten."""
    seen: list[float] = []

    def solve(round: Round) -> tuple[FloatArray, float]:
        assert round.look is not None
        potential = round.look(ORIGIN)
        assert potential is not None
        seen.append(float(potential.contacts.depth(ORIGIN)[0]))
        return ORIGIN, 0.0

    outcome = make_loop([1.0, 2.0, 2.001]).settle(STEP, solve, Stopwatch())
    assert seen == [2.0]
    assert (outcome.rounds, outcome.settled) == (1, True)


def test_a_contact_that_comes_back_between_iterations_is_kept_from_then_on() -> None:
    """Else Newton's method would see another step each time, and never end."""
    found: list[bool] = []

    def solve(round: Round) -> tuple[FloatArray, float]:
        assert round.look is not None
        for _ in range(20):
            found.append(round.look(ORIGIN) is not None)
        return ORIGIN, 0.0

    outcome = make_loop(chain([1.0], cycle([None, 1.0]))).settle(STEP, solve, Stopwatch())
    assert found == [False] + 19 * [True]
    assert (outcome.rounds, outcome.settled) == (1, True)


def test_a_vertex_that_goes_from_triangle_to_triangle_and_back_touches_one_of_them() -> None:
    """It never touched nothing. Both would hold it askew; only late looks take it for a fold, in which it has both."""
    loop, touched = make_loop(), []
    numbers = cycle([0, 1])

    def find(*_: object) -> Contacts:
        return replace(floor(1.0), feature=np.array([next(numbers)], np.int32))

    loop.detector.foresee = loop.detector.detect = find  # type: ignore[method-assign]

    def solve(round: Round) -> tuple[FloatArray, float]:
        assert round.look is not None
        for _ in range(6):
            potential = round.look(ORIGIN)
            assert potential is not None
            touched.append(potential.contacts.feature.tolist())
        return ORIGIN, 0.0

    loop.settle(STEP, solve, Stopwatch())
    assert touched[:5] == [[1], [0], [1], [0], [1]]
    assert sorted(touched[5]) == [0, 1]


@pytest.mark.parametrize(
    ("heights", "seen"),
    [
        ([1.02, 1.0, 1.02, 1.0, 1.02, 1.0], [1.02, 1.0, 1.02, 1.02, 1.02, 1.02]),  # to and fro by little
        ([1.2, 1.0, 1.2, 1.0, 1.2, 1.0], [1.2, 1.0, 1.2, 1.0, 1.2, 1.0]),  # by much
        ([1.04, 1.02, 1.01, 1.005, 1.003, 1.002], [1.04, 1.02, 1.01, 1.005, 1.003, 1.002]),  # they lead somewhere
    ],
)
def test_contacts_that_tremble_between_iterations_stay_where_they_are(heights: list[float], seen: list[float]) -> None:
    offsets: list[float] = []

    def solve(round: Round) -> tuple[FloatArray, float]:
        assert round.look is not None
        for _ in heights:
            potential = round.look(ORIGIN)
            assert potential is not None
            offsets.append(float(potential.contacts.offset[0, 1]))
        return ORIGIN, 0.0

    make_loop(chain([1.0], heights, repeat(heights[-1]))).settle(STEP, solve, Stopwatch())
    assert offsets == seen


def test_a_vertex_on_two_triangles_stands_for_as_much_in_late_looks() -> None:
    """Pressed by one of them and by both in turns, it would go to and fro for ever."""
    loop, areas = make_loop(), []
    both = np.concatenate([floor(1.0).offset, floor(0.5).offset])
    two = replace(join([floor(1.0), floor(1.0)]), offset=both, feature=np.arange(2, dtype=np.int32))
    loop.detector.foresee = loop.detector.detect = lambda *_: two  # type: ignore[method-assign]

    def solve(round: Round) -> tuple[FloatArray, float]:
        assert round.look is not None
        for k in range(30):
            potential = round.look(ORIGIN + [0.0, 0.75 * (k % 2), 0.0])
            assert potential is not None
            areas.append(float(potential.contacts.area[0]))
        return ORIGIN, 0.0

    loop.settle(STEP, solve, Stopwatch())
    assert set(areas[:20]) == {0.5, 1.0}
    assert len(set(areas[24:30])) == 1


@pytest.mark.parametrize(("ca", "friction"), [(1.0, 0.0), (0.0, 0.3)])
def test_contacts_stay_through_a_round_where_there_is_inertia_or_friction(ca: float, friction: float) -> None:
    """Inertia keeps iterates near each other, and friction is that of the round before."""
    loop = make_loop(repeat(1.0))
    loop.detector.settings = ContactSettings(friction=friction)
    rounds: list[Round] = []

    def solve(round: Round) -> tuple[FloatArray, float]:
        rounds.append(round)
        return ORIGIN, 0.0

    loop.settle(replace(STEP, ca=ca), solve, Stopwatch())
    assert all(round.look is None for round in rounds)


@pytest.mark.parametrize(("apart", "settled"), [(0.01, True), (0.2, False)])
def test_geometry_that_trembles_is_kept_and_said_to_be_settled_where_that_hardly_matters(
    apart: float, settled: bool
) -> None:
    heights = cycle([1.0, 1.0 + apart])
    if settled:
        outcome = settle(heights)
    else:
        with pytest.warns(SuppleWarning, match="did not settle in 8 rounds"):
            outcome = settle(heights)
    assert (outcome.rounds, outcome.settled) == (8, settled)
    assert outcome.change == pytest.approx(apart, rel=0.25)


def test_where_nothing_is_near_one_round_is_enough() -> None:
    outcome = settle(repeat(None))
    assert (outcome.rounds, outcome.settled, outcome.touching, outcome.force) == (1, True, None, None)


def test_what_a_floor_presses_as_a_step_begins_is_without_its_own_motion() -> None:
    """It comes up by 0.2 m and ends 0.25 m above a vertex: so it was 0.05 m above it."""
    contacts = replace(floor(0.25), velocity=np.array([[0.0, 2.0, 0.0]]))
    assert make_loop()._resting_forces(contacts, STEP) == pytest.approx([5.0])


def test_springs_across_the_normal_stay_where_a_contact_opens_within_a_step() -> None:
    loop = make_loop(alpha=0.5)
    pressed, opened = floor(0.1), floor(-0.1)
    before = loop._freeze_again(pressed, STEP, ORIGIN, None)
    assert before is not None
    for last, engaged in ((before, True), (None, False)):
        after = loop._freeze_again(opened, STEP, ORIGIN, last)
        assert after is not None
        assert after.engaged.tolist() == [engaged]


def test_what_opens_within_a_step_and_still_holds_sideways_is_told() -> None:
    """No force acts unreported: what is told adds up to what contacts do to the body."""
    aside = np.array([[0.02, 0.0, 0.0]])
    outcome = make_loop([0.1, -0.1, -0.1, -0.1], alpha=0.5).settle(STEP, lambda _: (aside, 0.0), Stopwatch())
    assert outcome.settled
    assert outcome.force is not None
    assert outcome.touching is not None
    assert outcome.force == pytest.approx(np.array([[-1.0, 0.0, 0.0]]))  # alpha times 100 N/m
    assert outcome.touching.spread(1) == pytest.approx(outcome.force)
    assert outcome.touching.depth.tolist() == [0.0]


def test_a_body_that_rolls_away_is_refused_also_where_one_of_its_rounds_fails() -> None:
    """Round-off decides whether Newton's method gets through all rounds of a body that goes farther in each."""
    step = replace(STEP, load=np.array([1.0, -9.0, 0.0]))
    rounds = iter([0.3, 0.6])

    def solve(_: Round) -> tuple[FloatArray, float]:
        way = next(rounds, None)
        if way is None:
            raise NewtonFailure("no convergence in the Newton iterations allowed", ORIGIN, 1.0)
        return np.array([[way, 0.0, 0.0]]), 0.0

    def advance_once(*_: object) -> None:
        make_loop([0.1, 0.2, -0.1, 0.3]).settle(step, solve, Stopwatch())

    inputs, body = Inputs(Moment(0.0, NOWHERE), Moment(0.1, NOWHERE)), SimpleNamespace()
    with pytest.raises(NewtonFailure) as caught:
        advance_once()
    failure = caught.value

    def fail(*_: object) -> None:
        raise failure

    with pytest.raises(SceneError, match=r"along \(1, 0, 0\): after 2 rounds it has rolled 0.6 m"):
        advance(fail, None, inputs, Tally(), body, True)  # type: ignore[arg-type]
