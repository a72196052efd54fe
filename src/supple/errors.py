"""The few named errors a user can meet; each message is one sentence that ends with the remedy."""

__all__ = [
    "ArgumentError",
    "ConvergenceError",
    "FileFormatError",
    "MaterialError",
    "MeshError",
    "MissingExtra",
    "OutputError",
    "SceneError",
    "SuppleError",
    "SuppleWarning",
    "TrainingError",
]


class SuppleError(Exception):
    """Base of everything supple raises on purpose."""


class ArgumentError(SuppleError, ValueError, TypeError):
    """A value that does not fit the argument it was given for; ValueError and TypeError, as Python's own."""


class MeshError(ArgumentError):
    """A mesh that cannot be simulated as it is."""


class FileFormatError(SuppleError):
    """A file that is damaged, of another format than its name says, or of a format supple does not read."""


class MaterialError(ArgumentError):
    """Material parameters outside the range where the material exists."""


class SceneError(SuppleError):
    """A scene file, or a combination of settings in it, that makes no sense."""


class OutputError(SuppleError):
    """A result that cannot be written where it was asked for."""


class ConvergenceError(SuppleError):
    """A step that failed at every size it was tried at."""


class TrainingError(SuppleError):
    """Training data from which nothing can be learned."""


class MissingExtra(SuppleError):
    """An optional part of supple that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}': run  pip install '.[{extra}]'  in a checkout of supple."
        )


class SuppleWarning(UserWarning):
    """Something that will run but is probably not what was meant."""
