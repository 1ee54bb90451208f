import { expect, test } from "vitest";
import type { CrewSummary } from "../crew/crew-summary.ts";
import type { PartyEvent } from "./events.ts";
import { PartyMetrics } from "./party-metrics.ts";

const party = "shop";
const who = { party, peer: "bank", job: "spring" };
const counts = { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
const look = (bytesToEngine: number): PartyEvent => {
  const worker = { worker: "host-1", threads: 8, memoryBytes: 1, blocks: 3, doing: "idle" as const };
  const crew: CrewSummary = {
    workers: [worker],
    workerCount: 1,
    blocks: 4,
    freeBlocks: 1,
    bytesToEngine,
    bytesFromEngine: bytesToEngine / 10,
    awaited: { seconds: 9, of: [{ worker: "host-1", blocks: 3 }] },
  };
  return { type: "crew-progress", party, crew };
};
const opened: PartyEvent = { type: "crew-opened", party, blocks: 4, rowsPerBlock: 7 };
const busy: PartyEvent = { type: "progress", party, job: "spring", tree: 0, level: 0, doing: {}, bytes: {}, spans: [] };
const joined: PartyEvent = { type: "joined", ...who, featureCount: 3 };

function shown(...events: PartyEvent[]): Record<string, number> {
  const metrics = new PartyMetrics();
  for (const event of events) metrics.see(event);
  const lines = metrics.text().split("\n");
  return Object.fromEntries(
    lines
      .filter((line) => /^[a-z]/.test(line))
      .map((line) => [line.split(" ")[0].slice(7), Number(line.split(" ")[1])]),
  );
}

test("every metric is exported from the start, with its help text", () => {
  const text = new PartyMetrics().text();
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(names).toHaveLength(19);
  const others = names.filter((name) => name !== "tandem_certificate_expires_timestamp_seconds");
  for (const name of others) expect(text).toMatch(new RegExp(`^${name}(\\{.*\\})? 0$`, "m"));
  expect(Object.values(shown()).every((value) => value === 0)).toBe(true);
});

test("workers, blocks, moves, lost epochs, bytes over all attempts, and repeated rounds", () => {
  const story: PartyEvent[] = [
    joined,
    opened,
    { type: "worker-joined", party, worker: "host-1", threads: 8 },
    look(100),
    busy,
    look(1000),
    { type: "block-moved", party, block: 1, moves: 1, worker: "host-1" },
    { type: "worker-lost", party, worker: "host-2", blocks: 1 },
    { type: "epoch-lost", party, code: "ENGINE_LOST" },
    { type: "job-ended", ...who, failure: { code: "ENGINE_LOST", message: "" } },
    joined,
    opened,
    look(500),
    { type: "passive-tree", ...who, tree: 0, treeCount: 1, counts },
  ];
  expect(shown(...story)).toEqual({
    trees_total: 1,
    requests_total: 0,
    jobs_running: 0,
    jobs_waiting: 0,
    jobs_memory_bytes: 0,
    'drift_features{level="stable"}': 0,
    'drift_features{level="moderate"}': 0,
    'drift_features{level="large"}': 0,
    'jobs_ended_total{result="finished"}': 0,
    'jobs_ended_total{result="failed"}': 1,
    alarms_total: 0,
    rounds_redone_total: 1,
    crew_workers: 1,
    crew_workers_joined_total: 1,
    crew_workers_lost_total: 1,
    crew_blocks_held: 3,
    crew_blocks_free: 1,
    crew_block_moves_total: 1,
    crew_epochs_lost_total: 1,
    'crew_engine_bytes_total{direction="to"}': 1500,
    'crew_engine_bytes_total{direction="from"}': 150,
    crew_waited_seconds: 9,
  });
  const after = shown(...story, { type: "job-ended", ...who, failure: null });
  expect([after["crew_workers"], after["crew_blocks_held"], after["crew_waited_seconds"]]).toEqual([0, 0, 0]);
});

test("it contains no name of a machine, a job or a partner", () => {
  const metrics = new PartyMetrics();
  for (const event of [joined, opened, look(5)]) metrics.see(event);
  expect(metrics.text()).not.toMatch(/host|bank|spring|shop/);
});

test("jobs that run and wait, and rounds that are repeated in one of two jobs", () => {
  const other = { ...who, job: "summer" };
  const story: PartyEvent[] = [
    { type: "occupancy", party, running: 2, waiting: 1, bytes: 5e6 },
    joined,
    { type: "joined", ...other, featureCount: 3 },
    busy,
    { type: "joined", ...other, featureCount: 3 }, // had begun nothing
    joined,
  ];
  const metrics = shown(...story);
  expect(metrics).toMatchObject({ jobs_running: 2, jobs_waiting: 1, jobs_memory_bytes: 5e6, rounds_redone_total: 1 });
});

test("the ends of certificates, by the partner's place in the config and without names", () => {
  const own = { type: "certificate", party, of: party, partner: 0, pin: 1, fingerprint: "ab", until: 2e12 } as const;
  const metrics = new PartyMetrics();
  for (const event of [own, { ...own, of: "bank", partner: 1, pin: 2, until: 3e12 }]) metrics.see(event);
  const text = metrics.text();
  expect(text).toContain('tandem_certificate_expires_timestamp_seconds{partner="0",pin="1"} 2000000000\n');
  expect(text).toContain('tandem_certificate_expires_timestamp_seconds{partner="1",pin="2"} 3000000000\n');
  expect(text).not.toContain("bank");
});
