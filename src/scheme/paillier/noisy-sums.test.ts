/** Exact sums allow an active party to isolate single instances; noisy sums do not. */
import { beforeAll, expect, test } from "vitest";
import {
  answerOf,
  bench,
  type Bench,
  instanceCount,
  keyBits,
  loaded,
  place,
} from "../../../test/support/paillier-bench.ts";
import { generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import { binFeature } from "../../gbdt/split/binning.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { candidateIn } from "../candidates/candidate-set.ts";
import type { SentNodes } from "../candidates/sent-nodes.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
});

/** Every instance has its own bin. */
const feature = (): ReturnType<typeof binFeature> =>
  binFeature(
    "salary",
    Float32Array.from({ length: instanceCount }, (_, i) => (i * 17) % instanceCount),
    instanceCount,
  );

type Loaded = Bench & { readonly nodes: SentNodes };

/** The sums of the right side, by threshold bin, of the summed candidates that are not suppressed. */
async function rightSums(made: Loaded, node = 0): Promise<Map<number, number[]>> {
  const set = made.nodes.candidates(node);
  const rows = new Map<number, number[]>();
  let position = 0;
  for (const { counts, message } of await answerOf(made, node)) {
    const sums = await made.active.sums(made.layout, message, counts);
    counts.forEach((count, i) => {
      const candidate = candidateIn(set, position);
      if (count > 0 && set.plan.sides[position] === -1 && "bin" in candidate)
        rows.set(candidate.bin, [...sums.subarray(2 * i, 2 * i + 2)]);
      position++;
    });
  }
  return rows;
}

const differences = (rows: Map<number, number[]>): number[][] =>
  [...rows].flatMap(([bin, row]) => {
    const next = rows.get(bin + 1);
    return next === undefined ? [] : [row.map((value, slot) => value - next[slot])];
  });

/** The instances with exactly these gradients. */
const whoHas = ({ gradients }: Bench, [g, h]: readonly number[]): number[] =>
  Array.from({ length: instanceCount }, (_, i) => i).filter(
    (i) => gradients.columns[0][i] === g && gradients.columns[1][i] === h,
  );

const noisy = (answerNoise: number): Promise<Loaded> => loaded(bench(key, "batched", [feature()], answerNoise));

test("neighbouring thresholds: each exact difference isolates one instance, a noisy one none", async () => {
  // The same signed grid, with noise that is almost always zero.
  const exact = await noisy(1e-9);
  const found = differences(await rightSums(exact)).map((difference) => whoHas(exact, difference));
  expect(found.length).toBeGreaterThan(30);
  expect(found.every((people) => people.length === 1)).toBe(true);
  expect(new Set(found.flat()).size).toBe(found.length);

  const hidden = await noisy(10);
  const off = differences(await rightSums(hidden));
  expect(off.length).toBe(found.length);
  expect(off.flatMap((difference) => whoHas(hidden, difference))).toEqual([]);
});

test("two nodes that differ by one instance have different noise", async () => {
  const nodeWith = async (answerNoise: number): Promise<number[][]> => {
    const made = await noisy(answerNoise);
    const rows: Map<number, number[]>[] = [];
    for (const size of [20, 21]) {
      const tree = await loaded(made); // another tree with the same gradients
      place(
        tree.nodes,
        1,
        2,
        0,
        bitmapFrom(instanceCount, (i) => i < size),
      );
      rows.push(await rightSums(tree, 1));
    }
    const person = made.gradients.columns.map((column) => column[20]);
    return [...rows[0]].flatMap(([bin, row]) => {
      const other = rows[1].get(bin);
      return other === undefined ? [] : [other.map((value, slot) => value - row[slot] - person[slot])];
    });
  };
  const isPerson = (rest: readonly number[]): boolean => rest.every((value) => value === 0);
  expect((await nodeWith(1e-9)).some(isPerson)).toBe(true);
  expect((await nodeWith(10)).some(isPerson)).toBe(false);
});

test("a hundred repeated requests, before and after a restart, give the same answer", async () => {
  const first = await noisy(10);
  const rows = await rightSums(first);
  for (let i = 0; i < 100; i++) expect(await rightSums(first)).toEqual(rows);
  expect(await rightSums(await loaded(first))).toEqual(rows); // a role that restarts the tree
  expect(await rightSums(await loaded(first, 1))).not.toEqual(rows); // gradients of another round
});
