/** Whoever does something else than was agreed on is named, with the tree and the message; and nobody else is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import type { QuantisedGradients } from "../src/base/quantised-gradients.ts";
import type { BinnedFeature } from "../src/gbdt/split/binning.ts";
import type { PassiveRole } from "../src/protocol/passive/role.ts";
import type { ActiveScheme, PassiveScheme } from "../src/scheme/scheme.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, type Finding, type Verdict } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import {
  type ActiveNode,
  ActiveNodeSchema,
  ActiveSplitDecisionSchema,
} from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { isSet } from "../src/wire/bitmap.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { expectError } from "./support/expect-error.ts";
import type { TestTable } from "./support/in-memory-job.ts";
import { verifiedJob, type VerifiedJob, type Cheat } from "./support/verified-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-verified-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
const opened = (options: VerifiedJob): Promise<Opening[]> => verifiedJob(join(root, String(folders++)), options);
const check = (openings: readonly Opening[], trees: ReadonlySet<number> | null = null): Promise<Verdict> =>
  checkOpenings(openings, { trees });

const table = randomTable("verified", { rows: 90, features: [1, 2, 2], missingFraction: 0.1 });

function withShop(of: TestTable, change: (columns: readonly Float32Array[]) => readonly Float32Array[]): TestTable {
  return { ...of, parties: of.parties.map((columns, party) => (party === 1 ? change(columns) : columns)) };
}

test.each([
  ["noise", { table, training: { num_round: 2 }, defences: { answer_noise: 3, min_people_share: 0.05 } }],
  ["one sum per ciphertext, both children asked for", { table, speed: { packing: false, subtraction: false } }],
  ["short exponents", { table, speed: { encryption: "short" as const, skip_bin: false } }],
  ...manyFeatures.map(([name, many, training]) => [name, { table: many, training }] as const),
] as const)("an honest job holds: %s", async (_, options) => {
  const verdict = await check(await opened(options));
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([]);
  expect(new Set(verdict.trees.map(({ state }) => state))).toEqual(new Set(["as agreed"]));
});

/** One who is in and one who is not change places; as long as there are two such in whole bytes. */
function swapped(bitmap: Uint8Array): Uint8Array {
  const size = 8 * (bitmap.length - 1);
  const bits = Array.from({ length: Math.max(0, size) }, (_, i) => isSet(bitmap, i));
  const [one, other] = [bits.indexOf(true), bits.indexOf(false)];
  const changed = bitmap.slice();
  if (one >= 0 && other >= 0) for (const i of [one, other]) changed[i >> 3] ^= 1 << (i & 7);
  return changed;
}

/** The bank marks a single person. */
function marking(scheme: ActiveScheme): ActiveScheme {
  return overridden(scheme, {
    gradients: (layout, gradients, sample) => {
      const columns = gradients.columns.map((column) => {
        const marked = column.slice();
        marked[40] = column.find((value) => value !== column[40]) ?? 0;
        return marked;
      });
      return scheme.gradients(layout, { ...gradients, columns } as QuantisedGradients, sample);
    },
  });
}

/** Shop leaves somebody out at every node below the root. */
function forgetting(scheme: PassiveScheme): PassiveScheme {
  return overridden(scheme, {
    sums: (task, message) =>
      scheme.sums(task.node === 0 ? task : { ...task, positions: task.positions.subarray(1) }, message),
  });
}

/** Two people of a node, of either label, change places in shop's first column while it sums. */
function confusing(scheme: PassiveScheme, node: number): PassiveScheme {
  return overridden(scheme, {
    sums: (task, message) => {
      const [payer, defaulter] = [0, 1].map((label) => task.positions.find((i) => table.labels[i] === label) ?? 0);
      const [first, ...others] = task.bins;
      const bins = [exchange(first, payer, defaulter), ...others];
      return scheme.sums(task.node === node ? { ...task, bins } : task, message);
    },
  });
}

function exchange<Column extends Uint8Array | Uint16Array>(bins: Column, one: number, other: number): Column {
  const changed = bins.slice() as Column;
  [changed[one], changed[other]] = [bins[other], bins[one]];
  return changed;
}

