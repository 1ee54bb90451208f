/** A party changes its own opening: it is named, and the other parties are not. */
import { sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nextLink, signedText } from "../src/protocol/chain/pair-chain.ts";
import { bytesFrom, fromHex, toBase64, toHex } from "../src/store/stored-numbers.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, outcomeOf, type Verdict } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import { leavingBelow } from "./support/deviating-lattice.ts";
import { expectError } from "./support/expect-error.ts";
import { evasions } from "./support/opening-evasions.ts";
import { randomTable } from "./support/tables.ts";
import { auditorPins, type Signer, signers, verifiedJob } from "./support/verified-job.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-evasions-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const table = randomTable("verified", { rows: 90, features: [1, 2, 2], missingFraction: 0.1 });
let honest: readonly Opening[];
let keys: readonly Signer[];
beforeAll(async () => {
  honest = await verifiedJob(join(root, "job"), { table, training: { num_round: 3, max_depth: 2 } });
  keys = await signers();
});

const check = async (openings: readonly Opening[], pins?: ReadonlyMap<string, string>): Promise<Verdict> =>
  checkOpenings(openings, { pins: pins ?? (await auditorPins()), trees: null });

test("an honest job is as agreed", async () => {
  const verdict = await check(honest);
  expect(verdict).toMatchObject({ records: [], notChecked: [] });
  expect(outcomeOf(verdict)).toBe("as agreed");
});

const cases = evasions.flatMap((evasion) =>
  (["active", "passive"] as const)
    .filter((role) => evasion.role === undefined || evasion.role === role)
    .map((role) => ({ ...evasion, role, party: role === "active" ? "bank" : "shop" })),
);

type Case = (typeof cases)[number];

async function expectNamed(openings: readonly Opening[], { role, party, change, what = /./ }: Case): Promise<void> {
  const [own, deceived] = role === "active" ? [0, 1] : [1, 0];
  const changed = change({ opening: openings[own], other: openings[deceived], signer: keys[own], draw: (n) => n >> 1 });
  const verdict = await check(openings.map((opening, i) => (i === own ? changed : opening)));
  const found = deviations(verdict);
  expect(new Set(found.map((finding) => finding.party))).toEqual(new Set([party]));
  expect(found[0].what).toMatch(what);
  expect(outcomeOf(verdict)).toBe("deviated");
}

test.each(cases.filter(({ scheme }) => scheme !== "lattice"))("$party $name", (given) => expectNamed(honest, given));

describe("a lattice job whose last tree is broken off", () => {
  let unfinished: readonly Opening[];
  beforeAll(async () => {
    unfinished = await verifiedJob(join(root, "lattice"), {
      scheme: "lattice",
      table,
      training: { num_round: 4, max_depth: 3 },
      cheat: leavingBelow(3),
      fails: leavingBelow(3).fails,
    });
  });

  test("is as agreed", async () => {
    const verdict = await check(unfinished);
    expect([deviations(verdict), outcomeOf(verdict)]).toEqual([[], "as agreed"]);
    expect(verdict.trees.map(({ state }) => state)).toEqual(["as agreed", "as agreed", "as agreed", "begun"]);
    expect(unfinished[1].gradients.map(({ tree }) => tree)).toEqual([3, 3]);
  });

  test.each(cases.filter(({ scheme }) => scheme !== "paillier"))("$party $name", (given) =>
    expectNamed(unfinished, given),
  );
});

test("the auditor's pins decide which certificate is a party's", async () => {
  const pins = await auditorPins();
  await expectError(() => check(honest, new Map()), "USAGE", /certificate of bank is not pinned. Pass --pin bank=/);
  const others = new Map([...pins, ["telecom", "00".repeat(32)]]);
  const found = deviations(await check(honest, others));
  expect(found).toContainEqual(expect.objectContaining({ party: "telecom" }));
});

test("a party cannot be blamed for trees that it has not signed", async () => {
  const [bank, shop, telecom] = honest;
  const last = bank.trees[bank.trees.length - 1];
  // The bank adds a tree with a copy of an earlier signature of shop.
  const copied = { ...bank, trees: [...bank.trees, { ...last, tree: last.tree + 1 }] };
  const found = deviations(await check([copied, shop, telecom]));
  expect(new Set(found.map(({ party }) => party))).toEqual(new Set(["bank"]));
  // With its own signature only, as after a crash: no party has agreed to the tree.
  const pairs = Object.fromEntries(
    Object.entries(last.pairs).map(([peer, pair]) => {
      const link = nextLink(fromHex(pair.link), last.tree + 1, bytesFrom(pair.entries));
      const own = sign("sha256", signedText("active", bank.job, last.tree + 1, link), keys[0].key);
      return [peer, { ...pair, link: toHex(link), own: toBase64(own), theirs: undefined }];
    }),
  );
  const alone = { ...bank, trees: [...bank.trees, { ...last, tree: last.tree + 1, pairs }] };
  expect(outcomeOf(await check([alone, shop, telecom]))).toBe("as agreed");
});

test("an active party that crashed before it received a signature is not blamed", async () => {
  const [bank, shop, telecom] = honest;
  const trees = bank.trees.map((tree, i) => {
    if (i < bank.trees.length - 1) return tree;
    const { theirs: _, ...pair } = tree.pairs["shop"];
    return { ...tree, pairs: { ...tree.pairs, shop: pair } };
  });
  expect(outcomeOf(await check([{ ...bank, trees }, shop, telecom]))).toBe("as agreed");
  const cut = { ...shop, trees: shop.trees.slice(0, -1) }; // it has the gradients of the last tree
  const verdict = await check([{ ...bank, trees }, cut, telecom]);
  expect([deviations(verdict), outcomeOf(verdict)]).toEqual([[], "as agreed"]);
  expect(verdict.trees.map(({ state }) => state)).toEqual(["as agreed", "as agreed", "as agreed"]);
});

test("openings in which nothing is signed are no all-clear", async () => {
  const verdict = await check(honest.map((opening) => ({ ...opening, trees: [], gradients: [] })));
  expect(deviations(verdict)).toEqual([]);
  expect(outcomeOf(verdict)).toBe("incomplete");
  expect(verdict.notChecked).toEqual(["no tree: the parties have not signed any"]);
});

test("openings of different jobs are not compared", async () => {
  const [bank, shop, telecom] = honest;
  for (const other of [
    { ...shop, job: "other" },
    { ...shop, run: `${"00".repeat(16)}/x` },
  ])
    await expectError(() => check([bank, other, telecom]), "USAGE", /not of the same job/);
});
