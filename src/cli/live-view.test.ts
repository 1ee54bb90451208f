import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Terminal } from "../../test/support/terminal.ts";
import type { PartyEvent } from "../party/events.ts";
import { coloursWanted, LiveView } from "./live-view.ts";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

const counts = { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
const job: PartyEvent = { type: "job", party: "bank", role: "active", job: "spring", peers: ["shop"], treeCount: 4, depthMax: 3, parameters: {}, versions: { tandem: "1", protocol: 2, node: "20" } };
const progress: PartyEvent = { type: "progress", party: "bank", tree: 1, level: 1, doing: { shop: "aggregate" }, bytes: { shop: { activeToPassive: 5e6, passiveToActive: 2e3 } }, spans: [] };
const tree: PartyEvent = { type: "tree", party: "bank", tree: 0, treeCount: 4, metrics: { auc: 0.75 }, counts };

function shown(columns: number, colours = false) {
  const terminal = new Terminal(columns);
  const view = new LiveView({ write: (text) => terminal.write(text), columns: () => columns, colours, now: Date.now }, "bank");
  return { terminal, view };
}

test("a few lines, drawn over themselves; what was said stays above", () => {
  const { terminal, view } = shown(100);
  view.line("before");
  view.add(job);
  view.add({ type: "joined", party: "bank", peer: "shop", featureCount: 3 });
  view.add(progress);
  vi.advanceTimersByTime(2000);
  view.add(tree);
  view.add(progress);
  vi.advanceTimersByTime(1000);
  view.line("meanwhile");
  vi.advanceTimersByTime(1000);
  expect(terminal.text.split("\n")).toEqual([
    "before",
    "meanwhile",
    "███████░░░░░░░░░░░░░░░░░░░░░  tree 2/4  level 2/3  train auc 0.7500  4.0 s left",
    "  bank  waiting",
    "  shop  adding ciphertexts      5.00 MB to it, 2.00 kB back",
  ]);
});

test("other parties' events are not taken for the active party's", () => {
  const { terminal, view } = shown(80);
  view.add(job);
  view.add(progress);
  view.add({ ...progress, party: "shop", doing: { shop: "return" } });
  vi.advanceTimersByTime(500);
  expect(terminal.text).toContain("adding ciphertexts");
});

test("the last picture stays, and nothing is drawn after it", () => {
  const { terminal, view } = shown(80);
  for (const event of [job, progress, tree]) view.add(event);
  view.add({ type: "error", party: "bank", code: "PARTY_LOST", message: "gone" });
  const last = terminal.text;
  terminal.write("error: gone\n");
  vi.advanceTimersByTime(5000);
  expect(terminal.text).toBe(`${last}\nerror: gone`);
});

test.each([20, 34, 60, 200])("never wider than the terminal: %i columns", (columns) => {
  const { terminal, view } = shown(columns, true);
  for (const event of [{ ...job, peers: ["a-company-with-a-very-long-name-indeed"] }, progress, tree, progress]) view.add(event);
  vi.advanceTimersByTime(3000);
  const lines = terminal.text.split("\n");
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line.length).toBeLessThan(columns);
});

test("colours only where they are wanted", () => {
  for (const colours of [true, false]) {
    const { terminal, view } = shown(80, colours);
    view.add(job);
    view.add(progress);
    vi.advanceTimersByTime(500);
    expect(terminal.colourChanges > 0).toBe(colours);
  }
  expect([coloursWanted({}), coloursWanted({ NO_COLOR: "" }), coloursWanted({ NO_COLOR: "1" }), coloursWanted({ TERM: "dumb" })]).toEqual([true, true, false, false]);
});
