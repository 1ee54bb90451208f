"""Trains XGBoost on the columns that local-xgboost.ts writes; it starts this with their folder. Prints JSON."""
import json
import sys
import time

import numpy
import xgboost

folder = sys.argv[1]
with open(f"{folder}/job.json") as file:
    job = json.load(file)


def read(name):
    table = numpy.fromfile(f"{folder}/{name}", dtype=numpy.float32).reshape(-1, job["counts"][name])
    return table[1:].T, table[0]


def matrix(features, labels):
    return xgboost.DMatrix(features, labels, feature_types=job["kinds"], enable_categorical=True)


features, labels = read("train")
held = numpy.zeros(len(labels), dtype=bool)
held[job["validation"] or []] = True
data, test = matrix(features[~held], labels[~held]), matrix(*read("test"))
parameters = {**job["parameters"], "tree_method": "hist", "nthread": 2, "verbosity": 0}
stopping = {}
if job["early_stopping_rounds"] > 0:
    watched = [(matrix(features[held], labels[held]), "validation")]
    stopping = {"evals": watched, "early_stopping_rounds": job["early_stopping_rounds"], "verbose_eval": False}
cpu, wall = time.process_time(), time.perf_counter()
model = xgboost.train(parameters, data, job["rounds"], **stopping)
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
trees = model.best_iteration + 1 if stopping else job["rounds"]
value = float(model[:trees].eval(test).split(":")[-1])
print(json.dumps({"version": xgboost.__version__, "cpu": cpu, "wall": wall, "trees": trees, "value": value}))
