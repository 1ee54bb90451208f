import { expect, test } from "vitest";
import { sampleLayout } from "../../test/support/record-samples.ts";
import type { PartyEvent } from "./events.ts";
import { emptyLedger } from "../messages/ledger.ts";
import { addOwn, isOwnLine } from "./own-lines.ts";
import { emptyOwn, treeTitle } from "./own-view.ts";
import {
  activityOf,
  bottleneck,
  elapsedSeconds,
  featuresOf,
  gradientSavings,
  holdingOf,
  modelTrees,
  secondsLeft,
  fractionsOf,
  slotFacts,
  stoppingMarks,
} from "./job-facts.ts";
import { ledgerLines } from "./ledger-facts.ts";
import { addEvent, jobView } from "./fold-events.ts";
import { emptyJobView } from "./job-view.ts";

const counts = { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 4 };
const layout = { ...sampleLayout, proof: [] };

function story(): (PartyEvent & { at: number })[] {
  const job: PartyEvent = {
    type: "job",
    party: "bank",
    role: "active",
    job: "spring",
    peers: ["shop", "phone"],
    treeCount: 4,
    depthMax: 3,
    parameters: { eta: 0.3 },
    versions: { tandem: "1", protocol: 2, node: "20" },
  };
  const span = (party: string, phase: "encrypt" | "aggregate", tree: number, from: number, to: number) => ({
    party,
    phase,
    tree,
    level: 0,
    from,
    to,
  });
  return [
    { ...job, at: 1000 },
    { type: "joined", party: "bank", peer: "shop", featureCount: 5, at: 1100 },
    { type: "layout", party: "bank", layout, at: 2000 },
    {
      type: "progress",
      party: "bank",
      tree: 0,
      level: 1,
      doing: { shop: "aggregate" },
      bytes: { shop: { activeToPassive: 70, passiveToActive: 9 } },
      spans: [span("bank", "encrypt", 0, 2000, 2500), span("shop", "aggregate", 0, 2500, 4000)],
      at: 4000,
    },
    {
      type: "ledger",
      party: "bank",
      peer: "shop",
      ledger: { ...emptyLedger(), encryptedGradients: 1000, candidateSums: 50 },
      at: 4000,
    },
    { type: "tree", party: "bank", tree: 0, treeCount: 4, metrics: { auc: 0.7 }, counts, at: 4000 },
    {
      type: "progress",
      party: "bank",
      tree: 1,
      level: 0,
      doing: { bank: "encrypt" },
      bytes: { shop: { activeToPassive: 140, passiveToActive: 18 } },
      spans: [span("bank", "encrypt", 1, 4100, 4500)],
      at: 4500,
    },
    { type: "tree", party: "bank", tree: 1, treeCount: 4, metrics: { auc: 0.8 }, counts, at: 6000 },
  ];
}

test("a view is the same whether its events come at once or one by one", () => {
  const view = jobView(story());
  expect(view).toMatchObject({
    job: "spring",
    role: "active",
    state: "training",
    treesDone: 2,
    treeCount: 4,
    level: 0,
  });
  expect(
    view.parties.map(({ name, connected, doing, featureCount }) => [name, connected, doing, featureCount]),
  ).toEqual([
    ["bank", true, "encrypt", null],
    ["shop", true, null, 5],
    ["phone", false, null, null],
  ]);
  expect(view.parties[1]).toMatchObject({ sentBytes: 18, receivedBytes: 140 });
  expect(view.parties[0]).toMatchObject({ sentBytes: 140, receivedBytes: 18 });
  expect(view.rounds.map(({ train }) => train["auc"])).toEqual([0.7, 0.8]);
  expect(view.spans.current.map(({ tree }) => tree)).toEqual([1]);
  expect(view.spans.previous).toHaveLength(2);
  expect(view.totals.get("bank")?.get("encrypt")).toBe(900);
  const slowly = emptyJobView();
  for (const event of story()) addEvent(slowly, event);
  expect(slowly).toEqual(view);
});

test("a job with a start model has its trees from the beginning", () => {
  const [job, ...rest] = story();
  const start = { ...job, startTrees: 3, treeCount: 5 } as typeof job;
  expect(jobView([start])).toMatchObject({ treesDone: 3, treeCount: 5 });
  const grown = rest.map((event) => (event.type === "tree" ? { ...event, tree: event.tree + 3, treeCount: 5 } : event));
  expect(jobView([start, ...grown, { ...start, at: 9000 }])).toMatchObject({ treesDone: 5, resumed: 1 });
});

