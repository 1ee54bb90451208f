"""Trains with the XGBoost that runs this, and loads the exported model: JSON in, JSON out. compare.py starts it."""
import json
import sys

import numpy as np
import xgboost as xgb


def matrix(table, columns, kinds, codes):
    values = np.full((len(table["rows"]), len(columns)), np.nan, dtype="float32")
    for c, column in enumerate(columns):
        at = table["names"].index(column)
        for r, row in enumerate(table["rows"]):
            if row[at] != "":
                values[r, c] = codes[column].get(row[at], -1) if kinds[c] == "c" else float(row[at])
    labels = np.array([float(row[table["names"].index("y")]) for row in table["rows"]])
    return xgb.DMatrix(values, labels, feature_names=columns, feature_types=kinds, enable_categorical=True)


job = json.load(sys.stdin)
train, test, columns, kinds = job["train"], job["test"], job["columns"], job["kinds"]
codes = {}
for column, kind in zip(columns, kinds):
    if kind == "c":  # as pandas numbers them
        at = train["names"].index(column)
        codes[column] = {name: i for i, name in enumerate(sorted({row[at] for row in train["rows"]} - {""}))}
data, held = matrix(train, columns, kinds, codes), matrix(test, columns, kinds, codes)
parameters = {**job["parameters"], "tree_method": "hist", "nthread": 2}
rounds = parameters.pop("num_round")
booster = xgb.train(parameters, data, rounds)
found = {"version": xgb.__version__, "own": booster.predict(held).reshape(-1).tolist(), "loaded": None}
if job["export"] is not None:
    loaded = xgb.Booster()
    loaded.load_model(job["export"])
    # Its features are in the order of the parties.
    found["loaded"] = loaded.predict(matrix(test, columns, kinds, codes)).reshape(-1).tolist()
json.dump(found, sys.stdout)
