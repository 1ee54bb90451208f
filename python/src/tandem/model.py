"""Whole models: of simulations, where all parties are on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy
import pandas

from ._progress import Progress, Reporting
from ._session import Scratch, Session, shared_session
from ._tables import Table, frame_of, table_path
from .errors import TandemInputError

__all__ = ["Model", "Simulation", "audit", "simulate"]

Parties = Mapping[str, Sequence[str]]


class Model:
    """A gradient-boosted model of which all parts are here. It can be pickled."""

    def __init__(self, text: str, party_names: Sequence[str] = (), missing: Sequence[str] = ()) -> None:
        self._text = text
        self._party_names = list(party_names)
        self._missing = list(missing)
        self._opened: tuple[Session, dict] | None = None

    @classmethod
    def load(cls, path: str) -> Model:
        """A model that ``save`` has written."""
        with open(path, encoding="utf-8") as file:
            model = cls(file.read())
        model._facts()
        return model

    def save(self, path: str) -> None:
        """Writes the model as a file of this package; ``to_xgboost`` makes one for XGBoost."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    @property
    def objective(self) -> str:
        return self._facts()["objective"]

    @property
    def tree_count(self) -> int:
        return self._facts()["treeCount"]

    @property
    def features(self) -> list[str]:
        """The names of the features, party by party."""
        return self._facts()["features"]

    def predict(
        self,
        table: Table,
        *,
        output: Literal["prediction", "margin", "leaf", "contributions"] = "prediction",
        iteration_range: tuple[int, int] | None = None,
        base_margin: str | None = None,
        contributions: bool = False,
    ) -> numpy.ndarray | pandas.DataFrame:
        """Outputs for the rows of a DataFrame or of a file.

        ``contributions=True`` gives SHAP values as a DataFrame: a column per feature, then ``bias``, and a row for
        each row of the table. Otherwise the result is an array: one value per row, or a row of values where the model
        has several outputs or ``output`` is ``leaf``.
        """
        options: dict[str, Any] = {"output": "contributions" if contributions else output}
        if iteration_range is not None:
            options["iterations"] = list(iteration_range)
        if base_margin is not None:
            options["base_margin"] = base_margin
        if self._missing:
            options["missing"] = self._missing
        rows = len(table) if isinstance(table, pandas.DataFrame) else None
        if rows == 0:
            raise TandemInputError("USAGE", "the table has no rows")
        with Scratch() as scratch:
            session, facts = self._open()
            path = table_path(table, scratch)
            out = scratch.path("out")
            called = session.call("predict", handle=facts["handle"], table=path, out=out, options=options)
            values = scratch.numbers()
        rows = called["rows"]
        if options["output"] != "contributions":
            return values if values.size == rows else values.reshape(rows, -1)
        columns = [*facts["features"], "bias"]
        index = table.index if isinstance(table, pandas.DataFrame) else None
        if values.size == rows * len(columns):
            return pandas.DataFrame(values.reshape(rows, len(columns)), columns=columns, index=index)
        outputs = values.size // (rows * len(columns))
        header = pandas.MultiIndex.from_product([range(outputs), columns], names=["output", "feature"])
        return pandas.DataFrame(values.reshape(rows, -1), columns=header, index=index)

    def importance(self) -> pandas.DataFrame:
        """Per feature that a split is on: its party, and XGBoost's weight, gain, cover, total_gain and total_cover."""
        rows = self._facts()["importance"]
        frame = pandas.DataFrame(rows, columns=["party", "feature", "weight", "totalGain", "totalCover"])
        frame = frame.rename(columns={"totalGain": "total_gain", "totalCover": "total_cover"})
        for name in ("gain", "cover"):
            frame[name] = frame[f"total_{name}"] / frame["weight"]
        if self._party_names:
            numbered = ["active", *(f"passive-{i + 1}" for i in range(len(self._party_names) - 1))]
            frame["party"] = frame["party"].replace(dict(zip(numbered, self._party_names, strict=True)))
        return frame.set_index("feature")

    def xgboost_json(self) -> str:
        """The model as JSON that XGBoost 1.7 and later load."""
        session, facts = self._open()
        return session.call("toXgboost", handle=facts["handle"])["text"]

    def to_xgboost(self):
        """The model as an ``xgboost.Booster``, over the features that it splits on (``booster.feature_names``)."""
        return booster_of(self.xgboost_json())

    def _facts(self) -> dict:
        return self._open()[1]

    def _open(self) -> tuple[Session, dict]:
        session = shared_session()
        if self._opened is None or self._opened[0] is not session:
            self._opened = session, session.call("readModel", text=self._text)
        return self._opened

    def __del__(self) -> None:
        opened = getattr(self, "_opened", None)
        if opened is not None and opened[0].is_running:
            try:
                opened[0].tell("closeModel", handle=opened[1]["handle"])
            except Exception:  # the interpreter may be shutting down
                pass

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_opened": None}


def booster_of(text: str):
    """An ``xgboost.Booster`` of a model's JSON."""
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(text, "utf-8"))
    return booster


@dataclass(frozen=True)
class Simulation:
    """What a simulation has come to."""

    #: All parties' shares of the model together.
    model: Model
    #: By rows: ``train``, ``test`` and ``validation``, where there are such; then by metric.
    metrics: dict[str, dict[str, float]]
    #: ``label`` and the predictions of the rows that were held out for testing; None: there are none. By id; without an
    #: id by the index of the DataFrame, or by the row numbers of the file, from 1.
    predictions: pandas.DataFrame | None
    #: Whether the model equals centralised training bit for bit; None without ``check=True``.
    equals_centralised: bool | None
    seconds: float
    #: Payload between the active and the passive parties.
    bytes: dict[str, int]


