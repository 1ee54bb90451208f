"""Trains with the XGBoost that runs this, and loads the exported model: JSON in, JSON out. compare.py starts it."""
import collections
import json
import sys

import numpy as np
import xgboost as xgb


def codes_of(table, column, by):
    """By text: as pandas numbers them. By frequency: the most frequent first, then by text."""
    at = table["names"].index(column)
    counts = collections.Counter(row[at] for row in table["rows"] if row[at] != "")
    order = (lambda name: (-counts[name], name)) if by == "frequency" else None
    return {name: code for code, name in enumerate(sorted(counts, key=order))}


def matrix(table, columns, kinds, codes):
    values = np.full((len(table["rows"]), len(columns)), np.nan, dtype="float32")
    for c, column in enumerate(columns):
        at = table["names"].index(column)
        for r, row in enumerate(table["rows"]):
            if row[at] != "":
                values[r, c] = codes[column].get(row[at], len(codes[column])) if kinds[c] == "c" else float(row[at])
    labels = np.array([float(row[table["names"].index("y")]) for row in table["rows"]])
    return xgb.DMatrix(values, labels, feature_names=columns, feature_types=kinds, enable_categorical=True)


job = json.load(sys.stdin)
train, test, columns, kinds = job["train"], job["test"], job["columns"], job["kinds"]
codes = {column: codes_of(train, column, job["codes"]) for column, kind in zip(columns, kinds) if kind == "c"}
data, held = matrix(train, columns, kinds, codes), matrix(test, columns, kinds, codes)
parameters = {**job["parameters"], "tree_method": "hist", "nthread": 2}
rounds = parameters.pop("num_round")
booster = xgb.train(parameters, data, rounds)
loaded = xgb.Booster()
loaded.load_model(job["export"])
listed = json.loads(loaded.attr("categories") or "{}")
exported_codes = {column: {name: i for i, name in enumerate(listed.get(column, []))} for column in codes}


def predicted_by_export(table):
    # Columns that are never split on are left out, and categories have numbers of their own.
    names = loaded.feature_names
    of_table = [kinds[columns.index(name)] for name in names]
    return loaded.predict(matrix(table, names, of_table, exported_codes)).reshape(-1).tolist()


found = {
    "own": booster.predict(held).reshape(-1).tolist(),
    "own_of_training": booster.predict(data).reshape(-1).tolist(),
    "exported": predicted_by_export(test),
    "exported_of_training": predicted_by_export(train),
}
json.dump(found, sys.stdout)
