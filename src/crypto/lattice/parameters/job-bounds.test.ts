import { expect, test } from "vitest";
import { expectError } from "../../../../test/support/expect-error.ts";
import { SeededRandom } from "../../../base/random.ts";
import { isHidden } from "./distance.ts";
import { jobBounds, latticeModulus, sumsFit } from "./job-bounds.ts";
import { jobProof } from "./job-proof.ts";
import { type LatticeSet, latticeSets } from "./sets.ts";

const { A, B } = latticeSets;

test("moduli are products of primes with the roots of unity that transforms need", () => {
  for (const set of [A, B]) {
    for (const prime of set.primes) {
      expect(prime % BigInt(2 * set.degree)).toBe(1n);
      expect(prime < 2n ** 50n && prime > 2n ** 49n).toBe(true);
    }
    expect(set.recordBytes).toBe(Math.ceil((50 * set.groups * set.primes.length) / 8));
  }
});

test("the numbers of a known job equal the formulas computed by hand", () => {
  const a = jobBounds(A, { rowCount: 4100, resolutionBits: 20 });
  expect(a.t).toBe(8_598_323_201n);
  expect([a.slotBits, a.slotOffset]).toEqual([0, 0]);
  expect(a.scale).toBe((A.primes[0] * A.primes[1]) / 8_598_323_201n);
  expect(a.errorMax).toBe(16n * (4100n + 8192n));
  expect(a.roundingMax).toBe(133n * 4097n * 2n ** 36n + 4_299_161_600n + 1n);
  const b = jobBounds(B, { rowCount: 8196, resolutionBits: 20 });
  expect([b.slotBits, b.t]).toEqual([34, 2n ** 69n]);
  expect(b.roundingMax).toBe(133n * 8193n * 2n ** 38n + 2n ** 35n);
});

test("the smudging noise is never wider than 2^76", () => {
  expect(jobBounds(B, { rowCount: 1000, resolutionBits: 4 }).smudgingWidth).toBe(2n ** 76n);
});

test("no sum of any job can be decrypted wrongly, and the smudging noise is as wide as that allows", () => {
  const random = new SeededRandom("bounds");
  let checked = 0;
  for (let i = 0; i < 1000; i++) {
    const rowCount = 1 + Math.floor(2 ** (24 * random.uniform()));
    const size = {
      rowCount,
      resolutionBits: 4 + random.below(21),
      noiseMax: random.below(2) * random.below(2 ** 30),
    };
    const set = random.below(2) === 0 ? A : B;
    if (!sumsFit(size)) continue;
    const bounds = boundsOrNone(set, size);
    if (bounds === undefined) continue;
    checked++;
    const { t, scale, errorMax, roundingMax, smudgingWidth, slotBits, slotOffset } = bounds;
    const q = latticeModulus(set);
    // 4W + V + rho <= D/2 <= q/2t, doubled.
    expect(8n * smudgingWidth + 2n * errorMax + 2n * roundingMax <= scale).toBe(true);
    expect(scale * t <= q).toBe(true);
    const isCapped = smudgingWidth === 2n ** 76n;
    expect(isCapped || 8n * (smudgingWidth + 1n) + 2n * errorMax + 2n * roundingMax > scale).toBe(true);
    const noise = BigInt(size.noiseMax);
    const largest = (BigInt(rowCount) << BigInt(size.resolutionBits)) + noise;
    if (set === A) {
      expect(2n * largest + 1n).toBe(t);
      expect((q - scale * t) * largest < roundingMax * t).toBe(true);
    } else {
      const slot = 1n << BigInt(slotBits);
      expect(largest + BigInt(slotOffset) < slot).toBe(true);
      expect(largest * slot + largest + noise < t / 2n).toBe(true);
      expect(largest * slot <= t / 2n).toBe(true);
    }
  }
  expect(checked).toBeGreaterThan(500);
});

