"""Errors, with the codes of docs/errors.md."""

from __future__ import annotations

__all__ = ["TandemError", "TandemInputError"]

_INPUT_CODES = frozenset(
    {
        "USAGE",
        "FILE_FORMAT",
        "COLUMN_UNKNOWN",
        "COLUMN_SHARED",
        "ID_DUPLICATE",
        "CELL_UNPARSABLE",
        "LABEL_INVALID",
        "WEIGHT_INVALID",
    }
)


class TandemError(Exception):
    """An error of input, other parties or the system. ``code`` is stable: programs may distinguish errors by it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message

    def __reduce__(self):
        return type(self), (self.code, self.message)


class TandemInputError(TandemError, ValueError):
    """An error of the data or parameters that were given: also a ``ValueError``."""


def error_from(facts: dict) -> TandemError:
    """The exception for an error as the program reports it."""
    kind = TandemInputError if facts["code"] in _INPUT_CODES else TandemError
    return kind(facts["code"], facts["message"])
