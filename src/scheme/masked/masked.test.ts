import { describe, expect, test } from "vitest";
import { isCampaign, seedCount } from "../../../test/support/campaign.ts";
import {
  drawn,
  federation,
  leaf,
  type Outcomes,
  type OwnerTree,
  plainMargins,
  randomTree,
  split,
} from "../../../test/support/masked-parties.ts";
import { SeededRandom } from "../../base/random.ts";
import { scoreBits } from "../../privacy/defences/score-noise.ts";
import { leafOf } from "../../gbdt/tree/tree.ts";
import { TransferMatricesSchema, TransferSumsSchema } from "../../wire/generated/tandem/v1/masked_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { ExactWeights } from "./exact-weights.ts";
import { Products } from "./products.ts";
import { NoisyWeights } from "./score-noise.ts";

describe("margins equal the plain ones to the last bit", () => {
  const federations: readonly [number, number, boolean][] = [
    [0, 1, false],
    [1, 1, false],
    [2, 3, true],
    [3, 2, false],
    [3, 1, false],
    [2, 1, false],
    [1, 3, false],
    [5, 1, false],
  ];
  test.each(federations.slice(0, isCampaign ? undefined : 4))(
    "%i passive parties, %i outputs, all in one leaf: %s",
    async (partyCount, outputs, isJoint) => {
      const random = new SeededRandom(`margins ${partyCount} ${outputs}`);
      const weight = (): number => Math.fround(random.normal() / 3);
      const weights = (): number[] => Array.from({ length: outputs }, weight);
      const trees = Array.from({ length: 6 }, () =>
        randomTree(random, partyCount, () => (isJoint ? leaf(0, weights()) : leaf(weight()))),
      );
      const goes = drawn(`goes ${partyCount}`);
      const { score, products, parties } = federation(trees, goes, { outputs });
      expect(products.count).toBe(trees.flat().filter((node) => node.kind === "split" && node.rule.owner > 0).length);
      const expected = plainMargins(trees, outputs, 0.5, 40, goes);
      expect((await score(0, 40)).margins).toEqual(expected);
      expect((await score(7, 8)).margins).toEqual(expected.slice(7 * outputs, 8 * outputs)); // another batch, one row
      expect(parties.every(({ openings }) => openings === 1)).toBe(true);
    },
  );

  test("weights of all sizes: the exact sum, rounded once", async () => {
    const random = new SeededRandom("sizes");
    const weight = (): number => Math.fround(random.normal() * 2 ** (random.below(80) - 60));
    const trees = Array.from({ length: 8 }, () => randomTree(random, 2, () => leaf(weight()), 3));
    const goes = drawn("sizes");
    const { score, products } = federation(trees, goes, { base: 0.1 });
    expect(products.weights.limbs).toBe(3); // of more, the lowest bits are left out
    const { margins } = await score(0, 30);
    const scale = 2 ** 200;
    for (let row = 0; row < 30; row++) {
      const chosen = trees.map((tree, t) => tree[leafOf(tree, ({ owner }, node) => goes(owner, t, node, row))]);
      const exact = chosen.reduce(
        (sum, node) => sum + BigInt(node.kind === "leaf" ? node.weight * scale : 0),
        BigInt(0.1 * scale),
      );
      expect(margins[row]).toBe(Number(exact) / scale);
    }
  });

  test("limbs hold the largest sum, and no leaf or only zeros need one", () => {
    expect(new ExactWeights([[leaf(0)]]).limbs).toBe(1);
    expect(new ExactWeights([[leaf(1)], [leaf(-(2 ** 30))]]).limbs).toBe(1);
    expect(new ExactWeights([[leaf(1)], [leaf(-(2 ** 31))]]).limbs).toBe(2);
    const margins = (small: number, large: number): number[] => {
      const weights = new ExactWeights([[leaf(small)], [leaf(large)]]);
      expect(weights.limbs).toBe(3);
      const words = new Uint32Array(2 * weights.limbs);
      weights.write(words, 0, -small);
      weights.write(words, weights.limbs, large);
      return [weights.margin(0, words, 0), weights.margin(0, words, weights.limbs)];
    };
    expect(margins(2 ** -149, 2 ** -56)).toEqual([-(2 ** -149), 2 ** -56]);
    // More than a double has of the larger one in any case.
    const [small, large] = margins(2 ** -149, 2 ** 100);
    expect(large).toBe(2 ** 100);
    expect(Math.abs(small)).toBeLessThan(2 ** 10);
  });
});

