/** `tandem estimate` predicts the traffic of a job without running it. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";

const directory = scratchDirectory();

test("estimate: predicted traffic is close to the measured one, and no job runs", async () => {
  const table = join(directory, "loans.csv");
  writeLoanTable(table, 400);
  const job = [
    "--data",
    table,
    "--id",
    "id",
    "--label",
    "defaulted",
    "--active",
    "income,debt",
    "--passive",
    "age,visits",
    "--passive",
    "basket,minutes",
    "--num-round",
    "3",
    "--insecure-key-bits",
    "512",
    "--json",
  ];
  const predicted = JSON.parse((await tandemHere("estimate", ...job, "--bandwidth", "10")).stdout) as {
    bytes: Record<string, number>;
    overLine: { lineSeconds: number; wallSeconds: number };
    wallSeconds: number;
    cpuSeconds: number;
  };
  const actual = JSON.parse((await tandemHere("simulate", ...job, "--quiet")).stdout) as Pick<
    typeof predicted,
    "bytes"
  >;
  expect(predicted.wallSeconds).toBeGreaterThan(0);
  // Three trees of depth 3 ask twice per level, 20 ms each.
  const { activeToPassive, passiveToActive } = predicted.bytes;
  expect(predicted.overLine.lineSeconds).toBeCloseTo(
    (8 * (activeToPassive + passiveToActive)) / 10e6 + 3 * 3 * 0.04,
    6,
  );
  expect(predicted.overLine.wallSeconds).toBeGreaterThan(predicted.overLine.lineSeconds);
  expect(predicted.cpuSeconds).toBeGreaterThan(0);
  for (const direction of ["activeToPassive", "passiveToActive"] as const) {
    expect(Math.abs(predicted.bytes[direction] / actual.bytes[direction] - 1), direction).toBeLessThan(0.1);
  }
});

test.each(["paillier", "lattice"])("estimate: traffic and waiting with hidden sums (%s)", async (scheme) => {
  const table = join(directory, `hidden-${scheme}.csv`);
  writeLoanTable(table, 300);
  const columns = ["--id", "id", "--label", "defaulted", "--active", "income,debt", "--passive", "age,visits"];
  const size = scheme === "paillier" ? ["--insecure-key-bits", "512"] : [];
  const job = ["--data", table, ...columns, "--scheme", scheme, ...size, "--hidden-sums", "--num-round", "2", "--json"];
  type Bytes = { bytes: Record<"activeToPassive" | "passiveToActive", number> };
  const predicted = JSON.parse((await tandemHere("estimate", ...job, "--bandwidth", "100")).stdout) as Bytes & {
    overLine: { lineSeconds: number };
    schemes: { scheme: string; refusal: string | null }[];
  };
  const actual = JSON.parse((await tandemHere("simulate", ...job, "--quiet")).stdout) as Bytes;
  for (const direction of ["activeToPassive", "passiveToActive"] as const)
    expect(Math.abs(predicted.bytes[direction] / actual.bytes[direction] - 1), direction).toBeLessThan(0.25);
  // Comparisons wait for many answers at each of six levels.
  const sending = (8 * (predicted.bytes.activeToPassive + predicted.bytes.passiveToActive)) / 100e6;
  expect(predicted.overLine.lineSeconds - sending).toBeGreaterThan(6 * 15 * 0.02);
  expect(predicted.schemes.find(({ scheme: name }) => name === "curve")?.refusal).toMatch(/cannot be masked/);
});
