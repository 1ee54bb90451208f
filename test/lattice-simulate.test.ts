/** `tandem simulate`, `estimate` and the others with --scheme lattice, as a user calls them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";

const directory = scratchDirectory();
const table = join(directory, "loans.csv");
writeLoanTable(table, 200);
const words = (text: string): string[] => text.split(" ");
const job = (...passives: string[]): string[] => [
  ...words(`--data ${table} --id id --label defaulted --active income,debt --json`),
  ...passives.flatMap((columns) => ["--passive", columns]),
  ...words("--scheme lattice --num-round 1 --max-depth 2 --max-bin 4"),
];

interface Summary {
  readonly scheme: string;
  readonly keyBits?: number;
  readonly identicalToCentralised: boolean | null;
  readonly bytes: Readonly<Record<"activeToPassive" | "passiveToActive", number>>;
}

test("simulate: one passive party, rows held back, a kept record; bit for bit the centralised model", async () => {
  const records = join(directory, "records");
  const options = ["--check", "--validation-fraction", "0.2", "--records", records];
  const { stdout, stderr, exitCode } = await tandemHere("simulate", ...job("age,visits"), ...options);
  expect(exitCode, stderr).toBe(0);
  const summary = JSON.parse(stdout) as Summary;
  expect(summary).toMatchObject({ scheme: "lattice", identicalToCentralised: true });
  expect(summary).not.toHaveProperty("keyBits");
  const [kept] = readdirSync(join(records, "active"));
  for (const party of ["active", "passive-1"]) {
    const events = readFileSync(join(records, party, kept, "events.jsonl"), "utf8");
    expect(events, party).toContain('"scheme":"lattice"');
    expect(events, party).not.toMatch(/key_bits|keyBits/);
  }
});

test("simulate and estimate: two passive parties, and the traffic that was predicted", async () => {
  const options = job("age,visits", "basket,minutes");
  const actual = JSON.parse((await tandemHere("simulate", ...options, "--check")).stdout) as Summary;
  expect(actual.identicalToCentralised).toBe(true);
  const predicted = JSON.parse((await tandemHere("estimate", ...options)).stdout) as Summary & {
    readonly schemes: readonly { readonly scheme: string; readonly estimate: object | null }[];
    readonly recommended: { readonly scheme: string; readonly why: string };
  };
  expect(predicted.schemes.map(({ scheme, estimate }) => [scheme, estimate !== null])).toEqual([
    ["paillier", true],
    ["curve", true],
    ["lattice", true],
  ]);
  // Which of the two is quicker depends on the machine.
  expect(predicted.recommended).toEqual({
    scheme: expect.stringMatching(/^(?:paillier|curve)$/) as string,
    why: expect.stringMatching(/with few instances/) as string,
  });
  for (const direction of ["activeToPassive", "passiveToActive"] as const)
    expect(Math.abs(predicted.bytes[direction] / actual.bytes[direction] - 1), direction).toBeLessThan(0.1);
});

test("reproduce: the paper's experiments stay Paillier's", async () => {
  const { exitCode, stderr } = await tandem("reproduce", "keys", "--scheme", "lattice");
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/the paper's experiments are about Paillier.*'tandem bench --only lattice'/);
});
