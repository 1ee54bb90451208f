/** Whoever does something else than was agreed on is named, with the tree and the message; and nobody else is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import type { QuantisedGradients } from "../src/base/quantised-gradients.ts";
import type { PassiveRole } from "../src/protocol/passive/role.ts";
import type { ActiveScheme, PassiveScheme } from "../src/scheme/scheme.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, type Finding, type Verdict } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import { ActiveNodeSchema } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { isSet } from "../src/wire/bitmap.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
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

/** Shop leaves out people at every node below the root. */
function forgetting(scheme: PassiveScheme, share = 0): PassiveScheme {
  return overridden(scheme, {
    sums: (task, message) => {
      const left = Math.max(1, Math.floor(share * task.positions.length));
      return scheme.sums(task.node === 0 ? task : { ...task, positions: task.positions.subarray(left) }, message);
    },
  });
}

function otherMembers(peer: PassivePeer): PassivePeer {
  return {
    ...peer,
    histograms: (nodes, options) => {
      async function* changed(): typeof nodes {
        for await (const request of nodes) {
          const copy = create(ActiveNodeSchema, request);
          if (copy.members !== undefined) copy.members.members = swapped(copy.members.members);
          yield copy;
        }
      }
      return peer.histograms(changed(), options);
    },
  };
}

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

const cheats: readonly (readonly [string, Cheat, Finding])[] = [
  [
    "the bank encrypts a mark instead of a gradient",
    { activeScheme: marking },
    { party: "bank", tree: 0, what: expect.stringMatching(/gradients .* are not those of its labels/) as string },
  ],
  [
    "the bank sends other people as a node's members",
    { peer: otherMembers },
    { party: "bank", tree: 0, what: expect.stringMatching(/^who is in node \d+: not/) as string },
  ],
  [
    "the bank names other candidates than the best",
    { training: { lambda: 60 } },
    { party: "bank", tree: 0, what: expect.stringMatching(/^(the decision at|who is in) node \d+: /) as string },
  ],
  [
    "the bank agrees on other parameters than it has committed to",
    { training: { seed: 99 } },
    { party: "bank", tree: 0, what: expect.stringMatching(/^the terms of the job: not/) as string },
  ],
  [
    "shop leaves people out of its sums",
    { passiveScheme: (scheme) => forgetting(scheme) },
    { party: "shop", tree: 0, what: expect.stringMatching(/^the sums of node \d+: not/) as string },
  ],
  [
    "shop answers another outcome",
    { role: otherOutcome },
    { party: "shop", tree: 0, what: expect.stringMatching(/^the outcome at node \d+: not/) as string },
  ],
];

test.each(cheats)("%s", async (_, cheat, expected) => {
  const openings = await opened({ table, training: { num_round: 3 }, cheat });
  expect(deviations(await check(openings))).toEqual([expected]);
  // Where something deviates, ciphertexts are looked at whether they were chosen or not.
  expect(deviations(await check(openings, new Set([2])))).toEqual([expected]);
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

test("an answer that the bank has not kept leaves it open who deviated", async () => {
  const [bank, shop, telecom] = await opened({
    table,
    training: { num_round: 1 },
    cheat: { passiveScheme: (scheme) => forgetting(scheme, 0.6) },
  });
  const trees = bank.trees.map((tree) => ({
    ...tree,
    pairs: { ...tree.pairs, shop: { ...tree.pairs["shop"], answers: {} } },
  }));
  expect(deviations(await check([{ ...bank, trees }, shop, telecom]))).toEqual([
    {
      party: null,
      tree: 0,
      what: expect.stringMatching(/but nobody has kept the sums of node \d+ from shop/) as string,
    },
  ]);
});
