import { expect, test } from "vitest";
import type { CrewSummary } from "../crew/crew-summary.ts";
import { awaitedWords, engineBytes } from "./crew-view.ts";
import { isStampedEvent, type PartyEvent } from "./events.ts";
import { jobView } from "./fold-events.ts";
import { logTo } from "./log.ts";
import { isOfJob } from "./record-keeper.ts";

const party = "shop";
const summary: CrewSummary = {
  workers: [{ worker: "host-1", threads: 8, memoryBytes: 2 ** 30, blocks: 3, doing: "summing" }],
  workerCount: 1,
  blocks: 4,
  freeBlocks: 1,
  bytesToEngine: 1000,
  bytesFromEngine: 10,
  awaited: { seconds: 12, of: [{ worker: "host-1", blocks: 3 }] },
};
const opened: PartyEvent = { type: "crew-opened", party, blocks: 4, rowsPerBlock: 65_536 };
const story: readonly PartyEvent[] = [
  opened,
  { type: "worker-joined", party, worker: "host-1", threads: 8 },
  { type: "crew-progress", party, crew: summary },
  { type: "worker-lost", party, worker: "host-1", blocks: 3 },
  { type: "block-moved", party, block: 2, moves: 1, worker: "host-2" },
  { type: "epoch-lost", party, code: "ENGINE_LOST" },
  opened,
  { type: "crew-progress", party, crew: { ...summary, bytesToEngine: 500, awaited: null } },
];

test("a job's view has its crew: the last summary, and losses over all attempts", () => {
  const { crew } = jobView(story.map((event, at) => ({ ...event, at })));
  expect(crew).toMatchObject({ blocks: 4, rowsPerBlock: 65_536, moves: 1, epochsLost: 1, workersLost: 1 });
  expect(crew && engineBytes(crew)).toEqual({ toEngine: 1500, fromEngine: 20 });
  expect(jobView([{ type: "stopped", party, at: 1 }]).crew).toBeNull();
  expect(jobView([]).crew).toBeNull();
});

test("crew events are part of the job's record, and invalid ones are skipped", () => {
  for (const event of story) {
    expect(isOfJob(event)).toBe(true);
    expect(isStampedEvent({ ...event, at: 1 }), event.type).toBe(true);
  }
  const wrong = { ...summary, workers: [{ ...summary.workers[0], doing: "stealing" }] };
  for (const event of [
    { type: "crew-progress", crew: wrong },
    { type: "crew-progress", crew: { ...summary, blocks: -1 } },
    { type: "worker-joined", worker: "host-1", threads: "many" },
    { type: "block-moved", block: 2, worker: 7 },
  ])
    expect(isStampedEvent({ ...event, party, at: 1 }), JSON.stringify(event)).toBe(false);
});

test("the text about the workers that a request waits for", () => {
  expect(awaitedWords(summary)).toBe("waiting 12 s for host-1 (3 blocks)");
  expect(awaitedWords({ ...summary, awaited: null })).toBeNull();
  expect(awaitedWords({ ...summary, awaited: { seconds: 3, of: [] } })).toBeNull();
  const of = ["a", "", "c", "d"].map((worker) => ({ worker, blocks: 1 }));
  expect(awaitedWords({ ...summary, awaited: { seconds: 3, of } })).toBe(
    "waiting 3 s for a (1 block), no worker yet (1 block) and 2 more",
  );
});

test("a party's log has a line for each worker that joins or is lost, and none for progress", () => {
  const lines: string[] = [];
  const log = logTo({ level: "info", terminal: true, write: (text) => lines.push(text), now: () => new Date(0) });
  for (const event of story) log(event);
  expect(lines.map((line) => line.slice(21).trim())).toEqual([
    "shop: its workers have 4 blocks of up to 65536 rows",
    "shop: worker host-1 joined, with 8 threads",
    "shop: lost worker host-1; it held 3 blocks",
    "shop: block 2 moved to another worker, host-2",
    "shop: this attempt's work at the workers is lost (ENGINE_LOST)",
    "shop: its workers have 4 blocks of up to 65536 rows",
  ]);
});
