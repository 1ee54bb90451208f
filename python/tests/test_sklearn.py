import pickle

import numpy
import pandas
import pytest
from conftest import FAST, PARTIES

import tandem

pytest.importorskip("sklearn")

from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402


def test_a_classifier_equals_a_simulation_and_can_be_pickled(people):
    features = people[["income", "age", "visits", "basket"]]
    names = numpy.where(people["paid"] == 1, "yes", "no")
    given = {"n_estimators": 3, "max_depth": 2, "random_state": 7}
    model = tandem.TandemClassifier(PARTIES, **given, **FAST).fit(features, names)
    same = tandem.simulate(people, "paid", PARTIES, test_fraction=0, num_round=3, max_depth=2, **FAST).model
    numpy.testing.assert_array_equal(model.predict_proba(features)[:, 1], same.predict(people))
    assert list(model.classes_) == ["no", "yes"]
    assert set(model.predict(features)) == {"no", "yes"}
    assert model.feature_importances_.sum() == pytest.approx(1)
    again = pickle.loads(pickle.dumps(model))
    numpy.testing.assert_array_equal(again.predict(features), model.predict(features))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(features.rename(columns={"age": "years"}))


def test_arrays_several_classes_weights_and_pipelines(people):
    values = people[["income", "age", "visits", "basket"]].to_numpy()
    classes = people["age"].to_numpy() % 3
    parties = {"bank": [0, 1], "retailer": [2, 3]}
    model = tandem.TandemClassifier(parties, n_estimators=2, **FAST)
    proba = model.fit(values, classes, sample_weight=numpy.linspace(0.5, 2, len(values))).predict_proba(values)
    assert proba.shape == (len(values), 3)
    numpy.testing.assert_allclose(proba.sum(axis=1), 1)
    pipeline = make_pipeline(StandardScaler(), tandem.TandemRegressor(parties, n_estimators=4, **FAST))
    assert cross_val_score(pipeline, values, values[:, 0] + values[:, 2], cv=2).min() > 0.3


def test_a_ranker_orders_the_rows_of_a_group(people):
    features = people[["income", "visits"]]
    groups = numpy.arange(len(people)) // 10
    relevance = pandas.cut(people["income"] + people["visits"], 4, labels=False)
    ranker = tandem.TandemRanker({"bank": ["income"], "retailer": ["visits"]}, n_estimators=5, **FAST)
    scores = ranker.fit(features, relevance, qid=groups).predict(features)
    assert numpy.corrcoef(scores, relevance)[0, 1] > 0.5
