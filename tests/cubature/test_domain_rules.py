"""Rules of domains: together they are a rule of the cut body, near all its elements, the same from the same seed."""

import numpy as np
import pytest

from supple.cubature import Rule
from supple.cubature.domain_rules import join_rules, tied_frequency_errors, train_domain_rules
from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.tied_elements import TiedElements
from supple.elastic import Body, Pins
from supple.errors import SuppleWarning, TrainingError
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import linear_modes
from supple.subspace.domain_bases import DomainBases
from supple.subspace.domains import Domains
from supple.subspace.interface import Interface


@pytest.fixture(scope="module")
def domains() -> Domains:
    """A held beam in three domains, numbered from its free end; two of them float."""
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 12)
    body = Body.build(mesh, StableNeoHookean(young=2e5), Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)))
    return Domains.of(body, 2 - np.minimum((3.0 * mesh.vertices[mesh.tets].mean(axis=1)[:, 0]).astype(int), 2))


@pytest.fixture(scope="module")
def shapes(domains: Domains) -> np.ndarray:
    """Shapes of soft modes in random proportion, up to a tenth of the beam, (k, n, 3) [m]."""
    modes = linear_modes(domains.whole, 6)
    q = np.random.default_rng(0).normal(size=(6, 24)) * (modes.importance[0] / modes.importance)[:, None] ** 0.5
    fields = (modes.columns @ q).T.reshape(24, -1, 3)
    return np.asarray(0.1 * fields / np.abs(fields).max())


@pytest.fixture(scope="module")
def interface(domains: Domains) -> Interface:
    return Interface.of(domains)


@pytest.fixture(scope="module")
def bases(domains: Domains, interface: Interface, shapes: np.ndarray) -> DomainBases:
    return DomainBases.principal(domains, shapes).diagonalised(interface)


def every(domains: Domains) -> list[Rule]:
    counts = [len(domains.tets(domain)) for domain in range(len(domains))]
    return [Rule(np.arange(count), np.ones(count), 0.01 * count, trainer="none") for count in counts]


def test_all_elements_of_all_domains_are_all_elements(domains: Domains, bases: DomainBases, interface) -> None:
    rule = join_rules(domains, every(domains))
    assert np.array_equal(rule.members, np.arange(len(domains.whole.mesh.tets)))
    assert rule.trainer == "none"
    assert rule.heldout_error is None
    assert np.abs(tied_frequency_errors(bases, interface, every(domains))).max() == 0.0


def test_members_of_pieces_become_those_of_the_cut_body(domains: Domains) -> None:
    rules = [Rule(np.array([1, 5]), np.array([k + 1.0, k + 1.5]), 0.1 * k, 0.2 * k) for k in range(3)]
    rule = join_rules(domains, rules)
    assert (np.diff(rule.members) > 0).all()
    for k in range(3):
        own = domains.owners[rule.members] == k
        assert np.array_equal(rule.members[own], domains.tets(k)[[1, 5]])
        assert np.array_equal(rule.weights[own], rules[k].weights)
    assert (rule.training_error, rule.heldout_error) == (0.2, 0.4)


def test_elements_domain_by_domain_are_those_of_the_cut_body_in_the_joined_basis(
    domains: Domains, bases: DomainBases, interface: Interface
) -> None:
    rule = join_rules(domains, [Rule(np.array([2, 9, 30]), np.array([1.0, 4.0, 2.5]), 0.0) for _ in range(3)])
    tied = TiedElements.build(bases, rule, interface)
    joined = ReducedElements.build(domains.body, bases.joined().columns, rule.members, rule.weights)
    q = bases.ends[-1] ** -0.5 * np.random.default_rng(7).normal(size=bases.rank)
    K = interface.reduce(bases.bases)
    assert tied.energy(q) == pytest.approx(joined.energy(q) + 0.5 * q @ K @ q, rel=1e-12)
    assert np.allclose(tied.force(q), joined.force(q) + K @ q, rtol=1e-10, atol=1e-10 * np.abs(tied.force(q)).max())
    stiffness = joined.stiffness(q) + K
    assert np.allclose(tied.stiffness(q), stiffness, atol=1e-5 * np.abs(joined.stiffness(q)).max())


def test_trained_rules_stand_for_all_elements(
    domains: Domains, bases: DomainBases, interface: Interface, shapes: np.ndarray
) -> None:
    rule = train_domain_rules(bases, interface, shapes, 0.05, np.random.default_rng(1))
    again = train_domain_rules(bases, interface, shapes, 0.05, np.random.default_rng(1))
    assert rule.members.tobytes() == again.members.tobytes()
    assert rule.weights.tobytes() == again.weights.tobytes()
    assert rule.size < 0.3 * len(domains.whole.mesh.tets)
    assert set(domains.owners[rule.members]) == {0, 1, 2}
    assert rule.heldout_error is not None
    assert rule.heldout_error < 0.075
    assert rule.frequency_error is not None
    assert rule.frequency_error < 0.05
    few, all_of_them = (
        TiedElements.build(bases, one, interface) for one in (rule, join_rules(domains, every(domains)))
    )
    q = bases.project(0.9 * shapes[3] + 0.4 * shapes[5])
    assert np.linalg.norm(few.force(q) - all_of_them.force(q)) < 0.15 * np.linalg.norm(all_of_them.force(q))
    assert few.energy(q) == pytest.approx(all_of_them.energy(q), rel=0.1)


def test_still_domains_need_no_elements(domains: Domains, shapes: np.ndarray) -> None:
    mesh = domains.whole.mesh
    body = domains.whole.pinned(Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 0.4)))
    held = Domains.of(body, domains.owners)
    interface = Interface.of(held)
    bases = DomainBases.principal(held, shapes, rank=4).diagonalised(interface)
    moved = np.where(np.isin(np.arange(len(body.mass)), body.pins.vertices)[:, None], 0.0, shapes)
    rule = train_domain_rules(bases, interface, moved, 0.1, np.random.default_rng(2))
    assert set(held.owners[rule.members]) == {0, 1}


def test_bad_input_is_named(domains: Domains, bases: DomainBases, interface: Interface, shapes: np.ndarray) -> None:
    with pytest.raises(TrainingError, match="2 rules do not serve 3 domains"):
        join_rules(domains, every(domains)[:2])
    with pytest.raises(TrainingError, match="a tolerance of 1 is no relative error"):
        train_domain_rules(bases, interface, shapes, 1.0, np.random.default_rng(0))
    with pytest.raises(TrainingError, match="pass the bases through diagonalised"):
        train_domain_rules(DomainBases.principal(domains, shapes), interface, shapes, 0.1, np.random.default_rng(0))
    with pytest.raises(TrainingError, match="give displacements of this mesh"):
        train_domain_rules(bases, interface, domains.spread(shapes[0])[None], 0.1, np.random.default_rng(0))


def test_rules_that_miss_the_tolerance_come_with_their_figures(
    bases: DomainBases, interface: Interface, shapes: np.ndarray
) -> None:
    def poor(problem, tolerance: float, rng, warm=None) -> Rule:
        return Rule(np.arange(3), np.ones(3), 0.9, trainer="poor")

    with pytest.warns(SuppleWarning, match="no rules of 3 domains met 5 %: the best, of 9 elements"):
        rule = train_domain_rules(bases, interface, shapes, 0.05, np.random.default_rng(0), trainer=poor)
    assert rule.trainer == "poor"
