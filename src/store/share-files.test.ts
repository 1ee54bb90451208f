import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { trainFederated, type TestOutcome } from "../../test/support/in-memory-job.ts";
import { randomTable } from "../../test/support/tables.ts";
import { generateKey, selectKernel } from "../crypto/paillier/index.ts";
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import type { OwnSplit } from "../protocol/passive/role.ts";
import { mergeShares } from "./merge-shares.ts";
import {
  type ActiveShare,
  type PassiveShare,
  readActiveShare,
  readPassiveShare,
  writeActiveShare,
  writePassiveShare,
} from "./share-files.ts";

let folder: string;
let path: string;
let outcome: TestOutcome;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-share-"));
  path = join(folder, "model.share");
  const key = await generateKey({ bits: 256, insecure: true });
  outcome = await trainFederated({
    table: randomTable("shares", { rows: 70, features: [2, 2, 2], missingFraction: 0.1 }),
    kernel: selectKernel(),
    key,
  });
});
afterAll(() => rm(folder, { recursive: true }));

const leaf = { kind: "leaf", weight: 0.5, cover: 1, count: 1 } as const;
const split = { kind: "split", left: 1, right: 2, gain: 1, cover: 2, count: 2, rule: { owner: 1 } } as const;
const origin = { job: "spring", model: "5".repeat(64) };
const small: ActiveShare = {
  name: "bank",
  ...origin,
  objective: "binary:logistic",
  baseMargin: 0,
  passiveNames: ["telecom"],
  trees: [[split, leaf, leaf]],
};
const ownSplit: OwnSplit = { tree: 0, node: 0, feature: 0, featureName: "usage", threshold: 1.5, defaultLeft: true };
const passive = (splits: readonly OwnSplit[] = [ownSplit]): PassiveShare => ({
  name: "telecom",
  ...origin,
  active: "bank",
  splits,
});

describe("round trip", () => {
  test("of a trained model's shares: merged they equal the model, bit for bit", async () => {
    await writeActiveShare(path, outcome.activeShare);
    const active = await readActiveShare(path);
    expect(active).toEqual(outcome.activeShare);
    const passives: PassiveShare[] = [];
    for (const [i, share] of outcome.passiveShares.entries()) {
      const sharePath = join(folder, `passive-${i}`);
      await writePassiveShare(sharePath, share);
      const back = await readPassiveShare(sharePath);
      expect(back).toEqual(share);
      passives.push(back);
    }
    expect(firstDifference(mergeShares(active, passives), outcome.model)).toBeNull();
  });

  test("of any finite number, float32 or not, subnormal or huge, and of any name", async () => {
    const number = fc
      .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.float({ noNaN: true, noDefaultInfinity: true }))
      .map((x) => x + 0);
    const edges = [2 ** -149, -(2 ** -149), 5e-324, 1.17549435e-38, 3.4028234663852886e38, Number.MAX_VALUE, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(number, { minLength: 20, maxLength: 40 }),
        fc.string({ unit: "binary" }),
        async (numbers, featureName) => {
          const splits = [...edges, ...numbers].map((threshold, tree) => ({
            ...ownSplit,
            tree,
            threshold,
            featureName: `${featureName}\u2028"}\n`,
          }));
          await writePassiveShare(path, { ...passive(splits), name: featureName });
          const back = await readPassiveShare(path);
          expect(back.name).toBe(featureName);
          expect(back.splits).toEqual(splits);
          expect(back.splits.every(({ threshold }, i) => Object.is(threshold, splits[i].threshold))).toBe(true);
        },
      ),
      { numRuns: 6 },
    );
  });

  test("of categorical splits with any texts; one without a category is invalid", async () => {
    const { threshold: _none, ...place } = ownSplit;
    const chosen = { ...place, categories: ["", "a,b", '"}\n', "ü\u2028"] };
    await writePassiveShare(path, passive([chosen, { ...ownSplit, tree: 1 }]));
    expect((await readPassiveShare(path)).splits).toEqual([chosen, { ...ownSplit, tree: 1 }]);
    const share = {
      ...small,
      trees: [
        [
          { ...split, rule: { owner: 0, feature: 2, featureName: "job", categories: ["baker"], defaultLeft: false } },
          leaf,
          leaf,
        ],
      ],
    };
    await writeActiveShare(path, share);
    expect(await readActiveShare(path)).toEqual(share);
    await writePassiveShare(path, passive([{ ...place, categories: [] }]));
    await expectError(() => readPassiveShare(path), "FILE_FORMAT", /wrong contents/);
  });

  test("the same share gives the same bytes, readable by the owner only", async () => {
    await writeActiveShare(path, small);
    const first = await readFile(path);
    await writeActiveShare(path, await readActiveShare(path));
    expect(await readFile(path)).toEqual(first);
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe("600");
  });
});

test("a number that JSON would change fails an assertion, and the old file stays", async () => {
  await writePassiveShare(path, passive());
  for (const threshold of [Number.NaN, Infinity, -Infinity, -0]) {
    await expectError(() => writePassiveShare(path, passive([{ ...ownSplit, threshold }])), "INTERNAL", /survive JSON/);
  }
  expect((await readPassiveShare(path)).splits).toEqual([ownSplit]);
});

