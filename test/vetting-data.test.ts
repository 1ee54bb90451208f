/**
 * `tandem vet` on Default of Credit Card Clients, against pandas, scikit-learn and scipy: where the table and Python
 * are at hand.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readTable } from "../src/data/table-source.ts";
import type { Vetting } from "../src/record/vetting/vetting.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../shared/data", import.meta.url));
const file = join(folder, "default", "UCI_Credit_Card.csv.gz");
const script = fileURLToPath(new URL("fixtures/vetting/figures.py", import.meta.url));
const python = ["python3", "/usr/bin/python3"].find(
  (each) => spawnSync(each, ["-c", "import pandas, scipy, sklearn"]).status === 0,
);
const absent = !existsSync(file) || python === undefined;
if (absent)
  console.warn("vetting-data: the credit data (TANDEM_DATA), or pandas and scikit-learn, are not here; it is skipped");

interface Figures {
  readonly iv: number;
  readonly auc: number;
  readonly ks: number;
  readonly missingShare: number;
  readonly bins: readonly { readonly people: number; readonly events: number; readonly woe: number }[];
}

test.skipIf(absent)("30,000 people, 23 columns: every figure to 1e-9", async () => {
  const label = "default.payment.next.month";
  const page = join(scratchDirectory(), "vetting.html");
  const run = await tandemHere("vet", "--data", file, "--id", "ID", "--label", label, "--out", page, "--json");
  expect(run.exitCode, run.stderr).toBe(0);
  const { columns, people, events } = JSON.parse(run.stdout) as Vetting;
  expect([columns.length, people, events]).toEqual([23, 30_000, 6636]);
  const table = await readTable({ path: file });
  const cells = (name: string): number[] => table.columns[table.names.indexOf(name)].map(Number);
  const asked = {
    labels: cells(label),
    columns: columns.map(({ name, bins }) => ({
      values: cells(name ?? ""),
      bounds: bins.flatMap(({ from }) => (from === undefined ? [] : [from])),
    })),
  };
  const answered = spawnSync(python ?? "", [script], { input: JSON.stringify(asked), maxBuffer: 1 << 28 });
  expect(answered.stderr.toString()).toBe("");
  const theirs = JSON.parse(answered.stdout.toString()) as Figures[];
  for (const [i, column] of columns.entries()) {
    for (const name of ["iv", "auc", "ks", "missingShare"] as const)
      expect(Math.abs((column[name] ?? Number.NaN) - theirs[i][name]), `${column.name} ${name}`).toBeLessThan(1e-9);
    expect(column.bins).toHaveLength(theirs[i].bins.length);
    for (const [b, bin] of column.bins.entries()) {
      const { people: of, events: found, woe } = theirs[i].bins[b];
      expect([bin.people, bin.events]).toEqual([of, found]);
      expect(Math.abs(bin.woe - woe)).toBeLessThan(1e-9);
    }
  }
});
