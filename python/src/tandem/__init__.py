"""Vertical federated XGBoost: companies train one model together without sharing rows.

``simulate`` and the scikit-learn estimators run all parties on this machine; ``train`` and ``party`` are the two sides
of a job between companies. All of them drive the program ``tandem``, which is part of the package.
"""

from __future__ import annotations

from .errors import TandemError, TandemInputError
from .federation import (
    Certificate,
    FederatedModel,
    Job,
    PartyServer,
    create_certificate,
    open_model,
    party,
    train,
)
from .model import Model, Simulation, audit, simulate

__all__ = [
    "Certificate",
    "FederatedModel",
    "Job",
    "Model",
    "PartyServer",
    "Simulation",
    "TandemClassifier",
    "TandemError",
    "TandemInputError",
    "TandemRanker",
    "TandemRegressor",
    "audit",
    "create_certificate",
    "open_model",
    "party",
    "simulate",
    "train",
]

_ESTIMATORS = {"TandemClassifier", "TandemRanker", "TandemRegressor"}


def __getattr__(name: str):
    # Scikit-learn is loaded when an estimator is used, and only needed then.
    if name in _ESTIMATORS:
        from . import sklearn

        return getattr(sklearn, name)
    raise AttributeError(f"module 'tandem' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
