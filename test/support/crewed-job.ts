/** The record of a job that a party's workers are in the middle of, as a passive party keeps it. */
import type { CrewSummary, WorkerState } from "../../src/crew/crew-summary.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import type { PhaseSpan } from "../../src/record/events/training-events.ts";
import { JobRecord } from "../../src/record/job-record.ts";

const party = "retailer";
const counts = { encryptions: 0, additions: 9, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 4 };

const worker = (name: string, blocks: number, doing: WorkerState["doing"]): WorkerState => ({
  worker: name,
  threads: 16,
  memoryBytes: 3.2e9 + blocks * 4e8,
  blocks,
  doing,
});

export const busyCrew: CrewSummary = {
  workers: [
    worker("node-a-03f1c2d4", 5, "summing"),
    worker("node-b-77aa0912", 5, "replaying"),
    worker("node-c-5b21e6f0", 4, "idle"),
    worker("node-d-d4c3b2a1", 1, "reading"),
  ],
  workerCount: 4,
  blocks: 16,
  freeBlocks: 1,
  bytesToEngine: 5.1e9,
  bytesFromEngine: 6.3e8,
  awaited: {
    seconds: 7,
    of: [
      { worker: "node-a-03f1c2d4", blocks: 2 },
      { worker: "node-b-77aa0912", blocks: 1 },
    ],
  },
};

export function beginCrewedJob(folder: string, job: string): JobRecord {
  const who = { party, peer: "bank" };
  // It began a while ago, and its last event is of now.
  let ago = 120_000;
  const began = Date.now() - ago;
  const record = new JobRecord(folder, () => Date.now() - (ago = Math.max(0, ago - 12_000)));
  const span = (phase: PhaseSpan["phase"], level: number, from: number, to: number): PhaseSpan => ({
    party,
    phase,
    tree: 1,
    level,
    from: began + from * 1000,
    to: began + to * 1000,
  });
  const spans = [span("send", 0, 60, 88), span("aggregate", 0, 66, 92), span("aggregate", 1, 94, 106)];
  const events: readonly PartyEvent[] = [
    {
      type: "job",
      party,
      role: "passive",
      job,
      peers: ["bank"],
      treeCount: 50,
      depthMax: 6,
      parameters: { num_round: 50, max_depth: 6, scheme: "paillier", key_bits: 2048 },
      versions: { tandem: "0.6.0", protocol: 12, node: "20.0.0" },
    },
    { type: "data", party, job, data: { trainRows: 10_000_000, testRows: 0, featureCount: 100 } },
    { type: "joined", ...who, featureCount: 100, job },
    { type: "progress", party, tree: 0, level: 0, doing: {}, bytes: {}, spans: [] },
    { type: "crew-opened", party, blocks: 16, rowsPerBlock: 655_360 },
    ...busyCrew.workers.map(({ worker: name, threads }): PartyEvent => ({
      type: "worker-joined",
      party,
      worker: name,
      threads,
    })),
    { type: "passive-tree", ...who, job, tree: 0, treeCount: 50, counts },
    {
      type: "progress",
      party,
      tree: 1,
      level: 2,
      doing: { [party]: "aggregate" },
      bytes: { bank: { activeToPassive: 1.02e10, passiveToActive: 4.6e6 } },
      spans,
    },
    { type: "block-moved", party, block: 3, moves: 1, worker: "node-b-77aa0912" },
    { type: "crew-progress", party, crew: busyCrew },
  ];
  for (const event of events) record.event(event);
  return record;
}
