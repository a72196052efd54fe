"""Processes that supple starts import nothing from the current folder."""

import ast
import os
from pathlib import Path

import supple
from supple._child import safe_children

SOURCES = sorted(Path(supple.__file__).parent.rglob("*.py"))


def test_every_python_that_is_started_ignores_the_current_folder() -> None:
    commands = {
        f"{file.name}:{node.lineno}": node
        for file in SOURCES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.List) and node.elts and ast.unparse(node.elts[0]) == "sys.executable"
    }
    assert len(commands) >= 4
    unsafe = [place for place, node in commands.items() if ast.unparse(node.elts[1]) != "'-P'"]
    assert not unsafe, unsafe
    mentions = sum(file.read_text(encoding="utf-8").count("sys.executable") for file in SOURCES)
    assert mentions == len(commands)  # no command is put together in another way
    for file in SOURCES:
        text = file.read_text(encoding="utf-8")
        assert "ProcessPoolExecutor(" not in text or "with safe_children()" in text, file


def test_a_pool_ignores_the_current_folder_and_leaves_the_environment_as_it_was(monkeypatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with safe_children():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert "PYTHONSAFEPATH" not in os.environ
    monkeypatch.setenv("PYTHONSAFEPATH", "own")
    with safe_children():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ["PYTHONSAFEPATH"] == "own"
