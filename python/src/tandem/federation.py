"""Jobs between companies: the active party trains and scores, a passive party serves."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas

from ._program import node, program_folder
from ._progress import Progress, Reporting
from ._session import Scratch, Session
from ._tables import Table, frame_of, table_path
from .errors import TandemError
from .model import booster_of, known_metrics, plain

__all__ = ["Certificate", "FederatedModel", "Job", "PartyServer", "create_certificate", "open_model", "party", "train"]

Config = str | Mapping[str, Any]


class FederatedModel:
    """A model of which this party holds its share. Scoring asks the passive parties."""

    def __init__(self, session: Session, config: Config, facts: Mapping[str, Any]) -> None:
        self._session = session
        self._config = config
        self._handle = facts["handle"]
        self.id: str = facts["id"]
        self.job: str = facts["job"]
        self.objective: str = facts["objective"]
        self.tree_count: int = facts["treeCount"]
        self.passives: list[str] = facts["passives"]

    def predict(
        self,
        people: Sequence | pandas.Index | pandas.DataFrame | str,
        *,
        output: Literal[
            "prediction", "margin", "leaf", "contributions", "party_contributions", "own_contributions"
        ] = "prediction",
        contributions: bool = False,
        iteration_range: tuple[int, int] | None = None,
        unknown: Literal["refuse", "skip", "missing"] = "refuse",
    ) -> pandas.DataFrame:
        """Outputs for people, by id.

        Args:
            people: ids, whose values this party takes from the table of its config; or a table of its own columns,
                as a DataFrame or the path of a file.
            contributions: SHAP values: a column per own feature and one per passive party.
            unknown: people whom a party does not hold: ``refuse`` the call, ``skip`` them (NaN), or score them as if
                that party's values were ``missing``. ``frame.attrs["unknown"]`` says who they are.
        """
        options: dict[str, Any] = {"output": "contributions" if contributions else output, "unknown": unknown}
        if iteration_range is not None:
            options["iterations"] = list(iteration_range)
        with Scratch() as scratch:
            if isinstance(people, (pandas.DataFrame, str)):
                asked, kind = table_path(people, scratch), _id_kind(people, self._config)
            else:
                index = pandas.Index(people)
                asked, kind = [str(one) for one in index], index.dtype
            facts = self._session.call(
                "score", handle=self._handle, people=asked, out=scratch.path("out"), options=options
            )
            frame = frame_of(facts, scratch.numbers(), kind)
        frame.attrs["unknown"] = facts["unknown"]
        return frame

    def xgboost_json(self, consents: Sequence[str]) -> str:
        """The complete model as JSON for XGBoost. It takes the consent file of every passive party."""
        with Scratch() as scratch:
            path = scratch.path("model.json")
            flags = [flag for consent in consents for flag in ("--consent", str(consent))]
            command = ["model", "export", "-c", _config_path(self._config), "--model", self.job, "--to", "xgboost"]
            run([*command, *flags, "--out", path])
            with open(path, encoding="utf-8") as file:
                return file.read()

    def to_xgboost(self, consents: Sequence[str]):
        """The complete model as an ``xgboost.Booster``."""
        return booster_of(self.xgboost_json(consents))

    def close(self) -> None:
        """Closes connections to passive parties."""
        self._session.close()


@dataclass(frozen=True)
class Job:
    """What a job of the active party has come to."""

    #: Its name.
    name: str
    #: Where this party's share of the model, predictions and records are.
    folder: str
    model: FederatedModel
    metrics: dict[str, dict[str, float]]
    #: Of the people who were held out for testing, by id; None: there are none.
    predictions: pandas.DataFrame | None


def train(config: Config, *, progress: Progress | None = None) -> Job:
    """Runs a job of the active party, or continues one that was interrupted.

    Args:
        config: the path of a YAML file, or its fields as a dict.
        progress: a bar (the default in notebooks and terminals), False, or a function that is called with each step.
    """
    session = Session()
    try:
        with Scratch() as scratch, Reporting(progress) as on_progress:
            result = session.call(
                "train", on_progress=on_progress, config=plain(config), out=scratch.path("out")
            )
            facts = result["predictions"]
            return Job(
                name=result["job"],
                folder=result["folder"],
                model=FederatedModel(session, config, result["model"]),
                metrics=known_metrics(result["metrics"]),
                predictions=None if facts is None else frame_of(facts, scratch.numbers()),
            )
    except BaseException:
        session.close()
        raise


def open_model(config: Config, name: str) -> FederatedModel:
    """A model of an earlier job, by the job's name, the model's id, or the job's folder."""
    session = Session()
    try:
        return FederatedModel(session, config, session.call("openModel", config=plain(config), name=name))
    except BaseException:
        session.close()
        raise


class PartyServer:
    """A passive party that is listening. ``with tandem.party(config) as server`` closes it at the end."""

    def __init__(self, session: Session, facts: Mapping[str, Any]) -> None:
        self._session = session
        self._handle = facts["handle"]
        #: The port that it listens on, also where the config says 0.
        self.port: int = facts["port"]

    def wait(self) -> None:
        """Waits until the party ends."""
        self._session.call("partyClosed", handle=self._handle)

    def close(self) -> None:
        """Ends jobs that are under way, and stops listening. Jobs can be continued when the party listens again."""
        if self._session.is_running:
            try:
                self._session.call("closeParty", handle=self._handle)
            finally:
                self._session.close()

    def __enter__(self) -> PartyServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def party(config: Config, *, progress: Progress = False) -> PartyServer:
    """Starts a passive party as a process of its own, and returns when it is listening.

    Args:
        config: the path of a YAML file, or its fields as a dict.
        progress: a function that is called for the steps of its jobs, from another thread.
    """
    session = Session()
    try:
        on_progress = progress if callable(progress) else None
        facts = session.call("party", on_progress=on_progress, listen=True, config=plain(config))
        return PartyServer(session, facts)
    except BaseException:
        session.close()
        raise


@dataclass(frozen=True)
class Certificate:
    """A party's certificate, and what other parties recognise it by."""

    #: Paths, for ``tls`` of the party's own config.
    tls: dict[str, str]
    #: For ``fingerprint`` in the configs of other parties.
    fingerprint: str


def create_certificate(name: str, folder: str) -> Certificate:
    """Makes a key and a self-signed certificate, as ``tandem init`` does. Nothing that exists is overwritten."""
    session = Session()
    try:
        facts = session.call("createCertificate", name=name, folder=str(folder))
        return Certificate(facts["tls"], facts["fingerprint"])
    finally:
        session.close()


def run(arguments: Sequence[str]) -> str:
    """Runs the command ``tandem`` and returns its output."""
    command = [node(), str(program_folder() / "bin" / "tandem.js"), *arguments]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if result.returncode != 0:
        raise _failure(result.stderr)
    return result.stdout


def _failure(said: str) -> TandemError:
    """The last line is ``error: message (CODE)``."""
    line = (said.strip().splitlines() or ["the command failed"])[-1].removeprefix("error: ")
    message, bracket, code = line.removesuffix(")").rpartition(" (")
    return TandemError(code, message) if bracket and code.isupper() else TandemError("INTERNAL", line)


def _config_path(config: Config) -> str:
    if isinstance(config, str):
        return config
    raise TandemError("USAGE", "an export takes a config in a file")


def _id_kind(people: pandas.DataFrame | str, config: Config) -> Any:
    """The type of the ids in a DataFrame, whose column the config names."""
    if isinstance(people, pandas.DataFrame) and isinstance(config, Mapping):
        column = config.get("data", {}).get("id")
        return people[column].dtype if column in people else None
    return None