/** Who is in the children of nodes that shop has not split: there it cannot know better. */
function otherMembers(peer: PassivePeer): PassivePeer {
  const ofShop = new Set<string>();
  return {
    ...peer,
    splits: (request, options) => {
      for (const { node } of request.decisions ?? []) ofShop.add(`${request.tree}/${node}`);
      return peer.splits(request, options);
    },
    histograms: (nodes, options) =>
      peer.histograms(
        otherRequests(nodes, ({ tree, members }) => members !== undefined && !ofShop.has(`${tree}/${members.parent}`)),
        options,
      ),
  };
}

/** Everywhere. */
function anyMembers(peer: PassivePeer): PassivePeer {
  return {
    ...peer,
    histograms: (nodes, options) =>
      peer.histograms(
        otherRequests(nodes, () => true),
        options,
      ),
  };
}

type Requests = Parameters<PassivePeer["histograms"]>[0];

async function* otherRequests(nodes: Requests, isChanged: (request: ActiveNode) => boolean): Requests {
  for await (const request of nodes) {
    const copy = create(ActiveNodeSchema, request);
    if (copy.members !== undefined && isChanged(copy)) copy.members.members = swapped(copy.members.members);
    yield copy;
  }
}

/** The bank names the candidate beside the best one. */
function otherCandidate(peer: PassivePeer): PassivePeer {
  return {
    ...peer,
    splits: ({ tree, decisions = [] }, options) => {
      const changed = decisions.map((decision) => {
        const { named, ...rest } = create(ActiveSplitDecisionSchema, decision);
        return { ...rest, named: named.case === "candidate" ? { ...named, value: named.value ^ 1 } : named };
      });
      return peer.splits({ ...(tree === undefined ? {} : { tree }), decisions: changed }, options);
    },
  };
}

/** The bank asks for the order of nodes where nothing ties. */
function askingOrders(peer: PassivePeer): PassivePeer {
  async function* splits(...[request, options]: Parameters<PassivePeer["splits"]>): ReturnType<PassivePeer["splits"]> {
    const { tree = 0, decisions = [] } = request;
    const nodes = decisions.map(({ node = 0 }) => node);
    for await (const piece of peer.order({ tree, nodes }, options)) expect(piece.ranks.length).toBeGreaterThan(0);
    yield* peer.splits(request, options);
  }
  return { ...peer, splits };
}

/** Shop prefers the last of its candidates that tie. */
function otherOrder(role: PassiveRole): PassiveRole {
  return overridden(role, {
    async *order(request) {
      for await (const piece of role.order(request)) yield { ...piece, ranks: reversed(piece.ranks ?? []) };
    },
  });
}

function reversed(ranks: readonly number[]): number[] {
  return ranks.map((rank) => ranks.length - 1 - rank);
}

/** Two people change places in shop's second column. */
const exchanged =
  (one: number, other: number) =>
  (features: readonly BinnedFeature[]): readonly BinnedFeature[] =>
    features.map((feature, i) => (i === 1 ? { ...feature, bins: exchange(feature.bins, one, other) } : feature));

function otherOutcome(role: PassiveRole): PassiveRole {
  return overridden(role, {
    async *splits(request) {
      for await (const split of role.splits(request))
        yield { ...split, leftMembers: swapped(split.leftMembers ?? new Uint8Array(0)) };
    },
  });
}

