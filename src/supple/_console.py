"""What the command line says and where: people read text, programs read JSON."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

from supple.errors import ArgumentError, MeshError, OutputError, SceneError, SuppleError, SuppleWarning

if TYPE_CHECKING:
    from supple.io.permit import Permit
    from supple.scene.progress import Listener

__all__ = ["Common", "Console", "perform"]

FAILED, WRONG_INPUT = 1, 2
WORTH_A_WORD = 0.5  #: seconds of compiling that are told


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Common:
    """The options every verb takes."""

    json: Annotated[str | None, Parameter(name="--json", allow_leading_hyphen=True)] = None
    """Write the result as JSON to this file; - is standard output, and nothing else is printed there."""
    overwrite: Annotated[bool, Parameter(negative="")] = False
    """Replace files that are there, also those that supple did not write for the same scene and method."""
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False
    """Say nothing but errors."""
    verbose: Annotated[int, Parameter(name=["--verbose", "-v"], count=True)] = 0
    """Tell of every frame; twice (-vv) shows where an error came from."""
    seed: int | None = None
    """Seed of everything random (default: the scene's, or 0); the same seed gives the same bytes."""
    threads: int | None = None
    """Threads to use (default: the cores that nothing else keeps busy)."""


class Console:
    """Where a verb's words go: standard output, or standard error when JSON has that."""

    def __init__(self, common: Common) -> None:
        from supple.scene.progress import pick_listener  # here, so that --help need not load what runs need

        self.common = common
        self._json = common.json
        self._permit: Permit | None = None
        self.verbosity = -1 if common.quiet else common.verbose
        self.listener: Listener = pick_listener(self.verbosity)

    def say(self, text: str) -> None:
        """Print a line for a person, unless quiet."""
        if self.verbosity >= 0:
            print(text, file=self._stream(), flush=True)

    def warn(self, text: str) -> None:
        """Print a warning to standard error, unless quiet."""
        self.listener.say(text)

    def write_json(self, data: Mapping[str, Any]) -> None:
        """Write the result where --json asks for it."""
        if self._json is None:
            return
        text = json.dumps(data, default=_plain, allow_nan=False) + "\n"
        if self._json == "-":
            sys.stdout.write(text)
        else:
            from supple.io.files import write_atomically

            write_atomically(Path(self._json), [text.encode()])
            if self._permit is not None:
                self._permit.done(Path(self._json))

    def check_json(self, verb: str, source: Path | None) -> None:
        """Refuse a --json file that cannot or may not be written, before any work is done."""
        if self._json is not None and self._json != "-":
            from supple.io.files import probe_folder
            from supple.io.permit import Permit

            target, self._json = self._json, None  # what fails here is not to be reported there
            if not target.lower().endswith(".json"):  # a slip must not replace a scene or a recording
                raise OutputError(f"--json {target} does not look like a JSON file: end its name in .json.")
            probe_folder(Path(target))
            if not Path(target).parent.is_dir():
                raise OutputError(f"the folder of {target} does not exist: choose another --json file.")
            self._permit = Permit(source, f"{verb} --json", self.common.overwrite)
            self._permit.ask(Path(target))
            self._json = target

    def _stream(self) -> TextIO:
        return sys.stderr if self._json == "-" else sys.stdout


def perform(
    common: Common, verb: str, work: Callable[[Console], Mapping[str, Any]], source: Path | None = None, how: str = ""
) -> int:
    """Do a verb's work, report its result or its error, and return the exit code.

    A --json file is replaced where the same verb wrote it for the same `source`, in the same way.
    """
    console = Console(common)
    try:
        console.check_json(f"{verb} {how}".rstrip(), source)
        if common.threads is not None:
            _limit_threads(common.threads)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers that overflow are reported by who finds them
            warnings.simplefilter("always", SuppleWarning)
            warnings.showwarning = lambda message, *_, **__: console.warn(f"warning: {message}")
            result = work(console)
            compiled = _compile_seconds()
            if compiled >= WORTH_A_WORD:
                console.listener.say(f"compiling took {compiled:.1f} s, once per machine; no other time includes it")
            console.write_json({"verb": verb, "compile_s": compiled, **result})
        return FAILED if result.get("failed") else 0
    except SuppleError as error:
        is_input = isinstance(error, SceneError | ArgumentError) and not isinstance(error, MeshError)
        code = WRONG_INPUT if is_input else FAILED
        return _report(console, verb, error, str(error), code)
    except BrokenPipeError:
        return _leave_quietly()
    except KeyboardInterrupt as error:
        return _report(console, verb, error, "stopped before it was done: run it again.", FAILED)
    except Exception as error:
        text = f"{type(error).__name__}: {error}; a fault of supple: please report it with what -vv prints."
        return _report(console, verb, error, text, FAILED)


def _compile_seconds() -> float:
    """Seconds that this process has spent on compiling loops; none where it has loaded none."""
    clock = sys.modules.get("supple.linalg.work_clock")
    return 0.0 if clock is None else float(clock.compile_seconds())


def _leave_quietly() -> int:
    """Whoever read the output has gone (`supple info x | head`): nothing is wrong, and nothing more can be said."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it closes it
    return FAILED


def _report(console: Console, verb: str, error: BaseException, text: str, code: int) -> int:
    """Say in one sentence what went wrong (where, with -vv) and return the exit code."""
    console.listener.end()
    if console.verbosity >= 2:
        traceback.print_exception(error)
    print(f"supple {verb}: {text}", file=sys.stderr, flush=True)
    with suppress(OutputError):
        failure = {"kind": type(error).__name__, "text": text}
        console.write_json({"verb": verb, "failed": True, "error": failure})
    return code


def _limit_threads(count: int) -> None:
    from supple._threads import set_threads

    if count < 1:
        raise SceneError(f"--threads {count} leaves nobody to work: give 1 or more.")
    set_threads(count)


def _plain(value: object) -> object:
    """Numbers, arrays and paths as JSON knows them."""
    import numpy as np  # here, as --help needs none

    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
