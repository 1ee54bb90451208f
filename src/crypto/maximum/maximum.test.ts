/** Two parties against the rule in plain integers (test/support/compared-candidates.ts). */
import { beforeAll, describe, expect, it } from "vitest";
import { isCampaign, seedCount } from "../../../test/support/campaign.ts";
import {
  compared,
  openSessions,
  type PlainNode,
  plainWinner,
  randomNode,
  type Sessions,
  wrongNodes,
} from "../../../test/support/compared-candidates.ts";
import { SeededRandom } from "../../base/random.ts";
import type { MaximumKernel } from "./kernel.ts";
import { bitsMax, bitsMin, ringBits } from "./maximum.ts";
import { loadNativeMaximum } from "./native-kernel.ts";
import { groupSizes, partsOf, roundsOf } from "./plan.ts";
import { portableMaximumKernel } from "./portable-kernel.ts";

const [best = portableMaximumKernel] = loadNativeMaximum(2).kernels.values();
const allBits = Array.from({ length: bitsMax - bitsMin + 1 }, (_, i) => bitsMin + i);

let batch = 0;
let sessions: Sessions;
/** The kernel of the sessions: the best, or with parts that are changed by a test. */
const kernel: MaximumKernel = { ...best };
beforeAll(async () => {
  sessions = await openSessions(kernel);
});

function randomNodes(random: SeededRandom, bits: number, count: number, most: number): PlainNode[] {
  return Array.from({ length: count }, (_, i) => randomNode(random, i, bits, 1 + random.below(most)));
}

async function wrongOf(
  nodes: readonly PlainNode[],
  bits: number,
  random: SeededRandom,
  on = sessions,
  shareBits?: number,
): Promise<string[]> {
  return wrongNodes(nodes, bits, await compared(on, ++batch, nodes, bits, random, shareBits));
}

/** Of some nodes, how many are wrong with a kernel of which a part is changed. */
async function wrongCountWith(changed: Partial<MaximumKernel>): Promise<number> {
  const random = new SeededRandom("broken kernels");
  const nodes = randomNodes(random, 20, 80, 4);
  Object.assign(kernel, changed);
  const wrong = await wrongOf(nodes, 20, random);
  Object.assign(kernel, best);
  return wrong.length;
}

it.each(allBits)("random nodes, ties and extremes of sums of %i bits", async (bits) => {
  const random = new SeededRandom(`nodes of ${bits} bits`);
  for (let seed = 0; seed < seedCount({ test: 1, campaign: 40 }); seed++)
    expect(await wrongOf(randomNodes(random, bits, 100, 3), bits, random)).toEqual([]);
});

it.each([12, 19, 32])("shares of sums of %i bits in rings of every width", async (bits) => {
  const random = new SeededRandom(`rings of ${bits} bits`);
  for (let shareBits = bits + 2; shareBits <= ringBits(bits); shareBits += isCampaign ? 1 : 7)
    expect(await wrongOf(randomNodes(random, bits, 24, 3), bits, random, sessions, shareBits)).toEqual([]);
});

it("many candidates, in nodes of very different sizes", async () => {
  const random = new SeededRandom("sizes");
  for (const size of isCampaign ? [2, 8, 9, 40, 41, 161, 620, 1000] : [9, 41, 161])
    expect(
      await wrongOf(
        [1, size, 3].map((count, i) => randomNode(random, i, 23, count)),
        23,
        random,
      ),
    ).toEqual([]);
});

it("batches in several parts", async () => {
  const random = new SeededRandom("parts");
  const own = await openSessions(best, undefined, 12);
  const nodes = [5, 7, 3, 20, 1, 2].map((count, i) => randomNode(random, i, 23, count));
  expect(await wrongOf(nodes, 23, random, own)).toEqual([]);
});

it.runIf(isCampaign)("a million small nodes", { timeout: 7_200_000 }, async () => {
  const random = new SeededRandom("a million nodes");
  let count = 0;
  while (count < 1_000_000) {
    const bits = allBits[random.below(allBits.length)];
    const shareBits = ringBits(bits) - (random.below(2) === 0 ? 0 : random.below(bits + 1));
    const nodes = randomNodes(random, bits, 2000, 3);
    expect(await wrongOf(nodes, bits, random, sessions, shareBits)).toEqual([]);
    count += nodes.length;
  }
});