test("a tree that is repeated after a stop replaces the first one, and the state is updated", () => {
  const events = story();
  const [job] = events;
  const view = jobView([...events, { type: "error", party: "bank", code: "PARTY_LOST", message: "gone", at: 6100 }]);
  expect(view).toMatchObject({ state: "failed", failure: { code: "PARTY_LOST" } });
  const again = jobView([
    ...events,
    { type: "error", party: "bank", code: "PARTY_LOST", message: "gone", at: 6100 },
    { ...job, at: 9000 },
    { type: "tree", party: "bank", tree: 1, treeCount: 4, metrics: { auc: 0.81 }, counts, at: 9500 },
  ]);
  expect(again).toMatchObject({ state: "training", failure: null, resumed: 1, treesDone: 2 });
  expect(again.rounds.map(({ train }) => train["auc"])).toEqual([0.7, 0.81]);
});

test("while waiting for a lost party no party is connected; ledgers of earlier attempts are kept", () => {
  const lost: PartyEvent & { at: number } = {
    type: "waiting",
    party: "bank",
    job: "spring",
    delayMs: 200,
    code: "PARTY_LOST",
    message: "party shop is gone",
    at: 6100,
  };
  const waiting = jobView([...story(), lost]);
  expect(waiting).toMatchObject({ waiting: "waiting: party shop is gone", state: "training" });
  expect(waiting.parties.map(({ connected }) => connected)).toEqual([true, false, false]);
  const ledger = { ...emptyLedger(), encryptedGradients: 1000, candidates: 7 };
  const again = jobView([
    ...story(),
    lost,
    { type: "joined", party: "bank", peer: "shop", featureCount: 5, at: 6400 },
    { type: "resumed", party: "bank", job: "spring", trees: 2, treeCount: 4, at: 6400 },
    { type: "ledger", party: "bank", peer: "shop", ledger, at: 7000 },
    { type: "ledger", party: "bank", peer: "shop", ledger: { ...ledger, encryptedGradients: 2000 }, at: 8000 },
  ]);
  expect(again).toMatchObject({ waiting: null, treesDone: 2 });
  expect(again.ledgers.get("shop")).toEqual({ ...ledger, encryptedGradients: 3000, candidateSums: 50 });
});

test("events of another version change only the time", () => {
  const unknown = { type: "a-later-kind", party: "bank", at: 7000 } as unknown as PartyEvent & { at: number };
  const view = jobView([...story(), unknown]);
  expect(view).toEqual({ ...jobView(story()), lastAt: 7000 });
});

test("time left, time passed, the bottleneck", () => {
  const view = jobView(story());
  // Two trees took 4 s together; two are left, and half a second of the next has passed.
  expect(secondsLeft(view, 6500)).toBe(3.5);
  expect(elapsedSeconds(view, 6500)).toBe(5.5);
  expect(secondsLeft(jobView(story().slice(0, 3)), 6500)).toBeNull();
  expect(bottleneck(view.spans.previous)).toEqual({ party: "shop", phase: "aggregate", fraction: 0.75 });
  expect(bottleneck([])).toBeNull();
});

test("what batching saves, and the head-room of the slots", () => {
  const view = jobView(story());
  expect(gradientSavings(view)).toEqual({ ciphertexts: 1000, unbatched: 2000, savedBytes: 1000 * 512 });
  const [g] = slotFacts(layout);
  // 1000 values of at most 2^37 * 2 / 8192 = 2^25; overflow begins at 3 * 2^37.
  expect(g).toMatchObject({ name: "g", informationBits: 37, guardBits: 2, sumMax: 1000 * 2 ** 25, limit: 3 * 2 ** 37 });
  expect(g.headRoomBits).toBeCloseTo(Math.log2((3 * 2 ** 12) / 1000), 12);
});

test("ledger entries that an old record lacks are zero; links count once in a job", () => {
  const { candidateLinks: _links, drawnTogether: _drawn, ...before } = { ...emptyLedger(), wins: 3 };
  const old = before as ReturnType<typeof emptyLedger>;
  const said = (ledger: typeof old, at: number) =>
    ({ type: "ledger", party: "bank", peer: "shop", ledger, at }) as const;
  expect(jobView([...story(), said(old, 7000)]).ledgers.get("shop")).toMatchObject({ candidateLinks: 0, wins: 3 });
  const linked = { ...emptyLedger(), candidateLinks: 5, wins: 1 };
  const joined = { type: "joined", party: "bank", peer: "shop", featureCount: 2, at: 7500 } as const;
  const view = jobView([said(linked, 7000), joined, said(linked, 8000)]);
  expect(view.ledgers.get("shop")).toMatchObject({ candidateLinks: 5, wins: 2 });
});

