/**
 * The cost of masked scoring: the same people are scored with the same trees, with outcomes and without. A bank and a
 * retailer are processes of their own, connected by mutual TLS on loopback. In batches the bank is this process; single
 * people are scored over HTTP, by one server of each kind, interleaved.
 */
import { join } from "node:path";
import { TandemError } from "../../src/base/error.ts";
import { readActiveConfig, type ActiveConfig } from "../../src/party/config/config.ts";
import { readIdentity } from "../../src/party/identity.ts";
import { Scorer } from "../../src/scoring/scorer.ts";
import type { ScoringRows } from "../../src/scoring/scoring-question.ts";
import { readActiveShare } from "../../src/store/share-files.ts";
import { connectScoring } from "../../src/transport/tls-connect.ts";
import type { ScoringPeer } from "../../src/wire/scoring-peer.ts";
import type { Figure } from "./arithmetic.ts";
import { HttpLoad, percentile } from "./load.ts";
import { interleave } from "./measure.ts";
import { checkPrediction, type ServingBench, withBenchWorld } from "./serving.ts";

const kinds = ["plain", "masked"] as const;
const requestsPerSecond = 200;
const turns = 5;
/** Of masked scoring: people per second in batches, and the latency of single people. */
const bars = { peoplePerSecond: { atLeast: 15_000 }, p99Ms: { atMost: 50 } };
const timeoutMs = 600_000;

type Say = (name: string, value: number, bar?: Figure["bar"]) => void;

export async function benchScoringMasked(
  bench: ServingBench & { readonly repeats: number },
  onFigure: (figure: Figure) => void,
): Promise<void> {
  const say: Say = (name, value, bar) =>
    onFigure({ name: `scoring-masked.${name}`, value, ...(bar === undefined ? {} : { bar }), parts: {} });
  const size = bench.quick ? { rows: 300, trees: 5, requests: 20 } : { rows: 5000, trees: 50, requests: 2000 };
  bench.onProgress(`scoring-masked: ${size.trees} trees over ${size.rows} people and two parties`);
  await withBenchWorld("tandem-masked-", ["retailer1"], size.rows, bench.seed, async (world, bodies) => {
    const configs = new Map<string, string>();
    for (const kind of kinds) {
      const training = { num_round: size.trees };
      const config = world.writeActive(kind, { training, privacy: { masked_scoring: kind === "masked" } });
      await world.command("train", "-c", config).success();
      configs.set(kind, config);
    }
    await inBatches(configs, bodies, bench, say);
    const loads = new Map<string, HttpLoad>();
    try {
      for (const [kind, config] of configs)
        loads.set(
          kind,
          new HttpLoad(await world.command("serve", "-c", config, "--model", kind, "--port", "0").port()),
        );
      await oneByOne(loads, bodies, size.requests, say);
    } finally {
      for (const load of loads.values()) load.close();
    }
  });
}

/** The request about one person, in the form that the scorer takes. */
function rowsOf(bodies: readonly string[], features: readonly string[]): ScoringRows {
  type Body = { rows: { id: string; features: Record<string, number> }[] };
  const rows = bodies.map((body) => (JSON.parse(body) as Body).rows[0]);
  return {
    ids: rows.map(({ id }) => id),
    columns: features.map((feature) => Float32Array.from(rows, (row) => row.features[feature])),
  };
}

async function inBatches(
  configs: ReadonlyMap<string, string>,
  bodies: readonly string[],
  { repeats, onProgress }: { readonly repeats: number; readonly onProgress: (what: string) => void },
  say: Say,
): Promise<void> {
  onProgress(`scoring-masked: ${bodies.length} people in batches`);
  const scores = new Map<string, Float64Array>();
  const bytes = new Map<string, number>();
  const open: { kind: string; scorer: Scorer; count: Counted; close: () => void }[] = [];
  for (const [kind, path] of configs)
    open.push({ kind, ...(await countingScorer(await readActiveConfig(path, () => kind), kind)) });
  try {
    const timings = await interleave(
      open.map(({ kind, scorer, count }) => ({
        name: kind,
        units: bodies.length,
        run: async () => {
          count.bytes = 0;
          const rows = rowsOf(bodies, scorer.features);
          scores.set(kind, (await scorer.score(rows, { unknownAsMissing: false, timeoutMs })).predictions);
          bytes.set(kind, count.bytes / bodies.length);
        },
      })),
      repeats,
      "wall",
    );
    const [plain, masked] = kinds.map((kind) => scores.get(kind) ?? new Float64Array(0));
    if (!plain.every((score, i) => Object.is(score, masked[i])))
      throw new TandemError("INTERNAL", "masked scores differ from plain ones");
    for (const kind of kinds) {
      const bar = kind === "masked" ? bars.peoplePerSecond : undefined;
      say(`${kind}.peoplePerSecond`, 1 / (timings.get(kind)?.min ?? Infinity), bar);
      say(`${kind}.bytesPerPerson`, bytes.get(kind) ?? 0);
    }
  } finally {
    for (const { close } of open) close();
  }
}

interface Counted {
  bytes: number;
}

/** Counts the bytes of both directions, without the framing of the transport. */
async function countingScorer(config: ActiveConfig, job: string) {
  const share = await readActiveShare(join(config.output.directory, job, "share.json"));
  const [passive] = config.passives;
  const credentials = { identity: await readIdentity(config.tls), pins: passive.fingerprint };
  const peer = connectScoring(passive.name, async () => credentials, passive.channel);
  const count: Counted = { bytes: 0 };
  const idBytes = (ids: readonly string[]): number => ids.reduce((sum, id) => sum + Buffer.byteLength(id) + 2, 0);
  const counting: ScoringPeer = {
    name: peer.name,
    async score(request, options) {
      const answer = await peer.score(request, options);
      count.bytes += idBytes(request.ids) + answer.left.length + answer.known.length;
      return answer;
    },
    tags: (model, options) => peer.tags(model, options),
    contributions: (request, options) => peer.contributions(request, options),
    maskOpen: (request, options) => peer.maskOpen(request, options),
    async maskStep(request, options) {
      const answer = await peer.maskStep(request, options);
      count.bytes += idBytes(request.rows?.ids ?? []) + (request.scheme?.length ?? 0);
      count.bytes += answer.scheme.length + answer.known.length;
      return answer;
    },
  };
  return { scorer: new Scorer(share, [counting]), count, close: () => peer.close() };
}

async function oneByOne(
  loads: ReadonlyMap<string, HttpLoad>,
  bodies: readonly string[],
  count: number,
  say: Say,
): Promise<void> {
  const latencies = new Map<string, number[]>(kinds.map((kind) => [kind, []]));
  const shot = (index: number) =>
    ({ method: "POST", path: "/predict", body: bodies[index % bodies.length], check: checkPrediction }) as const;
  // Warm: sessions are open, code is compiled.
  for (const load of loads.values()) await load.closed(1, Math.min(count, 500), shot);
  for (let turn = 0; turn < turns; turn++) {
    for (const [kind, load] of loads) {
      const { latenciesMs } = await load.open(requestsPerSecond, count / turns, shot);
      latencies.get(kind)?.push(...latenciesMs);
    }
  }
  for (const [kind, all] of latencies) {
    const sorted = Float64Array.from(all).sort();
    const rate = `${kind}.rate${requestsPerSecond}`;
    say(`${rate}.p50Ms`, percentile(sorted, 50));
    say(`${rate}.p99Ms`, percentile(sorted, 99), kind === "masked" ? bars.p99Ms : undefined);
  }
}
