import { expect, test } from "vitest";
import type { PartyEvent } from "../record/events.ts";
import { jobView } from "../record/fold-events.ts";
import { emptyOwn } from "../record/own-view.ts";
import { jobReport } from "./job-report.ts";

const party = "shop";
const summary = {
  workers: [{ worker: "host-1", threads: 8, memoryBytes: 1, blocks: 4, doing: "idle" as const }],
  workerCount: 3,
  blocks: 4,
  freeBlocks: 0,
  bytesToEngine: 2_000_000,
  bytesFromEngine: 1000,
  awaited: null,
};
const joined: PartyEvent = { type: "joined", party, peer: "bank", featureCount: 3 };
const busy: PartyEvent = { type: "progress", party, tree: 0, level: 0, doing: {}, bytes: {}, spans: [] };
const crewed: readonly PartyEvent[] = [
  joined,
  { type: "crew-opened", party, blocks: 4, rowsPerBlock: 65_536 },
  busy,
  { type: "block-moved", party, block: 2, moves: 1, worker: "host-1" },
  { type: "crew-progress", party, crew: summary },
  { type: "epoch-lost", party, code: "ENGINE_LOST" },
  joined,
];

function textOf(events: readonly PartyEvent[]): string {
  const view = jobView(events.map((event, at) => ({ ...event, at })));
  return jobReport({ view, own: emptyOwn() }, new Date(0))
    .replaceAll(/<[^>]*>|\s+/g, " ")
    .replaceAll(/ +/g, " ");
}

test("a report counts moves, bytes and rounds that were redone; it names no machine", () => {
  const text = textOf(crewed);
  expect(text).toContain("moves of a block to another worker 1 ");
  expect(text).toContain("sent to the engine 2.00 MB");
  expect(text).toContain("attempts whose work at the workers was lost 1 ");
  expect(text).toContain("1 round was lost in the middle, and done once more.");
  expect(text).not.toContain("host-1");
});

test("without workers or losses it says nothing of them", () => {
  const text = textOf([joined, busy]);
  expect(text).not.toMatch(/Workers|done once more/);
});
