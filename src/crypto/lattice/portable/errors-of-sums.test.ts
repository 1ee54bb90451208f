/**
 * Errors of sums, before words and smudging noise cover them. A build without any errors would also decrypt every sum
 * correctly, and hide nothing: only these tests would detect it.
 */
import { expect, test } from "vitest";
import {
  answerNode,
  type LatticeJob,
  knownJob,
  plainSums,
  rowsOfCandidates,
  sealNode,
} from "../../../../test/support/lattice-job.ts";
import { SeededRandom } from "../../../base/random.ts";
import { modulo } from "../../integers.ts";
import { CommonRows, type Limbs } from "./common-rows.ts";
import { latticeModulus } from "../parameters/job-bounds.ts";
import { groupColumns } from "./multipliers.ts";
import { drawSmudging } from "./portable-answer.ts";
import { drawHint, forEachHint } from "./portable-hints.ts";
import { portableLatticeKernel } from "./portable-lattice.ts";
import { drawNodeErrors, drawNodeSecret } from "./portable-node.ts";
import { unpackRecords } from "./records.ts";
import { ringOf } from "./ring.ts";
import { laneCount, latticeSets } from "../parameters/sets.ts";
import { Words } from "./words.ts";

const { A } = latticeSets;

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
  return sum;
};

/** V_c of a group, from the seeds alone. */
function errorOfSum(
  { shape: { set, rowCount }, seeds }: LatticeJob,
  members: readonly boolean[],
  c: number,
  group: number,
): number {
  const { degree } = set;
  const { secret: r, error } = drawHint(seeds.hints, c, degree);
  let sum = dot(drawNodeErrors(seeds.node, group, -1, degree), r);
  sum -= dot(error, drawNodeSecret(seeds.node, group, degree));
  for (let k = 0; k * degree < rowCount; k++) {
    drawNodeErrors(seeds.node, group, k, degree).forEach((e, j) => (sum += members[k * degree + j] ? e : 0));
  }
  return sum;
}

test.each(["A", "B"] as const)("u - <G, s> - D Z - f is V_c exactly, and not zero: set %s", async (name) => {
  const set = latticeSets[name];
  const job = knownJob(set);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const node = await sealNode(lattice, job, job.seeds.node);
  const width = laneCount(set);
  const lanes = new Float64Array((node.length / set.recordBytes) * width);
  expect(unpackRecords(set, node, lanes)).toBe(-1);
  const members = rowsOfCandidates(job);
  const smudging = drawSmudging(job.seeds.smudging, 6, set.groups, job.bounds.smudgingWidth);
  const sums = plainSums(job);
  const words = new Words(set);
  const masks = new Uint8Array(lattice.maskBytes(6));
  const hints: Limbs[] = [];
  const rows = new CommonRows(set, job.shape.crsKey);
  await forEachHint({ ring: ringOf(set), rows }, job.bins, job.chains, job.seeds.hints, (c, hint, secret) => {
    hints[c] = hint;
    masks.set(new Uint8Array(secret.buffer), c * set.degree);
  });
  const answer = await answerNode(lattice, job, masks, node);
  const { degree } = set;
  for (let c = 0; c < 6; c++) {
    const r = drawHint(job.seeds.hints, c, degree).secret;
    groupColumns(job.shape).forEach((columns, group) => {
      const s = drawNodeSecret(job.seeds.node, group, degree);
      const expected = BigInt(errorOfSum(job, members[c], c, group));
      expect(expected === 0n || expected > job.bounds.errorMax || expected < -job.bounds.errorMax).toBe(false);
      const u = set.primes.map((p, l) => {
        const lane = group * set.primes.length + l;
        let sum = smudging[c * set.groups + group];
        for (let j = 0; j < degree; j++) sum += BigInt(r[j] * lanes[j * width + lane]);
        members[c].forEach((isMember, i) => (sum += isMember ? BigInt(lanes[(degree + i) * width + lane]) : 0n));
        return modulo(sum, p);
      });
      // The residues from which the answer is computed.
      expect(words.read(answer, c * set.groups + group)).toBe(words.of((l) => Number(u[l])));
      const scaled = columns.reduce(
        (sum, { column, multiplier }) => sum + multiplier * BigInt(sums[2 * c + column]),
        0n,
      );
      set.primes.forEach((p, l) => {
        let rest = u[l] - scaled - smudging[c * set.groups + group];
        for (let j = 0; j < degree; j++) if (s[j] !== 0) rest -= BigInt(s[j] * hints[c][l][j]);
        expect(modulo(rest, p)).toBe(modulo(expected, p));
      });
    });
  }
});

test("V_c is as large as the distance bound assumes: rms sqrt(8 (n_c + 4N/3))", () => {
  const job = knownJob(A);
  const random = new SeededRandom("rms");
  const members = Array.from(job.columns[0], () => random.below(3) === 0);
  const sideRows = members.filter(Boolean).length;
  const squares = Array.from({ length: 150 }, (_, i) => errorOfSum(job, members, i >> 1, i & 1) ** 2);
  // The contribution of the rows is the same for all candidates of a group and of known size, so it is subtracted.
  const rowParts = [0, 1].map((group) => {
    const blocks = [0, 1].flatMap((k) => [...drawNodeErrors(job.seeds.node, group, k, A.degree)]);
    return blocks.reduce((sum, e, i) => sum + (members[i] ? e : 0), 0);
  });
  const mean = squares.reduce((a, b) => a + b, 0) / squares.length;
  const shared = (rowParts[0] ** 2 + rowParts[1] ** 2) / 2;
  expect(Math.abs(Math.sqrt((mean - shared) / (8 * (4 / 3) * A.degree)) - 1)).toBeLessThan(0.2);
  const rowErrors = Array.from({ length: 200 }, (_, k) => {
    const errors = drawNodeErrors(job.seeds.node, 0, k, A.degree);
    return errors.reduce((sum, e, j) => sum + (members[j] ? e : 0), 0) ** 2;
  });
  const rows = members.slice(0, A.degree).filter(Boolean).length;
  expect(rows).toBeGreaterThan(sideRows - 5);
  expect(Math.abs(Math.sqrt(rowErrors.reduce((a, b) => a + b, 0) / 200 / (8 * rows)) - 1)).toBeLessThan(0.2);
});

test("without smudging noise an answer is off by at most V + rho", async () => {
  const job = knownJob(A);
  const lattice = portableLatticeKernel.lattice(job.shape, 1);
  const hints = new Uint8Array(6 * 4096 * 7);
  const masks = new Uint8Array(lattice.maskBytes(6));
  await lattice.hints(job.bins, job.chains, job.seeds.hints, hints, masks);
  const node = await sealNode(lattice, job, job.seeds.node);
  const answer = await answerNode(lattice, job, masks, node, { smudgingWidth: 1n });
  const words = new Words(A);
  const sums = plainSums(job);
  const { scale, errorMax, roundingMax } = job.bounds;
  for (let c = 0; c < 6; c++) {
    for (let group = 0; group < 2; group++) {
      const s = drawNodeSecret(job.seeds.node, group, 4096);
      let x = words.read(answer, 2 * c + group);
      for (let j = 0; j < 4096; j++) x -= BigInt(s[j]) * words.read(hints, c * 4096 + j);
      const off = words.signed(x) * latticeModulus(A) - ((scale * BigInt(sums[2 * c + group])) << 56n);
      expect(off < 0n ? -off : off).toBeLessThanOrEqual((errorMax + roundingMax + 4n) << 56n);
    }
  }
});
