/** `tandem simulate` and `tandem demo` as a user calls them: real processes, TLS and files. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { partOf } from "./support/campaign.ts";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { type ProcessEnd, startTandem, tandem } from "./world/tandem-process.ts";

const directory = scratchDirectory();
const table = join(directory, "loans.csv");
writeLoanTable(table, 240);
const parties = ["--active", "income,debt,age", "--passive", "visits,basket", "--passive", "minutes"];
/** The same columns in two companies, where their number does not matter: every company is a process to start. */
const pair = ["--active", "income,debt,age", "--passive", "visits,basket,minutes"];
const small = ["--num-round", "3", "--insecure-key-bits", "256", "--quiet", "--json"];

interface Json {
  readonly [key: string]: unknown;
  readonly counts: Readonly<Record<string, number>>;
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
  readonly metrics: {
    readonly train: Readonly<Record<string, number>>;
    readonly test: Readonly<Record<string, number>>;
  };
}

function result({ exitCode, stdout, stderr }: ProcessEnd): Json {
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  return JSON.parse(stdout) as Json;
}

/** Of real processes; where those do not matter, command and parties run in this one. */
const json = async (...args: string[]): Promise<Json> => result(await tandem("simulate", ...args));
const inProcess = async (...args: string[]): Promise<Json> => result(await tandemHere("simulate", ...args));

