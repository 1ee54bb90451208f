/** Lines edited by hand: invalid ones do not reach a view, and the others stay. */
import { expect, test } from "vitest";
import { sampleLayout as layout } from "../../test/support/record-samples.ts";
import { isStampedEvent } from "./events.ts";
import { isOwnLine } from "./own-lines.ts";
import { isTranscriptLine } from "./transcript-lines.ts";

const stamp = { party: "bank", at: 1 };
const [slot] = layout.slots;

test("an event has the fields that views need; kinds of later versions are accepted", () => {
  expect(isStampedEvent({ type: "layout", ...stamp, layout })).toBe(true);
  expect(isStampedEvent({ type: "of-a-later-version", ...stamp, more: 1 })).toBe(true);
  expect(isStampedEvent({ type: "tree", ...stamp, tree: 0, treeCount: 1, metrics: { auc: null } })).toBe(true);
  for (const wrong of [
    null,
    [],
    "layout",
    { type: "layout", ...stamp },
    { type: "layout", party: "bank", at: "now", layout },
    { type: "layout", party: "bank", at: 1e16, layout },
    { type: "layout", ...stamp, layout: { ...layout, slots: [{ ...slot, r: 1e308 }] } },
    { type: "layout", ...stamp, layout: { ...layout, slots: [{ ...slot, alphaMax: 0 }] } },
    { type: "tree", ...stamp, tree: -1, treeCount: 1, metrics: {} },
    { type: "tree", ...stamp, tree: 0, treeCount: 1, metrics: { auc: "high" } },
    { type: "progress", ...stamp, tree: 0, level: 0, doing: { bank: "steal" }, bytes: {}, spans: [] },
  ])
    expect(isStampedEvent(wrong), JSON.stringify(wrong)).toBe(false);
});

test("a tree with cycles, children out of range or no nodes is refused", () => {
  const leaf = { kind: "leaf", weight: 1, count: 1 };
  const tree = (left: number, right: number, rule: object = { owner: 1 }) => ({
    kind: "tree",
    tree: 0,
    nodes: [{ kind: "split", left, right, gain: 1, count: 2, rule }, leaf, leaf],
  });
  expect(isOwnLine(tree(1, 2))).toBe(true);
  expect(isOwnLine(tree(1, 2, { owner: 0, featureName: "a", threshold: 1, defaultLeft: true }))).toBe(true);
  for (const wrong of [tree(0, 1), tree(1, 1), tree(1, 3), tree(1, 2, { owner: 0, featureName: "a" }), tree(1.5, 2)])
    expect(isOwnLine(wrong)).toBe(false);
  expect(isOwnLine({ kind: "tree", tree: 0, nodes: [] })).toBe(false);
});

test("numbers of a transcript are bounded: arrays are allocated from them", () => {
  const column = { name: "a", binCount: 4, hasMissing: false, oneHot: null, monotone: 0, bins: "" };
  expect(isTranscriptLine({ kind: "columns", columns: [column] })).toBe(true);
  expect(isTranscriptLine({ kind: "columns", columns: [{ ...column, binCount: 1e9 }] })).toBe(false);
  expect(isTranscriptLine({ kind: "tree", peer: "bank", tree: 1e300, sampled: "" })).toBe(false);
});
