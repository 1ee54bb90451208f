import { expect, test } from "vitest";
import type { PartyEvent } from "./events.ts";
import { noRounds, withRoundEvent } from "./redone-rounds.ts";

const party = "shop";
const counts = { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
const joined: PartyEvent = { type: "joined", party, peer: "bank", featureCount: 3 };
const busy = (tree: number): PartyEvent => ({
  type: "progress",
  party,
  tree,
  level: 0,
  doing: {},
  bytes: {},
  spans: [],
});
const done = (tree: number): PartyEvent => ({
  type: "passive-tree",
  party,
  peer: "bank",
  job: "spring",
  tree,
  treeCount: 9,
  counts,
});
const resumed = (trees: number): PartyEvent => ({ type: "resumed", party, job: "spring", trees, treeCount: 9 });

test.each<[string, readonly PartyEvent[], number]>([
  ["nothing is lost", [joined, busy(0), done(0), busy(1), done(1)], 0],
  ["a connection is lost between two rounds", [joined, busy(0), done(0), busy(0), joined, resumed(1), busy(1)], 0],
  ["a round is lost in the middle", [joined, busy(0), done(0), busy(1), joined, resumed(1), busy(1), done(1)], 1],
  ["twice", [joined, busy(0), joined, busy(0), joined, busy(0), done(0)], 2],
  ["a round that was finished here and not stored there", [joined, busy(0), done(0), joined, busy(0), done(0)], 1],
  ["that round and the next", [joined, busy(0), done(0), busy(1), done(1), busy(2), joined, resumed(1), done(1)], 2],
])("%s", (_, events, redone) => {
  expect(events.reduce(withRoundEvent, noRounds).redone).toBe(redone);
});
