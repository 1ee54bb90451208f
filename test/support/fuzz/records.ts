/** What a job has left in its folder: its record, for the page and the report, and its transcript, for an audit. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { JobList } from "../../../src/dashboard/job-list.ts";
import { auditJob } from "../../../src/simulate/audit/audit-job.ts";
import { emptyLedger } from "../../../src/messages/ledger.ts";
import { eventsFileName, ownFileName } from "../../../src/record/job-record.ts";
import { importance } from "../../../src/record/own-view.ts";
import { readRecord } from "../../../src/record/stored-record.ts";
import { base64, transcriptFileName } from "../../../src/record/transcript-file.ts";
import { jobReport } from "../../../web/report/reports.js";
import type { SeededRandom } from "../../../src/base/random.ts";
import { columnExposure, labelExposure } from "../exposed-job.ts";
import { sampleLayout as layout, transcriptJob } from "../record-samples.ts";
import type { FuzzFormat } from "./fuzz-format.ts";
import { mutated } from "./mutate.ts";
import { mutatedJson } from "./mutate-json.ts";

const counts = { encryptions: 9, additions: 8, decryptions: 7, gradientCiphertexts: 6, candidateCiphertexts: 4 };
const bytes = { activeToPassive: 70, passiveToActive: 9 };
const use = { cpuSeconds: 1, eventLoopMaxBlockMs: 2, peakRssBytes: 3 };
const span = { party: "bank", phase: "encrypt", tree: 0, level: 0, from: 2000, to: 2500 };
const events = [
  {
    type: "job",
    role: "active",
    job: "spring",
    peers: ["shop"],
    treeCount: 2,
    depthMax: 3,
    parameters: { eta: 0.3, objective: "binary:logistic", masked_scoring: true },
    versions: { tandem: "1", protocol: 9, node: "20" },
    warning: "a short key",
  },
  { type: "key", process: 1, key: "a 2048-bit Paillier key", kernel: "native-avx2" },
  { type: "data", job: "spring", data: { trainRows: 40, testRows: 10, featureCount: 2 } },
  { type: "aligned", job: "spring", commonCount: 50 },
  { type: "joined", peer: "shop", featureCount: 5 },
  { type: "layout", layout },
  { type: "progress", tree: 0, level: 1, doing: { shop: "aggregate" }, bytes: { shop: bytes }, spans: [span] },
  { type: "ledger", peer: "shop", ledger: { ...emptyLedger(), candidateSums: 50 } },
  { type: "tree", tree: 0, treeCount: 2, metrics: { auc: 0.7 }, validation: { auc: 0.6 }, counts },
  { type: "waiting", job: "spring", delayMs: 5, code: "PARTY_LOST", message: "gone" },
  {
    type: "budget",
    peer: "bank",
    spent: { sumsPerPerson: 1, noisySumsPerPerson: 0, outcomesPerPerson: 0, scoredPeople: 0 },
    limits: {},
  },
  {
    type: "active-result",
    result: {
      trees: 2,
      metrics: { train: { auc: 0.7, logloss: 0.5 }, test: { auc: 0.69, logloss: 0.6 } },
      phasesMs: { handshake: 1, setUp: 1, encrypt: 2, aggregate: 3, decrypt: 4, keygen: 5, training: 6 },
      counts,
      bytes,
      ...use,
    },
  },
].map((event, i) => ({ ...event, party: "bank", at: 1000 + i }));
const ownLines = [
  { kind: "data", sha256: "ab" },
  {
    kind: "tree",
    tree: 0,
    nodes: [
      { kind: "split", left: 1, right: 2, gain: 1, cover: 2, count: 5, rule: { owner: 1 } },
      {
        kind: "split",
        left: 3,
        right: 4,
        gain: 1,
        cover: 2,
        count: 3,
        rule: { owner: 0, feature: 0, featureName: "a", threshold: 1, defaultLeft: true },
      },
      { kind: "leaf", weight: 0.5, cover: 1, count: 2 },
      { kind: "leaf", weight: 0.5, cover: 1, count: 2 },
      { kind: "leaf", weight: 0.5, cover: 1, count: 1 },
    ],
  },
  {
    kind: "own-splits",
    tree: 1,
    splits: [{ tree: 1, node: 0, feature: 0, featureName: "b", categories: ["x"], defaultLeft: false }],
  },
  {
    kind: "scores",
    rows: "test",
    curves: {
      roc: [
        [0, 0],
        [0.5, 0.8],
        [1, 1],
      ],
      cumulative: [
        [0.1, 0.2, 0.1],
        [0.9, 1, 1],
      ],
      ksAt: { score: 0.5, ks: 0.4 },
      histogram: { min: 0, max: 1, negatives: [1, 2], positives: [2, 1] },
    },
  },
  { kind: "exposure", exposures: [columnExposure, labelExposure] },
  {
    kind: "contributions",
    summary: { people: 9, outputs: 1, isByParty: false, means: [{ feature: null, party: "shop", mean: 0.5 }] },
  },
];

const textOf = (lines: readonly unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** Half of them are changed in the value of one line or two. */
function mutatedLines(lines: readonly unknown[], random: SeededRandom): Uint8Array {
  if (random.below(2) === 0) return mutated([Buffer.from(textOf(lines))], random);
  const texts = lines.map((line) => JSON.stringify(line));
  for (let left = 1 + random.below(2); left > 0; left--) {
    const at = random.below(texts.length);
    try {
      texts[at] = mutatedJson(texts[at], random);
    } catch {
      texts.splice(at, 1); // changed twice, and no JSON any more
    }
    if (texts.length === 0) break;
  }
  return Buffer.from(texts.join("\n") + (random.below(5) === 0 ? "" : "\n"));
}