describe("a file that is not a share", () => {
  const expectDamaged = async (change: (text: string) => string | Uint8Array, message: RegExp): Promise<void> => {
    await writeActiveShare(path, small);
    await writeFile(path, change(await readFile(path, "utf8")));
    const error = await expectError(() => readActiveShare(path), "FILE_FORMAT", message);
    expect(error.message).toContain(path);
  };

  test("missing", () => expectError(() => readActiveShare(join(folder, "no")), "FILE_UNREADABLE", /no: /));
  test("into a folder that does not exist", () =>
    expectError(() => writeActiveShare(join(folder, "no", "x"), small), "FILE_UNWRITABLE", /no\/x/));
  test("one digit changed", () => expectDamaged((text) => text.replace('"weight":0.5', '"weight":0.6'), /checksum/));
  test("another checksum", () =>
    expectDamaged((text) => text.replace(/"sha256":"[0-9a-f]{4}/, '"sha256":"0000'), /checksum/));
  test("truncated anywhere", async () => {
    await writeActiveShare(path, small);
    const { length } = await readFile(path);
    for (let size = 0; size < length; size += 23)
      await expectDamaged((text) => text.slice(0, size), /not a model share|checksum/);
    await expectDamaged((text) => text.slice(0, -1), /not a model share/);
  });
  test("empty, other JSON, something binary", async () => {
    for (const contents of ["", "{}\n", "\u0000", '{"format":"tandem-active-share/2"}\n'])
      await expectDamaged(() => contents, /not a model share/);
    await expectDamaged(() => Uint8Array.of(0xff, 0xfe, 0x00), /not a model share/);
  });
  test("of a later format", () =>
    expectDamaged(
      (text) => text.replace("share/2", "share/3"),
      /has the format tandem-active-share\/3, not tandem-active-share\/2$/,
    ));
  test("of the first format", () =>
    expectDamaged(
      (text) => text.replace("share/2", "share/1"),
      /active-share\/1, not tandem-active-share\/2\. An earlier version of Tandem wrote it, .*: train again$/,
    ));
  test("a passive share where an active one belongs", async () => {
    await writePassiveShare(path, passive([]));
    await expectError(
      () => readActiveShare(path),
      "FILE_FORMAT",
      /tandem-passive-share\/2, not tandem-active-share\/2$/,
    );
  });

  test.each([
    ["a child that does not exist", { ...small, trees: [[{ ...split, right: 9 }, leaf, leaf]] }, /children/],
    ["a tree that never ends", { ...small, trees: [[{ ...split, left: 0 }, leaf, leaf]] }, /children/],
    ["a tree without nodes", { ...small, trees: [[]] }, /trees|nodes|small/i],
    ["a party that is not named", { ...small, trees: [[{ ...split, rule: { owner: 2 } }, leaf, leaf]] }, /not named/],
    ["no owner", { ...small, trees: [[{ ...split, rule: { owner: 0 } }, leaf, leaf]] }, /./],
    ["a field too many", { ...small, secret: 1 }, /secret/],
    ["a model without an id", { ...small, model: "5" }, /model id has 64/],
    ["no job", { ...small, job: undefined }, /./],
    ["an unknown objective", { ...small, objective: "rank:clicks" }, /./],
  ])("right checksum, wrong contents: %s", async (_name, contents, message) => {
    await writeActiveShare(path, contents as unknown as ActiveShare);
    await expectError(() => readActiveShare(path), "FILE_FORMAT", message);
  });
});

describe("shares that do not belong together", () => {
  test("are those of one training: merged", () =>
    expect(mergeShares(small, [passive()]).trees[0][0]).toMatchObject({
      rule: { owner: 1, featureName: "usage", threshold: 1.5 },
    }));
  test.each([
    ["a passive share is missing", [], /1 passive parties, but 0/],
    ["one too many", [[ownSplit], []], /1 passive parties, but 2/],
    ["no split for a node", [[]], /telecom has 0 splits/],
    ["a split of another node", [[{ ...ownSplit, node: 1 }]], /no split for tree 0, node 0/],
    ["a split of another tree", [[{ ...ownSplit, tree: 3 }]], /no split for tree 0, node 0/],
    ["more splits than the model has", [[ownSplit, { ...ownSplit, tree: 1 }]], /telecom has 2 splits/],
  ])("%s", async (_name, passives, message) => {
    await expectError(() => mergeShares(small, passives.map(passive)), "FILE_FORMAT", message);
  });
  test("a share of another model, though its splits would fit", async () => {
    const other = { ...passive(), job: "autumn", model: "6".repeat(64) };
    await expectError(
      () => mergeShares(small, [other]),
      "FILE_FORMAT",
      /telecom is of model 666666666666 \(job autumn\), the active party's of 555555555555 \(job spring\)/,
    );
  });
  test("the passives in another order", async () => {
    const [a, b] = outcome.passiveShares;
    expect([a, b].every(({ splits }) => splits.length > 0)).toBe(true);
    await expectError(() => mergeShares(outcome.activeShare, [b, a]), "FILE_FORMAT", /do not belong together/);
  });
});

describe("what a share reveals to its owner", () => {
  const textsOf = (splits: readonly OwnSplit[]): string[] =>
    splits.flatMap(({ featureName, threshold }) => [featureName, String(threshold)]).filter((text) => text.length > 3);

  test("the active share holds no name and no threshold of a passive feature", async () => {
    await writeActiveShare(path, outcome.activeShare);
    const text = await readFile(path, "utf8");
    const secrets = outcome.passiveShares.flatMap(({ splits }) => textsOf(splits));
    expect(secrets.length).toBeGreaterThan(4);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test("a passive share contains nothing about other parties", async () => {
    const [mine, theirs] = outcome.passiveShares;
    await writePassiveShare(path, mine);
    const text = await readFile(path, "utf8");
    const nodes = outcome.activeShare.trees.flat();
    const activeTexts = nodes
      .flatMap((node) =>
        node.kind === "leaf" ? [node.weight] : [node.gain, "threshold" in node.rule ? node.rule.threshold : node.gain],
      )
      .map(String);
    const secrets = [
      "p0f",
      "p2f",
      "passive-2",
      ...textsOf(theirs.splits),
      ...activeTexts.filter((one) => one.length > 5),
    ];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain("p1f");
  });
});
