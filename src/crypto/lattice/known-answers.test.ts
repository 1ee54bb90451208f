/** The known answers of the lattice scheme on every kernel of this machine. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadNativeLattice } from "./native/native-kernel.ts";
import { type AttemptJob, cutChains, plainSums, TestAttempt } from "../../../test/support/lattice-node.ts";
import { type LatticeSet, latticeSets } from "./parameters/sets.ts";

const kernels = [...loadNativeLattice().kernels.values()];
if (kernels.length === 0) console.warn("native kernel not built: known answers are not tested on it");

/** SHA-256 of hints, records and answer; the first two pairs of sums. */
const known = {
  A: {
    hints: "908eb9ab9378eb04a062598243371e0ebf42c45341230ef9be8b7b7d59d60634",
    records: "61c781c17d8c35eea0f2e232bb35cbeeecd50967105a0dcd9bded43437e43766",
    answer: "97150e334870e9f5972e06c5121498189ad37c063c6c94a6a9798afe2f438f26",
    sums: [-25425227, 574379740, -15801755, 571967594],
  },
  B: {
    hints: "e2690a4f4328e76927184d5ccc826213d53ad08d24afbe0584cdea1a4febb8ae",
    records: "7cb8dbd2b501bf0ca53c8aa91b45c4a3c9a513e9b8452f24bad794260e3cf91c",
    answer: "a409f6e1b7db6f7302582c57288dc67d2e25149a952419916d0adf345e078847",
    sums: [-3579647, 1149014568, -5180777, 1143776836],
  },
} as const;

/** One block and four rows: two features of four bins, and gradients for two rows in three. */
function knownJob(set: LatticeSet): { readonly job: AttemptJob; readonly columns: readonly Int32Array[] } {
  const length = set.degree + 4;
  const bins = [
    Uint16Array.from({ length }, (_, i) => (7 * i + Math.floor(i / 5)) % 4),
    Uint16Array.from({ length }, (_, i) => (i * i + Math.floor(i / 7)) % 4),
  ];
  const columns = [
    Int32Array.from({ length }, (_, i) => (i % 3 === 0 ? 0 : ((7919 * i) % 2097153) - 1048576)),
    Int32Array.from({ length }, (_, i) => (i % 3 === 0 ? 0 : (104729 * i) % 1048577)),
  ];
  const chains = cutChains(bins, Uint32Array.of(4, 4));
  return { job: { set, rowCount: length, resolutionBits: 20, bins, chains }, columns };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe.each(kernels)("kernel $name", (kernel) => {
  it.each(Object.values(latticeSets))("gives the known answers of set $name", async (set) => {
    const { job, columns } = knownJob(set);
    const attempt = await TestAttempt.start(kernel, job);
    const run = await attempt.node(columns);
    expect(sha256(run.records)).toBe(known[set.name].records);
    expect(sha256(attempt.hints)).toBe(known[set.name].hints);
    expect(sha256(run.answer)).toBe(known[set.name].answer);
    expect([...run.sums.subarray(0, 4)]).toEqual(known[set.name].sums);
    expect(run.sums).toEqual(plainSums(job, columns));
  });
});
