/** Candidates that the passive party leaves out in secret, and shares in rings of every width. */
import { expect, test } from "vitest";
import {
  converse,
  dealt,
  openSessions,
  plainWinner,
  randomNode,
  termsOf,
} from "../../../test/support/compared-candidates.ts";
import { SeededRandom } from "../../base/random.ts";
import { ringBits } from "./maximum.ts";
import { loadNativeMaximum } from "./native-kernel.ts";
import { portableMaximumKernel } from "./portable-kernel.ts";

const [kernel = portableMaximumKernel] = loadNativeMaximum(2).kernels.values();

test("a candidate that is left out does not win; messages have the same lengths", async () => {
  const random = new SeededRandom("offered");
  const { active, passive } = await openSessions(kernel);
  const bits = 14;
  const nodes = [1, 2, 3, 5, 8, 13, 4, 4].map((count, i) => randomNode(random, i, bits, count));
  const all = nodes.flatMap(({ x }) => x.length).reduce((sum, count) => sum + count, 0);
  let batch = 0;
  let leftOut = 0;
  for (const shareBits of [bits + 2, bits + 3, ringBits(bits)]) {
    const lengths = new Set<string>();
    for (const rate of [0, 2, 5]) {
      const sums = dealt(nodes, bits, random);
      const offered = Uint8Array.from({ length: all }, () => (random.below(6) < rate ? 0 : 1));
      const terms = { ...termsOf(nodes, bits), shareBits };
      batch++;
      const asking = active.begin(batch, terms, { totals: nodes, sums: sums.active });
      const answering = passive.begin(batch, terms, { sums: sums.passive, offered });
      const { requests, answers } = await converse(asking, answering);
      lengths.add([...requests, ...answers].map(({ length }) => length).join());
      const found = asking.result().map((best, i) => best && answering.placeOf(i, best.placeShare));
      let first = 0;
      const expected = nodes.map((node) => {
        const own = offered.subarray(first, (first += node.x.length));
        const places = [...own.keys()].filter((place) => own[place] === 1);
        const kept = { ...node, x: places.map((place) => node.x[place]), y: places.map((place) => node.y[place]) };
        const winner = plainWinner(kept, bits);
        if (winner !== undefined && places[winner] !== plainWinner(node, bits)) leftOut++;
        return winner === undefined ? undefined : places[winner];
      });
      expect(found).toEqual(expected);
    }
    expect(lengths.size).toBe(1);
  }
  expect(leftOut, "no winner was left out").toBeGreaterThan(0);
});