const record: FuzzFormat = {
  name: "events",
  async prepare(folder) {
    const job = join(folder, "spring");
    await (await import("node:fs/promises")).mkdir(job);
    return {
      named: folder,
      mutant: (random) => [mutatedLines(events, random), mutatedLines(ownLines, random)],
      async read([eventBytes, ownBytes]: readonly Uint8Array[]) {
        await writeFile(join(job, eventsFileName), eventBytes);
        await writeFile(join(job, ownFileName), ownBytes);
        await new JobList().of(folder);
        const views = await readRecord(job);
        importance(views.own, views.view.party);
        jobReport(views, new Date(0));
        return undefined;
      },
    };
  },
};

const people = 40;
const bitmap = (isSet: (i: number) => boolean, length = people): string => {
  const out = new Uint8Array(Math.ceil(length / 8));
  for (let i = 0; i < length; i++) if (isSet(i)) out[i >> 3] |= 1 << (i & 7);
  return base64(out);
};
const job = transcriptJob(people);
const column = (name: string, bins: number) => ({
  name,
  binCount: bins,
  hasMissing: false,
  oneHot: null,
  monotone: 0,
  bins: base64(Uint16Array.from({ length: people }, (_, i) => i % bins)),
});
const passiveLines = [
  job,
  { kind: "columns", columns: [column("a", 4), { ...column("b", 3), oneHot: true }] },
  { kind: "tree", peer: "bank", tree: 0, sampled: "" },
  { kind: "node", peer: "bank", tree: 0, node: 0, parent: 0, sibling: 0, members: "" },
  { kind: "outcome", peer: "bank", tree: 0, node: 0, left: bitmap((i) => i % 4 < 2) },
  { kind: "node", peer: "bank", tree: 0, node: 1, parent: 0, sibling: 2, members: bitmap((i) => i % 4 < 2) },
  { kind: "split", tree: 0, node: 0, feature: 0, left: base64(Uint8Array.of(1, 1, 0, 0, 0, 0)) },
];
const activeLines = [
  { ...job, party: "bank", role: "active" },
  { kind: "tree", peer: "shop", tree: 0, sampled: bitmap((i) => i % 2 === 0) },
  { kind: "node", peer: "shop", tree: 0, node: 1, parent: 0, sibling: 2, members: bitmap((i) => i % 4 < 2) },
  { kind: "outcome", peer: "shop", tree: 0, node: 0, left: bitmap((i) => i % 4 < 2) },
  {
    kind: "people",
    labels: base64(Float64Array.from({ length: people }, (_, i) => i % 2)),
    scores: base64(Float64Array.from({ length: people }, (_, i) => i / people)),
  },
];

const transcript: FuzzFormat = {
  name: "transcript",
  async prepare(folder) {
    const clock = (): { left(): number; progress(): void } => {
      const end = performance.now() + 300;
      return { left: () => Math.max(0, end - performance.now()), progress() {} };
    };
    return {
      named: folder,
      mutant: (random) => mutatedLines(random.below(2) === 0 ? passiveLines : activeLines, random),
      async read(mutant: Uint8Array) {
        await rm(join(folder, ownFileName), { force: true });
        await writeFile(join(folder, transcriptFileName), mutant);
        await auditJob(folder, clock());
        return undefined;
      },
    };
  },
};

export const records = [record, transcript];
