"""DataFrames as Parquet files for the program, and its results as DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import pandas

from ._session import Scratch
from .errors import TandemInputError

Table = pandas.DataFrame | str | os.PathLike


def table_path(table: Table, scratch: Scratch, name: str = "table") -> str:
    """The path of a table: its own, or that of a Parquet file that is written for a DataFrame."""
    if isinstance(table, (str, os.PathLike)):
        return os.path.abspath(table)
    path = scratch.path(f"{name}.parquet")
    plain = pandas.DataFrame({str(column): _plain(table[column]) for column in table.columns})
    if len(plain.columns) != len(table.columns):
        raise TandemInputError("COLUMN_SHARED", "the table has two columns of the same name")
    plain.to_parquet(path, index=False)
    os.chmod(path, 0o600)
    return path


def _plain(column: pandas.Series) -> pandas.Series:
    """The column in a type that the program reads: numbers, or text, with missing values."""
    kind = column.dtype
    if isinstance(kind, pandas.CategoricalDtype):
        column = column.astype(kind.categories.dtype if kind.categories.dtype.kind in "iufb" else object)
        kind = column.dtype
    if pandas.api.types.is_bool_dtype(kind):
        return column.astype("float64") if column.isna().any() else column.astype("int64")
    if pandas.api.types.is_numeric_dtype(kind):
        if kind.kind == "c":
            raise TandemInputError("CELL_UNPARSABLE", f"column '{column.name}' holds complex data")
        return column.astype("float64") if column.isna().any() or kind.kind == "f" else column.astype("int64")
    if pandas.api.types.is_datetime64_any_dtype(kind):
        raise TandemInputError(
            "CELL_UNPARSABLE", f"column '{column.name}' holds dates: turn it into numbers, such as days since a date"
        )
    return column.map(lambda cell: None if pandas.isna(cell) else str(cell)).astype(object)


def ids_like(ids: Sequence[str], kind: Any) -> pandas.Index:
    """Ids in the type that they had in the caller's table; the program returns text."""
    if kind is not None and pandas.api.types.is_integer_dtype(kind):
        return pandas.Index(numpy.asarray(ids, dtype=numpy.int64), name="id").astype(kind)
    return pandas.Index(ids, name="id", dtype=object)


def frame_of(facts: Mapping[str, Any], numbers: numpy.ndarray, id_kind: Any = None) -> pandas.DataFrame:
    """What the program returns of people: a row for each, with labels where it has them."""
    names = list(facts["names"])
    frame = pandas.DataFrame(numbers.reshape(len(facts["ids"]), len(names)), columns=names)
    frame.index = ids_like(facts["ids"], id_kind)
    if facts.get("labels") is not None:
        frame.insert(0, "label", facts["labels"])
    return frame
