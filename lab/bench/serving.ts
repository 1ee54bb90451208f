/**
 * The load test of `tandem serve`: a bank and two shops as processes of their own over mutual TLS on loopback, a model
 * that they have trained together, and HTTP clients in front of it. Every request is about one row, and every answer is
 * checked. The key has no part in scoring, so a short one trains the model.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../../src/base/error.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { writeCsv } from "../../src/data/write-csv.ts";
import type { ActiveConfigInput, PassiveConfigInput } from "../../src/party/config/config.ts";
import { initParty } from "../../src/party/init.ts";
import type { Figure } from "./arithmetic.ts";
import { HttpLoad, type LoadResult, percentile, type Shot } from "./load.ts";
import { SpawnedCommand } from "./spawned-command.ts";

export interface ServingBench {
  readonly seed: number;
  readonly quick: boolean;
  readonly onProgress: (what: string) => void;
}

const host = "127.0.0.1";
const keyBits = 512;
const retailerNames = ["retailer1", "retailer2"];
const featuresPerParty = 6;
const clients = 16;
const openRate = 200;
const tls = { certificate: "certificate.pem", key: "key.pem" };

export async function benchServing(bench: ServingBench, onFigure: (figure: Figure) => void): Promise<void> {
  await withCommands("tandem-serving-", async (root, spawned) => {
    const size = bench.quick ? { rows: 500, trees: 5, requests: 200 } : { rows: 5000, trees: 50, requests: 5000 };
    bench.onProgress(`serving: ${size.trees} trees over ${size.rows} people and three parties`);
    const people = await foundParties(root, retailerNames, size.rows, bench.seed);
    const ports: number[] = [];
    for (const name of retailerNames) ports.push(await spawned("party", "-c", join(root, name, "passive.json")).port());
    const job = { job: "bench", training: { num_round: size.trees, max_depth: 3 } };
    const config = await writeActiveConfig(root, people.fingerprints, ports, job);
    await spawned("train", "-c", config).success();
    const server = spawned("serve", "-c", config, "--model", job.job, "--port", "0");
    const load = new HttpLoad(await server.port());
    try {
      await measure(load, people.rows, size.requests, bench, onFigure);
    } finally {
      load.close();
    }
  });
}

/** Commands in processes of their own, and a folder for them; all of it is gone at the end. */
export async function withCommands(
  prefix: string,
  work: (root: string, spawned: (...args: string[]) => SpawnedCommand) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), prefix));
  const running: SpawnedCommand[] = [];
  const spawned = (...args: string[]): SpawnedCommand => {
    const command = new SpawnedCommand(args);
    running.push(command);
    return command;
  };
  // Whatever ends this process ends the parties.
  const endAll = (): void => running.forEach((command) => command.end());
  process.once("exit", endAll);
  try {
    await work(root, spawned);
  } finally {
    process.removeListener("exit", endAll);
    for (const command of running.toReversed()) await command.stop();
    await rm(root, { recursive: true, force: true });
  }
}

async function measure(
  load: HttpLoad,
  rows: readonly string[],
  count: number,
  bench: ServingBench,
  onFigure: (figure: Figure) => void,
): Promise<void> {
  const predict = (index: number): Shot => ({
    method: "POST",
    path: "/predict",
    body: rows[index % rows.length],
    check: checkPrediction,
  });
  const health = (): Shot => ({ method: "GET", path: "/health", body: "", check: () => {} });
  await load.closed(clients, Math.min(count, 1000), predict); // warm: connections are open, code is compiled
  const say = (name: string, value: number, parts: Figure["parts"] = {}): void => onFigure({ name, value, parts });
  const loads: [name: string, send: () => Promise<LoadResult>][] = [
    ["health", () => load.open(openRate, count, health)],
    [`rate${openRate}`, () => load.open(openRate, count, predict)],
    ["clients1", () => load.closed(1, count, predict)],
    [`clients${clients}`, () => load.closed(clients, count, predict)],
  ];
  for (const [name, send] of loads) {
    bench.onProgress(`serving: ${count} requests, ${name}`);
    const before = await batches(load);
    const { latenciesMs, requestsPerSecond } = await send();
    const after = await batches(load);
    say(`serving.${name}.p50Ms`, percentile(latenciesMs, 50));
    say(`serving.${name}.p99Ms`, percentile(latenciesMs, 99));
    say(`serving.${name}.requestsPerSecond`, requestsPerSecond);
    if (after.count > before.count)
      say(`serving.${name}.idsPerBatch`, (after.ids - before.ids) / (after.count - before.count));
  }
}

