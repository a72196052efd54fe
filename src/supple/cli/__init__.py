"""The command line: a file for each verb says what it is called with; the work is done elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

import supple
from supple._console import WRONG_INPUT
from supple.cli.bench import bench
from supple.cli.check import check
from supple.cli.compare import compare
from supple.cli.convert import convert
from supple.cli.demo import demo
from supple.cli.doctor import doctor
from supple.cli.info import info
from supple.cli.mesh import mesh
from supple.cli.render import render
from supple.cli.run import run
from supple.cli.train import train
from supple.cli.view import view

__all__ = ["app", "main"]

app = App(
    name="supple",
    help="Soft bodies simulated in small subspaces, with the error measured against the full solver.",
    version=supple.__version__,
)
for verb in (demo, run, train, compare, mesh, check, convert, info, doctor, render, view, bench):
    app.command(verb)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong command line or scene."""
    try:
        code = app(
            sys.argv[1:] if arguments is None else list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        print(f"supple: {str(error).rstrip('.')}: see  supple --help.", file=sys.stderr)
        return WRONG_INPUT
    return code if isinstance(code, int) else 0
