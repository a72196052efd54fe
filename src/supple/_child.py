"""A script run in a process of its own, within limits of time and memory: whatever becomes of it, supple lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["ChildFailure", "run_script", "safe_children"]

TAIL = 2000  # bytes of what it said last that are kept
# Sets the limit on memory, where the system has one, then runs the script: limits of the parent stay as they are.
LAUNCH = """
import runpy, sys
memory, script = int(sys.argv[1]), sys.argv[2]
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
sys.argv = sys.argv[2:]
runpy.run_path(script, run_name="__main__")
"""


class ChildFailure(Exception):
    """How a script ended that did not end well; `said` is the last line that it printed to standard error."""

    def __init__(self, reason: str, said: str = "") -> None:
        super().__init__(reason)
        self.reason, self.said = reason, said


def run_script(
    script: Path,
    arguments: Sequence[str],
    *,
    seconds: float,
    memory: int,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What the script, run by this Python, prints to standard output; ChildFailure if it fails, crashes or hangs.

    `memory` is the most address space it gets [bytes]; beyond `seconds` it is ended with all it started.
    """
    command = [sys.executable, "-P", "-c", LAUNCH, str(memory), str(script), *arguments]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        try:
            code = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ChildFailure(f"did not end within {seconds:.0f} s") from None
        finally:
            if child.poll() is None:
                _end(child)
        errors.seek(max(errors.seek(0, os.SEEK_END) - TAIL, 0))
        lines = errors.read().decode(errors="replace").strip().splitlines()
        if code != 0:
            raise ChildFailure(_explain(code, lines), lines[-1].strip() if lines else "")
        output.seek(0)
        return output.read()


@contextmanager
def safe_children() -> Iterator[None]:
    """While it is open, Pythons started by others (a pool) import nothing from the current folder."""
    name, before = "PYTHONSAFEPATH", os.environ.get("PYTHONSAFEPATH")
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    child.wait()


def _explain(code: int, lines: Sequence[str]) -> str:
    if any("MemoryError" in line or "bad_alloc" in line for line in lines):
        return "needed more memory than it may have"
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})" if -code in set(signal.Signals) else f"crashed ({code})"
    return f"failed (code {code})"