describe("simulate", () => {
  test("with noise in answers: identical to centralised", async () => {
    const common = ["--data", table, "--id", "id", "--label", "defaulted", ...parties, ...small, "--answer-noise", "2"];
    const noisy = await inProcess(...common, "--check", "--max-depth", "4");
    expect(noisy["identicalToCentralised"]).toBe(true);
  });

  /** What others are compared with: trained once. */
  let trained: Promise<Json> | undefined;
  const common = ["--data", table, "--id", "id", "--label", "defaulted", ...parties, ...small, "--check"];
  const plain = (): Promise<Json> => (trained ??= json(...common));

  test("identical to centralised, with one ciphertext per instance and tree", async () => {
    const batched = await plain();
    expect(batched["identicalToCentralised"]).toBe(true);
    expect(batched.metrics.test["auc"]).toBeGreaterThan(0.7);
    // 180 training rows, 3 trees; sent to 2 passive parties.
    expect(batched.counts["encryptions"]).toBe(540);
    expect(batched.counts["gradientCiphertexts"]).toBe(1080);
    expect(Object.keys(batched)).toEqual([
      "trees",
      "scheme",
      "keyBits",
      "codec",
      "layout",
      "metrics",
      "identicalToCentralised",
      "seconds",
      "cpuSeconds",
      "counts",
      "bytes",
      "importance",
    ]);
    expect(Object.keys(batched["seconds"] as object)).toEqual([
      "total",
      "keygen",
      "handshake",
      "encrypt",
      "aggregate",
      "decrypt",
      "perTree",
    ]);
    expect(batched.bytes.activeToPassive).toBeGreaterThan(1080 * 64);
    expect(batched.bytes.passiveToActive).toBeGreaterThan(0);
  });

  test("gzip, an id by position, words as labels, own missing token, separate test data, predictions", async () => {
    const train = join(directory, "train.csv.gz");
    const plain = join(directory, "train.csv");
    writeLoanTable(plain, 200, { missing: "?", words: true });
    writeFileSync(train, gzipSync(readFileSync(plain)));
    const testFile = join(directory, "test.csv");
    writeLoanTable(testFile, 60, { missing: "NA", words: true });
    const predictions = join(directory, "predictions.csv");
    const result = await inProcess(
      "--data",
      train,
      "--id",
      "#0",
      "--label",
      "defaulted",
      "--positive",
      "yes",
      "--missing",
      "?",
      "--test-data",
      testFile,
      ...pair,
      ...small,
      "--check",
      "--predictions",
      predictions,
    );
    expect(result["identicalToCentralised"]).toBe(true);
    const lines = readFileSync(predictions, "utf8").trim().split("\n");
    expect(lines[0]).toBe("id,label,prediction");
    expect(lines).toHaveLength(61);
    const [id, label, prediction] = lines[1].split(",");
    expect(id).toBe("c0");
    expect(["0", "1"]).toContain(label);
    expect(Number(prediction)).toBeGreaterThan(0);
    expect(Number(prediction)).toBeLessThan(1);
  });

  test("regression, without an id, with one passive party and no active features", async () => {
    const result = await inProcess(
      "--data",
      table,
      "--label",
      "income",
      "--objective",
      "reg:squarederror",
      "--base-score",
      "0",
      "--passive",
      "debt,age,visits,basket,minutes",
      ...small,
      "--check",
    );
    expect(result["identicalToCentralised"]).toBe(true);
    expect(Object.keys(result.metrics.test)).toEqual(["rmse"]);
  });

  test("instance weights, L1 regularisation by both of its names, leaf-wise growth", async () => {
    const common = [
      "--data",
      table,
      "--id",
      "id",
      "--label",
      "defaulted",
      "--weight",
      "age",
      "--active",
      "income,debt",
      "--passive",
      "visits,basket",
      ...small,
    ];
    const { exitCode, stderr } = await tandemHere("simulate", ...common);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/column 'age': the weight is negative \(WEIGHT_INVALID\)/);
    const weighted = join(directory, "weighted.csv");
    const [head, ...lines] = readFileSync(table, "utf8").trim().split("\n");
    writeFileSync(weighted, [`${head},exposure`, ...lines.map((line, i) => `${line},${1 + (i % 3)}`)].join("\n"));
    const options = [
      "--data",
      weighted,
      "--id",
      "id",
      "--label",
      "defaulted",
      "--weight",
      "exposure",
      "--active",
      "income,debt,age",
      "--passive",
      "visits,basket",
      ...small,
      "--check",
    ];
    const results = await Promise.all(
      [["--alpha", "2"], ["--reg-alpha", "2"], []].map((more) =>
        inProcess(...options, "--grow-policy", "lossguide", "--max-leaves", "6", ...more),
      ),
    );
    for (const result of results) expect(result["identicalToCentralised"]).toBe(true);
    expect(results[1].metrics).toEqual(results[0].metrics);
    expect(results[2].metrics).not.toEqual(results[0].metrics);
  });

  test("monotone constraints by column name at any party; a misspelt name is refused", async () => {
    const options = ["--data", table, "--id", "id", "--label", "defaulted", ...pair, ...small, "--check"];
    const result = await inProcess(
      ...options,
      "--monotone-constraints",
      "income:1,visits:-1",
      "--subsample",
      "0.7",
      "--colsample-bynode",
      "0.6",
    );
    expect(result["identicalToCentralised"]).toBe(true);
    const { exitCode, stderr } = await tandemHere("simulate", ...options, "--monotone-constraints", "incom:1");
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/'incom'.*did you mean 'income'/);
  });

  test("several classes: a prediction per class, a file for XGBoost, the number of ciphertexts said", async () => {
    const classes = join(directory, "classes.csv");
    const [head, ...lines] = readFileSync(table, "utf8").trim().split("\n");
    const classOf = (line: string): number =>
      Number(line.split(",")[1]) < -0.5 ? 0 : Number(line.split(",")[4]) < 0.3 ? 1 : 2;
    writeFileSync(classes, [`${head},segment`, ...lines.map((line) => `${line},${classOf(line)}`)].join("\n"));
    const predictions = join(directory, "classes-predictions.csv");
    const options = [
      "--data",
      classes,
      "--id",
      "id",
      "--label",
      "segment",
      "--active",
      "income,debt",
      "--passive",
      "visits,basket",
      "--objective",
      "multi:softprob",
      "--num-class",
      "3",
      ...small,
      "--check",
    ];
    const result = await inProcess(...options, "--predictions", predictions, "--multi-strategy", "multi_output_tree");
    expect(result["identicalToCentralised"]).toBe(true);
    expect(Object.keys(result.metrics.test)).toEqual(["merror", "mlogloss"]);
    expect(result.metrics.test["merror"]).toBeLessThan(0.2);
    expect(result["layout"]).toMatchObject({ plaintextsPerInstance: 1 });
    const rows = readFileSync(predictions, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    expect(rows[0]).toEqual(["id", "label", "prediction_0", "prediction_1", "prediction_2"]);
    for (const [, , ...fractions] of rows.slice(1))
      expect(fractions.map(Number).reduce((a, b) => a + b)).toBeCloseTo(1, 9);
  });

  test("a validation set, metrics by name, and early stopping", async () => {
    const options = [
      "--data",
      table,
      "--id",
      "id",
      "--label",
      "defaulted",
      ...pair,
      "--insecure-key-bits",
      "256",
      "--quiet",
      "--json",
      "--check",
      "--num-round",
      "40",
      "--eta",
      "1",
      "--max-depth",
      "5",
    ];
    const result = await inProcess(
      ...options,
      "--validation-fraction",
      "0.3",
      "--early-stopping-rounds",
      "2",
      "--eval-metric",
      "error,logloss",
    );
    expect(result["identicalToCentralised"]).toBe(true);
    expect(result["trees"]).toBeLessThan(30);
    expect(Object.keys(result.metrics)).toEqual(["train", "validation", "test"]);
    for (const set of Object.values(result.metrics)) expect(Object.keys(set)).toEqual(["error", "logloss"]);
    const { exitCode, stderr } = await tandemHere("simulate", ...options, "--early-stopping-rounds", "2");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("early_stopping_rounds needs a validation set");
  });

  test("max_thresholds and minimums: the same model as centralised", async () => {
    const exact = await plain();
    const fewer = ["--min-people-share", "0.05", "--max-thresholds", "1", "--explain-leakage"];
    const [leakage, result] = (await tandemHere("simulate", ...common, ...fewer)).stdout.split("\n");
    const guarded = JSON.parse(result) as Json;
    expect([exact, guarded].map((result) => result["identicalToCentralised"])).toEqual([true, true]);
    expect(guarded.metrics).not.toEqual(exact.metrics);
    expect(leakage).toContain("at most 1 threshold of each feature in all trees");
  });

  test("contribution: the federated figures, without each passive party, and the active party alone", async () => {
    const common = [
      "--data",
      table,
      "--id",
      "id",
      "--label",
      "defaulted",
      ...small,
      "--validation-fraction",
      "0.2",
      "--colsample-bytree",
      "0.6",
    ];
    const { metrics, contribution } = (await inProcess(...common, ...parties, "--contribution")) as Json & {
      contribution: { without: string[]; metrics: Json["metrics"] }[];
    };
    expect(contribution.map(({ without }) => without)).toEqual([
      [],
      ["passive-1"],
      ["passive-2"],
      ["passive-1", "passive-2"],
    ]);
    expect(contribution[0].metrics).toEqual(metrics);
    for (const row of contribution) expect(Object.keys(row.metrics)).toEqual(["train", "validation", "test"]);
    const auc = contribution.map((row) => row.metrics.train["auc"]);
    expect(new Set(auc).size).toBe(4);
    expect(auc[0]).toBeGreaterThan(auc[3]); // the label depends on columns of every party
    // A federation without the last party has the same figures as central training without its columns.
    const fewer = await inProcess(...common, ...parties.slice(0, 4));
    expect(fewer.metrics).toEqual(contribution[2].metrics);
  });

  test("cv: every fold is a whole job, equal to centralised training", async () => {
    const options = ["cv", "--data", table, "--id", "id", "--label", "defaulted", ...pair, ...small, "--check"];
    const { exitCode, stdout } = await tandemHere(...options, "--folds", "3");
    expect(exitCode).toBe(0);
    const result = JSON.parse(stdout) as {
      folds: { identicalToCentralised: boolean; test: Record<string, number> }[];
      test: Record<string, { mean: number; deviation: number }>;
    };
    expect(result.folds.map(({ identicalToCentralised }) => identicalToCentralised)).toEqual([true, true, true]);
    expect(result.test["auc"].mean).toBeCloseTo(
      result.folds.reduce((sum, { test: { auc } }) => sum + auc / 3, 0),
      12,
    );
    expect(result.test["auc"].mean).toBeGreaterThan(0.7);
    const refused = await tandemHere(...options, "--folds", "1");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("--folds must be an integer from 2");
  });

  test("predictions of test rows that there are none of are refused", async () => {
    const job = ["simulate", "--data", table, "--id", "id", "--label", "defaulted", ...pair, ...small];
    const options = ["--test-fraction", "0", "--predictions", join(directory, "none.csv")];
    const { exitCode, stderr } = await tandemHere(...job, ...options);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/--test-fraction 0 leaves none\. Name a table with --test-data, .*\(USAGE\)/);
  });

  test("without --check equality is not claimed; the output is a table", async () => {
    const { exitCode, stdout } = await tandemHere(
      "simulate",
      "--data",
      table,
      "--id",
      "id",
      "--label",
      "defaulted",
      ...pair,
      ...small.slice(0, -1),
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/auc +ks +logloss/);
    expect(stdout).not.toContain("equals centralised");
  });
});

