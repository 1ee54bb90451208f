/**
 * The load test of `tandem serve`: a bank and two retailers as processes of their own over mutual TLS on loopback, a
 * model that they have trained together, and HTTP clients in front of it. Every request is about one row, and every
 * answer is checked. The key has no part in scoring, so a short one trains the model.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../../src/base/error.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { Table } from "../../test/world/people.ts";
import { ProcessWorld } from "../../test/world/processes.ts";
import type { Figure } from "./arithmetic.ts";
import { HttpLoad, type LoadResult, percentile, type Shot } from "./load.ts";

export interface ServingBench {
  readonly seed: number;
  readonly quick: boolean;
  readonly onProgress: (what: string) => void;
}

const keyBits = 512;
const retailerNames = ["retailer1", "retailer2"];
const featuresPerParty = 6;
const clients = 16;
const openRate = 200;

export async function benchServing(bench: ServingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const size = bench.quick ? { rows: 500, trees: 5, requests: 200 } : { rows: 5000, trees: 50, requests: 5000 };
  bench.onProgress(`serving: ${size.trees} trees over ${size.rows} people and three parties`);
  await withBenchWorld("tandem-serving-", retailerNames, size.rows, bench.seed, async (world, bodies) => {
    const config = world.writeActive("bench", { training: { num_round: size.trees } });
    await world.command("train", "-c", config).success();
    const server = world.command("serve", "-c", config, "--model", "bench", "--port", "0");
    const load = new HttpLoad(await server.port());
    try {
      await measure(load, bodies, size.requests, bench, onFigure);
    } finally {
      load.close();
    }
  });
}

/** A bank and these retailers; their folder and processes are removed at the end. */
export async function withBenchWorld(
  prefix: string,
  shops: readonly string[],
  rowCount: number,
  seed: number,
  work: (world: ProcessWorld, bodies: readonly string[]) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), prefix));
  const { tables, bodies } = benchTables(shops, rowCount, seed);
  const world = await ProcessWorld.found(root, tables, {
    passive: {
      policy: { min_instances: 1, max_scores_per_person: 1_000_000_000, budget: { daily: { ids: 1_000_000_000 } } },
    },
    active: {
      align: false,
      insecure_key_bits: keyBits,
      data: { label: "label", positive: undefined, test_fraction: undefined },
      training: { max_bin: undefined },
    },
  });
  try {
    for (const shop of world.shops) await world.spawn(shop);
    await work(world, bodies);
  } finally {
    await world.close();
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
  const value = (name: string): number => Number(new RegExp(`^${name}\\{.*\\} (.*)$`, "m").exec(text)?.[1] ?? 0);
  return { ids: value("tandem_batch_ids_sum"), count: value("tandem_batch_ids_count") };
}

/** @returns the tables of all parties, and the bodies of requests about all rows */
function benchTables(
  shops: readonly string[],
  rowCount: number,
  seed: number,
): { readonly tables: Record<string, Table>; readonly bodies: readonly string[] } {
  const random = new SeededRandom(`bench-serving-${seed}`);
  const ids = Array.from({ length: rowCount }, (_, i) => `person-${i}`);
  const risk = new Float64Array(rowCount);
  const columnsOf = (name: string): Table => {
    const header = ["id", ...Array.from({ length: featuresPerParty }, (_, f) => `${name}_${f}`)];
    const columns = Array.from({ length: featuresPerParty }, (_, f) =>
      ids.map((_id, row) => {
        const value = random.normal();
        risk[row] += value / (f + 1);
        return value.toFixed(4);
      }),
    );
    return { header, rows: ids.map((id, row) => [id, ...columns.map((column) => column[row])]) };
  };
  const held = shops.map((name): [string, Table] => [name, columnsOf(name)]);
  const { header, rows } = columnsOf("bank");
  const bodies = rows.map(([id, ...cells]) => {
    const features = Object.fromEntries(cells.map((cell, f) => [header[f + 1], Number(cell)]));
    return JSON.stringify({ rows: [{ id, features }] });
  });
  const labels = Array.from(risk, (value) => (random.uniform() < 1 / (1 + Math.exp(-value)) ? "1" : "0"));
  const bank = { header: [...header, "label"], rows: rows.map((row, i) => [...row, labels[i]]) };
  return { tables: { bank, ...Object.fromEntries(held) }, bodies };
}