describe("chosen nodes", () => {
  const bits = 12;
  const top = 2n ** 12n;
  const find = async (node: PlainNode): Promise<number | undefined> => {
    const { result, passive } = await compared(sessions, ++batch, [node], bits, new SeededRandom(3));
    expect(result[0] && passive.placeOf(0, result[0].placeShare)).toBe(plainWinner(node, bits));
    return result[0] && passive.placeOf(0, result[0].placeShare);
  };
  const node = { gradient: 0n, hessian: 128n, minimum: 1n, x: [10n, 20n, -20n], y: [64n, 64n, 64n] }; // u is x;

  it("takes the first of equal candidates", async () => {
    expect(await find(node)).toBe(1);
    expect(await find({ ...node, x: [-20n, 20n, 20n] })).toBe(0);
  });

  it("has no winner without a square above 0, or where no candidate is allowed", async () => {
    expect(await find({ ...node, x: [0n, 0n, 0n] })).toBeUndefined();
    expect(await find({ ...node, minimum: 4097n })).toBeUndefined();
    expect(await find({ ...node, minimum: 4096n })).toBe(1);
    expect(await find({ ...node, y: [0n, 128n, 0n] })).toBeUndefined();
  });

  it("gives a rival the preference on a tie, and only then", async () => {
    expect(await find({ ...node, rival: { square: 100n, product: 4096n } })).toBeUndefined();
    expect(await find({ ...node, rival: { square: 99n, product: 4096n } })).toBe(1);
    expect(await find({ ...node, rival: { square: 100n, product: 4097n } })).toBe(1);
  });

  it("rounds u to minus infinity, at the largest magnitudes too", async () => {
    const largest = { gradient: 0n, hessian: top - 1n, minimum: 1n, y: [1n, 1n] };
    expect(await find({ ...largest, x: [top - 1n, 1n - top] })).toBe(1);
    expect(await find({ ...largest, x: [1n, -1n] })).toBe(1);
    expect(await find({ ...largest, x: [1n - top, top - 1n] })).toBe(0);
  });
});

describe("the tests would notice", () => {
  it("nothing wrong with the kernel as it is", async () => {
    expect(await wrongCountWith({})).toBe(0);
  });

  // Of v, N and D: the widths of what corrects them.
  it.each([20, 37, 40])("wraps that are wrong, of %i bits", async (width) => {
    const receiverShares: MaximumKernel["receiverShares"] = (job, ...rest) => {
      const isWrong = job.bits === 1 && job.widths[0] === width;
      return best.receiverShares(job, ...rest).map((word, i) => (isWrong && i % 4 === 0 ? word ^ 1 : word));
    };
    expect(await wrongCountWith({ receiverShares })).toBeGreaterThan(3);
  });

  it("a product with a wrong bit", async () => {
    const receiverShares: MaximumKernel["receiverShares"] = (job, ...rest) =>
      best.receiverShares(job, ...rest).map((word, i) => (job.bits > 1 && i % 4 === 0 ? word ^ 4096 : word));
    expect(await wrongCountWith({ receiverShares })).toBeGreaterThan(3);
  });

  it("ties that go to the last", async () => {
    const random = new SeededRandom("ties");
    const nodes = Array.from({ length: 80 }, () => randomNode(random, 2, 20, 4));
    const { result, passive } = await compared(sessions, ++batch, nodes, 20, random);
    const reversed = nodes.map((node) => ({ ...node, x: node.x.toReversed(), y: node.y.toReversed() }));
    const places = result.map((found, i) => found && 3 - passive.placeOf(i, found.placeShare));
    expect(reversed.filter((node, i) => plainWinner(node, 20) !== places[i]).length).toBeGreaterThan(10);
  });
});

describe("the plan", () => {
  it("leaves one candidate of each node, and every candidate is in a group", () => {
    for (const counts of [[1], [8], [9], [620], [3, 620, 1], [1240, 17]]) {
      const rounds = roundsOf(counts);
      expect(rounds.at(-1)?.counts).toEqual(counts.map(() => 1));
      expect(rounds).toHaveLength(groupSizes(counts).length);
      for (const { count, firsts, others } of rounds)
        expect([...firsts, ...others.map(({ place }) => place)].toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, i) => i),
        );
    }
  });

  it("cuts batches into parts of bounded size, the same for both parties", () => {
    const nodes = [16, 1, 15, 1, 5, 20].map((candidates) => ({ candidates }));
    expect(partsOf(nodes, 16).map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 3],
      [3, 5],
      [5, 6],
    ]);
    expect(partsOf(nodes)).toEqual([{ from: 0, to: 6 }]);
  });
});