describe("a party that dies in mid-job", () => {
  const long = [
    "--data",
    table,
    "--id",
    "id",
    "--label",
    "defaulted",
    ...parties,
    "--num-round",
    "2000",
    "--insecure-key-bits",
    "256",
  ];

  test.each(partOf(["passive-1", "passive-2", "active"], 0, 3))(
    "killed: %s; the others stop and name the party",
    async (victim) => {
      const run = startTandem(["simulate", ...long]);
      const [, pid] = await run.errorMatches(new RegExp(`${victim} \\(process (\\d+)\\)`));
      await run.errorMatches(/tree 2\//);
      process.kill(Number(pid), "SIGKILL");
      const { exitCode, stdout, stderr } = await run.finished;
      expect(exitCode).toBe(2);
      expect(stdout).toBe("");
      const error = stderr.split("\n").filter((line) => line.startsWith("error:"));
      expect(error).toHaveLength(1);
      expect(error[0]).toContain(`party ${victim} died (SIGKILL`);
      expect(error[0]).toContain("PARTY_LOST");
      expect(stderr).not.toMatch(/^\s+at /m);
      // The surviving parties have noticed it themselves.
      expect(error[0]).toMatch(
        victim === "active" ? /passive-1 says: .*active/ : new RegExp(`active says: .*${victim}`),
      );
    },
  );
});

describe("demo", () => {
  test("a small demo ends with the comparison", async () => {
    const { exitCode, stdout, stderr } = await tandemHere("demo", "--rows", "200", "--num-round", "1");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("tree 1/1");
    expect(stderr).toMatch(/Next: your own table, docs\/own-data\.md\n$/);
    expect(stdout).toMatch(/the bank alone +0\.\d{4} +0\.\d{4}/);
    expect(stdout).toContain("federated equals centralised?  yes");
    expect(stdout).toMatch(/passives to active/);
  });
});
