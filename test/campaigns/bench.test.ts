/** `tandem bench` measures what it says. How fast the machine is does not matter here. */
import { expect, test } from "vitest";
import { tandem } from "../world/tandem-process.ts";
import { hasNatsServer } from "../support/nats-server.ts";

test("bench: every arithmetic figure of the list, with machine, seed and commit", async () => {
  const { exitCode, stdout, stderr } = await tandem(
    "bench",
    "--quick",
    "--only",
    "arithmetic",
    "--repeats",
    "1",
    "--json",
  );
  expect(stderr).toBe("");
  expect(exitCode).toBe(0);
  const report = JSON.parse(stdout) as {
    machine: Record<string, unknown>;
    seed: number;
    commit: string;
    figures: Record<string, { value: number }>;
  };
  expect(Object.keys(report.machine)).toEqual(["cpu", "cores", "node", "kernel"]);
  expect(report.seed).toBe(7);
  expect(report.commit).not.toBe("");
  for (const name of [
    "encrypt.speedup.1024",
    "encrypt.speedup.2048",
    "encrypt.djn.1024",
    "encrypt.djn.2048",
    "multiply.ratio.4096",
    "decrypt.ratio.2048",
    "packing.speedup.2048",
    "rerandomise.ratio.2048",
    "histogram.jointSpeedup",
    "threads.speedup",
  ]) {
    expect(report.figures[name]?.value, name).toBeGreaterThan(0);
  }
});

test("bench: the load test of serving, with real parties and clients", async () => {
  const { exitCode, stdout, stderr } = await tandem("bench", "--quick", "--only", "serving", "--json");
  expect([stderr, exitCode]).toEqual(["", 0]);
  const { figures } = JSON.parse(stdout) as { figures: Record<string, { value: number }> };
  for (const run of ["health", "rate200", "clients1", "clients16"]) {
    expect(figures[`serving.${run}.p99Ms`].value, run).toBeGreaterThanOrEqual(figures[`serving.${run}.p50Ms`].value);
    expect(figures[`serving.${run}.requestsPerSecond`].value, run).toBeGreaterThan(0);
  }
  // A single client cannot share batches; sixteen can.
  expect(figures["serving.clients1.idsPerBatch"].value).toBe(1);
  expect(figures["serving.clients16.idsPerBatch"].value).toBeGreaterThan(1);
});

test("bench: workers and their engine as processes, with the same sums as one process", async () => {
  const { exitCode, stdout, stderr } = await tandem("bench", "--quick", "--only", "workers", "--json");
  expect([stderr, exitCode]).toEqual(["", 0]);
  const { figures, leftOut } = JSON.parse(stdout) as {
    figures: Record<string, { value: number; met: boolean | null }>;
    leftOut: readonly string[];
  };
  if (!hasNatsServer) {
    expect([figures, leftOut]).toEqual([{}, [expect.stringMatching(/^workers: there is no nats-server/)]]);
    return;
  }
  expect(leftOut).toEqual([]);
  expect(Object.keys(figures)).toEqual(
    ["overhead", "efficiency", "bytesPerRow", "takeOver"].map((name) => `workers.${name}`),
  );
  expect(figures["workers.overhead"].value).toBeGreaterThan(0);
  expect(figures["workers.bytesPerRow"].met, "bytes are counted, whatever the machine").toBe(true);
});

test("bench: reading, where python3 has pandas and XGBoost", async () => {
  const { exitCode, stdout, stderr } = await tandem(
    "bench",
    "--quick",
    "--repeats",
    "1",
    "--only",
    "reading",
    "--json",
  );
  expect([stderr, exitCode]).toEqual(["", 0]);
  const { figures, leftOut } = JSON.parse(stdout) as {
    figures: Record<string, { value: number }>;
    leftOut: readonly string[];
  };
  if (leftOut.length > 0) expect([figures, leftOut]).toEqual([{}, [expect.stringMatching(/^reading: no python3/)]]);
  else expect(figures["reading.overPandas"].value).toBeGreaterThan(0);
});

test("bench: masked scoring interleaved with plain: the same scores, more bytes", async () => {
  const { exitCode, stdout, stderr } = await tandem("bench", "--quick", "--only", "scoring-masked", "--json");
  expect([stderr, exitCode]).toEqual(["", 0]);
  const { figures } = JSON.parse(stdout) as { figures: Record<string, { value: number }> };
  const value = (name: string): number => figures[`scoring-masked.${name}`].value;
  for (const kind of ["plain", "masked"]) {
    expect(value(`${kind}.peoplePerSecond`), kind).toBeGreaterThan(0);
    expect(value(`${kind}.rate200.p99Ms`), kind).toBeGreaterThanOrEqual(value(`${kind}.rate200.p50Ms`));
  }
  expect(value("masked.bytesPerPerson")).toBeGreaterThan(value("plain.bytesPerPerson"));
});
