"""Errors of index3: each message names the element, says what is wrong and what to do."""

from __future__ import annotations

from typing import Any


class Index3Error(Exception):
    """Base of every error that index3 raises on purpose."""


class ModelError(Index3Error, ValueError):
    """The description of a mechanism, or a setting, is wrong."""


class AssemblyError(Index3Error):
    """No consistent position, velocity or acceleration could be found."""


class SingularError(Index3Error):
    """The equations have no unique solution where one is needed."""


class SimulationFailed(Index3Error):
    """A run ended early; `result` holds everything computed up to the failure."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result
