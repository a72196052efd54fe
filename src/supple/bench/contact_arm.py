"""An arm that falls on its body and shakes it: self-contact by rules beside all contacts, full space and [TOK14].

The model knows poses at rest only."""

from pathlib import Path

from supple.bench.contact_case import make_case
from supple.bench.contact_measure import Row, measure
from supple.bench.contact_plots import save_contact_plots

__all__ = ["run"]


def run(size: str, plot: Path | None = None, kept: Path | None = None) -> list[Row]:
    """The paper's row and that of the benchmark at size "small" or "paper"; plots and a picture in a folder."""
    case = make_case("arm", size)
    measured = measure(case, kept)
    save_contact_plots(plot, measured)
    return [case.paper, measured.row]
