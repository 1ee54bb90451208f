import { expect, test } from "vitest";
import type { PartyEvent } from "../../src/record/events.ts";
import { jobView } from "../../src/record/fold-events.ts";
import { emptyOwn } from "../../src/record/own-view.ts";
import { jobReport } from "./reports.js";

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
  expect(text).toContain("1 block moved ");
  expect(text).toContain("2.00 MB to the engine ");
  expect(text).toContain("1 attempt whose work at the workers was lost ");
  expect(text).toContain("1 round redone ");
  expect(text).toContain("1 round was interrupted and repeated.");
  expect(text).not.toContain("host-1");
});

test("without workers or losses it says nothing of them", () => {
  const text = textOf([joined, busy]);
  expect(text).not.toMatch(/Workers|repeated/);
});
