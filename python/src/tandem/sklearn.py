"""Scikit-learn estimators: each ``fit`` is a simulated federation between processes on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import pandas
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from ._progress import Progress
from .model import Model, simulate

__all__ = ["TandemClassifier", "TandemRanker", "TandemRegressor"]

#: Parameters of the estimators under other names than those of training.
_OWN_NAMES = {"n_estimators": "num_round", "random_state": "seed"}
_NOT_TRAINING = frozenset(
    {"parties", "privacy", "scheme", "insecure_key_bits", "validation_fraction", "params", "progress"}
)


class TandemModel(BaseEstimator):
    """What the estimators have in common. Parameters have XGBoost's names and Tandem's defaults."""

    def __init__(
        self,
        parties: Mapping[str, Sequence[str | int]] | None = None,
        *,
        objective: str | None = None,
        n_estimators: int = 50,
        max_depth: int = 3,
        learning_rate: float = 0.3,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        max_bin: int = 32,
        enable_categorical: bool = False,
        early_stopping_rounds: int = 0,
        validation_fraction: float | None = None,
        random_state: int | None = None,
        privacy: str | Mapping[str, Any] | None = None,
        scheme: str | None = None,
        insecure_key_bits: int | None = None,
        params: Mapping[str, Any] | None = None,
        progress: Progress | None = False,
    ) -> None:
        self.parties = parties
        self.objective = objective
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.max_bin = max_bin
        self.enable_categorical = enable_categorical
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.privacy = privacy
        self.scheme = scheme
        self.insecure_key_bits = insecure_key_bits
        self.params = params
        self.progress = progress

    @property
    def feature_importances_(self) -> numpy.ndarray:
        """The mean gain of the splits on each feature, as shares of 1, as XGBoost's default."""
        check_is_fitted(self)
        found = self.model_.importance()["gain"]
        gains = numpy.array([found.get(name, 0.0) for name in self._names()], dtype=numpy.float64)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self.enable_categorical
        tags.non_deterministic = False
        return tags

    def _fit(self, X, y: numpy.ndarray, objective: str, columns: Mapping[str, Any], **training: Any):
        """``y`` and ``columns`` are numbers per row; ``training`` holds what the labels decide."""
        table = self._features(X, is_new=True)
        names = list(table.columns)
        for name, values in {"label": y, **columns}.items():
            table[_own(name)] = values
        given = {
            _OWN_NAMES.get(name, name): value
            for name, value in self.get_params(deep=False).items()
            if name not in _NOT_TRAINING and value is not None
        }
        row_columns = {name: _own(name) for name in columns}
        result = simulate(
            table,
            _own("label"),
            self._split(names),
            test_fraction=0,
            validation_fraction=self.validation_fraction,
            privacy=self.privacy,
            scheme=self.scheme,
            insecure_key_bits=self.insecure_key_bits,
            progress=self.progress,
            **row_columns,
            **{**given, "objective": objective, **training, **(self.params or {})},
        )
        self.model_ = result.model
        self.metrics_ = result.metrics
        self.n_iter_ = result.model.tree_count
        return self

    def _split(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The columns of each party. Without ``parties``, the first half belongs to the active one."""
        if self.parties is None:
            if len(names) < 2:
                raise ValueError(f"a federation divides at least 2 features; n_features = {len(names)}")
            half = len(names) // 2
            return {"active": list(names[:half]), "passive": list(names[half:])}
        return {
            party: [names[column] if isinstance(column, int) else str(column) for column in columns]
            for party, columns in self.parties.items()
        }

    def _features(self, X, is_new: bool) -> pandas.DataFrame:
        """The features by name; of an array, ``f0``, ``f1``, ... as in XGBoost."""
        if isinstance(X, pandas.DataFrame) and self._has_text(X):
            validate_data(self, X, reset=is_new, skip_check_array=True)
            return X.reset_index(drop=True).rename(columns=str)
        fewest = 2 if is_new else 1
        values = validate_data(
            self, X, reset=is_new, ensure_all_finite="allow-nan", dtype="numeric", ensure_min_samples=fewest
        )
        names = getattr(self, "feature_names_in_", None)
        return pandas.DataFrame(values, columns=self._numbered() if names is None else list(names))

    def _has_text(self, X: pandas.DataFrame) -> bool:
        return self.enable_categorical and any(not pandas.api.types.is_numeric_dtype(kind) for kind in X.dtypes)

    def _numbered(self) -> list[str]:
        return [f"f{i}" for i in range(self.n_features_in_)]

    def _names(self) -> list[str]:
        return list(getattr(self, "feature_names_in_", self._numbered()))

    def _output(self, X, output: str) -> numpy.ndarray:
        check_is_fitted(self)
        return self.model_.predict(self._features(X, is_new=False), output=output)

    def contributions(self, X) -> pandas.DataFrame:
        """SHAP values: a column per feature, then ``bias``."""
        check_is_fitted(self)
        return self.model_.predict(self._features(X, is_new=False), contributions=True)

    def _weights(self, sample_weight, X) -> dict[str, Any]:
        if sample_weight is None:
            return {}
        return {"weight": _check_sample_weight(sample_weight, X, ensure_non_negative=True)}


class TandemClassifier(ClassifierMixin, TandemModel):
    """Classification with two classes or more.

    Args:
        parties: by name, the columns of each party, as names or positions; the first party has the labels.
        objective: default ``binary:logistic``, or ``multi:softprob`` with more than two classes.
        params: further training parameters, by XGBoost's names.
    """

    model_: Model

    def fit(self, X, y, sample_weight=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        self.classes_, codes = numpy.unique(labels, return_inverse=True)
        self._features(X, is_new=True)
        check_consistent_length(X, labels)
        weights = self._weights(sample_weight, X)
        known = len(self.classes_) if not weights else len(numpy.unique(codes[weights["weight"] > 0]))
        if known < 2:
            raise ValueError("TandemClassifier needs at least 2 classes; the labels of weighted rows have 1 class")
        is_binary = len(self.classes_) == 2
        objective = self.objective or ("binary:logistic" if is_binary else "multi:softprob")
        training = {} if is_binary else {"num_class": len(self.classes_)}
        return self._fit(X, codes, objective, weights, **training)

    def predict_proba(self, X) -> numpy.ndarray:
        values = self._output(X, "prediction")
        return numpy.column_stack([1 - values, values]) if values.ndim == 1 else values

    def predict(self, X) -> numpy.ndarray:
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def decision_function(self, X) -> numpy.ndarray:
        """Margins: log-odds with two classes."""
        return self._output(X, "margin")


class TandemRegressor(RegressorMixin, TandemModel):
    """Regression; ``objective`` is ``reg:squarederror`` by default."""

    model_: Model

    def fit(self, X, y, sample_weight=None):
        labels = _numbers(y)
        self._features(X, is_new=True)
        check_consistent_length(X, labels)
        training = {} if "base_score" in (self.params or {}) else {"base_score": "auto"}
        return self._fit(
            X, labels, self.objective or "reg:squarederror", self._weights(sample_weight, X), **training
        )

    def predict(self, X) -> numpy.ndarray:
        return self._output(X, "prediction")


class TandemRanker(TandemModel):
    """Learning to rank; ``objective`` is ``rank:ndcg`` by default."""

    model_: Model

    def fit(self, X, y, *, qid):
        """``qid`` is the query group of each row: whole numbers."""
        labels, groups = _numbers(y), column_or_1d(qid)
        self._features(X, is_new=True)
        check_consistent_length(X, labels, groups)
        return self._fit(X, labels, self.objective or "rank:ndcg", {"qid": groups})

    def predict(self, X) -> numpy.ndarray:
        """Scores: higher ranks first."""
        return self._output(X, "prediction")


def _numbers(y) -> numpy.ndarray:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels = column_or_1d(check_array(y, ensure_2d=False, dtype="numeric", estimator="the labels"), warn=True)
    if type_of_target(labels) == "unknown":
        raise ValueError("Unknown label type: the labels must be numbers")
    return labels.astype(numpy.float64)


def _own(name: str) -> str:
    """A column name that no feature of a user has."""
    return f"tandem column: {name}"
