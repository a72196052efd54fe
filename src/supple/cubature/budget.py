"""How much work training of rules may do, counted in products of numbers: the same on any machine, unlike time.

Trainers spend it; loops that would train again ask whether anything is left. Without a budget nothing is limited.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Budget", "affordable_candidates", "is_spent", "limit_work", "spend_fit"]

_RATE = 1e10  # products a second on one core of an ordinary machine: only told, nothing is decided by it
_FEWEST = 16  # candidates that a rule may always have


@dataclass
class Budget:
    """Products that may be formed, and those that have been."""

    most: float
    spent: float = 0.0

    @property
    def left(self) -> float:
        return max(self.most - self.spent, 0.0)

    def tell(self) -> str:
        """The whole of it, in a user's words."""
        return f"{self.most:.2g} products, about {self.most / _RATE:.0f} s on a core"


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limit_work(budget: Budget) -> Iterator[None]:
    """All rules that are trained within spend this budget."""
    before = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(before)


def is_spent() -> bool:
    """Whether there is a budget of which nothing is left."""
    budget = _current.get()
    return budget is not None and budget.left == 0.0


def spend_fit(candidates: int, rows: int, pool: int) -> None:
    """Count that some candidates of a pool were chosen, fitted to so many equations and pruned."""
    budget = _current.get()
    if budget is not None:
        budget.spent += float(candidates) ** 2 * (rows + pool + candidates)


def affordable_candidates(rows: int) -> int | None:
    """How many candidates can be fitted to so many equations with what is left; None without a budget."""
    budget = _current.get()
    return None if budget is None else max(math.isqrt(int(budget.left) // max(rows, 1)), _FEWEST)
