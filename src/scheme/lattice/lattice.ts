/** Entry point of the lattice scheme: its parameters and its halves. Experimental (docs/lattice.md). */
import { availableParallelism } from "node:os";
import { TandemError } from "../../base/error.ts";
import { osRandom } from "../../base/random.ts";
import { jobSeedBytes } from "../../crypto/lattice/job-seeds.ts";
import { passiveMemoryBytes } from "../../crypto/lattice/parameters/sizes.ts";
import { latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import { selectLatticeKernel } from "../../crypto/lattice/select-kernel.ts";
import type { ActiveOptions, HiddenScheme, PassiveOptions, SchemeSecret } from "../scheme.ts";
import { LatticeActive, latticePlaintextBits } from "./active.ts";
import { LatticeBlock } from "./block.ts";
import { latticeConflicts } from "./conflicts.ts";
import { latticeCosts } from "./cost-model.ts";
import { latticeCodec } from "./job-resolution.ts";
import { LatticePassive } from "./passive.ts";
import { latticeSchemeName } from "./scheme-name.ts";

/** All secrets follow from the seeds of the job. */
const nothing: SchemeSecret = { scheme: latticeSchemeName, serialise: () => latticeSchemeName };

export const lattice: HiddenScheme = {
  name: latticeSchemeName,
  membership: "hidden",
  masksSums: true,
  parameters: () => ({}),
  conflicts: latticeConflicts,
  codecFor: latticeCodec,
  kernelName: () => selectLatticeKernel().name,
  describe: () => `lattices (at least ${Math.floor(latticeSets.A.security)} bits of security; experimental)`,
  warning: () => "The lattice scheme is experimental: it has not had an external review.",
  violations: (parameters) =>
    Object.keys(parameters).length > 0 ? ["scheme: unknown parameters for the lattice scheme"] : [],
  plaintextBitsMax: () => latticePlaintextBits,
  sizes: (_parameters, { slots }) => {
    const { groups, recordBytes } = latticeSets.A;
    return {
      ciphertextBytes: recordBytes / groups,
      ciphertextsPerInstance: slots.length,
      sumsPerCiphertext: 1,
      plaintextBitsMax: latticePlaintextBits,
    };
  },
  heldBytes: (_layout, { rows, features, candidates }) => passiveMemoryBytes(latticeSets.A, rows, features, candidates),
  makeSecret: async () => nothing,
  readSecret: async (text) => {
    if (text !== latticeSchemeName) throw new TandemError("KEY_FORMAT", "not a secret of the lattice scheme");
    return nothing;
  },
  active: (_secret, options) => activeHalf(options),
  passive: passiveHalf,
  replay: (_secret, options) => ({ active: activeHalf(options), passive: (seed) => passiveHalf({ ...options, seed }) }),
  block: (data, { threads }) => new LatticeBlock(selectLatticeKernel(), data, threads ?? availableParallelism()),
  costModel: () => latticeCosts(selectLatticeKernel()),
};

function activeHalf({ threads = availableParallelism(), seed = drawnSeed() }: ActiveOptions): LatticeActive {
  return new LatticeActive(selectLatticeKernel(), threads, seed);
}

function passiveHalf({ threads = availableParallelism(), seed = drawnSeed(), crew }: PassiveOptions): LatticePassive {
  return new LatticePassive(selectLatticeKernel(), threads, seed, { crew });
}

function drawnSeed(): Uint8Array {
  return osRandom.fill(new Uint8Array(jobSeedBytes));
}