function boundsOrNone(...arguments_: Parameters<typeof jobBounds>): ReturnType<typeof jobBounds> | undefined {
  try {
    return jobBounds(...arguments_);
  } catch {
    return undefined;
  }
}

test("noise widens t and the lower slot", () => {
  const size = { rowCount: 1000, resolutionBits: 10 };
  expect(jobBounds(A, { ...size, noiseMax: 7 }).t).toBe(2n * (1_024_000n + 7n) + 1n);
  const quiet = jobBounds(B, size);
  // 2^20 - 1,024,000 = 24,576: from half of it on the slot has a bit more.
  const fits = jobBounds(B, { ...size, noiseMax: 12_287 });
  const grows = jobBounds(B, { ...size, noiseMax: 12_288 });
  expect([quiet.slotBits, fits.slotBits, grows.slotBits]).toEqual([20, 20, 21]);
  expect(grows.slotOffset).toBe(12_288);
  expect(grows.t).toBe(2n ** 43n);
});

test("jobs that no set supports are rejected", async () => {
  const size = { rowCount: 1000, resolutionBits: 10 };
  await expectError(() => jobBounds(A, { ...size, resolutionBits: 3 }), "USAGE", /between 4 and 24; got 3/);
  await expectError(() => jobBounds(A, { ...size, resolutionBits: 25 }), "USAGE", /between 4 and 24/);
  await expectError(() => jobBounds(A, { ...size, rowCount: 0 }), "USAGE", /at least one row/);
  await expectError(() => jobBounds(A, { ...size, rowCount: 1.5 }), "USAGE", /at least one row/);
  await expectError(() => jobBounds(B, { ...size, noiseMax: -1 }), "USAGE", /whole number/);
  await expectError(() => jobBounds(B, { ...size, noiseMax: 0.5 }), "USAGE", /whole number/);
  await expectError(() => jobBounds(B, { rowCount: 2 ** 26, resolutionBits: 24 }), "LAYOUT_OVERFLOW", /2\^50/);
  await expectError(() => jobBounds(B, { ...size, noiseMax: 2 ** 50 }), "LAYOUT_OVERFLOW", /2\^50/);
  await expectError(() => jobBounds(A, { rowCount: 2 ** 25, resolutionBits: 24 }), "LAYOUT_OVERFLOW", /or set B/);
});

test("the proof states its inequality in numbers", () => {
  const budget = { nodesMax: 400, outputs: 1, candidateCount: 620 };
  const a = jobBounds(A, { rowCount: 18_300, resolutionBits: 24 });
  const lines = jobProof(a, budget).join("\n");
  expect(lines).toContain("136.9 bits");
  expect(lines).toContain(`= ${4n * a.smudgingWidth + a.errorMax + a.roundingMax} <= ${a.scale / 2n} = D/2`);
  expect(lines).toMatch(/delta = 2\^-4\d\.\d+ <= 2\^-40/);
  const b = jobProof(jobBounds(B, { rowCount: 18_300, resolutionBits: 24, noiseMax: 5 }), budget).join("\n");
  expect(b).toContain("with noise 5 sum to at most 307023052810 < 2^39");
});

test("the proof says what hints cost, and at which resolution set A hides the job", () => {
  const rows = { rowCount: 24_421 };
  const budget = { nodesMax: 128, outputs: 1, candidateCount: 32_130 };
  const hints = (set: LatticeSet, resolutionBits: number): string =>
    jobProof(jobBounds(set, { ...rows, resolutionBits }), budget).at(-1) ?? "";
  const inB = hints(B, 24);
  expect(inB).toMatch(
    /^hints of a party take up to 1745 MB, once per attempt; with --resolution-bits 22 or less .*set A/,
  );
  expect(isHidden(jobBounds(A, { ...rows, resolutionBits: 22 }), budget)).toBe(true);
  expect(isHidden(jobBounds(A, { ...rows, resolutionBits: 23 }), budget)).toBe(false);
  expect(hints(A, 22)).toBe("hints of a party take up to 922 MB, once per attempt");
});