def simulate(
    table: Table,
    label: str,
    parties: Parties,
    *,
    id: str | None = None,
    weight: str | None = None,
    base_margin: str | None = None,
    label_upper_bound: str | None = None,
    qid: str | None = None,
    positive: str | None = None,
    classes: Sequence[str] | None = None,
    test: Table | None = None,
    test_fraction: float | None = None,
    validation: Table | None = None,
    validation_fraction: float | None = None,
    missing: Sequence[str] = (),
    categorical: Sequence[str] | None = None,
    monotone_constraints: Mapping[str, int] | None = None,
    interaction_constraints: Mapping[str, Sequence[str]] | None = None,
    privacy: str | Mapping[str, Any] | None = None,
    scheme: str | None = None,
    key_bits: int | None = None,
    insecure_key_bits: int | None = None,
    check: bool = False,
    progress: Progress | None = None,
    **training: Any,
) -> Simulation:
    """Divides a table by columns between parties, and trains a federated model of them.

    Each party is a process of its own on this machine, with TLS and encryption between them.

    Args:
        table: a DataFrame, or the path of a .csv, .csv.gz or .parquet file.
        label: the column to predict. The first party holds it.
        parties: by name, the columns of each party; the first is the active party.
        check: train again with all columns in one place, and compare every node.
        progress: a bar (the default in notebooks and terminals), False, or a function that is called with each step.
        **training: training parameters by XGBoost's names, such as ``num_round`` and ``max_depth``.
    """
    options = split_options(locals())
    with Scratch() as scratch, Reporting(progress) as on_progress:
        options |= {"check": check}
        for name, rows in (("test", test), ("validation", validation)):
            if rows is not None:
                options[name] = table_path(rows, scratch, name)
        path = table_path(table, scratch)
        out = scratch.path("out")
        result = shared_session().call(
            "simulate", on_progress=on_progress, table=path, out=out, options=options
        )
        facts = result["predictions"]
        kind = table[id].dtype if isinstance(table, pandas.DataFrame) and id is not None else None
        predictions = None if facts is None else frame_of(facts, scratch.numbers(), kind)
        tested = table if test is None else test
        if predictions is not None and id is None and isinstance(tested, pandas.DataFrame):
            predictions.index = tested.index[predictions.index.astype("int64") - 1]
        return Simulation(
            model=Model(result["model"], list(parties), missing),
            metrics=known_metrics(result["metrics"]),
            predictions=predictions,
            equals_centralised=result["equalsCentralised"],
            seconds=result["seconds"],
            bytes=result["bytes"],
        )


def audit(
    table: Table,
    label: str,
    parties: Parties,
    *,
    id: str | None = None,
    missing: Sequence[str] = (),
    categorical: Sequence[str] | None = None,
    test_fraction: float | None = None,
    privacy: str | Mapping[str, Any] | None = None,
    scheme: str | None = None,
    seconds: float = 60,
    what_if: bool = False,
    progress: Progress | None = None,
    **training: Any,
) -> dict:
    """Computes what each party of such a job could learn about the others' data, as ``tandem audit`` does."""
    options = split_options(locals()) | {"seconds": seconds, "whatIf": what_if}
    with Scratch() as scratch, Reporting(progress) as on_progress:
        path = table_path(table, scratch)
        return shared_session().call("audit", on_progress=on_progress, table=path, options=options)


_SPLIT_OPTIONS = {
    "id": "id",
    "positive": "positive",
    "classes": "classes",
    "test_fraction": "testFraction",
    "validation_fraction": "validationFraction",
    "categorical": "categorical",
    "monotone_constraints": "monotone",
    "interaction_constraints": "interactions",
    "scheme": "scheme",
    "key_bits": "keyBits",
    "insecure_key_bits": "insecureKeyBits",
}
_ROW_COLUMNS = ("weight", "base_margin", "label_upper_bound", "qid")


def split_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``simulate`` and ``audit`` as the library names them."""
    parties, training, privacy = given["parties"], given["training"], given["privacy"]
    if len(parties) < 2:
        raise TandemInputError("USAGE", "parties must name at least two parties, the active one first")
    active, *passives = ([str(name) for name in columns] for columns in parties.values())
    options: dict[str, Any] = {"label": str(given["label"]), "active": active, "passives": passives}
    for name, theirs in _SPLIT_OPTIONS.items():
        if given.get(name) is not None:
            options[theirs] = plain(given[name])
    columns = {name: given[name] for name in _ROW_COLUMNS if given.get(name) is not None}
    if columns:
        options["columns"] = columns
    if given["missing"]:
        options["missing"] = list(given["missing"])
    if training:
        options["training"] = {name: plain(value) for name, value in training.items() if value is not None}
    if privacy is not None:
        options["privacy"] = {"privacy": privacy} if isinstance(privacy, str) else plain(privacy)
    return options


def plain(value: Any) -> Any:
    """The value in types that JSON has."""
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [plain(inner) for inner in value]
    return value.item() if isinstance(value, numpy.generic) else value


def known_metrics(metrics: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Undefined metrics, such as the AUC of one class, are NaN; parts that a job does not have are left out."""
    return {
        part: {name: numpy.nan if value is None else value for name, value in values.items()}
        for part, values in metrics.items()
        if values is not None
    }
