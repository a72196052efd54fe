"""What is compiled ahead is what a step of another character takes from the cache."""

from supple.method.posespace_ahead import take_a_step
from supple.method.posespace_step import step_kernel
from supple.scene.kernels import compile_ahead


def test_a_step_ahead_compiles_the_kernel_of_all_characters(monkeypatch) -> None:
    made = []

    def remember(*key):
        made.append(step_kernel(*key))
        return made[-1]

    monkeypatch.setattr("supple.method.posespace.step_kernel", remember)
    take_a_step("stable_neo_hookean")
    (kernel,) = made
    assert len(kernel.signatures) == 1


def test_a_process_that_fails_changes_nothing() -> None:
    with compile_ahead("supple.no_such_module"):
        done = True
    assert done
