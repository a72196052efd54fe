"""viser's server behind a guard, saying nothing of its own."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from importlib.util import find_spec
from typing import TYPE_CHECKING

from supple.errors import MissingExtra, OutputError
from supple.view.guard import Guard, guarded

if TYPE_CHECKING:
    import viser

__all__ = ["open_server", "require_viser", "stop_server"]


def require_viser() -> None:
    """Refuse to begin where viser is not installed."""
    if find_spec("viser") is None:
        raise MissingExtra("viser", "view", "The viewer")


def open_server(guard: Guard, title: str) -> viser.ViserServer:
    """A server of pages that listens where the guard says; its port is 0 for any that is free."""
    import viser

    class Server(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Pages of this server are for this machine: what viser would do here is send them through another."""
            return None

    with redirect_stdout(io.StringIO()), guarded(guard) as was_asked:
        server = Server(host=guard.host, port=guard.port, label=title, verbose=False)
    if not was_asked():  # of a viser that starts its server in another way: better none than one without a guard
        stop_server(server)
        remedy = "run  pip install '.[view]'  in a checkout of supple"
        raise OutputError(f"viser {viser.__version__} cannot be guarded: {remedy}.")
    guard.port = server.get_port()
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(189, 108, 82))
    server.gui.main_panel.dock_right()  # beside the body, not over it
    return server


def stop_server(server: viser.ViserServer) -> None:
    """End the server and all its connections."""
    with redirect_stdout(io.StringIO()):
        server.stop()
