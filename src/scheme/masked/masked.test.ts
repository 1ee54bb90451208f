import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { isCampaign } from "../../../test/support/campaign.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import {
  leaf,
  MaskedParty,
  type Outcomes,
  type OwnerTree,
  randomTree,
  split,
} from "../../../test/support/masked-parties.ts";
import { osRandom, SeededRandom } from "../../base/random.ts";
import { scoreBits } from "../../privacy/defences/score-noise.ts";
import { addLeaf, leafOf } from "../../gbdt/tree/tree.ts";
import {
  ActiveMaskOpenSchema,
  ActiveMaskStepSchema,
  MaskRowsSchema,
  TransferMatricesSchema,
  TransferOpenSchema,
  TransferSumsSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { messageBytesMax } from "../../wire/version.ts";
import { ExactWeights } from "./exact-weights.ts";
import { MaskedAnswerer, type MaskedModel, MaskedSessions, sessionsBytesMax } from "./masked-answerer.ts";
import { type AskParties, MaskedDriver } from "./masked-driver.ts";
import { defaultMasking } from "./masking.ts";
import { Products } from "./products.ts";
import { NoisyWeights } from "./score-noise.ts";

/** Random outcomes, fixed by the seed. */
function drawn(seed: string): Outcomes {
  return (owner, tree, node, row) => new SeededRandom(`${seed} ${owner} ${tree} ${node} ${row}`).uniform() < 0.5;
}

/** As plain scoring adds them. */
function plainMargins(trees: readonly OwnerTree[], outputs: number, base: number, rows: number, goes: Outcomes) {
  const margins = new Float64Array(rows * outputs).fill(base);
  trees.forEach((tree, t) => {
    for (let row = 0; row < rows; row++)
      addLeaf(margins, row, outputs, t, tree[leafOf(tree, ({ owner }, node) => goes(owner, t, node, row))]);
  });
  return margins;
}

function federation(trees: readonly OwnerTree[], goes: Outcomes, { outputs = 1, base = 0.5, scoreNoise = 0 } = {}) {
  const products = new Products({ trees, outputCount: outputs });
  const driver = new MaskedDriver({ trees, outputCount: outputs, baseMargin: base, scoreNoise }, { model: "m" });
  const parties = driver.parties.map(({ owner }) => new MaskedParty(owner, trees, goes));
  for (const party of parties) party.scoreNoise = scoreNoise;
  const ask: AskParties = (_, question) => question(parties);
  const score = (first: number, end: number) =>
    driver.score(
      {
        rowCount: end - first,
        hasIds: true,
        batchEnd: (from, rowsMax) => Math.min(end - first, from + rowsMax),
        message: (from, to) => ({ ids: Array.from({ length: to - from }, (_, i) => String(first + from + i)) }),
        ownGoesLeft: (tree, node, row) => goes(0, tree, node, first + row),
      },
      ask,
    );
  return { products, parties, score, ready: () => driver.ready(ask) };
}

describe("margins equal the plain ones to the last bit", () => {
  const federations: readonly [number, number, boolean][] = [
    [0, 1, false],
    [1, 1, false],
    [2, 3, true],
    [3, 1, false],
    [3, 2, false],
    [2, 1, false],
    [1, 3, false],
    [5, 1, false],
  ];
  test.each(federations.slice(0, isCampaign ? undefined : 5))(
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
    const count = 400;
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

describe("sessions", () => {
  const trees = [
    [split(1, 1), leaf(1), leaf(2)],
    [split(1, 2), split(3, 1), leaf(4), leaf(8), leaf(16)],
  ];
  const goes = drawn("sessions");

  test("one that a party has lost is opened anew, also in the middle of a batch", async () => {
    const { score, parties, ready } = federation(trees, goes);
    const expected = plainMargins(trees, 1, 0.5, 10, goes);
    expect((await score(0, 10)).margins).toEqual(expected);
    parties[1].forget();
    expect((await score(0, 10)).margins).toEqual(expected);
    const finish = parties[0].maskStep.bind(parties[0]);
    let calls = 0;
    parties[0].maskStep = (request) => {
      if (++calls === 2) parties[0].forget();
      return finish(request);
    };
    const both = await Promise.all([score(0, 10), score(0, 10), score(0, 10)]);
    expect(both.map(({ margins }) => margins)).toEqual([expected, expected, expected]);
    await ready();
    expect(parties.map(({ openings }) => openings)).toEqual([3, 3]);
    parties[0].maskStep = async (request) => {
      parties[0].forget();
      return finish(request);
    };
    await expectError(() => score(0, 1), "PARTY_LOST", /lost its session of masked scoring 3 times/);
  });

  test("an inconsistent matrix fails the request, and the next one opens a new session", async () => {
    const { score, parties } = federation(trees, goes);
    const step = parties[0].maskStep.bind(parties[0]);
    parties[0].maskStep = async (request) => {
      const answer = await step(request);
      const isBegun = request.rows !== undefined;
      if (isBegun) answer.scheme = answer.scheme.map((byte, i) => (i === 600 ? byte ^ 1 : byte));
      return answer;
    };
    await expectError(() => score(0, 10), "PROTOCOL_STATE", /matrix of oblivious transfers is inconsistent/);
    parties[0].maskStep = step;
    expect((await score(0, 10)).margins).toEqual(plainMargins(trees, 1, 0.5, 10, goes));
    expect(parties.map(({ openings }) => openings)).toEqual([2, 2]);
  });

  test("a batch number is used once, also after a loss; only a batch under way can be finished", async () => {
    const { parties, score } = federation(trees, goes);
    const [party] = parties;
    const step = party.maskStep.bind(party);
    const requests: Parameters<typeof step>[0][] = [];
    party.maskStep = (request) => {
      requests.push(request);
      return step(request);
    };
    await score(0, 3);
    const [begin, finish] = requests
      .filter(({ batch = 0 }) => batch > 0)
      .map((one) => create(ActiveMaskStepSchema, one));
    const rowsOf = (ids: string[]) => create(MaskRowsSchema, { ids });
    await expectError(() => step(begin), "PROTOCOL_STATE", /used before/);
    await expectError(() => step({ ...begin, rows: rowsOf(["7"]) }), "PROTOCOL_STATE", /used before/);
    await expectError(() => step(finish), "PROTOCOL_STATE", /not under way/);
    expect(await step({ ...begin, session: osRandom.fill(new Uint8Array(16)) })).toMatchObject({ expired: true });
    await step({ ...begin, batch: 100 });
    await expectError(
      () => step({ ...finish, batch: 100, scheme: new Uint8Array(3) }),
      "PROTOCOL_STATE",
      /no Transfer/,
    );
    for (let batch = 101; batch < 106; batch++) await step({ ...begin, batch });
    await expectError(() => step({ ...finish, batch: 101 }), "PROTOCOL_STATE", /not under way/); // the oldest made room
    const ids = Array.from({ length: 200_000 }, () => "1");
    await expectError(() => step({ ...begin, batch: 200, rows: rowsOf(ids) }), "PROTOCOL_STATE", /do not fit/);
    await expectError(() => step({ session: begin.session, scheme: Uint8Array.of(1) }), "PROTOCOL_STATE", /is set up/);
  });

  const model: MaskedModel = {
    splitCount: 2,
    idsMax: 1000,
    outputsMax: 1,
    scoreNoise: 0,
    admit: () => Promise.resolve(),
    rowCount: ({ ids }) => ids.length,
    outcomes: () => Promise.reject(new Error("no row is asked about")),
  };
  const open = {
    masking: defaultMasking.name,
    literals: [1, 0, 3],
    lengths: [1, 2],
    runs: [2],
    scheme: defaultMasking.active(new Products({ trees: [trees[0]] })).opening(0),
  };
  const openingOf = (width: number, limbs: number): Uint8Array =>
    encodeMessage(TransferOpenSchema, { party: 1, width, limbs, senders: [], receivers: [] });
  test("with noise a sum has one limb", async () => {
    const request = create(ActiveMaskOpenSchema, { ...open, scheme: openingOf(2, 2) });
    await expectError(
      () => new MaskedAnswerer(request, { ...model, scoreNoise: 0.02 }),
      "PROTOCOL_STATE",
      /2 limbs requested; at most 1/,
    );
  });
  test("a valid opening is accepted", () =>
    expect(new MaskedAnswerer(create(ActiveMaskOpenSchema, open), model).opened.scheme?.length).toBeGreaterThan(60));
  test.each<[string, object, RegExp]>([
    ["no conditions", { literals: [], lengths: [], runs: [] }, /0 conditions/],
    ["too many conditions", { lengths: Array(140_000).fill(1) }, /140000 conditions; from 1 to 131072/],
    ["a split that it does not have", { literals: [1, 0, 4] }, /splits that this party does not have/],
    ["an empty condition", { literals: [1], lengths: [1, 0] }, /does not have/],
    ["literals left over", { literals: [1, 0, 3, 1] }, /does not have/],
    ["runs of another number", { runs: [1] }, /runs/],
    ["an unknown masking", { masking: "trust me" }, /unknown masking/],
    ["no opening", { scheme: new Uint8Array(0) }, /opening of masked scoring is not valid/],
    ["sums of 4,096 limbs", { scheme: openingOf(4096, 4096) }, /4096 limbs requested; at most 3/],
    ["sums of 4 limbs", { scheme: openingOf(4, 4) }, /4 limbs requested; at most 3/],
    ["a sum for each condition", { runs: [1, 1] }, /2 sums per row requested; the model may have at most 1 output/],
    ["many outputs of a limb each", { scheme: openingOf(4096, 1) }, /4096 sums per row requested/],
    ["a limb of two words", { scheme: openingOf(3, 2) }, /opening of masked scoring is not valid/],
    ["bytes of another message", { scheme: Uint8Array.of(255, 1) }, /no TransferOpen/],
  ])("%s: refused", async (_what, change, says) => {
    await expectError(
      () => new MaskedAnswerer(create(ActiveMaskOpenSchema, { ...open, ...change }), model),
      "PROTOCOL_STATE",
      says,
    );
  });

  test("a caller has its own sessions, and the one used longest ago makes room", () => {
    const sessions = new MaskedSessions();
    const made = Array.from({ length: 17 }, () => new MaskedAnswerer(create(ActiveMaskOpenSchema, open), model));
    const isThere = (session: MaskedAnswerer): boolean => sessions.find("bank", { session: session.id }) !== null;
    for (const session of made.slice(0, 16)) sessions.add("bank", session);
    expect(isThere(made[0])).toBe(true);
    expect(sessions.find("rival", { session: made[0].id })).toBeNull();
    sessions.add("bank", made[16]);
    expect([made[0], made[1], made[2], made[16]].map(isThere)).toEqual([true, false, true, true]);
  });

  test("the memory of a caller's sessions is bounded, and the one used last stays in any case", () => {
    const made = Array.from({ length: 4 }, () => new MaskedAnswerer(create(ActiveMaskOpenSchema, open), model));
    const [{ sizeBytes }] = made;
    expect(sizeBytes).toBeGreaterThan(0);
    const kept = (bytesMax: number): boolean[] => {
      const sessions = new MaskedSessions(bytesMax);
      for (const session of made) sessions.add("bank", session);
      return made.map((session) => sessions.find("bank", { session: session.id }) !== null);
    };
    expect(kept(3 * sizeBytes)).toEqual([false, true, true, true]);
    expect(kept(1)).toEqual([false, false, false, true]);
  });

  test("steps of a caller's sessions run one after the other", async () => {
    let [running, most] = [0, 0];
    const slow: MaskedModel = {
      ...model,
      admit: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running--;
      },
    };
    const sessions = new MaskedSessions();
    const made = Array.from({ length: 3 }, () => new MaskedAnswerer(create(ActiveMaskOpenSchema, open), slow));
    for (const session of made) sessions.add("bank", session);
    await Promise.all([...made, ...made].map((session) => session.step(create(ActiveMaskStepSchema, { batch: 0 }))));
    expect(most).toBe(1);
  });

  test("the largest opening that fits a message stays within the bound", () => {
    const conditionCount = 1 << 17;
    const request = create(ActiveMaskOpenSchema, {
      ...open,
      literals: new Array<number>(1 << 20).fill(0),
      lengths: new Array<number>(conditionCount).fill(8),
      runs: [conditionCount],
    });
    const { sizeBytes } = new MaskedAnswerer(request, model);
    const placesBytesMax = 4 * messageBytesMax;
    expect(sizeBytes + placesBytesMax).toBeLessThan(sessionsBytesMax);
  });
});

describe("the active party's whole view", () => {
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
  async function view(a: number, b: number, goes: Outcomes, batches: number) {
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
    const batches = 300;
    const views = [await view(a, b, leftIn(0), batches), await view(a, b, leftIn(1), batches)];
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
      Array.from({ length: 300 }, () => Uint8Array.of(goes(1, 0, 0, 0) ? 1 : 0)),
    );
    const [one, other] = plain.map(onesIn);
    expect(Math.abs(one[0] - other[0])).toBeGreaterThan(3.5 * Math.sqrt(300));
  });
});
