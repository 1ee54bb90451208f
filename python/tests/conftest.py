"""Tables for the tests, and the fastest settings: the encryption has tests of its own."""

import pathlib
import subprocess

import numpy
import pandas
import pytest

from tandem._program import node, program_folder

FAST = {"scheme": "lattice"}
PARTIES = {"bank": ["income", "age"], "retailer": ["visits", "basket"]}


@pytest.fixture(scope="session")
def people() -> pandas.DataFrame:
    random = numpy.random.default_rng(11)
    count = 300
    table = pandas.DataFrame(
        {
            "id": numpy.arange(5000, 5000 + count),
            "income": random.normal(size=count),
            "age": random.integers(18, 80, size=count),
            "visits": random.normal(size=count),
            "basket": random.normal(size=count),
        }
    )
    table["paid"] = (table["income"] + table["visits"] + 0.3 * random.normal(size=count) > 0).astype(int)
    table.loc[::17, "basket"] = numpy.nan
    return table


@pytest.fixture(scope="session")
def command():
    def run(*arguments: str) -> subprocess.CompletedProcess:
        program = [node(), str(pathlib.Path(program_folder()) / "bin" / "tandem.js")]
        return subprocess.run([*program, *arguments], capture_output=True, encoding="utf-8", check=True)

    return run
