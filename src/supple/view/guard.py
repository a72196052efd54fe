"""Who may talk to the viewer: only pages it served itself, to somebody who was given its address."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

__all__ = ["Guard", "guarded"]

LARGEST = 4 * 2**20  #: bytes of a message from a page
ICON = "/favicon.ico"
HEADERS = {
    # All that the page needs is in it: nothing is fetched from elsewhere, and nobody else may frame it
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; "
    "connect-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


@dataclass
class Guard:
    """Lets requests in whose path begins with the token, that name this server as their host, from its own pages."""

    host: str
    port: int = 0
    """Known when the server listens."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))

    @property
    def url(self) -> str:
        """The address of the page, token included."""
        return f"http://{self._bracketed()}:{self.port}/{self.token}/"

    def refuse(self, path: str, headers: Mapping[str, str]) -> str | None:
        """Why a request is turned away; None if it is welcome."""
        if not self._is_own(headers.get("Host", "")):
            return "this server is not known by that name"
        origin = headers.get("Origin")  # which every browser sends with a websocket
        if origin is not None and not self._is_own(origin.removeprefix("http://")):
            return "pages of other servers may not talk to this one"
        given = path.partition("?")[0].lstrip("/").partition("/")[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return "the address lacks the token that the command line printed"
        return None

    def strip(self, path: str) -> str:
        """The path without the token."""
        return path.lstrip("/").removeprefix(self.token) or "/"

    def _is_own(self, name: str) -> bool:
        if self.host in ("0.0.0.0", "::"):  # asked to answer to every name: the token alone decides
            return True
        known = {self._bracketed()}
        if self.host in ("127.0.0.1", "::1", "localhost"):
            known |= {"127.0.0.1", "[::1]", "localhost"}
        return name.lower() in {f"{each}:{self.port}" for each in known}

    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


@contextmanager
def guarded(guard: Guard) -> Iterator[Callable[[], bool]]:
    """Every websocket server that starts meanwhile asks the guard first; yields whether one did.

    viser has no place for such a check, but its server is one of the `websockets` package, started by name.
    """
    import websockets.asyncio.server as server

    plain, asked = server.serve, False

    def serve(handler: Any, host: Any, port: Any, **options: Any) -> Any:
        nonlocal asked
        asked = True
        options["process_request"] = _ask_first(guard, options.get("process_request"))
        return plain(handler, host, port, **{**options, "max_size": LARGEST})

    server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield lambda: asked
    finally:
        server.serve = plain  # type: ignore[misc]


def _ask_first(guard: Guard, answer: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
    """What the server asks about a request before it does anything."""

    def process(connection: Any, request: Any) -> Any:
        if request.path == ICON and "Upgrade" not in request.headers:
            return connection.respond(HTTPStatus.NO_CONTENT, "")
        reason = guard.refuse(request.path, request.headers)
        if reason is not None:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
        request.path = guard.strip(request.path)
        response = None if answer is None else answer(connection, request)
        if response is not None:
            response.headers.update(HEADERS)
        return response

    return process
