import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Terminal } from "../../../test/support/terminal.ts";
import type { PartyEvent } from "../../record/events.ts";
import { coloursWanted, LiveView, type Screen } from "./live-view.ts";
import { partyOutput } from "./party-output.ts";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

const counts = { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
const job: PartyEvent = {
  type: "job",
  party: "bank",
  role: "active",
  job: "spring",
  peers: ["shop"],
  treeCount: 4,
  depthMax: 3,
  parameters: {},
  versions: { tandem: "1", protocol: 2, node: "20" },
};
const progress: PartyEvent = {
  type: "progress",
  party: "bank",
  tree: 1,
  level: 1,
  doing: { shop: "aggregate" },
  bytes: { shop: { activeToPassive: 5e6, passiveToActive: 2e3 } },
  spans: [],
};
const tree: PartyEvent = { type: "tree", party: "bank", tree: 0, treeCount: 4, metrics: { auc: 0.75 }, counts };

/** 28 places, some of them filled. */
const bar = (filled: number): string => "█".repeat(filled) + "░".repeat(28 - filled);

function screenOf(terminal: Terminal, colours = false): Screen {
  return { write: (text) => terminal.write(text), columns: () => terminal.columns, colours, now: Date.now };
}

function shown(columns: number, colours = false) {
  const terminal = new Terminal(columns);
  return { terminal, view: new LiveView(screenOf(terminal, colours), "bank") };
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
    `${bar(7)}  tree 2/4  level 2/3  train auc 0.7500  4.0 s left`,
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

test("the last state stays, and nothing is drawn after it", () => {
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
  for (const event of [{ ...job, peers: ["a-company-with-a-very-long-name-indeed"] }, progress, tree, progress])
    view.add(event);
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
  expect([
    coloursWanted({}),
    coloursWanted({ NO_COLOR: "" }),
    coloursWanted({ NO_COLOR: "1" }),
    coloursWanted({ TERM: "dumb" }),
  ]).toEqual([true, true, false, false]);
});

function outputWith(options: { readonly quiet?: boolean; readonly onTerminal?: boolean } = {}) {
  const { quiet = false, onTerminal = true } = options;
  const terminal = new Terminal(100);
  const output = partyOutput(
    { name: "shop", log: { level: "info" } },
    {
      quiet,
      screen: onTerminal ? screenOf(terminal) : null,
      write: (text) => terminal.write(text),
      now: () => new Date(),
    },
  );
  const of = { party: "shop", peer: "bank", job: "spring" } as const;
  const events: PartyEvent[] = [
    { type: "listening", party: "shop", process: 1, port: 7700 },
    {
      type: "job",
      party: "shop",
      role: "passive",
      job: "spring",
      peers: ["bank"],
      treeCount: 2,
      depthMax: 3,
      parameters: {},
      versions: { tandem: "1", protocol: 2, node: "20" },
    },
    { type: "joined", ...of, featureCount: 3 },
    {
      type: "progress",
      party: "shop",
      tree: 0,
      level: 1,
      doing: { shop: "aggregate" },
      bytes: { bank: { activeToPassive: 5e6, passiveToActive: 2e3 } },
      spans: [],
    },
    { type: "passive-tree", ...of, tree: 0, treeCount: 2, counts },
  ];
  const ended: PartyEvent[] = [
    { type: "passive-tree", ...of, tree: 1, treeCount: 2, counts },
    { type: "job-ended", ...of, failure: null },
  ];
  const failed: PartyEvent = {
    type: "job-ended",
    ...of,
    failure: { code: "PARTY_LOST", message: "party bank is gone" },
  };
  return { terminal, output, events, ended, failed };
}

test("a passive party: its log, and below it the job that is under way", () => {
  const { terminal, output, events, ended, failed } = outputWith();
  const lines = (): string[] =>
    terminal.text.split("\n").map((line) => line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/, "@ "));
  output.emit(events[0]);
  vi.advanceTimersByTime(5000);
  expect(lines()).toEqual(["@ shop: listening on port 7700"]);
  for (const event of events.slice(1)) output.emit(event);
  vi.advanceTimersByTime(1000);
  const said = ["@ shop: listening on port 7700", "@ shop: bank joined with job spring; 3 features take part"];
  expect(lines()).toEqual([
    ...said,
    `${bar(14)}  tree 2/2  level 1/3  0.0 s left`,
    "  shop  adding ciphertexts",
    "  bank  waiting                 2.00 kB to it, 5.00 MB from it",
  ]);
  for (const event of ended) output.emit(event);
  const first = [
    ...said,
    "@ shop: job spring finished",
    `${"█".repeat(28)}  tree 2/2  1.0 s in all`,
    "  shop  done",
    "  bank  done                    2.00 kB to it, 5.00 MB from it",
  ];
  vi.advanceTimersByTime(5000);
  expect(lines()).toEqual(first);
  // The next job starts a new view below.
  for (const event of [...events.slice(1), failed]) output.emit(event);
  vi.advanceTimersByTime(5000);
  expect(lines().slice(first.length)).toEqual([
    said[1],
    "@ shop: job spring failed: party bank is gone (PARTY_LOST)",
    "██████████████░░░░░░░░░░░░░░  tree 1/2  0.0 s in all",
    "  shop  stopped",
    "  bank  gone                    2.00 kB to it, 5.00 MB from it",
  ]);
});

test("a job that went on: the time is what it took since", () => {
  const { terminal, output, events, ended } = outputWith();
  const resumed: PartyEvent = { type: "resumed", party: "shop", job: "spring", trees: 1, treeCount: 2 };
  for (const event of [...events.slice(0, 3), resumed, events[3], ...ended]) output.emit(event);
  expect(terminal.text).toMatch(/tree 2\/2 {2}[\d.]+ m?s since it resumed$/m);
});

test("a passive party on a terminal says once what a job reveals, however often it is tried; a log has a list", () => {
  const disclosures = [
    { name: "candidates", learner: "bank", about: "shop", what: "the number of ids", atMost: null, unit: "ids" },
  ] as const;
  const tried = (onTerminal: boolean): string => {
    const { terminal, output, events } = outputWith({ onTerminal });
    for (const event of [...events.slice(0, 3), ...events.slice(1, 3)])
      output.emit(event.type === "job" ? { ...event, disclosures } : event);
    return terminal.text;
  };
  expect(tried(true).split("will reveal to bank, at most: the number of ids")).toHaveLength(2);
  expect(tried(true).split("joined with job spring")).toHaveLength(3);
  expect(tried(false).replaceAll("\n", "").split('"reveals":["the number of ids')).toHaveLength(3);
});

test("a quiet passive party logs warnings and errors only; without a terminal there is no live view", () => {
  const quiet = outputWith({ quiet: true });
  for (const event of [...quiet.events, ...quiet.ended]) quiet.output.emit(event);
  vi.advanceTimersByTime(1000);
  expect(quiet.terminal.text).toBe("");
  quiet.output.emit(quiet.failed);
  expect(quiet.terminal.text).toMatch(/job spring failed: party bank is gone \(PARTY_LOST\)$/);
  const elsewhere = outputWith({ onTerminal: false });
  for (const event of [...elsewhere.events, ...elsewhere.ended]) elsewhere.output.emit(event);
  vi.advanceTimersByTime(1000);
  const log = elsewhere.terminal.text.replaceAll("\n", "");
  expect(log).not.toContain("█");
  expect(log.match(/"event":"passive-tree"/g)).toHaveLength(2);
});

test("metrics set by eval_metric have a separate line; of default metrics the first is shown with the bar", () => {
  const metrics = { auc: 0.75, logloss: 0.5 };
  const round = { ...tree, metrics, validation: { auc: 0.5, logloss: 0.75 } };
  for (const asked of [true, false]) {
    const { terminal, view } = shown(120);
    view.add({ ...job, parameters: { eval_metric: asked ? "auc, logloss" : "" } });
    view.add(progress);
    view.add(round);
    vi.advanceTimersByTime(500);
    const [first, second] = terminal.text.split("\n");
    expect(first.includes("train")).toBe(!asked);
    if (asked) expect(second).toBe("  train auc 0.7500 logloss 0.5000  validation auc 0.5000 logloss 0.7500");
    else expect(first).toContain("train auc 0.7500  validation auc 0.5000  ");
  }
});

test("a passive party with two jobs at once: the lines of each below its name", () => {
  const { terminal, output, events } = outputWith();
  for (const event of events) output.emit(event);
  for (const event of events.slice(1)) {
    if (event.type === "job") output.emit({ ...event, job: "summer", peers: ["rival"] });
    else output.emit({ ...event, job: "summer" });
  }
  vi.advanceTimersByTime(1000);
  const lines = terminal.text.split("\n");
  expect(lines.filter((line) => / \((bank|rival)\)$/.test(line))).toEqual(["spring (bank)", "summer (rival)"]);
  expect(lines.filter((line) => line.includes("tree 2/2"))).toHaveLength(2);
  output.emit({ type: "job-ended", party: "shop", peer: "rival", job: "summer", failure: null });
  vi.advanceTimersByTime(1000);
  expect(terminal.text.split("\n").filter((line) => /tree \d\/2/.test(line))).toHaveLength(2);
});
