"""Is a rule good? Its error on samples it has not seen, and the frequencies it gives the body at rest."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import energy_scales
from supple.cubature.problem import Problem, fit_error
from supple.cubature.rule import Rule
from supple.cubature.stiffness_problem import rest_stiffness
from supple.elastic import Body
from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["check_basis", "check_rule", "frequency_errors", "pitch_excess"]

FloatArray = NDArray[np.float64]
_OFF_PITCH = 0.01  # what the first frequencies may lie beside their values at most, whatever the tolerance
_FIRST = 5  # frequencies held to that; all are held to the tolerance


def frequency_errors(body: Body, basis: Basis, rule: Rule, count: int = 10) -> FloatArray:
    """Relative errors of the first rest frequencies under the rule, (count,); below zero where it is too soft."""
    values = np.linalg.eigvalsh(rest_stiffness(body, basis, rule.members, rule.weights))
    exact = np.sort(basis.importance)
    return np.asarray(np.sqrt(np.maximum(values[:count], 0.0) / exact[:count]) - 1.0)


def pitch_excess(errors: FloatArray, tolerance: float) -> float:
    """Relative errors of the first frequencies as a multiple of what is allowed."""
    off = np.abs(errors)
    return float(max(off[:_FIRST].max() / min(_OFF_PITCH, tolerance), off.max() / tolerance))


def check_rule(rule: Rule, body: Body, basis: Basis, heldout: Problem) -> Rule:
    """The rule with its error on held-out samples and the largest error of the first ten rest frequencies."""
    return replace(
        rule,
        heldout_error=fit_error(heldout, rule.members, rule.weights),
        frequency_error=float(np.abs(frequency_errors(body, basis, rule)).max()),
    )


def check_basis(body: Body, basis: Basis) -> None:
    """Refuse a basis of another body, without columns, with more than the body can move, or that has no energy norm."""
    basis.check_vertices(len(body.mass))
    most = 3 * len(body.mass) - int(np.count_nonzero(body.pins.held))
    if not 1 <= basis.rank <= most:
        raise TrainingError(
            f"a basis of rank {basis.rank} cannot be trained where a body moves in {most} coordinates: "
            f"give one of rank 1 to {most}."
        )
    energy_scales(basis)
    _check_diagonal(body, basis)


def _check_diagonal(body: Body, basis: Basis) -> None:
    """Refuse a basis whose importance is not the diagonal of its stiffness at rest."""
    elements = ElementMap(body)
    probe = np.random.default_rng(0).standard_normal(basis.rank) / np.sqrt(np.abs(basis.importance))
    field = basis.columns @ probe
    G = elements.gradients(field[:, None], slice(None)).reshape(-1, 3, 3)
    energy = 0.0
    for number, part in enumerate(body.parts):
        own = elements.part == number
        H = part.material.hessian(np.eye(3)).reshape(9, 9)
        flat = G[own].reshape(-1, 9)
        energy += float(np.einsum("ea,ab,eb,e->", flat, H, flat, elements.volume[own], optimize=True))
    expected = float(basis.importance @ probe**2)
    if not abs(energy - expected) < 1e-4 * abs(expected):
        raise TrainingError(
            f"the stiffness of the basis ({basis.source}) is not the diagonal that its importance says, {energy:.4g} "
            f"instead of {expected:.4g} for a probe: pass it through diagonalise() first."
        )
