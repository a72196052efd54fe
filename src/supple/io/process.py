"""Who writes: this host, and whether one of its processes still runs."""

from __future__ import annotations

import os
import re
import socket
import sys

__all__ = ["HOST", "is_running"]

HOST = re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname())[:32] or "host"  #: as it may stand in a file's name


def is_running(process: int) -> bool:
    """Whether a process of this number runs on this host."""
    if sys.platform == "win32":  # where signal 0 would be Ctrl-C
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, process)
        ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of somebody else
        return True
    return True