test("the ledger names learner and subject, on either side", () => {
  const lines = ledgerLines(jobView(story()));
  expect(lines.find(({ what }) => what === "encrypted gradients only")).toMatchObject({
    learner: "shop",
    about: "bank",
    count: 1000,
  });
  expect(lines.find(({ unit }) => unit === "unnamed candidates")).toMatchObject({
    learner: "bank",
    about: "shop",
    count: 50,
  });
  const passive = jobView(
    story().map((event) =>
      event.type === "job"
        ? { ...event, role: "passive", party: "shop", peers: ["bank"] }
        : event.type === "ledger"
          ? { ...event, party: "shop", peer: "bank" }
          : event,
    ) as ReturnType<typeof story>,
  );
  expect(ledgerLines(passive).find(({ what }) => what === "encrypted gradients only")).toMatchObject({
    learner: "shop",
    about: "bank",
    count: 1000,
  });
});

test("early stopping: where training ended, and how many trees the model keeps", () => {
  const use = { cpuSeconds: 1, peakRssBytes: 1, eventLoopMaxBlockMs: 1 };
  const phasesMs = { handshake: 0, setUp: 0, encrypt: 0, aggregate: 0, decrypt: 0, keygen: 0, training: 1 };
  const result = (trees: number) => ({
    ...use,
    trees,
    metrics: { train: { auc: 0.8 }, test: null },
    phasesMs,
    counts,
    bytes: { activeToPassive: 0, passiveToActive: 0 },
  });
  const ended = (trees: number) =>
    jobView([...story(), { type: "active-result", party: "bank", result: result(trees), at: 7000 }]);
  expect(stoppingMarks(jobView(story()))).toEqual([]);
  expect(stoppingMarks(ended(2))).toEqual([{ at: 2, text: "stopped early" }]);
  expect(stoppingMarks(ended(1))).toEqual([
    { at: 1, text: "best: 1 kept" },
    { at: 2, text: "stopped early" },
  ]);
  const own = emptyOwn();
  for (const tree of [0, 1]) own.trees.set(tree, { kind: "own-splits", tree, splits: [] });
  expect([...modelTrees(jobView(story()), own).trees.keys()]).toEqual([0, 1]);
  expect([...modelTrees(ended(1), own).trees.keys()]).toEqual([0]);
  const passive = jobView([
    ...story(),
    { type: "passive-result", party: "shop", result: { ...use, trees: 1, counts }, at: 7000 },
  ]);
  expect([...modelTrees(passive, own).trees.keys()]).toEqual([0]);
});

test("with dart a tree's title has its weight, once known", () => {
  const own = emptyOwn();
  expect(treeTitle(own, 1)).toBe("Tree 2");
  const weights = { kind: "tree-weights", weights: [1, Math.fround(1 / 3)] } as const;
  expect(isOwnLine(weights)).toBe(true);
  expect(isOwnLine({ ...weights, weights: ["1"] })).toBe(false);
  addOwn(own, weights, []);
  expect([treeTitle(own, 1), treeTitle(own, 2)]).toEqual(["Tree 2, weighs 0.333", "Tree 3"]);
});

test("texts about what parties do and hold", () => {
  const view = jobView(story());
  const words = (of: typeof view): string[] => of.parties.map((party) => activityOf(of, party));
  expect(words(view)).toEqual(["encrypting gradients", "waiting", "not connected"]);
  expect(
    words(jobView([...story(), { type: "error", party: "bank", code: "PARTY_LOST", message: "gone", at: 6100 }])),
  ).toEqual(["stopped", "gone", "gone"]);
  expect(view.parties.map((party) => holdingOf(view, party))).toEqual([
    "labels, private key",
    "5 features",
    "features",
  ]);
  const withData = jobView([
    ...story(),
    { type: "data", party: "bank", job: "spring", data: { trainRows: 10, testRows: 0, featureCount: 7 }, at: 6000 },
  ]);
  expect(withData.parties.map((party) => featuresOf(withData, party))).toEqual([7, 5, null]);
  expect([fractionsOf([1, 3]), fractionsOf([0, 0])]).toEqual([
    [0.25, 0.75],
    [0, 0],
  ]);
});
