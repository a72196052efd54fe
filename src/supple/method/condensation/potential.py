"""What a condensed step minimises over z = (x_f, q), as one potential: its gradient and its Hessian.

Its parts are those of method/condensation/terms.py. Motions of which a region leaves nothing outside are held.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.elastic import EXACT, PROJECTED, VISCOUS
from supple.linalg.bordered import Bordered, Handled
from supple.method.condensation.assembly import assemble, fold_parts, fold_under
from supple.method.condensation.held import HeldMotions, find_held, follow_held, hold
from supple.method.condensation.share import Drag
from supple.method.condensation.springs import hang_springs
from supple.method.condensation.strained import Strained
from supple.method.condensation.subspace import Ahead
from supple.method.condensation.terms import CondensedTerms, sum_terms

__all__ = ["Condensed"]

FloatArray = NDArray[np.float64]
_LEFT = 2.5  # errors of the rule below which what exact tets leave of a motion's stiffness says nothing
_HALF = 0.5  # share of its mass in a region below which a motion has enough of its stiffness outside
_EXACT = 1e-9  # error of a rule that has none
_UNSEEN = 1e-7  # share of its stiffness at rest that a coordinate keeps where no vertex is left to it


@dataclass(frozen=True, eq=False)
class Condensed(CondensedTerms):
    """Φ of one step in one region."""

    def gradient(self, z: FloatArray) -> FloatArray:
        """∇Φ, (3 f + r,)."""
        if self._flat is None:
            return self.see(self._differentiate(z))
        (springs, others), known = self._flat_joints, self._ask(z, self._flat.differentiate)
        total = self._flat.push(known, springs)
        if self.drag is not None:
            total += self.drag.resist(z)
        if others:
            total += self.footing.gather(sum_terms(others, known.y))
        return self.see(total)

    def see(self, total: FloatArray) -> FloatArray:
        """Forces on z without those along motions that are held: all of these is what rules miss."""
        held, below = self.held.rows, total[self.region.size :]
        if held.shape[1]:
            below -= held @ (held.T @ below)
        return total

    @property
    def held(self) -> HeldMotions:
        """Motions of the coordinates that stay as they are: they move full vertices alone, or exact tets leave less of
        their stiffness than the rule can tell. Full unknowns stand for what they did there."""
        return self._recall("held", self._find_held)

    def _find_held(self) -> HeldMotions:
        unseen, own = self.region.unseen, self.footing.stirred
        if not self.subtracts or not len(own) or self.error < _EXACT:
            return HeldMotions(unseen, unseen)
        if self.footing.most_taken < _HALF:  # what moves little mass there has most of its stiffness elsewhere
            return HeldMotions(unseen, unseen)
        q, inertia, moved = self.share.begin, self.share.matrix, self.motion.ca * self.footing.taken
        whole = self._rule.stiffness(q, form=PROJECTED) + inertia
        if self.motion.ca > 0.0:  # beside inertia the Hessian as it is does, and Newton's method asks for it anyway
            left = self._rule.stiffness(q, form=EXACT) + inertia - self._taken
        else:
            left = whole - self._take_away(q, PROJECTED)
        return find_held(left, whole + moved, own, _LEFT * self.error, unseen)

    def carry_held(self, z: FloatArray) -> FloatArray:
        """z with those motions as full vertices have them, for around them they have ends that go along."""
        size, q = self.region.size, z[self.region.size :]
        if not self.held.motions.shape[1] or not size:
            return z
        rows = self.footing.rows
        away = z[:size] - self.footing.origin[: len(self.region.full)].ravel() - rows.move_full(q)
        held = self.held.motions
        return np.concatenate([z[:size], q + follow_held(held, rows.move_full(held), self._mass, away)])

    def stiffen(
        self,
        z: FloatArray,
        form: int = EXACT,
        *,
        exact: bool = True,
        lagged: bool = False,
        cautious: bool = False,
        nearly: bool = False,
    ) -> Bordered:
        """∇²Φ in a form of elastic/kernels.py.

        `exact`: with what is taken away at Uq. Without, the rule's tets outside stand for the rest, a matrix that is
        positive where the other may not be, but takes Newton's method up to ten times as many iterations.
        `lagged`: elements are not asked again before they have strained by 0.005; and in motion what is taken away
        stays that of where the step begins, for beside inertia it hardly changes, and it is half of the work.
        `cautious` bounds the terms of contacts from above. `nearly`: what has been made once in this step will do.
        """
        q = z[self.region.size :]
        known = self._find_known(z)
        y, strain = (self.footing.place(z), None) if known is None else (known.y, known.strain)
        if strain is None:
            strain = np.zeros(0) if self.region.whole else self._rule.strain(q)
        strained, name = Strained(y, strain), f"matrix {form} {exact}"
        made: tuple[Strained, Bordered] | None = self.memory.pop(name, None)
        if not lagged or made is None or not (nearly or made[0].serves(strained, self.parts)):
            rest = self._stiffen_rest(q, form, exact, lagged, strain)
            matrix = self._stiffen(y, q, form, rest)
            made = strained, matrix.to_single() if lagged else matrix
        if lagged:
            self.memory[name] = made
        # Contacts that slide on something round may take away stiffness; in a matrix that is to be definite they do not
        steady = cautious or (form != EXACT and not any(joint.rubs for joint in self._contacts))
        springs = self._join(y, steady) if self.joints else made[1].springs
        return replace(made[1], springs=springs)

    @property
    def _is_still(self) -> bool:
        """Whether it is an equilibrium: its matrices as they are and projected are asked for in turn, and both kept."""
        return self.motion.ca == 0.0

    def _stiffen(self, y: FloatArray, q: FloatArray, form: int, rest: FloatArray) -> Bordered:
        """The same without contacts and grabs, with the stiffness of all other tets, (r, r)."""
        m = self.motion
        matrix = self._assemble(y, q, form)
        matrix.extra = self.region.mass * (m.ca + m.cv * self.damping_mass)
        matrix.diagonal[:, ::4] += matrix.extra[:, None]
        matrix.B += rest + self.share.matrix
        matrix.B.ravel()[:: len(q) + 1] += _UNSEEN * (self.frequencies + m.ca)
        if self.drag is not None:
            drag, factor = self.drag.matrix, self.drag.factor
            matrix.blocks = matrix.blocks + factor * drag.blocks
            matrix.diagonal += factor * drag.diagonal
            matrix.C += factor * drag.C
            matrix.B += factor * drag.B
        hold(matrix, self.held.rows)
        return matrix

    def slow(self, begin: FloatArray, ahead: Ahead, beta: float) -> "Condensed":
        """The same step, slowed by β times the stiffness where it begins, with its vertices at `begin` [m], (l, 3)."""
        region, footing, m = self.region, self.footing, self.motion
        matrix = self._assemble(begin, ahead.begin, VISCOUS, keep=True)
        origin = np.concatenate([begin[: len(region.full)].ravel(), ahead.begin])
        apart = footing.place(origin) - begin
        pull = np.zeros_like(origin)
        if apart.any():
            pull = footing.gather(region.block_rows.multiply(matrix.blocks, apart))
        share = self.share if region.whole else self.share.slowed(ahead.resist(self._outside))
        return replace(self, drag=Drag(matrix, beta * m.cv, origin, pull), share=share, memory={})

    def _assemble(self, y: FloatArray, q: FloatArray, form: int, *, keep: bool = False) -> Bordered:
        """The stiffness of the exact tets, in memory of the region's unless it is to be kept."""
        region, rank = self.region, len(q)
        (stop, edge, _), rows, count = region.split, region.block_rows, len(region.full)
        if self._flat is None:
            blocks, C, B = fold_parts(self.footing, self.parts, y, form)
        else:
            blocks, C, B = assemble(region, self._flat, self.parts[0].material.response, y, form)
        blocks = blocks.copy() if keep else blocks
        return Bordered(
            rows.start[:count], stop[:count], rows.columns, blocks, blocks[region.diagonal], np.zeros(count), edge,
            C, B, Handled.none(rank), region.clusters,
        )  # fmt: skip

    def _stiffen_rest(self, q: FloatArray, form: int, exact: bool, lagged: bool, strain: FloatArray) -> FloatArray:
        """That of all other tets, as the coordinates see it, (r, r)."""
        rank = len(q)
        if self.region.whole:
            return np.zeros((rank, rank))
        if not (self.subtracts and exact):
            return self._outside.stiffness(q, form=form)
        if not lagged:
            return np.asarray(self._rule.stiffness(q, form=form) - self._take_away(q, form))
        if not self._is_still:
            return np.asarray(self._rule.stiffness(q, form=form) - self._taken)
        # Coordinates come to rest long before what touches does
        strained, name = Strained(self.footing.follow(q), strain), f"rest {form}"
        known: tuple[Strained, FloatArray] | None = self.memory.get(name)
        if known is None or not known[0].serves(strained, self._parts_under):
            known = strained, np.asarray(self._rule.stiffness(q, form=form) - self._take_away(q, form))
            self.memory[name] = known
        return known[1]

    @property
    def _taken(self) -> FloatArray:
        """What is taken away where the step begins, (r, r)."""
        return self._recall("taken", lambda: self._take_away(self.share.begin, EXACT))

    def _take_away(self, q: FloatArray, form: int) -> FloatArray:
        """The stiffness of the exact tets where the subspace has them, (r, r)."""
        if self._flat is not None:
            response = self.parts[0].material.response
            return assemble(self.region, self._flat, response, self.footing.follow(q), form, under=True)[2]
        return fold_under(self.footing, self._parts_under, q, form)

    def _join(self, y: FloatArray, cautious: bool) -> Handled:
        """What contacts and grabs add, as springs between full vertices and the coordinates."""
        curvature = [joint.curvature(y, cautious=cautious) for joint in self.joints]
        whole = np.ascontiguousarray(curvature[0] if len(curvature) == 1 else np.concatenate(curvature))
        return self._springs._replace(curvature=whole)

    @cached_property
    def _springs(self) -> Handled:
        """What does not change of them while they are frozen."""
        return hang_springs(self.footing, self.joints)