export function checkPrediction(body: string): void {
  const [{ prediction }] = (JSON.parse(body) as { predictions: { prediction?: number }[] }).predictions;
  if (typeof prediction !== "number") throw new TandemError("PROTOCOL_STATE", "the server gave no score");
}

async function batches(load: HttpLoad): Promise<{ ids: number; count: number }> {
  const text = await load.get("/metrics");
  const value = (name: string): number => Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? 0);
  return { ids: value("tandem_batch_ids_sum"), count: value("tandem_batch_ids_count") };
}

/** Folders, certificates and tables; @returns the bodies of requests about all rows, and the parties' fingerprints */
export async function foundParties(
  root: string,
  shops: readonly string[],
  rowCount: number,
  seed: number,
): Promise<{ rows: string[]; fingerprints: Map<string, string> }> {
  const random = new SeededRandom(`bench-serving-${seed}`);
  const ids = Array.from({ length: rowCount }, (_, i) => `person-${i}`);
  const risk = new Float64Array(rowCount);
  const fingerprints = new Map<string, string>();
  let rows: string[] = [];
  for (const name of [...shops, "bank"]) {
    const isBank = name === "bank";
    const directory = join(root, name);
    await mkdir(directory, { mode: 0o700 });
    fingerprints.set(
      name,
      (await initParty({ role: isBank ? "active" : "passive", name, host, port: 0, directory })).fingerprint,
    );
    const features = Array.from({ length: featuresPerParty }, (_, f) => `${name}_${f}`);
    const values = features.map((_, f) =>
      Array.from({ length: rowCount }, (_cell, row) => {
        const value = random.normal();
        risk[row] += value / (f + 1);
        return value.toFixed(4);
      }),
    );
    const labels = Array.from(risk, (value) => (random.uniform() < 1 / (1 + Math.exp(-value)) ? "1" : "0"));
    await writeCsv(
      join(directory, "data.csv"),
      ["id", ...features, ...(isBank ? ["label"] : [])],
      [ids, ...values, ...(isBank ? [labels] : [])],
      { mode: 0o600 },
    );
    rows = ids.map((id, row) =>
      JSON.stringify({
        rows: [{ id, features: Object.fromEntries(features.map((feature, f) => [feature, Number(values[f][row])])) }],
      }),
    );
  }
  const bank = fingerprints.get("bank") ?? "";
  for (const name of shops) {
    const config: PassiveConfigInput = {
      name,
      listen: { host, port: 0 },
      tls,
      active: [{ name: "bank", fingerprint: bank }],
      data: { path: "data.csv", id: "id", features: "all" },
      policy: { insecure_min_key_bits: keyBits, min_instances: 1 },
      output: { directory: "jobs" },
    };
    await writeFile(join(root, name, "passive.json"), JSON.stringify(config));
  }
  return { rows, fingerprints };
}

/** @param ports those of the shops, in the order of their fingerprints */
export async function writeActiveConfig(
  root: string,
  fingerprints: ReadonlyMap<string, string>,
  ports: readonly number[],
  job: Pick<ActiveConfigInput, "training" | "privacy"> & { readonly job: string },
): Promise<string> {
  const shops = [...fingerprints.keys()].filter((name) => name !== "bank");
  const config: ActiveConfigInput = {
    name: "bank",
    ...job,
    passives: shops.map((name, i) => ({ name, host, port: ports[i], fingerprint: fingerprints.get(name) ?? "" })),
    tls,
    data: { path: "data.csv", id: "id", features: "all", label: "label" },
    align: false,
    insecure_key_bits: keyBits,
    output: { directory: "jobs" },
  };
  const path = join(root, "bank", `active-${job.job}.json`);
  await writeFile(path, JSON.stringify(config));
  return path;
}