describe("noise in scores", () => {
  test("scores are the plain ones, plus noise of the agreed deviation from each party", async () => {
    const random = new SeededRandom("noise");
    const trees = Array.from({ length: 6 }, () => randomTree(random, 2, () => leaf(Math.fround(random.normal() / 3))));
    const goes = drawn("noise");
    const scoreNoise = 0.02;
    const { score, parties } = federation(trees, goes, { scoreNoise });
    expect(parties).toHaveLength(2);
    const count = seedCount({ test: 120, campaign: 400 });
    const { margins } = await score(0, count);
    const plain = plainMargins(trees, 1, 0.5, count, goes);
    const halfRange = trees.reduce((sum, tree) => {
      const weights = tree.flatMap((node) => (node.kind === "leaf" ? [node.weight] : []));
      return sum + (Math.max(...weights) - Math.min(...weights)) / 2;
    }, 0);
    // Six deviations of both parties' noise are left free.
    const deviation = (scoreNoise * Math.SQRT2 * halfRange) / (1 - 6 * scoreNoise * Math.SQRT2);
    const errors = margins.map((margin, row) => (margin - plain[row]) / deviation);
    const moment = (power: number): number => errors.reduce((sum, error) => sum + error ** power, 0) / count;
    expect(Math.abs(moment(1))).toBeLessThan(5 / Math.sqrt(count));
    expect(Math.abs(moment(2) - 1)).toBeLessThan(5 * Math.sqrt(2 / count));
    expect((await score(0, 1)).margins[0]).not.toBe(margins[0]); // drawn anew
  });

  test("of marks in place of weights only the largest few can be read", async () => {
    // Tree i adds 2^i if its split goes left: an exact score is the list of all 16 outcomes.
    const trees = Array.from({ length: 16 }, (_, i): OwnerTree => [split(1, 1), leaf(2 ** i), leaf(0)]);
    const goes = drawn("marks");
    const count = 300;
    const read = async (scoreNoise: number): Promise<number[]> => {
      const { margins } = await federation(trees, goes, { base: 0, scoreNoise }).score(0, count);
      return trees.map((_, tree) => {
        const right = [...margins].filter((margin, row) => {
          const bit = (Math.round(Math.max(0, margin)) >>> tree) & 1;
          return (bit === 1) === goes(1, tree, 0, row);
        });
        return right.length / count;
      });
    };
    expect(await read(0)).toEqual(trees.map(() => 1));
    const shares = await read(0.02);
    expect(scoreBits(0.02)).toBeCloseTo(4.6, 1);
    expect(shares[15]).toBeGreaterThan(0.9);
    for (const share of shares.slice(0, 10)) expect(Math.abs(share - 0.5)).toBeLessThan(0.13); // 4.5 deviations
  });

  test.each([
    ["a tree per output", [leaf(-3), leaf(1), leaf(0.5)].map((one) => [one, leaf(0)])],
    ["an output per weight", [[leaf(0, [-3, 1, 0.5]), leaf(0, [0, 0, 0])]]],
  ])("several outputs, %s: each in the middle of its own range", (_what, trees) => {
    const weights = new NoisyWeights(trees, 3, 0.01, 1);
    for (const [place, weight] of [-3, 1, 0.5, 0, 0, 0].entries()) {
      const words = new Uint32Array(6);
      weights.write(words, place, weight);
      expect(weights.margin(2, words, place)).toBeCloseTo(2 + weight, 7);
    }
  });

  test("noise of too many parties is refused", () => {
    expect(() => new NoisyWeights([[leaf(1)]], 1, 0.1, 3)).toThrow(
      /score_noise: 0.1 is too much for 3 passive parties/,
    );
  });
});

