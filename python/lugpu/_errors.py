"""What can go wrong, in Python's words."""

from __future__ import annotations

from typing import Literal

Kind = Literal["failure", "bad_input", "unsupported", "not_tried", "no_device"]

# What the library calls otherwise than the functions here.
_ARGUMENTS = {("refine", "fixed"): "refine=True", ("refine", "mixed"): 'precision="mixed"'}
_OPTIONS = ("method", "pivot", "precision", "refine", "equilibrate", "device")
_NUMBERS = ("tolerance", "iterations")


class Error(RuntimeError):
    """An error of the library, e.g. of OpenCL.

    kind: "failure" while running, "bad_input", "unsupported" by the device, "not_tried" (kernels did
    not build, or memory ran out) or "no_device".
    reason: what went wrong. remedy: an argument that may help, e.g. 'method="lu"', or None.
    """

    def __init__(self, kind: Kind, reason: str, remedy: str | None = None) -> None:
        super().__init__(sentence(reason, remedy))
        self.kind = kind
        self.reason = reason
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[Error], tuple[Kind, str, str | None]]:
        return type(self), (self.kind, self.reason, self.remedy)


class InputError(Error, ValueError):
    """An Error whose kind is "bad_input"."""


class LinAlgWarning(RuntimeWarning):
    """A matrix is singular, or too close to it."""


class AccuracyWarning(LinAlgWarning):
    """A solution is less accurate than it should be."""


def argument(remedy: tuple[str, str] | None) -> str | None:
    """A remedy of the library as an argument of solve(); None where that has no such argument.

    >>> argument(("method", "lu")), argument(("equilibrate", "")), argument(("storage", "buffer"))
    ('method="lu"', 'equilibrate=True', None)
    >>> argument(("tolerance", "1e-06"))
    'tolerance=1e-06'
    """
    if remedy is None or remedy[0] not in _OPTIONS + _NUMBERS:
        return None
    option, value = remedy
    if option in _NUMBERS:
        return f"{option}={value}"
    return _ARGUMENTS.get(remedy, f'{option}="{value}"' if value else f"{option}=True")


def sentence(reason: str, remedy: str | None) -> str:
    """
    >>> sentence("lu-blocked has no full pivoting", 'method="lu"')
    'lu-blocked has no full pivoting; method="lu" may help.'
    """
    reason = reason.removesuffix(".")
    return f"{reason}; {remedy} may help." if remedy else f"{reason}."


def error_of(kind: Kind, reason: str, remedy: tuple[str, str] | None) -> Error:
    """The exception for an error of the library."""
    return (InputError if kind == "bad_input" else Error)(kind, reason, argument(remedy))
