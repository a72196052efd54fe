"""Benchmarks of two commits, run in turn on one machine: `python tools/pairs.py b44ef24 HEAD full reduced`.

Each commit gets a checkout and an environment of its own, below --folder, which later runs use again. A first pass of
each compiles kernels and is not counted. Then the passes of both alternate, so that whatever else the machine does
meets both alike. For every figure in milliseconds the table has the medians of both and their ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]


def resolve(commit: str) -> str:
    """The full name of a commit."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"pairs: there is no commit {commit}: name one that `git log` shows.")
    return done.stdout.strip()


def prepare(commit: str, folder: Path) -> Path:
    """The Python of an environment that has supple as it was at a commit; made where it is not there yet."""
    place = folder / commit[:12]
    python = place / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = place / "ready"
    if not ready.exists():
        source = place / "source"
        source.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True)
        subprocess.run(["tar", "-xf", "-", "-C", str(source)], input=archive.stdout, check=True)
        venv.create(place / "env", with_pip=True)
        quiet = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([python, "-m", "pip", "install", *quiet, str(source)], check=True)
        ready.touch()
    return python


def run_pass(python: Path, name: str, options: Sequence[str]) -> list[Row]:
    """The rows of one run of a benchmark, by the commit's own command."""
    command = [str(python), "-P", "-m", "supple", "bench", name, *options, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"pairs: {' '.join(command)} failed: {done.stderr.strip()[-500:]}")
    rows: list[Row] = json.loads(done.stdout)["rows"]
    return rows


def label(row: Row) -> str:
    """What tells a row from others: its texts, and the numbers that say what was run."""
    sizes = ("tets", "rank", "unknowns", "elements", "threads", "handles", "convergence")
    return " ".join(str(value) for key, value in row.items() if isinstance(value, str) or (key in sizes and value))


def pair_up(first: Sequence[Row], second: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Places of the rows that both have: of the same label, the first with the first, and so on."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(second):
        places.setdefault(label(row), []).append(place)
    for place, row in enumerate(first):
        if left := places.get(label(row)):
            yield place, left.pop(0)


def compare(first: Sequence[Sequence[Row]], second: Sequence[Sequence[Row]]) -> Iterator[Row]:
    """The medians over passes of every figure in milliseconds that both have, and their ratio, second to first."""
    for place, there in pair_up(first[0], second[0]):
        row, other = first[0][place], second[0][there]
        for key, value in row.items():
            if "ms" not in key.split("_") or not all(isinstance(one, int | float) for one in (value, other.get(key))):
                continue
            a = median(float(rows[place][key]) for rows in first)
            b = median(float(rows[there][key]) for rows in second)
            if a > 0.0:
                yield {"row": label(row), "figure": key, "first": a, "second": b, "ratio": b / a}


def show(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a benchmark's table."""
    print(f"{name}:")
    for row in rows:
        figures = f"{row['ratio']:6.2f}  {row['first']:10.4g} {row['second']:10.4g}"
        print(f"  {figures}  {row['figure']:24} {row['row']}")
    if rows:
        print(
            f"  {median(row['ratio'] for row in rows):6.2f}  median of {len(rows)} ratios, second to first", flush=True
        )


def main() -> None:
    """Run the benchmarks and print or write the comparison."""
    parser = argparse.ArgumentParser(description="Benchmarks of two commits, run in turn.")
    parser.add_argument("first", help="the commit that is compared with")
    parser.add_argument("second", help="the commit that is compared")
    parser.add_argument("names", nargs="+", help="benchmarks, as `supple bench` lists them")
    parser.add_argument("--size", choices=("small", "paper"), default="small")
    parser.add_argument("--passes", type=int, default=3, help="counted runs of each (3)")
    parser.add_argument("--threads", type=int, help="threads of each run (default: what supple chooses)")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "supple-pairs", help="of checkouts")
    parser.add_argument("--json", type=Path, help="file for the tables")
    given = parser.parse_args()
    if given.passes < 1:
        raise SystemExit(f"pairs: --passes {given.passes} leaves nothing to compare: give 1 or more.")
    pythons = [prepare(resolve(commit), given.folder.resolve()) for commit in (given.first, given.second)]
    options = ["--size", given.size, *([] if given.threads is None else ["--threads", str(given.threads)])]
    tables = {}
    for name in given.names:
        passes: tuple[list[list[Row]], list[list[Row]]] = ([], [])
        for number in range(given.passes + 1):
            for python, rows in zip(pythons, passes, strict=True):
                found = run_pass(python, name, options)
                if number > 0:
                    rows.append(found)
        tables[name] = list(compare(*passes))
        show(name, tables[name])
    if given.json is not None:
        given.json.write_text(json.dumps(tables) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
