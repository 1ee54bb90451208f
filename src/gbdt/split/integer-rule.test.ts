import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IntegerRule, isBetter, type Score } from "./integer-rule.ts";
import { TreeGain } from "./gain.ts";

/** The rule as written down, in big integers. Null: not allowed, which is as good as u = 0. */
function written(x: bigint, y: bigint, T: bigint, S: bigint, m: bigint): { N: bigint; D: bigint } | null {
  if (y < m || S - y < m) return null;
  const bits = BigInt(S.toString(2).length);
  const u = (S * x - T * y) >> bits;
  return u === 0n ? null : { N: u * u, D: y * (S - y) };
}

function isWrittenBetter(a: { N: bigint; D: bigint }, b: { N: bigint; D: bigint }): boolean {
  return a.N * b.D > b.N * a.D;
}

/** A node, and the sums of two candidates: equal, mirrored, neighbouring or unrelated. */
const nodes = fc
  .record({
    bits: fc.integer({ min: 3, max: 31 }),
    parts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 }),
    lambda: fc.constantFrom(0, 1, 5, 1024),
    minimum: fc.constantFrom(1, 2, 300),
    turn: fc.constantFrom("unrelated", "same", "mirrored", "near"),
  })
  .map(({ bits, parts, lambda, minimum, turn }) => {
    const most = 2 ** bits - 1;
    const signed = (part: number): number => Math.round((2 * part - 1) * most);
    const H = Math.max(1, Math.round(parts[0] * (most - 2 * lambda)));
    const G = signed(parts[1]);
    const of = (g: number, h: number) => ({ g: signed(g), h: Math.round(h * H) });
    const a = of(parts[2], parts[3]);
    const others = {
      unrelated: of(parts[4], parts[5]),
      same: a,
      mirrored: { g: Math.max(-most, Math.min(most, G - a.g)), h: H - a.h },
      near: { g: a.g + 1 > most ? a.g - 1 : a.g + 1, h: Math.max(0, a.h - 1) },
    };
    return { G, H, lambda, minimum, candidates: [a, others[turn as keyof typeof others]] };
  })
  .filter(({ G, H, lambda, candidates }) => {
    const S = H + 2 * lambda;
    const isSmall = (value: number): boolean => Math.abs(value) < 2 ** 32;
    return isSmall(S) && candidates.every(({ g }) => isSmall(g) && isSmall(G - g));
  });

describe("the order of candidates in integers", () => {
  test("is the written rule, exactly: random, equal, mirrored and neighbouring candidates of 3 to 31 bits", () => {
    fc.assert(
      fc.property(nodes, ({ G, H, lambda, minimum, candidates }) => {
        const rule = new IntegerRule(1, lambda, minimum);
        const node = rule.node(G, H);
        const S = BigInt(H + 2 * lambda);
        const known = candidates.map(({ g, h }) =>
          written(BigInt(g), BigInt(h + lambda), BigInt(G), S, BigInt(minimum + lambda)),
        );
        const scores = candidates.map(({ g, h }) => node.score(g, h));
        expect(scores.map((score) => score === null)).toEqual(known.map((one) => one === null));
        const [a, b] = scores;
        const [first, second] = known;
        if (a === null || b === null || first === null || second === null) return;
        expect(isBetter(a, b)).toBe(isWrittenBetter(first, second));
        expect(isBetter(b, a)).toBe(isWrittenBetter(second, first));
      }),
      { numRuns: 1000, seed: 27 },
    );
  });

  test("near ties are decided exactly", () => {
    const score = (size: number, y: number, rest: number): Score => ({ size, y, rest });
    // N D' and N' D differ by one part in 2^60: more than doubles hold.
    const a = score(2 ** 31 - 1, 2 ** 30 + 1, 2 ** 30 - 1);
    const b = score(2 ** 31 - 1, 2 ** 30, 2 ** 30);
    expect(isBetter(a, b)).toBe(true);
    expect(isBetter(b, a)).toBe(false);
    expect(isBetter(a, a)).toBe(false);
  });

  test.each([
    ["both sides have the minimum", 10, 30, true],
    ["the left has one step less", 9, 30, false],
    ["the right has one step less", 21, 30, false],
    ["the node is too small for both", 10, 19, false],
  ])("%s", (_name, left, H, isAllowed) => {
    const node = new IntegerRule(0.25, 1, 2.5).node(100, H);
    expect(node.score(-300, left) !== null).toBe(isAllowed);
    const least = node.leastProduct;
    const y = BigInt(left + 4);
    expect(least !== null && y * (BigInt(H + 8) - y) >= least).toBe(isAllowed);
  });

  test("a split that changes nothing has no score", () => {
    expect(new IntegerRule(1, 0, 0).node(20, 40).score(10, 20)).toBeNull();
  });

  test("chooses what gains in doubles choose, unless they are within rounding of the grid", () => {
    const [resolution, lambda] = [2 ** -12, 1];
    const grid = { shift: 0, resolution };
    const gain = new TreeGain(
      [grid, grid],
      { lambda, gamma: 0, minChildWeight: 1, alpha: 0, maxDeltaStep: 0 },
      {
        hidesCounts: true,
      },
    );
    const side = fc.record({
      g: fc.double({ min: -1, max: 1, noNaN: true }),
      h: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(side, { minLength: 2, maxLength: 40 }),
        fc.integer({ min: 100, max: 30_000 }),
        (parts, rows) => {
          const H = Math.round((0.2 * rows) / resolution);
          const G = Math.round((-0.05 * rows) / resolution);
          const sides = parts.flatMap(({ g, h }) => [
            Math.round((g * h * 0.2 * rows) / resolution),
            Math.round(h * H),
            0,
          ]);
          const gains = gain.gains(Float64Array.from(sides), Float64Array.of(G, H, rows));
          const node = new IntegerRule(resolution, lambda, 1).node(G, H);
          let chosen = -1;
          let best: Score | null = null;
          for (let c = 0; c < parts.length; c++) {
            const score = node.score(sides[3 * c], sides[3 * c + 1]);
            if (gains[c] === -Infinity) expect(score).toBeNull();
            if (score !== null && (best === null || isBetter(score, best))) [chosen, best] = [c, score];
          }
          if (chosen < 0 || best === null) return;
          const most = Math.max(...gains);
          // u is off by less than one: N relatively by less than 2 / |u|, and with it what a gain has above the node's.
          expect(gains[chosen]).toBeGreaterThanOrEqual(most * (1 - 2.1 / best.size) - 1e-9);
        },
      ),
      { numRuns: 100, seed: 5 },
    );
  });
});
