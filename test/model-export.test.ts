/**
 * From training to XGBoost between companies: parties with configs and certificates of their own train over TLS, each
 * passive one consents and the active one exports with the command. The result is, byte for byte, the golden file that
 * XGBoost 1.7.4 predicted with (test/fixtures/xgboost-export/README.md); where XGBoost is installed, it predicts too.
 */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { disclosureLead } from "../src/record/ledger-facts.ts";
import { readRecord } from "../src/record/stored-record.ts";
import { columnIndex, numericColumn } from "../src/data/columns.ts";
import { predictionTolerance, worstDifference } from "../src/gbdt/tree/xgboost-agreement.ts";
import { readCsvTable } from "../src/data/csv-table.ts";
import { readShare } from "../src/store/share-files.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { testWorlds } from "./support/test-worlds.ts";
import type { Table } from "./world/people.ts";
import { askXgboost, pythonWithXgboost } from "./support/xgboost.ts";

const fixtures = fileURLToPath(new URL("fixtures/xgboost-export/", import.meta.url));
const root = scratchDirectory();
const worlds = testWorlds();
const python = pythonWithXgboost();
if (python === undefined)
  console.log("model-export: no python3 with xgboost here; the export is compared with the golden files only");

/** Whose columns are whose in the golden files. */
const columnsOf: Readonly<Record<string, readonly string[]>> = {
  active: ["#1", "#2", "#3", "defaulted"],
  "passive-1": ["#4", "#5"],
  "passive-2": ["#6"],
};

async function goldenTables(): Promise<Record<string, Table>> {
  const table = await readCsvTable(join(fixtures, "train.csv"));
  const held = Object.entries(columnsOf).map(([name, own]): [string, Table] => {
    const columns = ["id", ...own].map((column) => columnIndex(table, column));
    return [
      name,
      {
        header: columns.map((column) => table.names[column]),
        rows: Array.from(table.columns[0], (_, row) => columns.map((column) => table.columns[column][row])),
      },
    ];
  });
  return Object.fromEntries(held);
}

test("train, look, consent, export: the file is the golden one, and XGBoost predicts the same with it", async () => {
  const world = await worlds.found(await goldenTables());
  const { bank, shops: passives } = world;
  await world.startAll();
  const data = { label: "defaulted", positive: undefined, test_fraction: undefined };
  const training = { num_round: 5, max_depth: 3, base_score: 0.3, max_bin: 16 };
  await world.train("golden", { data, training });

  // Every party's share names the same model, and each party sees its own splits only.
  const shares = await Promise.all(
    [bank, ...passives].map(({ folder }) => readShare(join(folder, "jobs", "golden", "share.json"))),
  );
  expect(new Set(shares.map(({ share }) => share.model)).size).toBe(1);
  const shown = await Promise.all(
    [bank, ...passives].map(({ folder }) => tandemHere("model", "show", join(folder, "jobs", "golden"))),
  );
  expect(shown[0].stdout).toContain("▣ passive-1");
  expect(shown[0].stdout).toContain("income [k] < ");
  expect(shown[0].stdout).not.toMatch(/visits|café/);
  expect(shown[1].stdout).toContain("visits, monthly < ");
  expect(shown[1].stdout).not.toMatch(/income|café|passive-2/);
  for (const { stdout } of shown) expect(stdout).toContain(shares[0].share.model);

  const consents: string[] = [];
  mkdirSync(join(root, "sent"));
  for (const { name, folder } of passives) {
    const out = join(root, "sent", `${name}.consent.json`);
    const given = [
      "model",
      "consent",
      "-c",
      join(folder, "passive.json"),
      "--model",
      "golden",
      "--to",
      "active",
      "--purpose",
      "a test",
    ];
    const unasked = await tandem(...given, "--out", out);
    expect(unasked.exitCode).toBe(2);
    expect(unasked.stderr).toMatch(
      /nothing was written: there is no terminal to ask for confirmation\. Pass --yes to write the consent/,
    );
    const { exitCode, stdout, stderr } = await tandemHere(...given, "--out", out, "--yes");
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain(out);
    expect(stderr).toMatch(/gives active this party's part of the model of job golden:\n {2}\d+ splits in \d trees/);
    expect(stderr).toContain(name === "passive-1" ? "visits, monthly: " : 'café "spend": ');
    expect((statSync(out).mode & 0o777).toString(8)).toBe("600");
    consents.push(out);
  }

  const out = join(root, "model.json");
  const exporting = (...files: string[]): string[] => [
    "model",
    "export",
    "-c",
    join(bank.folder, "active-golden.json"),
    "--model",
    "golden",
    "--to",
    "xgboost",
    "--out",
    out,
    ...files.flatMap((file) => ["--consent", file]),
  ];
  const incomplete = await tandemHere(...exporting(consents[0]));
  expect(incomplete.exitCode).toBe(2);
  expect(incomplete.stderr).toMatch(/^error: the consent of passive-2 is missing\. It is made there, .*\(CONSENT\)$/m);
  expect(() => statSync(out)).toThrow(/ENOENT/);
  const { exitCode, stdout, stderr } = await tandem(...exporting(consents[1], consents[0]));
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain("5 trees over 6 features. XGBoost 1.7 or later predicts the same to 1e-6");
  expect(stdout).toMatch(/passive-1, \d{4}-\d\d-\d\d: a test\n {2}passive-2, /);
  expect((statSync(out).mode & 0o777).toString(8)).toBe("600");
  expect(readFileSync(out, "utf8")).toBe(readFileSync(join(fixtures, "logistic.json"), "utf8"));

  // Both sides' records have the consents: the active party's both, a passive party's its own.
  const consented = await Promise.all(
    [bank, ...passives].map(async ({ folder }) => {
      const { view, own } = await readRecord(join(folder, "jobs", "golden"));
      expect(disclosureLead(view, own.revealed)[1]).toMatch(/^But on \d{4}-\d\d-\d\d passive-[12] consented/);
      return own.revealed.map(({ how, active, passive, purpose }) => [how, active, passive, purpose]);
    }),
  );
  const [first, second] = passives.map(({ name }) => ["consent", "active", name, "a test"]);
  expect(consented[0]).toHaveLength(2);
  expect(consented).toEqual([expect.arrayContaining([first, second]), [first], [second]]);

  if (python === undefined) return;
  const score = await readCsvTable(join(fixtures, "score.csv"));
  const columns = ["#1", "#2", "#3", "#4", "#5", "#6"].map((column) =>
    numericColumn(score, columnIndex(score, column), new Set()),
  );
  const [{ predictions }] = askXgboost([{ model: out, columns, rowCount: columns[0].length }]);
  const golden = await readCsvTable(join(fixtures, "predictions.csv"));
  const wanted = golden.columns[columnIndex(golden, "logistic")].map(Number);
  expect(predictions).toHaveLength(wanted.length);
  expect(worstDifference(wanted, predictions)).toBeLessThan(predictionTolerance("binary:logistic"));
});
