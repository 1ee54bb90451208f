#!/usr/bin/env python3
"""Tandem against XGBoost 1.7, 2.1 and 3.2 on held-out rows: each trains on the same rows with the same parameters.

    npm run build && python3 lab/held-out/compare.py [--data FOLDER] [--rows 4000] [--only NAME] [--codes frequency]

Makes a virtual environment per version, with pip, in lab/held-out/.venvs. FOLDER (TANDEM_DATA) has the public tables
of docs/data.md; without it only generated tables are compared. Prints a table of the largest differences of
predictions, relative to max(1, |prediction|): Tandem's exported model against XGBoost's, for training rows; the same
for held-out rows; Tandem's own predictions of held-out rows against its exported model's. Then how many held-out
predictions differ from XGBoost's by more than 1e-5: docs/xgboost.md says why some do. XGBoost numbers categories
alphabetically, as pandas does; with --codes frequency as Tandem does without XGBoost's cuts. Where labels are 0 and 1
the last column is the log loss of the held-out rows: Tandem's, then XGBoost's.
"""
import argparse
import csv
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).parent
versions = ["1.7.6", "2.1.4", "3.2.0"]


def python_with(version, folder):
    python = folder / version / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / version], check=True)
        packages = [f"xgboost=={version}", "numpy<2.3", "scipy<1.16"]
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *packages], check=True)
    return python