/** An object with some methods of its own; the others are the original's. */
function overridden<T extends object>(original: T, own: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Those whom the table below calls alike have the same label, and so the same gradients in the first tree. */
const [person, alike, unlike] = [0, 11, 2];

interface Deviation {
  readonly name: string;
  readonly job?: Partial<VerifiedJob>;
  readonly cheat: Cheat;
  readonly party: string;
  readonly what: RegExp;
}

const cheats: readonly Deviation[] = [
  {
    name: "the bank encrypts a mark instead of a gradient",
    cheat: { activeScheme: marking, isUnchecking: true },
    party: "bank",
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank trains with another label than it has committed to",
    cheat: { labels: (labels) => labels.map((label, i) => (i === person ? 1 - label : label)) },
    party: "bank",
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank trains with other weights than it has committed to",
    cheat: { weights: table.labels.map((_, i) => 1 + (i % 3)) },
    party: "bank",
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank sends other people as a node's members",
    cheat: { peer: otherMembers, isUnchecking: true },
    party: "bank",
    what: /^who is in node \d+: not/,
  },
  {
    name: "the bank names another candidate than the best",
    cheat: { peer: otherCandidate, isUnchecking: true },
    party: "bank",
    what: /^the decision at node \d+: not/,
  },
  {
    name: "the bank searches with another parameter than it has committed to",
    cheat: { training: { lambda: 60 } },
    party: "bank",
    what: /^(the order of candidates at|the decision at|who is in) node \d+: .* \(towards /,
  },
  {
    name: "the bank asks for an order where nothing ties",
    cheat: { peer: askingOrders },
    party: "bank",
    what: /^the order of candidates at node \d+: where nothing was due \(towards shop\)/,
  },
  {
    name: "the bank agrees on other parameters than it has committed to",
    cheat: { training: { seed: 99 } },
    party: "bank",
    what: /^the terms of the job: not/,
  },
  {
    // Noise hides it from the bank.
    name: "shop leaves people out of its sums",
    job: { defences: { answer_noise: 3, min_people_share: 0.05 } },
    cheat: { passiveScheme: forgetting },
    party: "shop",
    what: /^the sums of node \d+: not/,
  },
  {
    name: "shop sums another column than it has committed to",
    cheat: { features: exchanged(person, unlike) },
    party: "shop",
    what: /^the sums of node 0: not/,
  },
  {
    name: "shop answers another outcome, of people whose gradients are the same",
    cheat: { features: exchanged(person, alike) },
    party: "shop",
    what: /^the outcome at node 0: not/,
  },
  {
    name: "shop gives another order of candidates that tie",
    job: { table: withShop(table, ([, column]) => [column, column]) },
    cheat: { role: otherOrder },
    party: "shop",
    what: /^the order of candidates at node 0: not/,
  },
];

test.each(cheats)("$name", async ({ job = {}, cheat, party, what }) => {
  const expected: Finding = { party, tree: 0, what: expect.stringMatching(what) as string };
  const openings = await opened({ table, training: { num_round: 3 }, ...job, cheat });
  expect(deviations(await check(openings))).toEqual([expected]);
  // Where something deviates, ciphertexts are looked at whether they were chosen or not.
  expect(deviations(await check(openings, new Set([2])))).toEqual([expected]);
});

test("sums that decide nothing are seen where ciphertexts are looked at", async () => {
  const cheat: Cheat = { passiveScheme: (scheme) => confusing(scheme, 4) };
  // Asked for by themselves: what is derived from confused sums is often impossible.
  const openings = await opened({ table, training: { num_round: 1 }, speed: { subtraction: false }, cheat });
  expect(deviations(await check(openings))).toEqual([
    { party: "shop", tree: 0, what: expect.stringMatching(/^the sums of node 4: not/) as string },
  ]);
  const verdict = await check(openings, new Set());
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([expect.stringMatching(/^the ciphertexts of 1 trees/)]);
});

test.each<readonly [string, Cheat, RegExp]>([
  ["other members of a node that shop has split", { peer: anyMembers }, /^party shop: .* not the sides of node 0's/],
  ["sums of fewer people", { passiveScheme: forgetting }, /^party shop sent a sum that so many/],
  ["an outcome that does not make the sums", { role: otherOutcome }, /^party shop sent a split whose people do not/],
])("the job itself refuses %s", async (_, cheat, message) => {
  await expectError(() => opened({ table, training: { num_round: 1 }, cheat }), "PROTOCOL_STATE", message);
});

test("what is opened otherwise than it was committed to is its owner's", async () => {
  const [bank, shop, telecom] = await opened({ table, training: { num_round: 2 } });
  const { active, opened: told } = bank;
  if (active === undefined) throw new Error("the bank is active");
  const changedLabels = Buffer.from(active.labels, "base64");
  changedLabels.writeDoubleLE(1 - changedLabels.readDoubleLE(80), 80);
  const cases: [Opening[], string, RegExp][] = [
    [
      [{ ...bank, active: { ...active, labels: changedLabels.toString("base64") } }, shop, telecom],
      "bank",
      /does not fit its commitment: labels/,
    ],
    [
      [{ ...bank, opened: { ...told, facts: { ...told.facts, sampling: "another" } } }, shop, telecom],
      "bank",
      /not what it has committed to/,
    ],
    [[bank, { ...shop, features: [...shop.features].reverse() }, telecom], "shop", /commitment: features/],
    [[bank, shop, changedEntries(telecom)], "telecom", /chain with bank is broken/],
    [[bank, changedSignature(shop), telecom], "shop", /signature of bank in its evidence does not hold/],
    [[bank, { ...shop, trees: shop.trees.slice(1) }, telecom], "shop", /is not whole/],
  ];
  for (const [openings, party, what] of cases) {
    const verdict = await check(openings);
    expect(verdict.records[0]).toMatchObject({ party });
    expect(verdict.records[0].what).toMatch(what);
    expect(new Set(verdict.records.map((finding) => finding.party))).toEqual(new Set([party]));
    expect(verdict.trees.every(({ state }) => state === "not checked")).toBe(true);
  }
});

function changedEntries(opening: Opening): Opening {
  return withPair(opening, (pair) => {
    const entries = Buffer.from(pair.entries, "base64");
    entries[entries.length - 1] ^= 1;
    return { ...pair, entries: entries.toString("base64") };
  });
}

function changedSignature(opening: Opening): Opening {
  return withPair(opening, (pair) => ({ ...pair, theirs: pair.own }));
}

type Pair = Opening["trees"][number]["pairs"][string];

/** Of the second tree. */
function withPair(opening: Opening, change: (pair: Pair) => Pair): Opening {
  const trees = opening.trees.map((tree, i) =>
    i === 1 ? { ...tree, pairs: { bank: change(tree.pairs["bank"]) } } : tree,
  );
  return { ...opening, trees };
}

test("without all openings only records are checked, and the verdict says so", async () => {
  const [bank, shop, telecom] = await opened({ table, training: { num_round: 1 } });
  for (const openings of [[bank], [shop], [bank, shop], [shop, telecom]]) {
    const verdict = await check(openings);
    expect(deviations(verdict)).toEqual([]);
    expect(verdict.notChecked).toEqual([expect.stringMatching(/^no tree: .* not here/)]);
    expect(verdict.trees.every(({ state }) => state === "not checked")).toBe(true);
  }
  expect(deviations(await check([changedEntriesOf(bank)]))).toEqual([
    expect.objectContaining({ party: "bank", what: expect.stringMatching(/chain with shop is broken/) as string }),
  ]);
});

function changedEntriesOf(bank: Opening): Opening {
  const [first] = bank.trees;
  const pairs = { ...first.pairs, shop: { ...first.pairs["shop"], entries: first.pairs["telecom"].entries } };
  return { ...bank, trees: [{ ...first, pairs }] };
}

/** The last column begins elsewhere: as many people in each bin, but others. */
function turned<Column extends Float32Array | Uint16Array>(column: Column): Column {
  return column.map((_, i) => column[(i + 7) % column.length]) as Column;
}

const [copies, turnedCopy] = [
  withShop(table, ([, column]) => [column, column]),
  withShop(table, ([, column]) => [column, turned(column)]),
];
const secondAs =
  (change: (first: BinnedFeature) => Uint16Array) =>
  ([first, second]: readonly BinnedFeature[]): readonly BinnedFeature[] => [first, { ...second, bins: change(first) }];

test.each<readonly [string, TestTable, Cheat["features"] & object, RegExp]>([
  ["a decision", table, (features) => features.map((f) => ({ ...f, bins: turned(f.bins) })), /^the decision at node 0/],
  ["an order that was not asked for", copies, secondAs(({ bins }) => turned(bins)), /^the order .* node 0: missing/],
  ["an order that was", turnedCopy, secondAs(({ bins }) => bins), /^the order .* node 0: where nothing was due/],
])("an answer that the bank has not kept leaves it open who deviated: %s", async (_, committed, features, what) => {
  const [bank, shop, telecom] = await opened({
    table: committed,
    training: { num_round: 1, max_depth: 1 },
    cheat: { features },
  });
  expect(deviations(await check([bank, shop, telecom]))).toEqual([
    { party: "shop", tree: 0, what: expect.stringMatching(/^the sums of node 0: not/) as string },
  ]);
  const trees = bank.trees.map((tree) => ({
    ...tree,
    pairs: { ...tree.pairs, shop: { ...tree.pairs["shop"], answers: {} } },
  }));
  const [found, ...others] = deviations(await check([{ ...bank, trees }, shop, telecom]));
  expect(others).toEqual([]);
  expect(found).toMatchObject({ party: null, tree: 0 });
  expect(found.what).toMatch(what);
  expect(found.what).toMatch(/\(bank towards shop\), but nobody has kept the sums of node 0 from shop$/);
});
