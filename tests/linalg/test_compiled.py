"""Compiled copies: their names follow everything they call."""

from numba import njit

from supple.linalg.compiled import compile_copy, digest_calls


@njit
def _inner(x):
    return 2.0 * x


@njit
def _outer(x):
    return _inner(x) + 1.0


def _template(x):
    return step(x)  # noqa: F821


def test_copies_do_what_their_names_say() -> None:
    assert compile_copy(_template, "a", {"step": _outer}, cache=False)(3.0) == 7.0
    assert compile_copy(_template, "a", {"step": _inner}, cache=False)(3.0) == 6.0


def test_name_changes_with_what_is_called_however_deep() -> None:
    code = _template.__code__

    def deep(inner):
        def outer(x):
            return inner(x)

        return outer

    names = {digest_calls(code, {"step": deep(function)}) for function in (_inner, compile_copy)}
    assert len(names) == 2  # another module is reached
    assert digest_calls(code, {"step": deep(_inner)}) == digest_calls(code, {"step": deep(_inner)})


def test_name_changes_with_the_constants_it_names() -> None:
    code = _template.__code__
    assert digest_calls(code, {"step": 1}) != digest_calls(code, {"step": 2})
