/** Attacks that succeed when a rule is broken, so that no change weakens these rules unnoticed. */
import { expect, test } from "vitest";
import { answerNode, knownJob, makeHints, openAnswer, sealNode } from "../../../test/support/lattice-job.ts";
import { SeededRandom } from "../../base/random.ts";
import { groupColumns, roundToPlaintext } from "./portable/multipliers.ts";
import { drawHint } from "./portable/portable-hints.ts";
import { portableLatticeKernel } from "./portable/portable-lattice.ts";
import { packRecords, unpackRecords } from "./portable/records.ts";
import { add, residueOfInteger, subtract } from "./portable/residues.ts";
import { ringOf } from "./portable/ring.ts";
import { laneCount, type LatticeSet, latticeSets } from "./parameters/sets.ts";
import { Words } from "./portable/words.ts";

const { A } = latticeSets;
const primesOf = (set: LatticeSet) => ringOf(set).transforms.map(({ prime }) => prime);

function lanesOf(set: LatticeSet, records: Uint8Array): Float64Array {
  const lanes = new Float64Array((records.length / set.recordBytes) * laneCount(set));
  expect(unpackRecords(set, records, lanes)).toBe(-1);
  return lanes;
}

test("encrypting two nodes under one seed reveals the differences of all gradients to every party", async () => {
  const job = knownJob(A);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const random = new SeededRandom("second node");
  const second = job.columns.map((column) => column.map(() => random.below(2 ** 20)));
  const first = lanesOf(A, await sealNode(lattice, job, job.seeds.node));
  const again = lanesOf(A, await sealNode(lattice, { ...job, columns: second }, job.seeds.node));
  const words = new Words(A);
  // No secret is used from here on: a passive party can do this.
  const read = [0, 1].map((group) =>
    Int32Array.from(job.columns[0], (_, row) => {
      const at = (A.degree + row) * 4 + group * 2;
      const word = words.of((l) => subtract(first[at + l], again[at + l], primesOf(A)[l]));
      return Number(roundToPlaintext(words.signed(word), job.shape.t, words.bits));
    }),
  );
  expect(read).toEqual(job.columns.map((column, i) => column.map((value, row) => value - second[i][row])));
});

test("a malicious active party with a crafted mask row reads the secrets of hints, digit by digit", async () => {
  const job = knownJob(A);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const { hints, masks } = await makeHints(lattice, job);
  const empty = { ...job, columns: job.columns.map((column) => column.map(() => 0)) };
  const node = await sealNode(lattice, empty, job.seeds.node);
  const digits = 20; // 3^20 < t
  const lanes = lanesOf(A, node);
  groupColumns(job.shape).forEach(([{ multiplier }], group) => {
    for (let i = 0; i < digits; i++) {
      primesOf(A).forEach((prime, l) => {
        const at = (group * digits + i) * 4 + group * 2 + l;
        lanes[at] = add(lanes[at], residueOfInteger(multiplier * 3n ** BigInt(i), prime), prime);
      });
    }
  });
  packRecords(A, lanes, node);
  // The passive party answers as usual: such a record is indistinguishable from an honest one.
  const sums = await openAnswer(lattice, job, hints, job.seeds.node, await answerNode(lattice, job, masks, node));
  for (let c = 0; c < 6; c++) {
    const read = [0, 1].flatMap((group) => {
      let rest = sums[2 * c + group] + (3 ** digits - 1) / 2;
      return Array.from({ length: digits }, () => {
        const digit = (rest % 3) - 1;
        rest = Math.floor(rest / 3);
        return digit;
      });
    });
    expect(read).toEqual([...drawHint(job.seeds.hints, c, A.degree).secret.subarray(0, 2 * digits)]);
  }
});