def public(path, label, left_out=(), text=()):
    def read(rows):
        with gzip.open(path, "rt") as file:
            lines = list(csv.DictReader(file))
        random.Random(1).shuffle(lines)
        names = [name for name in lines[0] if name not in (label, *left_out)]
        cells = [[("" if line[name] == "NA" else line[name]) for name in names] for line in lines[: rows * 4 // 3]]
        labels = ["1" if line[label] in ("1", "yes") else "0" for line in lines]
        return names, [[*row, y] for row, y in zip(cells, labels)], [name for name in names if name in text]

    return read


def generated(label, missing=0.05):
    def read(rows):
        draw = random.Random(7)
        lines = []
        for _ in range(rows * 4 // 3):
            values = [draw.gauss(0, 1) for _ in range(10)]
            signal = values[0] - values[5] + (values[2] if values[6] > 0 else -values[3])
            cells = ["" if draw.random() < missing else f"{value:.5f}" for value in values]
            lines.append([*cells, str(label(signal, draw))])
        return [f"x{i}" for i in range(10)], lines, []

    return read


def categories(count):
    """A column of categories, some frequent and most rare, with an effect each, between numbers."""

    def read(rows):
        draw = random.Random(count)
        effects = [draw.gauss(0, 1) for _ in range(count)]
        lines = []
        for _ in range(rows * 4 // 3):
            values = [draw.gauss(0, 1) for _ in range(3)]
            code = min(draw.randrange(count), draw.randrange(count))
            label = int(draw.gauss(values[0] + effects[code], 1) > 0)
            # Digits backwards, so that neither frequency nor effect follows from the order of the texts.
            lines.append([*(f"{value:.5f}" for value in values), f"k{str(code).zfill(4)[::-1]}", str(label)])
        return ["x0", "x1", "x2", "k"], lines, ["k"]

    return read


def log_loss(predictions, labels):
    chances = [p if y == 1 else 1 - p for p, y in zip(predictions, labels)]
    return -sum(math.log(max(chance, 1e-12)) for chance in chances) / len(labels)


def poisson(signal, draw):
    count, chance = 0, draw.random()
    mean = 2.718281828 ** (0.4 * signal)
    term = total = 2.718281828**-mean
    while total < chance and count < 100:
        count += 1
        term *= mean / count
        total += term
    return count


def settings(folder):
    logistic = {"objective": "binary:logistic", "base_score": 0.5, "eta": 0.3, "max_depth": 4, "num_round": 10}
    logistic["max_bin"] = 64
    made = {
        "generated, logistic": (generated(lambda s, d: int(d.gauss(s, 1) > 0)), logistic),
        "generated, no value missing": (generated(lambda s, d: int(d.gauss(s, 1) > 0), 0), logistic),
        "generated, deep, gamma and alpha": (
            generated(lambda s, d: int(d.gauss(s, 1) > 0)),
            {**logistic, "max_depth": 7, "gamma": 0.5, "alpha": 0.3, "min_child_weight": 3},
        ),
        "generated, squared error": (
            generated(lambda s, d: round(d.gauss(s, 0.5), 4)),
            {**logistic, "objective": "reg:squarederror"},
        ),
        "generated, Poisson": (generated(poisson), {**logistic, "objective": "count:poisson"}),
        "generated, three classes": (
            generated(lambda s, d: min(2, max(0, round(d.gauss(s, 0.5) + 1)))),
            {**logistic, "objective": "multi:softprob", "num_class": 3},
        ),
        "generated, Gamma": (
            generated(lambda s, d: round(2.718281828**s * d.gammavariate(2, 0.5) + 1e-4, 6)),
            {**logistic, "objective": "reg:gamma"},
        ),
        "generated, 100 categories": (categories(100), logistic),
        "generated, 700 categories": (categories(700), logistic),
        "generated, 2,000 categories": (categories(2000), logistic),
    }
    if folder is None:
        return made
    default = public(folder / "default/UCI_Credit_Card.csv.gz", "default.payment.next.month", ("ID",))
    giveme = public(folder / "giveme/cs-training.csv.gz", "SeriousDlqin2yrs", ("",))
    text = ("poutcome", "job", "marital", "education", "default", "housing", "loan", "contact", "month")
    bank = folder / "bank/bank-full.csv.gz"
    return {
        **made,
        "Default of Credit Card Clients": (default, logistic),
        "Give Me Some Credit": (giveme, {**logistic, "max_bin": 255}),
        "Bank Marketing, numbers": (public(bank, "y", text), {**logistic, "max_depth": 6, "max_bin": 255}),
        "Bank Marketing, one category each": (public(bank, "y", (), text), {**logistic, "max_cat_to_onehot": 64}),
        "Bank Marketing, sets of categories": (public(bank, "y", (), text), {**logistic, "max_cat_to_onehot": 2}),
    }


def written(path, names, lines):
    """With ids in the order of the rows, also as text: Tandem trains in that order, and XGBoost's cuts depend on it."""
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["row", *names, "y"], *([f"{i:09}", *line] for i, line in enumerate(lines))])


def tandem(folder, names, text, parameters):
    half = len(names) // 2
    options = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    command = [
        "node", str(here / "../../bin/tandem.js"), "simulate", "--data", f"{folder}/train.csv",
        "--test-data", f"{folder}/test.csv", "--id", "row", "--label", "y", "--active", ",".join(names[:half]),
        "--passive", ",".join(names[half:]), "--insecure-key-bits", "256", "--bin-cuts", "xgboost", "--quiet", "--json",
        "--export", f"{folder}/model.json", "--predictions", f"{folder}/predictions.csv", *options,
        *(["--enable-categorical", "--min-category-people=0"] if text else []),
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    with open(folder / "predictions.csv") as file:
        lines = list(csv.reader(file))
    return [float(cell) for line in lines[1:] for cell in line[2:]]


def far(a, b):
    return max(abs(x - y) / max(1, abs(y)) for x, y in zip(a, b, strict=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.environ.get("TANDEM_DATA"))
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--only", default="")
    parser.add_argument("--codes", choices=["frequency", "text"], default="text")
    parser.add_argument("--venvs", default=here / ".venvs", type=pathlib.Path)
    given = parser.parse_args()
    pythons = {version: python_with(version, given.venvs) for version in versions}
    print(f"| setting ({given.rows:,} rows, a quarter held out) |" + "".join(f" XGBoost {v} |" for v in versions))
    print("| --- |" + " ---: |" * len(versions))
    for name, (read, parameters) in settings(given.data and pathlib.Path(given.data)).items():
        if given.only not in name:
            continue
        names, lines, text = read(given.rows * 3 // 4)
        cut = len(lines) * 3 // 4
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            written(folder / "train.csv", names, lines[:cut])
            written(folder / "test.csv", names, lines[cut:])
            ours = tandem(folder, names, text, parameters)
            job = {
                "train": {"names": [*names, "y"], "rows": lines[:cut]},
                "test": {"names": [*names, "y"], "rows": lines[cut:]},
                "columns": names,
                "kinds": ["c" if column in text else "float" for column in names],
                "parameters": parameters,
                "codes": given.codes,
                "export": f"{folder}/model.json",
            }
            labels = [float(line[-1]) for line in lines[cut:]]
            cells = []
            for python in pythons.values():
                run = subprocess.run([python, here / "train.py"], input=json.dumps(job), capture_output=True, text=True)
                if run.returncode != 0:
                    cells.append(run.stderr.strip().splitlines()[-1])
                    continue
                found = json.loads(run.stdout)
                figures = [
                    far(found["exported_of_training"], found["own_of_training"]),
                    far(ours, found["own"]),
                    far(ours, found["exported"]),
                ]
                apart = sum(abs(x - y) > 1e-5 * max(1, abs(y)) for x, y in zip(ours, found["own"]))
                cells.append(" / ".join(f"{figure:.1e}" for figure in figures) + f" / {apart} of {len(ours)}")
                if parameters["objective"] == "binary:logistic":
                    cells[-1] += f" / {log_loss(ours, labels):.4f}, {log_loss(found['own'], labels):.4f}"
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


main()
