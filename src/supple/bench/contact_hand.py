"""A hand that makes a fist: self-contact by rules beside all contacts, full space and [TOK14].

`--mesh FOLDER` takes the stand-in hand and its recorded poses instead, and the figures of the authors' own code there.
"""

from pathlib import Path

from supple.bench.contact_case import make_case
from supple.bench.contact_measure import Row, measure
from supple.bench.contact_plots import save_contact_plots
from supple.bench.hand_standin import load_hand

__all__ = ["run"]


def run(size: str, mesh: Path | None = None, plot: Path | None = None, kept: Path | None = None) -> list[Row]:
    """The paper's row and that of the benchmark at size "small" or "paper"; plots and a picture in a folder."""
    case = make_case("hand", size) if mesh is None else load_hand(mesh, size)
    measured = measure(case, kept)
    save_contact_plots(plot, measured)
    return [case.paper, measured.row]
