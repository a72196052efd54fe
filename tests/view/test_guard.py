"""Who is let in."""

import pytest

from supple.view.guard import Guard

OWN = {"Host": "127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("path", "headers", "said"),
    [
        ("/secret/", OWN, None),
        ("/secret", {**OWN, "Origin": "http://127.0.0.1:8000"}, None),
        ("/secret/?a=b", {"Host": "localhost:8000", "Origin": "http://localhost:8000"}, None),
        ("/", OWN, "token"),
        ("/secre/", OWN, "token"),
        ("/secrets/", OWN, "token"),
        ("/index.html", OWN, "token"),
        ("/sécret", OWN, "token"),
        ("/secret/", {"Host": "evil.example:8000"}, "not known by that name"),
        ("/secret/", {"Host": "127.0.0.1:8001"}, "not known by that name"),
        ("/secret/", {}, "not known by that name"),
        ("/secret", {**OWN, "Origin": "http://evil.example"}, "other servers"),
        ("/secret", {**OWN, "Origin": "null"}, "other servers"),
        ("/secret", {**OWN, "Origin": "http://127.0.0.1:8001"}, "other servers"),
        ("/secret", {**OWN, "Origin": "https://127.0.0.1:8000"}, "other servers"),
    ],
)
def test_strangers_are_turned_away(path: str, headers: dict[str, str], said: str | None) -> None:
    reason = Guard("127.0.0.1", 8000, "secret").refuse(path, headers)
    assert reason is None if said is None else said in str(reason)


def test_every_server_has_its_own_token() -> None:
    one, other = Guard("127.0.0.1", 8000), Guard("127.0.0.1", 8000)
    assert one.token != other.token
    assert len(one.token) >= 24
    assert one.url == f"http://127.0.0.1:8000/{one.token}/"


@pytest.mark.parametrize(("path", "left"), [("/secret", "/"), ("/secret/", "/"), ("/secret/a.js?b", "/a.js?b")])
def test_token_is_no_part_of_what_is_served(path: str, left: str) -> None:
    assert Guard("127.0.0.1", 8000, "secret").strip(path) == left


def test_all_names_are_known_to_a_server_for_all_machines() -> None:
    guard = Guard("0.0.0.0", 8000, "secret")
    assert guard.refuse("/secret/", {"Host": "studio:8000"}) is None
    assert guard.refuse("/", {"Host": "studio:8000"}) is not None