test("batches respect the parties' limits, and unknown rows are reported per party over all of them", async () => {
  const random = new SeededRandom("batches");
  const trees = Array.from({ length: 4 }, () => randomTree(random, 2, () => leaf(Math.fround(random.normal()))));
  const goes = drawn("batches");
  const { parties, score } = federation(trees, goes);
  [parties[0].idsMax, parties[1].idsMax] = [7, 9];
  parties[1].unknown = new Set(["3", "8", "19"]);
  const { margins, unknown } = await score(0, 20);
  expect(margins).toEqual(plainMargins(trees, 1, 0.5, 20, goes));
  expect(unknown.map((rows) => rows.toSorted((a, b) => a - b))).toEqual([[], [3, 8, 19]]);
  // The opening, then known ids and bytes of each step: two steps of set-up, and two for each of three batches.
  expect(parties.map(({ openings, said }) => [openings, said.length])).toEqual([
    [1, 17],
    [1, 17],
  ]);
});

test("a product per passive split, on the conditions of the path to it", () => {
  const tree = [
    split(1, 1),
    split(3, 0),
    split(5, 2),
    split(7, 1),
    leaf(1),
    leaf(2),
    split(9, 1),
    ...[3, 4, 5, 6].map((w) => leaf(w)),
  ];
  const { parties, runs } = new Products({ trees: [tree] });
  expect(runs).toEqual([4]);
  // Party 1: its root going left; root right on the way to party 2's; both left; root right and its last left.
  expect(parties.map(({ conditions }) => conditions)).toEqual([
    [[1], [0], [1, 3], [0, 5]],
    [[1], [0]],
  ]);
  expect(parties.map(({ products }) => [...products])).toEqual([
    [0, 1, 2, 3],
    [1, 3],
  ]);
});

describe("the active party's whole view", () => {
  const batches = seedCount({ test: 60, campaign: 300 });
  // Two trees of one weight: going left in exactly one of them gives the same score, whichever it is.
  const twins = (a: number, b: number): OwnerTree[] => [
    [split(1, a), leaf(1), leaf(0)],
    [split(1, b), leaf(1), leaf(0)],
  ];
  const leftIn =
    (tree: number): Outcomes =>
    (_owner, t) =>
      t === tree;

  /** Messages of many batches of one row: the matrices and the sums, as bits. */
  async function view(a: number, b: number, goes: Outcomes) {
    const { parties, score } = federation(twins(a, b), goes);
    await score(0, 1);
    for (const party of parties) party.said.length = 0;
    for (let i = 0; i < batches; i++) expect((await score(0, 1)).margins[0]).toBe(1.5);
    // Per batch and party: known and matrices, nothing and sums.
    return parties.map(({ said }) =>
      Array.from({ length: batches }, (_, i) => {
        const [known, begun, nothing, finished] = said.slice(4 * i, 4 * i + 4);
        expect([known.length, known[0], nothing.length]).toEqual([1, 1, 0]);
        const { sums: shares, corrections } = decodeMessage(TransferSumsSchema, finished);
        return Buffer.concat([...decodeMessage(TransferMatricesSchema, begun).matrices, shares, ...corrections]);
      }),
    );
  }

  const onesIn = (messages: readonly Uint8Array[]): Float64Array => {
    const ones = new Float64Array(8 * messages[0].length);
    for (const message of messages) ones.forEach((_, bit) => (ones[bit] += (message[bit >>> 3] >>> (bit & 7)) & 1));
    return ones;
  };

  test.each([
    ["one passive party", 1, 1],
    ["two passive parties", 1, 2],
  ])("%s: messages of other outcomes with the same scores are uniform as well", async (_what, a, b) => {
    const views = [await view(a, b, leftIn(0)), await view(a, b, leftIn(1))];
    views[0].forEach((_, party) => {
      const [one, other] = views.map((parties) => onesIn(parties[party]));
      expect(one.length).toBe(other.length);
      // Of a million places none is seven deviations away from half of the batches: each is a fair coin in both.
      const seven = 3.5 * Math.sqrt(batches);
      for (const counts of [one, other])
        expect(counts.reduce((worst, count) => Math.max(worst, Math.abs(count - batches / 2)), 0)).toBeLessThan(seven);
      for (const parties of views)
        expect(new Set(parties[party].map((bytes) => bytes.toString("hex"))).size).toBe(batches);
    });
  });

  test("outcomes in the clear would fail this test", () => {
    const plain = [leftIn(0), leftIn(1)].map((goes) =>
      Array.from({ length: batches }, () => Uint8Array.of(goes(1, 0, 0, 0) ? 1 : 0)),
    );
    const [one, other] = plain.map(onesIn);
    expect(Math.abs(one[0] - other[0])).toBeGreaterThan(3.5 * Math.sqrt(batches));
  });
});
