import pathlib
import re

import numpy
import pandas
import pytest
from conftest import FAST, PARTIES

import tandem


def test_predictions_equal_those_of_the_command(people, command, tmp_path):
    steps = []
    result = tandem.simulate(
        people, "paid", PARTIES, id="id", num_round=4, max_depth=2, check=True, progress=steps.append, **FAST
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "predictions.csv"
    table = ["--data", str(tmp_path / "people.csv"), "--id", "id", "--label", "paid"]
    columns = ["--active", "income,age", "--passive", "visits,basket"]
    training = ["--num-round", "4", "--max-depth", "2", "--scheme", "lattice"]
    command("simulate", *table, *columns, *training, "--predictions", str(out))
    theirs = pandas.read_csv(out).set_index("id")
    assert result.equals_centralised is True
    assert result.predictions.index.dtype == people["id"].dtype
    pandas.testing.assert_frame_equal(result.predictions, theirs, check_exact=True)
    assert [step["treesDone"] for step in steps if step["type"] == "tree" and "metrics" in step] == [1, 2, 3, 4]
    held_out = people.set_index("id").loc[result.predictions.index]
    values = result.model.predict(held_out)
    numpy.testing.assert_array_equal(values, result.predictions["prediction"])


def test_without_an_id_predictions_have_the_index_of_the_table(people):
    table = people.set_index(pandas.Index([f"row {row}" for row in range(len(people))], name="name"))
    result = tandem.simulate(table, "paid", PARTIES, num_round=2, max_depth=2, **FAST)
    assert result.predictions.index.name == "name"
    numpy.testing.assert_array_equal(result.predictions["label"], table.loc[result.predictions.index, "paid"])
    values = result.model.predict(table.loc[result.predictions.index])
    numpy.testing.assert_array_equal(values, result.predictions["prediction"])
    tested = tandem.simulate(people, "paid", PARTIES, test=table.iloc[10:20], num_round=1, **FAST)
    assert list(tested.predictions.index) == list(table.index[10:20])


def test_a_model_survives_a_file_and_gives_contributions_and_xgboost(people, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    model = tandem.simulate(people, "paid", PARTIES, test_fraction=0, num_round=3, max_depth=2, **FAST).model
    model.save(tmp_path / "model.json")
    again = tandem.Model.load(tmp_path / "model.json")
    margins = again.predict(people, output="margin")
    numpy.testing.assert_array_equal(margins, model.predict(people, output="margin"))
    shap = model.predict(people, contributions=True)
    assert list(shap.columns) == ["income", "age", "visits", "basket", "bias"]
    numpy.testing.assert_allclose(shap.sum(axis=1), margins, atol=1e-9)
    booster = model.to_xgboost()
    data = xgboost.DMatrix(people[booster.feature_names])
    numpy.testing.assert_allclose(booster.predict(data), model.predict(people), atol=1e-6)
    gains = booster.get_score(importance_type="total_gain")
    assert model.importance()["total_gain"].to_dict() == pytest.approx(gains, rel=1e-6)


def test_the_examples_of_the_documentation_run(people, tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[:2]
    people.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks), {})
    assert re.search(r"'auc': .*\} True$", capsys.readouterr().out, re.MULTILINE)


def test_categories_keep_their_meaning(people, tmp_path):
    table = people.assign(city=pandas.Categorical.from_codes(people["age"] % 3, ["Bern", "Genf, CH", 'U"ri']))
    table.loc[5, "city"] = None
    parties = {"bank": ["income"], "retailer": ["city", "visits"]}
    result = tandem.simulate(
        table, "paid", parties, enable_categorical=True, test_fraction=0, num_round=3, check=True, **FAST
    )
    assert result.equals_centralised is True and result.predictions is None and "test" not in result.metrics
    as_text = table.assign(city=table["city"].astype(object))
    numpy.testing.assert_array_equal(result.model.predict(table), result.model.predict(as_text))
    as_text.to_csv(tmp_path / "people.csv", index=False)
    numpy.testing.assert_array_equal(result.model.predict(table), result.model.predict(tmp_path / "people.csv"))


def test_errors_have_codes(people):
    with pytest.raises(tandem.TandemInputError, match="no column 'wages'") as caught:
        tandem.simulate(people, "paid", {"bank": ["wages"], "retailer": ["visits"]}, **FAST)
    assert caught.value.code == "COLUMN_UNKNOWN"
    with pytest.raises(ValueError, match="max_depth"):
        tandem.simulate(people, "paid", PARTIES, max_depth="deep")
    with pytest.raises(tandem.TandemError, match="maxdepth"):
        tandem.simulate(people, "paid", PARTIES, maxdepth=3)
    with pytest.raises(tandem.TandemInputError, match="dates"):
        tandem.simulate(people.assign(income=pandas.Timestamp("2026-01-01")), "paid", PARTIES)
    with pytest.raises(tandem.TandemInputError, match="not JSON") as caught:
        tandem.Model("no model").predict(people)
    assert caught.value.code == "FILE_FORMAT"
